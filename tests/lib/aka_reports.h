/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/aka/aka_results.h"

/* Measurements and results out of the texts of reports, for the tests of harness/aka/. */

/**
 * aka_test_cases() - the cases of a report of a hip2hip task
 */
void aka_test_cases(struct aka_cases *out, const char *report);

/**
 * aka_test_result() - a task that compiles and is correct
 */
void aka_test_result(struct aka_result *out, const char *task_name, const struct aka_cases *base,
		     const struct aka_cases *optimized);
