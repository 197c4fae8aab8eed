/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/judge/marking.h"

/*
 * A marking in a process of its own, where nobody has to be kept from the key: a try for an agent
 * or for the author of a task. It is pinned to the judge's CPU and ends with its parent, at a
 * deadline, or when the operator has had enough.
 */
struct marking_child {
	const struct marking_plan *plan; /* borrowed, as all below */
	const uint8_t *key;              /* INPUTS_KEY bytes */
	const struct worker_source *source;
	struct marking_options options;
	int64_t deadline; /* on clock_now() */
	int stop_fd;      /* readable: it is ended; -1 for none */
};

enum marking_fate {
	MARKING_MADE,     /* there is a mark */
	MARKING_TOO_LONG, /* the deadline came first */
	MARKING_STOPPED,  /* stop_fd became readable */
};

/* What it comes to. Holds no pointer. */
struct marking_told {
	enum marking_fate fate;
	struct marking_set seen, unseen;
	struct stats_case cases[MARKING_CASES_MAX]; /* of as many blocks as there were */
	int64_t wall_ns;
	double busy; /* the part of that time for which the judge waited for its CPU: others had it
		      */
};

/* From here on times are no longer those of a machine of one's own. */
#define MARKING_BUSY 0.05

/**
 * marking_child_run() - mark, and wait for it
 *
 * Errors are those of marking_run(); a deadline that was missed is none. Where the marking ended
 * before its first look, `cases` has figures of the blocks that there were all the same.
 */
int marking_child_run(const struct marking_child *what, struct marking_told *out,
		      struct err *err) must_check;
