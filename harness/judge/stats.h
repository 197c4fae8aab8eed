/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "harness/judge/constants.h"
#include "harness/judge/samples.h"
#include "sandbox/base/names.h"

/*
 * From raw samples to a verdict. Everything in here is pure: the same samples give the same
 * figures, bit for bit, on every host that computes in IEEE doubles.
 *
 * A block's value is the mean over cases of log(baseline / candidate), each the median of a
 * side's timed calls less the block's null median. The estimate over blocks is Hodges-Lehmann's,
 * its interval that of the signed ranks, exact for any symmetric distribution.
 */
enum verdict {
	VERDICT_AMBG, /* the interval decides nothing, or the times are not resolved */
	VERDICT_FAST,
	VERDICT_SLOW,
	VERDICT_SAME,
};

extern const struct name verdict_names[];

/* An estimate of a log ratio and its interval. */
struct interval {
	double center;
	double low; /* -INFINITY, INFINITY: too few values for an interval at this level */
	double high;
};

struct stats_case {
	double null_ns;     /* median */
	double null_sd_ns;  /* robust */
	double delta_ns;    /* |sealed - in-process| of the store worker */
	double program_ns;  /* what the worker program takes between "go" and "done" */
	double floor_ns;    /* below this a time is not resolved */
	double baseline_ns; /* medians, less the null */
	double candidate_ns;
	double claimed_ns; /* median of what the candidate's worker said */
	bool launch_bound;
	bool clock_mismatch; /* it said something else than the judge's clock: advisory */
};

struct stats_mark {
	uint32_t blocks;
	struct interval ratio; /* of log(baseline / candidate): > 0 is faster */
	double margin;
	enum verdict verdict;
	bool launch_bound; /* a case is: AMBG whatever the interval says */
};

/**
 * stats_median() - of @count values, which it sorts; 0 for none
 */
double stats_median(double *values, uint32_t count);

/**
 * stats_robust_sd() - interquartile range / 1.35 of @count values, which it sorts
 */
double stats_robust_sd(double *values, uint32_t count);

/**
 * stats_signed_rank() - the rank k of the Walsh averages that bounds a two-sided interval
 * @count:     values, up to JUDGE_BLOCKS
 * @alpha_ppm: its error in parts per million
 *
 * Return: the largest k with P(T < k) <= alpha / 2 for the signed-rank sum T, computed exactly;
 * 0 if there is none.
 */
uint32_t stats_signed_rank(uint32_t count, uint32_t alpha_ppm);

/**
 * stats_interval() - Hodges-Lehmann estimate and interval of up to JUDGE_BLOCKS values
 */
struct interval stats_interval(const double *values, uint32_t count, uint32_t alpha_ppm);

/**
 * stats_verdict() - what an interval says about a margin
 */
enum verdict stats_verdict(struct interval ratio, double margin);

/**
 * stats_mark() - the mark of some of the cases after a number of blocks
 * @samples:   in the order of their blocks
 * @counted:   which cases are in it
 * @floor_ppm: the host's A/A floor
 * @blocks:    the first so many are looked at
 * @cases:     receives a figure for each counted case
 */
struct stats_mark stats_mark(const struct samples *samples, const bool *counted,
			     uint32_t case_count, int64_t floor_ppm, uint32_t blocks,
			     struct stats_case *cases);
