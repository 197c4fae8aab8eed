/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/config/services.h"
#include "harness/evidence/json.h"
#include "sandbox/base/process.h"
#include "sandbox/relay.h"
#include "sandbox/wire.h"

/*
 * The relay of one jail's services: a fork of whoever has asked for the jail (sandbox/relay.h)
 *
 * It has the listening sockets and the log, and ends with the jail or with its parent, whichever is
 * first. Its log has a line of JSON for each connection and one for each service; nothing in it is
 * the agent's but numbers.
 */
enum { RELAYING_LOG_MAX = 1024 * 1024 }; /* bytes of lines about connections; the rest is counted */

#define RELAYING_LOG "services.jsonl"

/* What became of the services of a jail, in their order. */
struct relaying_result {
	uint32_t count;
	uint64_t unlogged; /* connections without a line */
	struct relay_counts services[NET_SERVICES_MAX];
};

struct relaying {
	struct process process;
	int socket_fd; /* owned: its last words come here */
};

#define RELAYING_INIT ((struct relaying){ .process = PROCESS_INIT, .socket_fd = -1 })

/**
 * relaying_start() - begin to relay, when the jail has just started
 * @started: its sockets, as many as there are services, and its pidfd; borrowed
 * @log_fd:  receives the lines; borrowed; -1: there is no log
 */
int relaying_start(const struct services *services, const struct started_fds *started, int log_fd,
		   struct relaying *out, struct err *err) must_check;

/**
 * relaying_finish() - when the jail is over: let the relay end, and hear what became of it
 *
 * The log is synced. Return: 0, or -1 where it could not do its work, with its own words.
 */
int relaying_finish(struct relaying *relaying, struct relaying_result *out,
		    struct err *err) must_check;

/**
 * relaying_done() - end it at once, if it is there
 */
void relaying_done(struct relaying *relaying);

enum { RELAYING_FLAGS_MAX = 2 * NET_SERVICES_MAX };

struct relaying_flag {
	char text[96];
};

/**
 * relaying_flags() - what a record says of them in words: "service_capped:NAME",
 * "service_unreachable:NAME"
 *
 * Return: how many there are in @out.
 */
size_t relaying_flags(const struct services *services, const struct relaying_result *result,
		      struct relaying_flag out[RELAYING_FLAGS_MAX]);

/**
 * relaying_put() - write what became of them as an array, the member @key of the object that is
 * open
 */
void relaying_put(struct json_writer *json, const char *key, const struct services *services,
		  const struct relaying_result *result);
