/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "harness/config/task.h"
#include "harness/judge/marking_child.h"

/*
 * The judge's marking on the cases that an agent sees
 *
 * First each case by itself, so that one that is wrong hides no other; where all are right, the
 * marking as the judge does it, over all of them together.
 */
struct checking {
	const struct task *task;
	const struct worker_source *source;
	uint32_t judge_cpu, worker_cpu;
	bool is_quick;    /* nothing is timed */
	int64_t deadline; /* on clock_now() */
	int stop_fd;
};

enum { CHECKING_WHY_MAX = 320 };

struct checked_case {
	char name[MARKING_NAME_MAX];
	struct mark mark;
	char why[CHECKING_WHY_MAX]; /* in the judge's words */
	struct stats_case stats;    /* zero: not timed */
};

struct checked {
	size_t case_count;
	struct checked_case cases[CASES_SEEN_MAX];
	struct marking_set set; /* of all together; blocks 0: not timed */
	char why[CHECKING_WHY_MAX];
	int64_t wall_ns;
	double busy; /* see marking_child.h: of the marking of all */
	bool stopped;
};

/**
 * checking_run() - check, and mark
 *
 * A baseline or oracle that fails is an ERR_HOST error: the task's author has tried them.
 */
int checking_run(const struct checking *what, struct checked *out, struct err *err) must_check;

/**
 * checking_plan() - the plan over all seen cases of a task
 */
int checking_plan(const struct task *task, const uint8_t *key, struct marking_plan *out,
		  struct err *err) must_check;
