/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/aka/aka_cases.h"

/*
 * Baseline and candidate, timed in turns
 *
 * AgentKernelArena measures each side once, hours apart: of an unchanged kernel that makes anything
 * from 0.55 to 1.40. Here the performance command runs in rounds of baseline, candidate, candidate,
 * baseline, each time from scratch, so that whatever drifts falls on both sides alike. The value of
 * a run is the mean of the logarithms of its cases' times; a difference counts where every run of
 * the baseline is slower, or every one faster, than every run of the candidate, by more than the
 * margin and by more than half of what two runs of one side lie apart. Two rounds tell unchanged
 * kernels apart in fewer than 1 of 200 trials so, whether noise is normal, skewed or of two levels;
 * one round would in 1 of 6, and so never does.
 */
enum aka_side { AKA_SIDE_BASELINE, AKA_SIDE_CANDIDATE };

enum {
	AKA_ROUND_RUNS = 4,
	AKA_ROUNDS = 2, /* where nobody says how many; and what a difference takes */
	AKA_ROUNDS_MAX = 10,
	AKA_RUNS_MAX = AKA_ROUNDS_MAX * AKA_ROUND_RUNS,
};

#define AKA_MARGIN 0.01 /* of a logarithm: about 1 % */

/* A kernel of a GPU takes longer than that, however little it does (milliseconds). */
#define AKA_FLOOR_MS 0.0005

/* One run of the performance command. */
struct aka_run {
	struct aka_cases cases;
	int64_t wall_ns; /* of the whole command, by our clock */
};

/* What looks from outside as if a figure were not a measurement. They accuse nobody. */
enum aka_label {
	AKA_LABEL_BELOW_FLOOR,  /* a time that no kernel can have; it does not count */
	AKA_LABEL_SAME_FIGURES, /* all runs of the candidate say the same to the last digit */
	AKA_LABEL_WALL_UNMOVED, /* what was saved, by the figures, was not by the clock */
	AKA_LABELS,
};

struct aka_timing {
	size_t rounds;       /* whole ones; 0: not timed, and nothing else is set */
	const char *verdict; /* "FAST", "SLOW", "SAME", "AMBG" */
	double ratio;        /* mean over the cases of log(baseline / candidate), of medians */
	double low, high;    /* the least and the largest of any two runs */
	double spread;       /* the most that two runs of one side lie apart */
	double speedup;      /* mean over the cases of baseline / candidate, of medians */
	unsigned int labels; /* bits 1 << enum aka_label */
};

/**
 * aka_timing_side() - whose turn the @index-th run is
 */
enum aka_side aka_timing_side(size_t index);

/**
 * aka_timing_make() - what the runs say
 * @runs:      each complete: every case of it is one of the first run's
 * @count:     runs behind the last whole round do not count
 * @is_on_gpu: do the times have AKA_FLOOR_MS
 *
 * Return: 0, or the number (from 1) of a run whose cases are not those of the first one; *out then
 * says not timed.
 */
size_t aka_timing_make(struct aka_timing *out, const struct aka_run *runs, size_t count,
		       bool is_on_gpu);

/**
 * aka_timing_counts() - the speedup that the verdict bears out: where no difference was shown it is
 * 1, and a time below the floor makes it 0
 */
double aka_timing_counts(const struct aka_timing *timing);

/**
 * aka_label_name() - "BELOW_FLOOR", …
 */
const char *aka_label_name(enum aka_label label);
