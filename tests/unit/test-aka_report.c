/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_report.h"

#include <math.h>
#include <string.h>

#include "harness/evidence/json.h"
#include "tests/lib/check.h"

/* The whole of each report: tests/data/aka, by tests/aka/recorded.sh. */
static const struct aka_line lines[] = {
	{ "hip2hip/größe", "cursor", true, true, 420, 3, "" },
	{ "hip2hip/a \"b\", c", "it's, me", true, false, 20, 0, "refused for a test" },
};

static void make(struct aka_summary *out, size_t count)
{
	aka_summary_make(out, lines, count, "workspace_MI300_cursor", "run_1");
}

TEST(names_are_padded_by_characters)
{
	cleanup(aka_summary_done) struct aka_summary summary = AKA_SUMMARY_INIT;
	cleanup(str_done) struct str text = STR_INIT;

	make(&summary, 2);
	aka_report_text(&text, &summary);
	CHECK(strstr(text.text, "\nPASS     hip2hip/größe                            Score:  420.0"
				"  Speedup: 3.00x\n") != NULL);
	CHECK(strstr(text.text,
		     "\nPARTIAL  hip2hip/a \"b\", c                         Score:   20.0"
		     "  Speedup: 0.00x\n") != NULL);
	CHECK(strstr(text.text, "  Best Speedup:            3.00x (task: hip2hip/größe)\n") !=
	      NULL);
}

TEST(fields_with_commas_and_quotes_are_quoted)
{
	cleanup(aka_summary_done) struct aka_summary summary = AKA_SUMMARY_INIT;
	cleanup(str_done) struct str text = STR_INIT;

	make(&summary, 2);
	aka_report_csv(&text, &summary);
	CHECK_STR(text.text, "Task Name,Task Type,Score,Speedup,Optimization_summary\r\n"
			     "hip2hip/größe,hip2hip,420.0000,3.0000,"
			     "Optimized by cursor using centralized evaluator\r\n"
			     "\"hip2hip/a \"\"b\"\", c\",hip2hip,20.0000,0.0000,"
			     "\"Optimized by it's, me using centralized evaluator\"\r\n");
}

TEST(a_run_without_tasks_has_a_report)
{
	cleanup(aka_summary_done) struct aka_summary summary = AKA_SUMMARY_INIT;
	cleanup(str_done) struct str text = STR_INIT, json = STR_INIT;

	make(&summary, 0);
	aka_report_text(&text, &summary);
	CHECK(strstr(text.text, "Total Tasks:           0\n") != NULL);
	CHECK(strstr(text.text, "BREAKDOWN") == NULL && strstr(text.text, "Best") == NULL);
	aka_report_json(&json, &summary);
	CHECK(strstr(json.text, "\n  \"task_types\": {}\n}") != NULL);
}

TEST(our_own_file_has_both_marks_and_the_reason)
{
	cleanup(aka_summary_done) struct aka_summary aka = AKA_SUMMARY_INIT,
						     strict = AKA_SUMMARY_INIT;
	cleanup(json_done) struct json json = JSON_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	struct err err = ERR_INIT;
	const struct json_value *all, *task;
	double value;

	make(&aka, 2);
	make(&strict, 2);
	aka_report_marks(&text, &aka, &strict);
	CHECK_OK(json_parse(&json, text.text, text.len, text.len, &err));
	all = json_member(json_root(&json), "strict");
	CHECK_OK(json_get_double(all, "fast_2", &value, &err));
	CHECK(value >= 0.5 && value <= 0.5);
	task = json_item(json_member(json_root(&json), "tasks"), 1);
	CHECK_STR(json_as_text(json_member(task, "refused")), "refused for a test");
	task = json_item(json_member(json_root(&json), "tasks"), 0);
	CHECK(json_is_absent(json_member(task, "refused")));
}
