/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/denied.h"
#include "sandbox/ids.h"
#include "sandbox/landlock.h"
#include "sandbox/seccomp.h"
#include "sandbox/spec.h"

/*
 * All that pid 1 of a jail is told: the checked spec and what the launcher adds. It comes by a
 * message over the monitor's socket, in a sealed memfd, which pid 1 places at BRIEF_FD; the other
 * descriptors of the message follow and have the numbers that stand in it. All of them lie above
 * what a payload can be passed, so that placing one overwrites none. Until then pid 1 waits: it may
 * be older than the request for its jail.
 */
enum {
	BRIEF_MONITOR_FD = 64,
	BRIEF_FD = 65,
	BRIEF_FIRST_FD = 66,
	BRIEF_JOINS_MAX = CGROUP_CONTROLLERS
};

enum brief_payload {
	BRIEF_EXECUTE, /* the spec's command */
	BRIEF_COLLECT, /* our own code: the given mount's tree goes to fd[SPEC_FD_COLLECT] */
};

struct brief {
	uint32_t payload; /* enum brief_payload */
	uint32_t join_count;
	int32_t join_fd[BRIEF_JOINS_MAX]; /* `tasks` files of v1 cgroups to join */
	int32_t given_fd;                 /* a detached mount for PLAN_GIVEN, or -1 */
	int32_t devices_fd;               /* a detached mount for PLAN_DEVICES, or -1 */
	int32_t image_fd;                 /* a detached mount for PLAN_IMAGE, or -1 */
	int32_t denied_fd;                /* the page to count refused calls in; -1: uncounted */
	int32_t fd[SPEC_FD_COUNT];        /* by enum spec_fd; -1 for none; CONTROL is never here */
	struct ids ids;
	struct landlock_slice landlock;
	struct seccomp_program filter;
	struct denied_calls refused;
	struct jail_spec spec;
};
