/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/check/candidate.h"
#include "harness/check/checking.h"
#include "harness/report/table.h"

/*
 * What proctor-check tells, as text and as JSON
 */
struct results {
	const struct task *task;
	const struct candidate *candidate;
	const struct checked *checked; /* NULL: it was not built */
};

/**
 * results_print() - append a line for each case, and what it all comes to
 */
void results_print(const struct results *results, const struct table_style *style, struct str *out);

/**
 * results_put() - the same as one JSON object
 */
void results_put(const struct results *results, struct json_writer *json);
