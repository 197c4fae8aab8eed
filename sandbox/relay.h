/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "sandbox/base/err.h"
#include "sandbox/base/names.h"
#include "sandbox/net.h"

/*
 * The relay: between the sockets that listen in one jail and one endpoint each
 *
 * A process of the client's, without privilege, that does nothing else. It looks at no byte that it
 * carries: each direction of a connection is one buffer, read when it is empty, so that whoever
 * does not read is waited for and costs no more than that buffer and the kernel's. What a jail may
 * open and carry is counted and capped; where a cap is met the connection is reset, and nothing
 * else happens to the jail.
 */
enum {
	RELAY_CONNECTIONS_MAX = 256, /* at a time, of all services of a jail together */
	RELAY_BUFFER = 64 * 1024,    /* bytes, of one direction of one connection */
};

/* -- relay_endpoint.c -- */

/* Where a service leads: an address of this host, or the path of a socket on it. */
struct relay_endpoint {
	uint32_t len;
	struct sockaddr_storage address;
};

#define RELAY_ENDPOINT_FORMS "127.0.0.1:PORT, [::1]:PORT or unix:/PATH"

/**
 * relay_endpoint_parse() - read one of RELAY_ENDPOINT_FORMS
 *
 * Names are not looked up, and other hosts not reached: who would want that needs TLS and its keys,
 * which are no business of a process that copies bytes.
 *
 * Return: NULL, or why it is none, in words without the text; @out is then untouched.
 */
const char *relay_endpoint_parse(const char *text, struct relay_endpoint *out) must_check;

/* -- relay_flow.c -- */

/* One direction of a connection. */
struct relay_flow {
	uint8_t *bytes;     /* borrowed: RELAY_BUFFER of them */
	uint32_t from, len; /* those that were read and not yet written */
	bool is_over;       /* the source has ended */
	bool is_shut;       /* and the target knows */
	uint64_t passed;    /* bytes written */
};

enum relay_moved {
	RELAY_WAITS,  /* what could be done was done */
	RELAY_DONE,   /* the source has ended, everything was written, and the target knows */
	RELAY_CAPPED, /* there is a byte more than may be carried */
	RELAY_SOURCE, /* reading failed: errno */
	RELAY_TARGET, /* writing failed: errno */
};

/**
 * relay_flow_move() - carry what is there, but not more than some buffers full at a time
 * @left: bytes that may still be read; reduced
 *
 * Both are nonblocking sockets.
 */
enum relay_moved relay_flow_move(struct relay_flow *flow, int source_fd, int target_fd,
				 uint64_t *left) must_check;

/* -- relay_confine.c -- */

/**
 * relay_confine() - in the process that is to be a relay: give everything else up
 * @keep:        descriptors that stay; all others are closed, 0 to 2 become /dev/null
 * @parent:      ends with this process
 * @connections: as many sockets may be opened, twice
 *
 * It can then open sockets, read and write what it has, and end; nothing else. It can not be
 * traced by other processes of its account, and takes no signal but SIGKILL.
 */
int relay_confine(const int *keep, size_t count, pid_t parent, uint32_t connections,
		  struct err *err) must_check;

/* -- relay.c -- */

struct relay_service {
	int listen_fd; /* borrowed, nonblocking */
	struct relay_endpoint endpoint;
	uint32_t connections; /* at a time */
	uint64_t total;       /* of the whole jail */
	uint64_t sent;        /* bytes from the jail to the endpoint, of all connections */
	uint64_t received;    /* and back */
	uint64_t idle_ms;     /* without a byte in either direction */
};

enum relay_how {
	RELAY_CLOSED,      /* both sides have ended */
	RELAY_RESET,       /* the jail's side was reset */
	RELAY_ENDPOINT,    /* the endpoint's side was, or took no more */
	RELAY_UNREACHABLE, /* the endpoint could not be reached */
	RELAY_IDLE,        /* for longer than may be */
	RELAY_CONNECTIONS, /* refused: too many at a time */
	RELAY_TOTAL,       /* refused: there were as many as there may be */
	RELAY_SENT,        /* more bytes than may be sent */
	RELAY_RECEIVED,    /* more bytes than may be received */
	RELAY_ENDED,       /* with the jail */
};

extern const struct name relay_how_names[];

/* A connection that is over. */
struct relay_line {
	uint32_t service;
	uint64_t number;              /* of the service, from 1; refused ones have one as well */
	int64_t opened_ns, closed_ns; /* from relay.begun on */
	uint64_t sent, received;      /* bytes that were passed on */
	enum relay_how how;
	int error; /* errno where there was one, else 0 */
};

/* What became of one service. */
struct relay_counts {
	uint64_t connections, refused,
		unreachable; /* refused and unreachable ones are no connections */
	uint64_t sent, received;
	uint32_t capped; /* 1 << enum relay_how: caps that were met */
};

struct relay {
	uint32_t count;
	struct relay_service services[NET_SERVICES_MAX];
	int64_t begun;  /* on clock_now() */
	int payload_fd; /* readable: the jail is over */
	int parent_fd;  /* readable: so says whoever has started the relay */
	int (*tell)(void *user, const struct relay_line *line, struct err *err);
	void *user;
};

/**
 * relay_run() - relay until the jail is over
 * @out: what became of each service; also where it fails
 *
 * When the jail is over, what it had sent by then is passed on, if its endpoint takes it at once;
 * then all connections are closed. An endpoint that is not there is no failure; one is what keeps
 * this process from its work, or what tell() says.
 */
int relay_run(const struct relay *relay, struct relay_counts out[NET_SERVICES_MAX],
	      struct err *err) must_check;
