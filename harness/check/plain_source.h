/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "harness/check/confine.h"
#include "harness/judge/worker_source.h"
#include "sandbox/base/process.h"

/*
 * Workers by plain fork and exec, for an agent that tries its own work: it is in a jail already,
 * and nobody else can be fooled
 *
 * A worker is a process group of its own on one CPU, held by SIGSTOP. That reaches it, and all that
 * it has started unless a process has left the group; a jail's freezer reaches that too. Whoever
 * uses the source ends such processes with leftovers_end(). What a worker
 * prints goes nowhere, as with the judge.
 */
struct plain_implementation {
	const char *shared_object; /* NULL: the worker program's own entries */
	const char *symbol;
	const char *folder; /* that has all that it reads; only where there are walls */
};

enum { PLAIN_ROLES = WORKER_CANDIDATE + 1, PLAIN_SLOTS = 2 };

struct plain_source {
	const char *program; /* the path of proctor-worker; borrowed, as all texts */
	struct plain_implementation roles[PLAIN_ROLES];
	uint32_t cpu;                          /* of all workers */
	const struct confinement *confinement; /* NULL: workers see all that we see */
	struct process running[PLAIN_SLOTS];   /* a handle is an index: the oracle, another one */
};

/**
 * plain_source_init() - nothing runs yet; the caller fills in the rest
 */
void plain_source_init(struct plain_source *source);

/**
 * plain_source_workers() - the source as the judge wants it; @source must stay where it is
 */
struct worker_source plain_source_workers(struct plain_source *source);
