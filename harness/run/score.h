/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * The figures of a benchmark, as pure functions
 *
 * The score of one attempt is the benchmark's own: 20 for compiling, 100 for being correct, 100
 * times the speedup when correct. What is computed over tasks counts every task that was
 * selected: one that failed does not vanish from an average.
 */

/*
 * What a failed task counts in the geometric mean, where 0 would leave nothing to compare. A
 * correct candidate that is slower than this counts the same, so failing never pays.
 */
#define SCORE_SPEEDUP_FLOOR 0.1

/* The best attempt, or the mean of the repeats, of one selected task. */
struct score_result {
	bool is_compiled;
	bool is_correct;
	double speedup; /* baseline / candidate; 0: not known */
	bool is_fast;   /* the verdict is FAST: the speedup is no accident of the measurement */
};

struct score_summary {
	size_t tasks;
	size_t compiled;
	size_t correct;
	double total_score;
	double mean_score;   /* over all tasks; 0 for none */
	double mean_speedup; /* over all tasks, a failed one as 0 */
	double geometric;    /* mean of the speedups over all tasks, a failed one as the floor */
	double geometric_correct; /* over the correct tasks alone; 0 if there is none */
	/* Shares of all tasks; a speedup of 1.0003 without the verdict FAST counts for neither. */
	double fast_1; /* correct, and FAST */
	double fast_2; /* the same, with a speedup of more than 2 */
};

/**
 * score_attempt() - 0 if it does not compile, 20 if it is not correct, else 120 + 100 × speedup
 *
 * A speedup that is not a finite number above 0 is not known, and counts nothing.
 */
double score_attempt(const struct score_result *result);

/**
 * score_summarise() - the figures over all @count selected tasks
 */
struct score_summary score_summarise(const struct score_result *results, size_t count);

struct score_spread {
	size_t count;
	double mean;
	double sd; /* of the sample (n - 1); 0 for fewer than two values */
	double least;
	double most;
};

/**
 * score_spread() - repeats of one figure: their mean and how far they lie apart
 */
struct score_spread score_spread(const double *values, size_t count);

/* A mean and how well it is known. */
struct score_interval {
	size_t count;
	double mean; /* NAN: of nothing */
	double low;  /* -INFINITY, INFINITY: of fewer than two values, nothing is known */
	double high;
};

/**
 * score_mean_interval() - a mean and its two-sided 95 % interval by Student's t
 *
 * The interval holds for values that are drawn independently from something not too far from a
 * normal distribution; logarithms of ratios are nearer to that than ratios.
 */
struct score_interval score_mean_interval(const double *values, size_t count);
