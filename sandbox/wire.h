/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/base/err.h"
#include "sandbox/base/message.h"
#include "sandbox/base/names.h"
#include "sandbox/spec.h"

/*
 * What proctor and its launcher say to each other
 *
 * Requests go over one SOCK_SEQPACKET socket: of a private launcher one that it is born with, of
 * the service one that was connected, over which the client says REQUEST_HELLO first. A jail is
 * asked for with a whole spec and its descriptors. Among these is the jail's own socket: from then
 * on the jail's monitor speaks there, and closing it ends the jail. Both ends come from one build:
 * a request of another size or version is refused.
 */

enum { WIRE_VERSION = 5 };

enum request_kind {
	REQUEST_HELLO = 1, /* answered on the same socket: EVENT_READY, or EVENT_FAILED */
	REQUEST_JAIL,      /* answered on the jail's socket */
	REQUEST_TIMING, /* answered on the same socket: EVENT_READY, EVENT_BUSY, or EVENT_FAILED */
};

/*
 * What a client can ask about the timing lease of the host; see harness/run/timing_lease.h. Nothing
 * waits: what can not be had now is answered by EVENT_BUSY.
 */
enum timing_ask {
	TIMING_ASK_TURN,   /* the turnstile */
	TIMING_ASK_SHARED, /* the lock, with others */
	TIMING_ASK_ALONE,  /* the lock, alone */
	TIMING_LEAVE_TURN, /* give it back */
	TIMING_LEAVE,
	TIMING_ASKS,
};

struct wire_head {
	uint32_t magic, version;
	uint32_t kind; /* enum request_kind */
	uint32_t what; /* HELLO: the size of a wire_request; TIMING: enum timing_ask; JAIL: 0 */
};

/* Of HELLO and TIMING only the head is sent. */
struct wire_request {
	struct wire_head head;
	struct jail_spec spec;
};

/* How a jail ended. A timeout or a memory kill is an outcome, not an error. */
enum ending {
	ENDING_EXITED,        /* code: the payload's exit code */
	ENDING_SIGNALED,      /* code: the signal */
	ENDING_TIMEOUT,       /* the wall limit */
	ENDING_CPU,           /* the CPU limit */
	ENDING_IDLE,          /* the idle limit: neither CPU time nor output for so long */
	ENDING_OOM,           /* the memory limit */
	ENDING_OUTPUT,        /* the client saw too much output and said so */
	ENDING_FULL,          /* a tmpfs was full, where the spec says that this ends it */
	ENDING_STOPPED,       /* the client asked for the end */
	ENDING_LAUNCHER_LOST, /* launcher or monitor is gone */
};

extern const struct name ending_names[];

/* Limits that were met but end nothing. */
enum {
	JAIL_PIDS_HIT = 1 << 0,
	JAIL_DISK_FULL = 1 << 1,
	JAIL_INODES_FULL = 1 << 2,
	JAIL_IMAGE_CHANGED = 1 << 3, /* somebody wrote the file of its image while it ran */
};

enum { JAIL_DENIED_MAX = 96, WIRE_DIGEST_SIZE = 65 };

struct jail_result {
	uint32_t ending; /* enum ending */
	int32_t code;
	uint32_t flags;
	uint32_t without;   /* limits that did not hold, and that the spec does without: bits */
	uint32_t clamped;   /* limits that the client's own control groups made lower: bits */
	uint32_t collected; /* 1: the archive is complete */
	int64_t wall_ns;    /* from the payload's start to its end */
	uint64_t cpu_us;    /* of all processes of the jail */
	uint64_t memory_peak;
	uint64_t pids_peak;
	char image[WIRE_DIGEST_SIZE];     /* SHA-256 of the image that was its root, in hexadecimal;
					     "": it had none, or a folder */
	uint32_t denied[JAIL_DENIED_MAX]; /* tries of each call of refused.list, in its order */
};

enum { JAIL_FLAGS_MAX = 16 + JAIL_DENIED_MAX };

/*
 * What else is to be said of a jail: "pids_hit", "disk_full", "inodes_full", "image_changed",
 * "without:swap", "clamped:memory", "denied:ptrace".
 */
struct jail_flag {
	char text[40];
};

/**
 * jail_denied_name() - the call that denied[@index] counts; NULL if the list has no so many
 */
const char *jail_denied_name(size_t index);

/**
 * jail_result_flags() - the flags of a result in words
 *
 * Return: how many there are in @out.
 */
size_t jail_result_flags(const struct jail_result *result, struct jail_flag out[JAIL_FLAGS_MAX]);

enum event_kind {
	EVENT_READY,          /* launcher: requests are welcome; what was asked for is granted */
	EVENT_BUSY,           /* launcher: it is not, for the time being */
	EVENT_STARTED,        /* the payload runs; brings struct started_fds */
	EVENT_FAILED,         /* there is no jail, err says why; nothing follows */
	EVENT_NOT_FOUND,      /* as FAILED: there is no such program in the jail */
	EVENT_NOT_EXECUTABLE, /* as FAILED: the program can not be executed */
	EVENT_ENDED,          /* result; nothing of the jail is left; nothing follows */
	EVENT_LOST,           /* client's side only: the launcher has died, or the socket closed
				 without a last word */
};

struct event {
	uint32_t kind; /* enum event_kind */
	uint32_t
		service_count; /* STARTED: so many of its descriptors, the last ones, are sockets */
	struct jail_result result;
	struct err err;
};

/*
 * What the client gets when the payload has started. With a freezable jail it can stop every
 * process of it between two instructions and let them go on, without asking anybody: the judge
 * does so around each call. Both files are those of the jail's own cgroup v2 leaf.
 */
struct started_fds {
	int pid_fd;    /* the payload: readable once it has ended */
	int freeze_fd; /* cgroup.freeze, to write "1" or "0" to; -1 unless the spec is freezable */
	int events_fd; /* cgroup.events, POLLPRI when "frozen" changes; the same */
	uint32_t service_count;
	int service_fd[NET_SERVICES_MAX]; /* nonblocking sockets that listen in the jail, by service
					   */
};

#define STARTED_FDS_INIT ((struct started_fds){ -1, -1, -1 })

/**
 * started_fds_done() - close what is there
 */
void started_fds_done(struct started_fds *fds);

/* --- the client's side --- */

/* The descriptors of a request by role, borrowed; -1 for those that the spec does not want. */
struct spec_fds {
	int fd[SPEC_FD_COUNT];
};

/**
 * spec_fds_init() - all -1
 */
void spec_fds_init(struct spec_fds *fds);

/**
 * wire_hello() - introduce ourselves to the service, and wait for its answer
 *
 * Return: 0, or -1 with the service's own words.
 */
int wire_hello(int launcher_fd, struct err *err) must_check;

/**
 * wire_timing() - ask about the timing lease, and wait for the answer
 *
 * Return: 1 granted, 0 not now, -1: the launcher is gone, or refuses.
 */
int wire_timing(int launcher_fd, enum timing_ask ask, struct err *err) must_check;

/**
 * wire_request() - ask the launcher for a jail
 * @fds: what the spec wants but SPEC_FD_CONTROL, which is made here
 *
 * Return: the jail's socket, owned by the caller; closing it ends the jail. -1 on error.
 */
int wire_request(int launcher_fd, const struct jail_spec *spec, const struct spec_fds *fds,
		 struct err *err) must_check;

/**
 * wire_next() - wait for the next event on a jail's or the launcher's socket
 * @started: receives the descriptors of EVENT_STARTED, owned by the caller, STARTED_FDS_INIT with
 *           any other event; NULL: they are closed
 *
 * A socket that closed gives EVENT_LOST with result.ending ENDING_LAUNCHER_LOST; so does a monitor
 * whose launcher has died, with what the jail has used.
 */
int wire_next(int socket_fd, struct event *out, struct started_fds *started,
	      struct err *err) must_check;

/**
 * wire_end() - ask the monitor to end its jail, with this ending
 */
int wire_end(int jail_fd, enum ending ending, struct err *err) must_check;

/**
 * wire_output_came() - tell the monitor, which does not see the payload's output, that there was
 * some: the jail is not idle
 */
int wire_output_came(int jail_fd, struct err *err) must_check;

/* --- the launcher's side; nothing here waits --- */

/* A request that was looked at, and is still there. */
struct wire_asked {
	struct wire_request request;
	bool has_fds; /* descriptors came with it */
	pid_t sender; /* 0: not known */
};

/**
 * wire_peek() - look at the next request; the spec of one for a jail is checked
 *
 * The socket has SO_PASSCRED. No descriptor is received: see message_peek(). Whatever comes of it,
 * the request is to be taken away: by message_take_fds() or message_drop().
 *
 * Return: 1; 0 if the client has gone; -1 on a request that makes no sense, with has_fds set.
 */
int wire_peek(int socket_fd, struct wire_asked *out, struct err *err) must_check;

/**
 * wire_sort() - put the descriptors of the request that wire_peek() has shown where they belong
 * @spec: its spec; NULL: it made no sense, and only whom to tell is wanted
 * @got:  as message_take_fds() gave them; keeps what is not wanted, which is not closed here
 * @fds:  receives them by role, owned by the caller
 *
 * Return: 0, or -1 with the control socket in fds (if there was one) so that the client can be
 * told.
 */
int wire_sort(const struct jail_spec *spec, struct message_fds *got, struct spec_fds *fds,
	      struct err *err) must_check;

/**
 * wire_check_fds() - refuse descriptors of a kind that their role has no use for
 *
 * Above all folders, and those that were opened as a path only: what a client may name is no right
 * to read it. May wait for a file system of the client's.
 */
int wire_check_fds(const struct spec_fds *fds, struct err *err) must_check;

/**
 * wire_tell() - send an event; a client that does not read loses it (err->sys EAGAIN)
 * @started: sent along with EVENT_STARTED, borrowed; NULL with any other
 */
int wire_tell(int socket_fd, const struct event *event, const struct started_fds *started,
	      struct err *err) must_check;

/* What a client says on its jail's socket. */
struct wish {
	bool output_came;   /* only that; nothing is to end */
	enum ending ending; /* else: the ending that it asks for, one of its own */
};

/**
 * wire_wish() - after the jail's socket became readable: what the client says
 *
 * Return: 1 with *out, 0 if the client has gone, -1 on nonsense.
 */
int wire_wish(int jail_fd, struct wish *out, struct err *err) must_check;

/**
 * spec_fds_done() - close what is there
 */
void spec_fds_done(struct spec_fds *fds);
