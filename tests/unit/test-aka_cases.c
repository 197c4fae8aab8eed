/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_cases.h"

#include <string.h>

#include "harness/aka/pyfloat.h"
#include "tests/lib/check.h"

static void read_report(struct aka_cases *out, const char *task_type, bool is_baseline,
			const char *report)
{
	cleanup(str_done) struct str output = STR_INIT;
	struct aka_measured measured = {
		.task_type = task_type,
		.is_baseline = is_baseline,
		.output = &output,
	};

	measured.reports[AKA_PERF_REPORT] =
		(struct aka_bytes){ .bytes = report, .len = strlen(report) };
	aka_cases_read(out, &measured);
}

/* "ID=TIME" of each case. */
static void finds_as(const char *task_type, bool is_baseline, const char *report, const char *want)
{
	cleanup(aka_cases_done) struct aka_cases cases = AKA_CASES_INIT;
	cleanup(str_done) struct str got = STR_INIT;

	read_report(&cases, task_type, is_baseline, report);
	for (size_t i = 0; i < cases.count; i++) {
		str_addf(&got, "%s", i > 0 ? " " : "");
		pyvalue_add_str(&got, cases.list[i].id);
		str_addf(&got, "=");
		pyfloat_add_repr(&got, cases.list[i].time_ms);
	}
	CHECK_STR(got.text, want);
	CHECK_INT(cases.channel, cases.count > 0 ? AKA_PERF_REPORT : AKA_NOWHERE);
}

static void finds(const char *report, const char *want)
{
	finds_as("triton2triton", false, report, want);
}

TEST(lists_and_objects_of_cases_are_read)
{
	finds("[{\"test_case_id\":\"p\",\"execution_time_ms\":2},5,{\"time_ms\":1.5}]",
	      "p=2.0 test_case_2=1.5");
	finds("{\"status\":\"ok\",\"test_cases\":[{\"time\":1},{}]}", "test_case_0=1.0");
	finds("{\"gpu_time_ms\":-1.0}", "test_case_0=-1.0");
	finds("{\"test_cases\":[],\"execution_time_ms\":1}", "test_case_0=1.0");
	finds("{\"b_ms\":1,\"wall_time_ms\":9}", "b=1.0");
	finds("{\"b_ms\":1,\"a_ms_ms\":\"2\",\"c_ms\":null}", "a_0=2.0 b_1=1.0");
	finds("{\"only_ms\":3}", "only=3.0");
	finds("\"time\"", "");
	finds("[1,", "");
}

TEST(keys_of_times_have_an_order)
{
	finds("{\"time\":9,\"execution_time_ms\":8,\"device_time_ms\":7}", "test_case_0=7.0");
	finds("{\"device_time_ms\":null,\"gpu_time_ms\":\"x\",\"time\":1}", "test_case_0=1.0");
	finds("{\"execution_time\":1000}", "test_case_0=1000000.0");
	finds("{\"execution_time\":999.5}", "test_case_0=999.5");
	finds("{\"time_ms\":1000}", "test_case_0=1000.0");
	finds("{\"host_time_ms\":5,\"timing_ms\":{\"mean\":1}}", "");
}

TEST(nested_times_and_throughputs_are_read)
{
	finds("[{\"timing_ms\":{\"min\":1,\"median\":2,\"mean\":3}}]", "test_case_0=3.0");
	finds("[{\"timing_ms\":{\"min\":1,\"median\":null}}]", "");
	finds("[{\"bytes_per_second_gs\":4}]", "test_case_0=0.25");
	finds("[{\"bytes_per_second_gs\":0}]", "");
}

TEST(torch2hip_has_a_time_of_its_own_for_each_side)
{
	const char *report = "[{\"ori_time\":4,\"opt_time\":1,\"time\":9}]";

	finds_as("torch2hip", true, report, "test_case_0=4.0");
	finds_as("torch2hip", false, report, "test_case_0=1.0");
	finds_as("hip2hip", true, report, "test_case_0=9.0");
	finds_as("torch2hip", false, "[{\"ori_time\":4,\"opt_time\":null}]", "");
}

TEST(values_are_converted_as_float_does)
{
	finds("[{\"time\":\" 0.5 \"},{\"time\":true},{\"time\":[]},{\"time\":NaN}]",
	      "test_case_0=0.5 test_case_1=1.0 test_case_3=nan");
	finds("[{\"time_ms\":1e400},{\"time_ms\":2}]", "test_case_0=inf test_case_1=2.0");
}

/* A whole number that no double holds is an exception, which ends its case only in a list. */
TEST(a_whole_number_too_large_ends_its_case)
{
	cleanup(str_done) struct str report = STR_INIT;

	str_addf(&report, "[{\"time\":1%0400d},{\"time\":1}]", 0);
	finds(report.text, "test_case_1=1.0");
	str_clear(&report);
	str_addf(&report, "{\"time\":1%0400d,\"a_ms\":1}", 0);
	finds(report.text, "");
}

TEST(reports_come_before_output_and_in_their_order)
{
	cleanup(aka_cases_done) struct aka_cases cases = AKA_CASES_INIT;
	cleanup(str_done) struct str output = STR_INIT;
	struct aka_measured measured = { .task_type = "hip2hip", .output = &output };

	str_addf(&output, "Performance: 9 ms");
	measured.reports[AKA_PERFORMANCE_REPORT] = (struct aka_bytes){ .bytes = "[]", .len = 2 };
	measured.reports[AKA_BENCHMARK_RESULTS] =
		(struct aka_bytes){ .bytes = "[{\"time\":1}]", .len = 12 };
	aka_cases_read(&cases, &measured);
	CHECK_INT(cases.channel, AKA_BENCHMARK_RESULTS);
	CHECK_INT(cases.doubts, AKA_DOUBT_BROKEN_REPORT | AKA_DOUBT_SEVERAL_REPORTS);
	aka_cases_done(&cases);

	measured.reports[AKA_BENCHMARK_RESULTS] = (struct aka_bytes){ .bytes = NULL };
	aka_cases_read(&cases, &measured);
	CHECK_INT(cases.channel, AKA_STDOUT);
	CHECK_STR(aka_channel_name(cases.channel), "the output");
	CHECK_STR(aka_report_path(AKA_BENCHMARK_RESULTS), "perf/benchmark_results.json");
}

TEST(what_makes_a_time_doubtful_is_noted)
{
	static const struct {
		const char *report;
		unsigned int doubts;
	} rows[] = {
		{ "[{\"execution_time_ms\":1}]", 0 },
		{ "[{\"execution_time_ms\":1,\"execution_time_ms\":2}]", AKA_DOUBT_REPEATED_KEY },
		{ "[{\"execution_time_ms\":1,\"x\":NaN}]", AKA_DOUBT_NON_FINITE },
		{ "[{\"time\":1000}]", AKA_DOUBT_UNIT_GUESSED },
		{ "[{\"time\":\"1\"}]", AKA_DOUBT_TIME_FROM_TEXT },
		{ "[{\"time\":1},{\"host_time_ms\":1}]", AKA_DOUBT_SKIPPED | AKA_DOUBT_HOST_TIME },
		{ "[{\"time\":1},2]", AKA_DOUBT_SKIPPED },
		{ "{\"cpu_ms\":1}", AKA_DOUBT_HOST_TIME },
		{ "{\"latency_ms\":1}", 0 },
		{ "{", AKA_DOUBT_BROKEN_REPORT },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup(aka_cases_done) struct aka_cases cases = AKA_CASES_INIT;

		read_report(&cases, "hip2hip", false, rows[i].report);
		CHECK_INT(cases.doubts, rows[i].doubts);
	}
	for (unsigned int bit = 0; bit < AKA_DOUBTS; bit++)
		CHECK(strcmp(aka_doubt_text((enum aka_doubt)(1U << bit)), "unknown") != 0);
}

TEST(there_are_no_more_cases_than_can_be_compared)
{
	cleanup(aka_cases_done) struct aka_cases cases = AKA_CASES_INIT;
	cleanup(str_done) struct str report = STR_INIT;

	for (int i = 0; i <= AKA_CASES_MAX; i++)
		str_addf(&report, "%c{\"time\":1}", i == 0 ? '[' : ',');
	str_addf(&report, "]");
	read_report(&cases, "hip2hip", false, report.text);
	CHECK_INT(cases.count, AKA_CASES_MAX);
	CHECK(cases.doubts & AKA_DOUBT_TOO_LARGE);
}
