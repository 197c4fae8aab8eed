/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/judge/worker_source.h"
#include "sandbox/wire.h"

/*
 * Workers in jails of their own
 *
 * The judge asks the launcher itself, over descriptors that it was given; it opens no file. A held
 * worker is a frozen jail: whatever processes and threads an implementation has started, none of
 * them executes an instruction between two calls.
 */
struct jail_role {
	const struct jail_spec *spec; /* complete but for the three memfds */
	int tree_fd;                  /* what was built, a tree stream; -1 for none */
};

enum { JAIL_SOURCE_ROLES = WORKER_CANDIDATE + 1, JAIL_SOURCE_SLOTS = 4 };

struct jail_slot {
	int jail_fd; /* -1: free */
	struct started_fds fds;
};

struct jail_source {
	int launcher_fd; /* borrowed, as all below */
	int program_fd;  /* proctor-worker */
	int null_fd;     /* /dev/null: nobody reads what a worker prints */
	struct jail_role roles[JAIL_SOURCE_ROLES];
	struct jail_slot slots[JAIL_SOURCE_SLOTS];
};

/**
 * jail_source_init() - all slots free; the caller fills in the rest
 */
void jail_source_init(struct jail_source *source);

/**
 * jail_source_workers() - the source as the judge wants it; borrows @source
 */
struct worker_source jail_source_workers(struct jail_source *source);

/**
 * jail_source_done() - end the jails that are left
 */
void jail_source_done(struct jail_source *source);
