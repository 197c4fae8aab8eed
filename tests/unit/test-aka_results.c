/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_results.h"

#include <string.h>

#include "tests/lib/aka_reports.h"
#include "tests/lib/check.h"

static void check_file(const char *base_report, const char *optimized_report, const char *want)
{
	cleanup(aka_cases_done) struct aka_cases base = AKA_CASES_INIT, optimized = AKA_CASES_INIT;
	cleanup(aka_result_done) struct aka_result result = AKA_RESULT_INIT;
	cleanup(str_done) struct str got = STR_INIT;

	aka_test_cases(&base, base_report);
	aka_test_cases(&optimized, optimized_report);
	aka_test_result(&result, "hip2hip/silu", &base, &optimized);
	aka_result_file(&got, &result, true);
	CHECK_STR(got.text, want);
}

TEST(a_result_is_written_as_the_reference_does)
{
	check_file("[{\"time\":3,\"benchmark_method\":\"cuda_graph\"}]",
		   "[{\"time\":2,\"benchmark_method\":\"cuda_graph\"}]",
		   "task_name: hip2hip/silu\n"
		   "pass_compilation: true\n"
		   "compilation_error_message: null\n"
		   "pass_correctness: true\n"
		   "correctness_error_message: null\n"
		   "base_execution_time: 3.0\n"
		   "best_optimized_execution_time: 2.0\n"
		   "speedup_ratio: 1.5\n"
		   "baseline_benchmark_methods:\n"
		   "- cuda_graph\n"
		   "optimized_benchmark_methods:\n"
		   "- cuda_graph\n"
		   "benchmark_method_consistent: true\n"
		   "valid_baseline_cases: 1\n"
		   "valid_optimized_cases: 1\n"
		   "speedup_calculation_error_message: null\n"
		   "optimization_summary: Optimized by cursor using centralized evaluator\n"
		   "score: 270.0\n");
}

static void refuses(const char *base_report, const char *optimized_report, const char *why)
{
	cleanup(aka_cases_done) struct aka_cases base = AKA_CASES_INIT, optimized = AKA_CASES_INIT;
	cleanup(aka_result_done) struct aka_result result = AKA_RESULT_INIT;

	aka_test_cases(&base, base_report);
	aka_test_cases(&optimized, optimized_report);
	aka_test_result(&result, "hip2hip/silu", &base, &optimized);
	CHECK(!(result.speedup > 0));
	if (why == NULL)
		CHECK(result.speedup_error == NULL);
	else
		CHECK_STR(result.speedup_error, why);
}

TEST(a_speedup_is_refused_with_the_words_of_the_reference)
{
	refuses("[]", "[{\"time\":1}]", "Baseline not available, cannot calculate speedup");
	refuses("[{\"time\":0}]", "[{\"time\":1}]",
		"Baseline data exists but has no valid performance samples "
		"(execution_time_ms <= 0 or invalid). Cannot calculate speedup.");
	refuses("[{\"time\":1},{\"time\":1}]", "[{\"time\":1},{\"time\":-1.0}]",
		"Cannot calculate speedup because performance results contain invalid test case "
		"timings: baseline_valid=2/2, optimized_valid=1/2");
	refuses("[{\"time\":1},{\"time\":1}]", "[{\"time\":1}]",
		"Cannot calculate speedup because baseline and optimized test cases did not match "
		"completely");
	refuses("[{\"time\":1}]", "[]", NULL);
	refuses("[{\"time\":1}]", "[{\"time\":0}]", NULL);
}

TEST(methods_are_sorted_and_each_is_there_once)
{
	cleanup(aka_cases_done) struct aka_cases base = AKA_CASES_INIT, none = AKA_CASES_INIT;
	cleanup(aka_result_done) struct aka_result result = AKA_RESULT_INIT;
	cleanup(str_done) struct str got = STR_INIT;

	aka_test_cases(&base, "[{\"time\":1,\"benchmark_method\":\"b\"},"
			      "{\"time\":1,\"benchmark_method\":\"c\"},"
			      "{\"time\":1,\"benchmark_method\":\"\"},"
			      "{\"time\":1,\"benchmark_method\":\"b\"},"
			      "{\"time\":1,\"benchmark_method\":1.5}]");
	aka_test_result(&result, "x", &base, &none);
	pyvalue_add_str(&got, result.base_methods);
	CHECK_STR(got.text, "['1.5', 'b', 'c']");
	CHECK(!result.methods_agree);
}

TEST(a_lost_task_has_a_record_that_fails)
{
	cleanup(aka_cases_done) struct aka_cases base = AKA_CASES_INIT;
	cleanup(aka_result_done) struct aka_result result = AKA_RESULT_INIT;
	cleanup(str_done) struct str output = STR_INIT, got = STR_INIT;

	str_addf(&output, "compile took ... ms");
	aka_cases_read(&base, &(struct aka_measured){ .task_type = "x", .output = &output });
	aka_test_result(&result, "t/lost", &base, NULL);
	CHECK_STR(result.lost_why, "could not convert string to float: '...'");
	aka_result_file(&got, &result, false);
	CHECK(strncmp(got.text,
		      "task_name: t/lost\npass_compilation: false\ncompilation_error_message: "
		      "'no result: could not convert string to float: ''...'''\n",
		      116) == 0);
	CHECK(strstr(got.text, "score") == NULL);
}

TEST(measured_cases_are_written_with_what_tells_them_apart)
{
	cleanup(aka_cases_done) struct aka_cases cases = AKA_CASES_INIT;
	cleanup(str_done) struct str got = STR_INIT;

	aka_test_cases(&cases,
		       "{\"a_ms\":1,\"b_ms\":1e-5,\"shape\":[2,3],\"params\":null,"
		       "\"benchmark_method\":null,\"benchmark_fallback_reason\":\"no: x\"}");
	aka_perf_file(&got, &cases);
	CHECK_STR(got.text, "test_cases:\n"
			    "- test_case_id: a_0\n"
			    "  execution_time_ms: 1.0\n"
			    "  shape: &id001\n"
			    "  - 2\n"
			    "  - 3\n"
			    "  params: null\n"
			    "  benchmark_fallback_reason: 'no: x'\n"
			    "- test_case_id: b_1\n"
			    "  execution_time_ms: 1.0e-05\n"
			    "  shape: *id001\n"
			    "  params: null\n"
			    "  benchmark_fallback_reason: 'no: x'\n");
}
