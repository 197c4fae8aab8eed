/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/run/record.h"
#include "harness/run/score.h"

/*
 * What some attempts of one agent come to: the benchmark's figures on seen cases, and how much of
 * them holds on cases that the agent did not know. Pure; harness/report/README.md has each
 * definition and where it comes from.
 *
 * Several attempts on one task are one task: a figure is the mean over tasks of the mean over the
 * task's attempts, so that a task which was tried more often weighs no more. An attempt that ended
 * INFRA is counted and is in no figure. A figure of nothing is NAN.
 */
enum quadrant {
	QUADRANT_BOTH,   /* right on seen cases and on unseen ones */
	QUADRANT_SEEN,   /* on seen ones only */
	QUADRANT_UNSEEN, /* on unseen ones only */
	QUADRANT_NONE,
	QUADRANTS,
	QUADRANT_UNKNOWN = QUADRANTS, /* the unseen cases have no mark */
};

enum timed {
	TIMED_NOT, /* right, and no time was taken */
	TIMED_FAST,
	TIMED_SLOW,
	TIMED_SAME,
	TIMED_AMBG,         /* the interval decides nothing */
	TIMED_LAUNCH_BOUND, /* too short for this host's clock: AMBG for another reason */
	TIMED_KINDS,
};

/* An attempt, as far as it counts. */
struct generalisation_attempt {
	uint32_t task;  /* which; the same for all attempts on one task */
	bool is_marked; /* false: INFRA, and the rest is without meaning */
	struct score_result result;
	enum quadrant quadrant;
	enum timed timed; /* of the seen cases, if they are right */
	/* Logarithms; NAN: not known, or not resolved by this host's clock. */
	double seen_ratio;
	double unseen_ratio;
};

/**
 * generalisation_attempt() - a record as it counts
 * @task: its number
 */
struct generalisation_attempt generalisation_attempt(const struct record *record, uint32_t task);

struct generalisation {
	size_t tasks;    /* with a marked attempt: all that follows is over these */
	size_t unmarked; /* tasks with none */
	size_t attempts; /* marked */
	size_t infra;    /* not marked */

	double compiled; /* share of the attempts */
	double right;    /* on seen cases */
	double once;     /* share of the tasks that one attempt at least is right on */
	double always;   /* … that all are right on */

	double score;
	double score_sd;    /* of the repeats, pooled over tasks; NAN: nothing was repeated */
	double score_least; /* mean over tasks of each one's least */
	double score_most;

	double speedup;            /* arithmetic mean, a failed one as 0 */
	double geometric;          /* a failed one as SCORE_SPEEDUP_FLOOR */
	double geometric_right;    /* over the right ones alone */
	double fast_1, fast_2;     /* share that is right, FAST, and more than 1, 2 times as fast */
	size_t timed[TIMED_KINDS]; /* attempts that are right on seen cases */

	size_t quadrant_attempts[QUADRANTS + 1]; /* the last: in none of them */
	double quadrants[QUADRANTS]; /* shares, over the tasks with an attempt in one of them */
	double unseen_if_seen;       /* P(unseen right | seen right) */
	double unseen_if_baseline;   /* P(unseen right | baseline right) */

	/* Over the attempts that are right and resolved on both; the interval is over tasks. */
	struct score_interval retention; /* speedup unseen / seen, geometric mean */
	struct score_interval gap;       /* speedup unseen - seen */
};

/**
 * generalisation_of() - the figures of @count attempts of which those on one task stand together
 */
struct generalisation generalisation_of(const struct generalisation_attempt *attempts,
					size_t count);
