/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/run/evaluation.h"

/*
 * The runs of the performance command, and what they bear out
 */

/**
 * evaluation_time() - time both sides, as far as there is something to time
 */
int evaluation_time(const struct evaluation_job *job, struct evaluation *out,
		    struct err *err) must_check;

/**
 * evaluation_time_once() - run the performance command of the side whose turn @index is
 */
int evaluation_time_once(const struct evaluation_job *job, struct evaluation *out, size_t index,
			 struct err *err) must_check;

/**
 * evaluation_make_result() - what the reference would say of two runs
 * @result: AKA_RESULT_INIT; aka_result_done() frees it
 */
void evaluation_make_result(const struct evaluation_job *job, const struct evaluation *out,
			    const struct aka_cases *baseline, const struct aka_cases *optimized,
			    struct aka_result *result);

/**
 * evaluation_be_strict() - pay for what all runs together bear out, and for no more
 *
 * The strict mark of the first two was made.
 */
void evaluation_be_strict(const struct evaluation_job *job, struct evaluation *out);
