/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox/base/err.h"

/*
 * Per-process limits: what the control group does not count
 *
 * Always: no core file and no run of a core_pattern helper (RLIMIT_CORE 1: at 0 a pipe pattern
 * would still run its helper, on the host; a hard limit of 0 that can not be raised will do where
 * there is no such pattern), no real-time priority, no raise of nice. Never: a
 * limit on address space, which GPU runtimes reserve by the terabyte. Limits that somebody's
 * shell had set and that we have no opinion on (address space, data, resident set, CPU time,
 * locks) go to their hard limits.
 */
struct rlimit_slice {
	uint64_t files;     /* descriptors; 0 leaves it */
	uint64_t stack;     /* bytes, of the first thread; 0 leaves it */
	uint64_t processes; /* of this uid in its user namespace; 0 leaves it (the cgroup counts) */
	uint64_t file_size; /* bytes a file; 0: as large as the hard limit allows */
	uint64_t memlock;   /* bytes; 0 leaves it */
	uint64_t msgqueue;  /* bytes in POSIX message queues; 0 leaves it */
	uint64_t sigpending; /* queued signals; 0 leaves it */
};

/* What is done with one limit of a process. */
struct rlimit_row {
	int resource;
	const char *name;     /* "RLIMIT_NOFILE" */
	const char *what;     /* "open files" */
	const char *unit;     /* "descriptors" */
	const char *unit_key; /* the key of a systemd unit that raises the hard limit; NULL: none */
	bool is_opened;       /* soft goes to the hard limit, which stays */
	uint64_t value;       /* else soft and hard alike */
};

enum { RLIMITS_MAX = 16 };

/**
 * rlimits_plan() - what rlimits_apply() does, in its order; pure
 *
 * Return: how many rows there are in @out.
 */
size_t rlimits_plan(const struct rlimit_slice *limits, struct rlimit_row out[RLIMITS_MAX]);

/**
 * rlimits_apply() - set the limits of this process, soft and hard alike
 *
 * A value above the hard limit takes CAP_SYS_RESOURCE in the initial user namespace: call it
 * before a user namespace is entered. Without that privilege it is an ERR_HOST error that says
 * what to do; only file_size 0 settles for less.
 */
int rlimits_apply(const struct rlimit_slice *limits, struct err *err) must_check;
