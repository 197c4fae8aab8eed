/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/check/candidate.h"
#include "harness/check/checking.h"
#include "harness/console/table.h"

/*
 * What proctor-check tells, as text and as JSON
 */
struct findings {
	const struct task *task;
	const struct candidate *candidate;
	const struct checked *checked; /* NULL: it was not built */
	bool is_confined;              /* it saw no more than the judge will let it see */
};

/**
 * findings_print() - append a line for each case, and what it all comes to
 */
void findings_print(const struct findings *findings, const struct table_style *style,
		    struct str *out);

/**
 * findings_put() - the same as one JSON object
 */
void findings_put(const struct findings *findings, struct json_writer *json);
