/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "harness/aka/aka_results.h"
#include "harness/aka/aka_score.h"
#include "sandbox/base/compiler.h"
#include "sandbox/base/err.h"
#include "sandbox/base/str.h"

/*
 * A run in figures, as the reference counts them
 *
 * Speedups are those of tasks that compile, are correct and have one above zero. Rates are over all
 * tasks that are given. The geometric mean and the share of tasks that are faster by a factor are
 * ours: the paper has them, its code does not.
 */
struct aka_figures {
	size_t count;
	double total_score, average_score;
	size_t compiled, correct, faster;
	double compiled_rate, correct_rate, faster_rate; /* in percent */
	double average, median, deviation, p25, p75, p90;
	size_t valid; /* how many speedups these are of */
	double geometric;
	double fast_1, fast_2; /* share of tasks, 0 to 1, with a speedup over 1 and 2 */
};

struct aka_type {
	const char *name; /* owned */
	struct aka_figures figures;
};

/* What the report says of a task. */
struct aka_line {
	const char *task_name; /* borrowed */
	const char *agent_name;
	bool compiles, is_correct;
	double score, speedup;
	char reason[240]; /* of a strict refusal */
};

struct aka_summary {
	struct str timestamp, agent, gpu;
	struct aka_figures all;
	struct aka_type *types; /* in the order in which they are met */
	size_t type_count;
	struct aka_line *lines;
	size_t line_count;
};

#define AKA_SUMMARY_INIT \
	((struct aka_summary){ .timestamp = STR_INIT, .agent = STR_INIT, .gpu = STR_INIT })

/**
 * aka_line_of() - a result with the reference's score
 */
struct aka_line aka_line_of(const struct aka_result *result);

/**
 * aka_line_strict() - a result with the strict one
 */
struct aka_line aka_line_strict(const struct aka_result *result, const struct aka_strict *strict);

/**
 * aka_summary_make() - count a run
 * @out:       AKA_SUMMARY_INIT; the caller's to release with aka_summary_done()
 * @lines:     one a task, sorted by the names of their folders, as the reference does: sums depend
 *             on the order. What their names point to has to outlive @out
 * @workspace: the name of the folder that the run's folder is in: it has GPU and agent
 * @run:       the name of the run's folder: it has the time
 */
void aka_summary_make(struct aka_summary *out, const struct aka_line *lines, size_t count,
		      const char *workspace, const char *run);

/**
 * aka_summary_done() - release it
 */
void aka_summary_done(struct aka_summary *summary);

/**
 * aka_summary_read() - the figures of a task_type_breakdown.json; it has no lines
 * @out: AKA_SUMMARY_INIT
 *
 * What is not there is 0, as where the reference compares two. Return: -1 with ERR_INPUT if it is
 * no JSON or a figure is no number.
 */
int aka_summary_read(struct aka_summary *out, const void *bytes, size_t len,
		     struct err *err) must_check;

/**
 * aka_task_type() - what stands before the first '/' of a task's name; empty if there is none
 */
void aka_task_type(struct str *out, const char *task_name);
