/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "harness/aka/aka_unseen.h"
#include "sandbox/base/str.h"

/*
 * A run on held-out shapes in figures
 *
 * How much of what the agents gained holds where they did not know the shapes. Speedups are those
 * of tasks of which both kernels are right. The geometric means and `retained` are ours: the paper
 * has the first, its code has neither.
 */
struct aka_spread {
	size_t count; /* of speedups above zero */
	double mean, median, deviation;
	double geometric;
};

struct aka_unseen_figures {
	size_t count; /* tasks */
	size_t statuses[AKA_UNSEEN_STATUSES];
	size_t original_correct;    /* tasks whose own kernel is right */
	size_t both_correct;        /* of these, those whose agent's is as well */
	double rate;                /* the second over the first, in percent; 0 of none */
	struct aka_spread held_out; /* speedups on held-out shapes */
	struct aka_spread seen;     /* of the same tasks in the run */
	size_t retained_count;      /* tasks that have both, */
	double retained; /* and the geometric mean of held-out / seen over them; 0 of none */
};

/**
 * aka_unseen_count() - count a run
 * @results: one a task, in the order of their folders' names: sums depend on it
 */
void aka_unseen_count(struct aka_unseen_figures *out, const struct aka_unseen *const *results,
		      size_t count);

/**
 * aka_unseen_summary_file() - append heldout_summary.yaml
 *
 * Return: false where there is no task, and no file. With an infinite speedup there is one here;
 * the reference ends with an exception.
 */
bool aka_unseen_summary_file(struct str *out, const struct aka_unseen *const *results,
			     size_t count);
