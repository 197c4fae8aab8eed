/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_stdout.h"

#include <string.h>

#include "harness/aka/pyfloat.h"
#include "tests/lib/check.h"

/* "ID=TIME" of each case, and why its own reader would have raised. */
static void finds(void (*read)(struct aka_cases *cases, const struct str *output), const char *text,
		  const char *want)
{
	cleanup(aka_cases_done) struct aka_cases cases = AKA_CASES_INIT;
	cleanup(str_done) struct str output = STR_INIT, got = STR_INIT;

	str_addf(&output, "%s", text);
	read(&cases, &output);
	for (size_t i = 0; i < cases.count; i++) {
		str_addf(&got, "%s%s", i > 0 ? " " : "", cases.list[i].id->text);
		if (cases.list[i].shape != NULL)
			pyvalue_add_str(&got, cases.list[i].shape);
		str_addf(&got, "=");
		pyfloat_add_repr(&got, cases.list[i].time_ms);
	}
	if (cases.lost_why != NULL)
		str_addf(&got, "!%s", cases.lost_why);
	CHECK_STR(got.text, want);
}

TEST(numbered_cases_and_shapes_are_found_together)
{
	finds(aka_stdout_cases, "Test case 0: 1.5 ms\ntestcase 12:\t.5MS Shape [128, 007]: 2 ms",
	      "test_case_0=1.5 test_case_12=0.5 shape_0[128, 7]=2.0");
	finds(aka_stdout_cases, "te\u017ft ca\u017fe \u0663: 1 m\u017f", "test_case_\u0663=1.0");
	finds(aka_stdout_cases, "Test case x: 1 ms Test case 1 ms Test case 2: 1 s", "");
}

TEST(performance_lines_count_where_nothing_else_does)
{
	finds(aka_stdout_cases, "Performance: 1 ms\nPERFORMANCE:2ms", "perf_0=1.0 perf_1=2.0");
	finds(aka_stdout_cases, "Performance: 1 ms\nTest case 3: 4 ms", "test_case_3=4.0");
}

TEST(what_is_no_number_is_passed_over_and_would_have_ended_the_task)
{
	finds(aka_stdout_cases, "Test case 1: ... ms Test case 2: 2 ms",
	      "test_case_2=2.0!could not convert string to float: '...'");
	finds(aka_stdout_cases, "Shape [1, 2,]: 2 ms",
	      "!invalid literal for int() with base 10: ''");
	finds(aka_stdout_cases, "Shape [1 2]: 2 ms",
	      "!invalid literal for int() with base 10: '1 2'");
	finds(aka_stdout_single, "compile took ... ms\n3 ms",
	      "test_case_0=3.0!could not convert string to float: '...'");
}

/* "Shape [1,1,…,1]: 2 ms" */
static void add_shape(struct str *output, size_t sizes)
{
	str_addf(output, "Shape [1");
	for (size_t i = 1; i < sizes; i++)
		str_add(output, ",1", 2);
	str_addf(output, "]: 2 ms ");
}

TEST(shapes_have_no_more_sizes_than_a_report_has_values)
{
	cleanup(aka_cases_done) struct aka_cases cases = AKA_CASES_INIT;
	cleanup(aka_cases_done) struct aka_cases more = AKA_CASES_INIT;
	cleanup(str_done) struct str output = STR_INIT;

	add_shape(&output, 60000);
	add_shape(&output, 40000);
	aka_stdout_cases(&cases, &output);
	CHECK_INT(cases.count, 2);
	CHECK_INT(cases.doubts, 0);
	add_shape(&output, 1);
	aka_stdout_cases(&more, &output);
	CHECK_INT(more.count, 2);
	CHECK_INT(more.doubts, AKA_DOUBT_TOO_LARGE);
}

TEST(one_time_is_the_first_of_the_most_specific_pattern)
{
	finds(aka_stdout_single, "took 5 ms GEAK_RESULT_LATENCY_MS=0.1460", "test_case_0=0.146");
	finds(aka_stdout_single, "1 ms\nPerformance: 2 s", "test_case_0=2000.0");
	finds(aka_stdout_single, "execution_time: 2 ms avg time 1 ms", "test_case_0=2.0");
	finds(aka_stdout_single, "Elapsed time: 3 seconds", "test_case_0=3000.0");
	finds(aka_stdout_single, "x 7 ms, 8 ms", "test_case_0=7.0");
	finds(aka_stdout_single, "GEAK_RESULT_LATENCY_MS=0.0000 5 ms", "");
}

TEST(a_unit_without_label_ends_where_its_word_does)
{
	finds(aka_stdout_single, "5 ms_ 6 msé 7 secondsx 8 second", "test_case_0=8000.0");
	finds(aka_stdout_single, "5 ms\u2192", "test_case_0=5.0");
	finds(aka_stdout_single, "5 us", "");
}

TEST(times_that_could_be_any_are_doubted)
{
	static const struct {
		const char *text;
		unsigned int doubts;
	} rows[] = {
		{ "GEAK_RESULT_LATENCY_MS=1", 0 },
		{ "GEAK_RESULT_LATENCY_MS=1 GEAK_RESULT_LATENCY_MS=1", AKA_DOUBT_REPEATED_OUTPUT },
		{ "took 1 ms", AKA_DOUBT_UNLABELLED_TIME },
		{ "elapsed time: 1 ms", AKA_DOUBT_HOST_TIME },
		{ "GEAK_RESULT_LATENCY_MS=.. GEAK_RESULT_LATENCY_MS=1", AKA_DOUBT_NO_NUMBER },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup(aka_cases_done) struct aka_cases cases = AKA_CASES_INIT;
		cleanup(str_done) struct str output = STR_INIT;

		str_addf(&output, "%s", rows[i].text);
		aka_stdout_single(&cases, &output);
		CHECK_INT(cases.count, 1);
		CHECK_INT(cases.doubts, rows[i].doubts);
	}
}
