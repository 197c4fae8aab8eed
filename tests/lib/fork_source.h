/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "harness/judge/worker_source.h"
#include "sandbox/base/process.h"

/*
 * Workers by plain fork and exec, for tests of the judge: no jail, so nothing but the protocol is
 * held against them. A worker is held by SIGSTOP, which reaches its threads and no children.
 */
struct fork_implementation {
	const char *library; /* NULL: the worker program's own entries */
	const char *symbol;
};

struct fork_source {
	const char *program; /* of proctor-worker */
	struct fork_implementation oracle, baseline, candidate;
	uint32_t cpu;              /* of all workers */
	struct process running[2]; /* a handle is an index: the oracle, and the other one */
	uint32_t started;          /* workers so far */
	uint32_t candidates;       /* of these the candidate's */
};

/**
 * fork_source_init() - nothing runs yet
 */
void fork_source_init(struct fork_source *source);

/**
 * fork_source_workers() - the callbacks; @source must stay where it is
 */
struct worker_source fork_source_workers(struct fork_source *source);
