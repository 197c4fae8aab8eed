/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_summary.h"

#include <string.h>

#include "tests/lib/check.h"

static bool is(double got, double want)
{
	return got >= want && got <= want;
}

/* Names, then: does it compile, is it correct, score, speedup. */
static const struct aka_line lines[] = {
	{ "hip2hip/a", "cursor", true, true, 420, 3, "" },
	{ "hip2hip/b", "cursor", true, true, 170, 0.5, "" },
	{ "single", "cursor", true, false, 20, 0, "" },
	{ "hip2hip/c", "cursor", false, false, 0, 7, "" },
};

TEST(rates_are_over_all_tasks_and_speedups_over_those_that_have_one)
{
	cleanup(aka_summary_done) struct aka_summary summary = AKA_SUMMARY_INIT;

	aka_summary_make(&summary, lines, ARRAY_LEN(lines), "workspace_MI300_claude_code",
			 "run_20260101_000000");
	CHECK_INT(summary.all.count, 4);
	CHECK(is(summary.all.total_score, 610) && is(summary.all.average_score, 152.5));
	CHECK(is(summary.all.compiled_rate, 75) && is(summary.all.correct_rate, 50));
	CHECK_INT(summary.all.faster, 1);
	CHECK_INT(summary.all.valid, 2);
	CHECK(is(summary.all.average, 1.75) && is(summary.all.median, 1.75));
	CHECK(is(summary.all.fast_1, 0.25) && is(summary.all.fast_2, 0.25));
	CHECK(summary.all.geometric > 1.22474 && summary.all.geometric < 1.22475);
	CHECK_INT(summary.type_count, 2);
	CHECK_STR(summary.types[0].name, "hip2hip");
	CHECK_INT(summary.types[0].figures.count, 3);
	CHECK_STR(summary.types[1].name, "unknown");
	CHECK(is(summary.types[1].figures.average_score, 20));
	CHECK_STR(summary.timestamp.text, "20260101_000000");
	CHECK_STR(summary.gpu.text, "MI300");
	CHECK_STR(summary.agent.text, "claude_code");
}

TEST(folders_of_other_names_say_nothing)
{
	cleanup(aka_summary_done) struct aka_summary summary = AKA_SUMMARY_INIT;

	aka_summary_make(&summary, lines, 0, "workspace_MI300", "other");
	CHECK_STR(summary.timestamp.text, "unknown");
	CHECK_STR(summary.gpu.text, "unknown");
	CHECK_STR(summary.agent.text, "unknown");
	CHECK_INT(summary.all.count, 0);
	CHECK(is(summary.all.compiled_rate, 0));
}

TEST(one_speedup_is_each_of_its_percentiles)
{
	cleanup(aka_summary_done) struct aka_summary summary = AKA_SUMMARY_INIT;

	aka_summary_make(&summary, lines, 1, "w", "r");
	CHECK(is(summary.all.p25, 3) && is(summary.all.p90, 3) && is(summary.all.deviation, 0));
}

TEST(results_become_lines_of_either_mark)
{
	cleanup(aka_result_done) struct aka_result result = AKA_RESULT_INIT;
	struct aka_strict strict = { .score = 20, .reason = "doubted" };
	struct aka_line line;

	aka_result_lose(&result, "a/b", "cursor", "gone");
	line = aka_line_strict(&result, &strict);
	CHECK_STR(line.reason, "doubted");
	CHECK(is(line.score, 20) && is(aka_line_of(&result).score, 0));
}

static int read_back(const char *text, struct aka_summary *out, struct err *err)
{
	return aka_summary_read(out, text, strlen(text), err);
}

TEST(figures_are_read_from_a_file_and_what_is_not_there_is_zero)
{
	cleanup(aka_summary_done) struct aka_summary summary = AKA_SUMMARY_INIT;
	struct err err = ERR_INIT;

	CHECK_OK(read_back("{\"agent\":\"x\",\"overall\":{\"total_tasks\":3,\"p25_speedup\":1.5},"
			   "\"task_types\":{\"hip2hip\":{\"count\":2,\"average_score\":7}}}",
			   &summary, &err));
	CHECK_STR(summary.agent.text, "x");
	CHECK_STR(summary.timestamp.text, "unknown");
	CHECK_INT(summary.all.count, 3);
	CHECK(is(summary.all.p25, 1.5) && is(summary.all.average, 0));
	CHECK_STR(summary.types[0].name, "hip2hip");
	CHECK(is(summary.types[0].figures.average_score, 7));
}

TEST(a_file_that_has_other_things_is_refused)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{ "", "task_type_breakdown.json: no value at byte 0" },
		{ "[]", "task_type_breakdown.json: no object" },
		{ "{\"task_types\":[]}", "task_type_breakdown.json: task_types: no object" },
		{ "{\"overall\":{\"total_tasks\":-1}}",
		  "task_type_breakdown.json: overall: 'total_tasks' is no count of tasks" },
		{ "{\"task_types\":{\"a\":{\"p90_speedup\":\"1\"}}}",
		  "task_type_breakdown.json: a: 'p90_speedup' is no number" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup(aka_summary_done) struct aka_summary summary = AKA_SUMMARY_INIT;
		struct err err = ERR_INIT;

		CHECK_INT(read_back(rows[i].text, &summary, &err), -1);
		CHECK_STR(err.text, rows[i].error);
		CHECK_INT(summary.type_count, 0);
	}
}

TEST(the_type_of_a_task_is_the_first_part_of_its_name)
{
	cleanup(str_done) struct str type = STR_INIT;

	aka_task_type(&type, "a/b/c");
	CHECK_STR(type.text, "a");
	str_clear(&type);
	aka_task_type(&type, "abc");
	CHECK_STR(type.text, "");
}
