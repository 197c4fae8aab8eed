/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/aka_reports.h"

#include <string.h>

void aka_test_cases(struct aka_cases *out, const char *report)
{
	cleanup(str_done) struct str output = STR_INIT;
	struct aka_measured measured = { .task_type = "hip2hip", .output = &output };

	measured.reports[AKA_BUILD_PERFORMANCE_REPORT] =
		(struct aka_bytes){ .bytes = report, .len = strlen(report) };
	aka_cases_read(out, &measured);
}

void aka_test_result(struct aka_result *out, const char *task_name, const struct aka_cases *base,
		     const struct aka_cases *optimized)
{
	aka_result_make(out, &(struct aka_attempt){
				     .task_name = task_name,
				     .agent_name = "cursor",
				     .baseline = base,
				     .optimized = optimized,
			     });
}
