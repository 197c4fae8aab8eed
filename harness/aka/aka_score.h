/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/aka/aka_cases.h"
#include "harness/aka/aka_results.h"

/*
 * The mark of one task: 20 for compiling, 100 for correct, 100 times the speedup
 *
 * `score_aka` is that of the reference to the last digit, its fault included: a speedup that its
 * own evaluator has refused is paid all the same, out of the means of what is left. `score_strict`
 * is the same formula over what the files can bear out: a refusal stays one, and whatever makes a
 * time doubtful makes it none. A task that the reference loses keeps the points of its commands.
 * Neither says anything of how the times came about; that is for whoever runs the commands.
 */

/**
 * aka_score_speedup() - the speedup that the reference pays and reports
 */
double aka_score_speedup(const struct aka_result *result);

/**
 * aka_score() - its score
 */
double aka_score(const struct aka_result *result);

struct aka_strict {
	double speedup; /* 0: refused or none */
	double score;
	char reason[240]; /* why something was refused; empty: nothing was */
};

/**
 * aka_score_strict() - the score that the files bear out
 * @result:    of aka_result_make() over the same cases
 * @baseline:  all that was measured before
 * @optimized: and after; NULL: nothing
 */
void aka_score_strict(struct aka_strict *out, const struct aka_result *result,
		      const struct aka_cases *baseline, const struct aka_cases *optimized);
