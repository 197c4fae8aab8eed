/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_score.h"

#include <string.h>

#include "harness/aka/pyfloat.h"
#include "tests/lib/aka_reports.h"
#include "tests/lib/check.h"

/* "AKA STRICT REASON" */
static void scores(const char *base_report, const char *optimized_report, const char *want)
{
	cleanup(aka_cases_done) struct aka_cases base = AKA_CASES_INIT, optimized = AKA_CASES_INIT;
	cleanup(aka_result_done) struct aka_result result = AKA_RESULT_INIT;
	cleanup(str_done) struct str got = STR_INIT;
	struct aka_strict strict;

	aka_test_cases(&base, base_report);
	aka_test_cases(&optimized, optimized_report);
	aka_test_result(&result, "hip2hip/silu", &base, &optimized);
	aka_score_strict(&strict, &result, &base, &optimized);
	pyfloat_add_repr(&got, aka_score(&result));
	str_addf(&got, " ");
	pyfloat_add_repr(&got, strict.score);
	str_addf(&got, " %s", strict.reason);
	CHECK_STR(got.text, want);
}

#define CASE(id, ms)      "{\"test_case_id\":\"" id "\",\"execution_time_ms\":" ms "}"
#define TIMED(method, ms) "{\"benchmark_method\":\"" method "\",\"execution_time_ms\":" ms "}"

TEST(both_marks_are_equal_where_nothing_is_doubtful)
{
	scores("[" CASE("a", "3") "," CASE("b", "1") "]", "[" CASE("a", "1") "," CASE("b", "2") "]",
	       "295.0 295.0 ");
	scores("[" TIMED("cuda_graph", "3") "]", "[" TIMED("cuda_graph", "1") "]", "420.0 420.0 ");
	scores("[{\"timing_ms\":{\"mean\":0.75}}]", "[{\"timing_ms\":{\"mean\":0.25}}]",
	       "420.0 420.0 ");
}

TEST(a_refused_speedup_is_paid_by_the_reference_alone)
{
	scores("[" CASE("a", "1") "," CASE("b", "999") "]",
	       "[" CASE("a", "1") "," CASE("b", "-1.0") "]",
	       "50120.0 120.0 candidate: case 2 has no time above zero");
	scores("[" CASE("a", "1") "," CASE("b", "3") "]", "[" CASE("a", "1") "]",
	       "320.0 120.0 2 cases of the baseline, 1 of the candidate, 1 pairs");
}

TEST(times_that_are_not_finite_are_refused)
{
	scores("[" CASE("a", "1e400") "]", "[" CASE("a", "1") "]",
	       "inf 120.0 baseline: case 1 has no time above zero");
	scores("[" CASE("a", "1") "]", "[" CASE("a", "NaN") "]",
	       "120.0 120.0 candidate: the report has NaN or Infinity");
	scores("[" CASE("a", "1e300") "]", "[" CASE("a", "1e-300") "]",
	       "inf 120.0 the speedup is no number above zero");
}

TEST(what_was_timed_in_different_ways_is_refused)
{
	scores("[" TIMED("cuda_graph", "3") "]", "[" TIMED("cuda_event_fallback", "1") "]",
	       "420.0 120.0 the cases were timed in different ways");
	scores("[" TIMED("cuda_graph", "3") "]", "[{\"execution_time_ms\":1}]",
	       "420.0 120.0 the cases were timed in different ways");
	scores("[" TIMED("cpu_timer_fallback", "3") "]", "[" TIMED("cpu_timer_fallback", "1") "]",
	       "420.0 120.0 baseline: timed by the host's clock");
	scores("[{\"execution_time_ms\":3}]", "[{\"gpu_time_ms\":1}]",
	       "420.0 120.0 pair 1: 'execution_time_ms' is compared with 'gpu_time_ms'");
	scores("{\"total_ms\":3}", "{\"total_ms\":1}",
	       "420.0 120.0 baseline: a time of the host's clock");
	scores("[{\"time\":1000}]", "[{\"time\":500}]",
	       "200120.0 120.0 baseline: a time of 1000 and more without a unit");
}

TEST(names_have_to_tell_cases_apart)
{
	scores("[" CASE("a", "2") "," CASE("a", "2") "]", "[" CASE("a", "1") "," CASE("a", "1") "]",
	       "320.0 120.0 baseline: cases 1 and 2 have the same name");
	scores("[" CASE("a", "2") "]", "[" CASE("b", "1") "]",
	       "320.0 120.0 pair 1 is of two cases of different names");
	scores("[{\"execution_time_ms\":1,\"execution_time_ms\":2}]", "[{\"execution_time_ms\":1}]",
	       "320.0 120.0 baseline: the report has an object with two members of one name");
}

TEST(what_was_not_measured_is_said)
{
	scores("[]", "[" CASE("a", "1") "]", "120.0 120.0 the baseline was not measured");
	scores("[" CASE("a", "1") "]", "[]", "120.0 120.0 the candidate was not measured");
}

TEST(a_pass_that_is_doubted_is_none_in_the_strict_mark)
{
	cleanup(aka_cases_done) struct aka_cases base = AKA_CASES_INIT;
	cleanup(aka_result_done) struct aka_result result = AKA_RESULT_INIT;
	struct aka_strict strict;

	aka_test_cases(&base, "[" CASE("a", "1") "]");
	aka_result_make(&result, &(struct aka_attempt){
					 .task_name = "a",
					 .agent_name = "b",
					 .correct_doubt = "it says FAIL",
					 .baseline = &base,
					 .optimized = &base,
				 });
	aka_score_strict(&strict, &result, &base, &base);
	CHECK(aka_score(&result) > 219 && strict.score < 21 && strict.score > 19);
	CHECK_STR(strict.reason, "it says FAIL");
}

TEST(a_task_that_the_reference_loses_keeps_what_its_commands_came_to)
{
	cleanup(aka_cases_done) struct aka_cases base = AKA_CASES_INIT;
	cleanup(aka_result_done) struct aka_result result = AKA_RESULT_INIT;
	cleanup(str_done) struct str output = STR_INIT;
	struct aka_strict strict;

	str_addf(&output, "compile took ... ms");
	aka_cases_read(&base, &(struct aka_measured){ .task_type = "x", .output = &output });
	aka_test_result(&result, "a", &base, &base);
	aka_score_strict(&strict, &result, &base, &base);
	CHECK(!(aka_score(&result) > 0) && strict.score > 119 && strict.score < 121);
	CHECK_STR(strict.reason, "could not convert string to float: '...'");
}

TEST(a_task_that_was_never_marked_has_no_points_and_a_reason)
{
	cleanup(aka_result_done) struct aka_result result = AKA_RESULT_INIT;
	cleanup(aka_cases_done) struct aka_cases none = AKA_CASES_INIT;
	struct aka_strict strict;

	aka_result_lose(&result, "a", "b", "the guard has tripped");
	aka_score_strict(&strict, &result, &none, NULL);
	CHECK(!(aka_score(&result) > 0) && !(strict.score > 0));
	CHECK_STR(strict.reason, "the guard has tripped");
}
