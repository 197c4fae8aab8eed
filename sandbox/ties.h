/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/base/err.h"

/*
 * What a jail is tied to: it ends when one of these does
 *
 * All of them behind one descriptor, so that whoever waits for something else waits for them as
 * well. Which one broke first is told by its kind.
 */
enum tie {
	TIE_NONE,
	TIE_LAUNCHER, /* the launcher has died */
	TIE_CLIENT,   /* the process that asked has ended, or its connection */
	TIE_JOB,      /* its control group has lost its last process, or is gone */
};

struct ties {
	int fd; /* owned; polls POLLIN once a tie is broken; -1: none were made */
};

#define TIES_INIT ((struct ties){ .fd = -1 })

/**
 * ties_open() - none yet
 */
int ties_open(struct ties *out, struct err *err) must_check;

/**
 * ties_add() - one more
 * @fd: borrowed, and open as long as the ties: a pidfd or an eventfd (readable at the end), or
 *      cgroup.events (for TIE_JOB), of which POLLPRI is waited for; -1: nothing to tie to
 */
int ties_add(struct ties *ties, enum tie kind, int fd, struct err *err) must_check;

/**
 * ties_broken() - what has ended, if something has; does not wait
 *
 * A launcher that has died comes first: then nobody else would clear up.
 */
enum tie ties_broken(const struct ties *ties);

/**
 * ties_done() - release them; what they were tied to stays
 */
void ties_done(struct ties *ties);
