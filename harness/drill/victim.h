/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "sandbox/base/err.h"
#include "sandbox/base/process.h"

/*
 * The victim: a process of root's on the host, for attacks to find, and for the drill to ask
 *
 * It has a name that attacks know, serves a secret at the host's listeners, and says on request
 * whether root can still have what the kernel counts for a user. It reads nothing but single bytes
 * of the drill, and ends when the drill's end of its socket closes, however that comes about.
 */
enum { VICTIM_LISTENERS = 4 };

struct victim {
	struct process process;
	int socket_fd; /* owned: a byte goes in, an int comes out */
};

#define VICTIM_INIT ((struct victim){ .process = PROCESS_INIT, .socket_fd = -1 })

/* What it is to be; all borrowed. */
struct victim_part {
	const char *name;                /* at most 15 bytes */
	const char *secret;              /* what it says to whoever comes */
	int listeners[VICTIM_LISTENERS]; /* -1: none; the victim's copies live on */
	int readable_fd;                 /* what it opens anew when asked to */
};

/**
 * victim_start() - fork it; call it as root
 */
int victim_start(const struct victim_part *part, struct victim *out, struct err *err) must_check;

/**
 * victim_ask() - can root have one more?
 * @what:   'i' an inotify instance, 's' a queued signal, 'p' a descriptor in a message; 'o': open
 *          the readable file, for whoever watches it
 * @answer: receives 0, or the errno that it met
 *
 * Several processes may ask at one time, each through its own copy of the socket: then an answer
 * may be another's. So may not: callers take turns.
 */
int victim_ask(const struct victim *victim, char what, int *answer, struct err *err) must_check;

/**
 * victim_done() - let it end, and reap it if it is ours
 */
void victim_done(struct victim *victim);
