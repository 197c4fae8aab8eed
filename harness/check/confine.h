/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/run/given_limits.h"
#include "sandbox/landlock.h"

/*
 * A child that tries an agent's work sees what it would see in the judge's jails, as far as the
 * agent's jail can do that: nothing of the workspace and of what else the agent has
 *
 * By Landlock: all that lies at the root of the file system may be read, but /work, /tmp, /run and
 * /dev; of /dev the plain devices can be used. Without Landlock there is no such wall, and whoever
 * asks has to say so.
 */

/* The address sanitizer's shadow of all memory is data: that limit would leave it none. */
#if defined(__SANITIZE_ADDRESS__)
#define CONFINE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CONFINE_SANITIZED 1
#endif
#endif
#ifndef CONFINE_SANITIZED
#define CONFINE_SANITIZED 0
#endif

struct confinement {
	const struct given_limits *limits; /* NULL: none */
	struct landlock_slice rules;       /* of the system */
};

/**
 * confine_open() - look for what there is at the root
 * @limits: of workers; must stay there
 */
int confine_open(struct confinement *out, const struct given_limits *limits,
		 struct err *err) must_check;

/**
 * confine_has_walls() - is there a Landlock to confine by?
 */
bool confine_has_walls(void);

/**
 * confine_build() - in the child that becomes a build: it may write to /tmp and to one folder
 * @folder_fd: that folder
 */
int confine_build(const struct confinement *confinement, int folder_fd, struct err *err) must_check;

/**
 * confine_worker() - in the child that becomes a worker: it may read its program and one folder,
 * and its memory, threads and descriptors are limited
 * @folder_fd: where its library is; -1: it has none
 * @tasks:     processes and threads of this user that run already, see confine_tasks()
 */
int confine_worker(const struct confinement *confinement, int program_fd, int folder_fd,
		   uint64_t tasks, struct err *err) must_check;

/**
 * confine_tasks() - how many processes and threads this user has: the kernel counts them together
 */
uint64_t confine_tasks(void);
