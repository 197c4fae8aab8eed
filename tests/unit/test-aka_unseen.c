/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_unseen.h"

#include <string.h>

#include "tests/lib/aka_reports.h"
#include "tests/lib/check.h"

static struct arena arena;
static struct aka_cases original = AKA_CASES_INIT, optimized = AKA_CASES_INIT;
static struct aka_unseen unseen = AKA_UNSEEN_INIT;

#define ONE   "[{\"test_case_id\": \"a\", \"execution_time_ms\": 2.0}]"
#define HALF  "[{\"test_case_id\": \"a\", \"execution_time_ms\": 1.0}]"
#define MIXED "[{\"test_case_id\": \"a\", \"execution_time_ms\": 1.0}, {\"execution_time_ms\": -1}]"

static bool is(double got, double want)
{
	return got >= want && got <= want;
}

static const struct pyvalue *text(const char *of)
{
	return pyvalue_new_text(&arena, of, strlen(of));
}

static struct aka_unseen_attempt attempt_of(const char *before, const char *after)
{
	aka_test_cases(&original, before);
	aka_test_cases(&optimized, after);
	return (struct aka_unseen_attempt){
		.task_name = "hip2hip/a",
		.original = { .cases = &original },
		.optimized = { .cases = &optimized },
		.seen = { .is_correct = true, .speedup = 4, .score = 520 },
	};
}

TEST(both_right_have_a_speedup_and_a_score)
{
	const struct aka_unseen_attempt attempt = attempt_of(ONE, HALF);
	struct str file = STR_INIT;

	aka_unseen_make(&unseen, &attempt);
	aka_unseen_file(&file, &unseen);
	CHECK_STR(file.text, "task_name: hip2hip/a\n"
			     "heldout: true\n"
			     "opt_pass_compilation: true\n"
			     "opt_pass_correctness: true\n"
			     "opt_execution_time: 1.0\n"
			     "orig_heldout_pass_compilation: true\n"
			     "orig_heldout_pass_correctness: true\n"
			     "orig_heldout_execution_time: 2.0\n"
			     "generalization_status: both_pass\n"
			     "speedup_ratio: 2.0\n"
			     "score: 320.0\n"
			     "original_run_pass_correctness: true\n"
			     "original_run_speedup_ratio: 4.0\n"
			     "original_run_score: 520.0\n"
			     "error: null\n");
	str_done(&file);
	aka_unseen_done(&unseen);
}

TEST(a_kernel_made_for_the_known_shapes_is_a_regression)
{
	struct aka_unseen_attempt attempt = attempt_of(ONE, HALF);

	attempt.optimized.correct_error = text("wrong at (17, 3)");
	aka_unseen_make(&unseen, &attempt);
	CHECK_INT(unseen.status, AKA_OPT_REGRESSION);
	CHECK(unseen.compiles && !unseen.is_correct && is(unseen.score, 20));
	CHECK(is(unseen.original_time_ms, 2) && is(unseen.time_ms, 0) && is(unseen.speedup, 0));
	CHECK_STR(unseen.error->text, "wrong at (17, 3)");
}

TEST(a_task_whose_own_kernel_fails_is_told_apart)
{
	struct aka_unseen_attempt attempt = attempt_of(ONE, HALF);

	attempt.original.correct_error = text("too large");
	aka_unseen_make(&unseen, &attempt);
	CHECK_INT(unseen.status, AKA_OPT_IMPROVEMENT);
	CHECK(is(unseen.original_time_ms, 0) && is(unseen.time_ms, 1) && is(unseen.score, 120));
	CHECK(!unseen.error);
	aka_unseen_done(&unseen);
	attempt.original.compile_error = text("no");
	attempt.optimized.compile_error = text("does not compile");
	aka_unseen_make(&unseen, &attempt);
	CHECK_INT(unseen.status, AKA_BOTH_FAIL);
	CHECK(!unseen.original_compiles && is(unseen.score, 0));
	CHECK_STR(unseen.error->text, "does not compile");
}

TEST(cases_without_a_time_are_left_out_and_not_held_against_the_rest)
{
	const struct aka_unseen_attempt attempt = attempt_of(MIXED, MIXED);
	struct str file = STR_INIT;

	aka_unseen_make(&unseen, &attempt);
	CHECK(is(unseen.speedup, 1) && is(unseen.time_ms, 1));
	CHECK(aka_unseen_perf_file(&file, &optimized));
	CHECK_STR(file.text, "test_cases:\n- test_case_id: a\n  execution_time_ms: 1.0\n");
	str_clear(&file);
	aka_cases_done(&optimized);
	CHECK(!aka_unseen_perf_file(&file, &optimized) && file.len == 0);
	str_done(&file);
}

TEST(cases_that_do_not_match_are_paid_out_of_their_means_as_there)
{
	const struct aka_unseen_attempt attempt =
		attempt_of("[{\"test_case_id\": \"a\", \"execution_time_ms\": 2.0}, "
			   "{\"test_case_id\": \"b\", \"execution_time_ms\": 4.0}]",
			   HALF);

	aka_unseen_make(&unseen, &attempt);
	CHECK(is(unseen.speedup, 0) && is(unseen.score, 420));
}

TEST(of_torch2hip_the_times_say_whether_the_original_is_right)
{
	struct aka_unseen_attempt attempt = attempt_of(ONE, HALF);

	attempt.is_torch2hip = true;
	attempt.original.compile_error = text("nothing compiles there");
	aka_unseen_make(&unseen, &attempt);
	CHECK(unseen.original_compiles && unseen.original_is_correct && is(unseen.speedup, 2));
	aka_unseen_done(&unseen);
	attempt.original.cases = NULL;
	aka_unseen_make(&unseen, &attempt);
	CHECK_INT(unseen.status, AKA_OPT_IMPROVEMENT);
	CHECK_STR(unseen.error->text, "PyTorch baseline failed on held-out shapes");
}

TEST(where_no_command_was_run_both_have_failed)
{
	struct aka_unseen_attempt attempt = attempt_of(ONE, HALF);

	attempt.error = "Injection failed in opt/";
	aka_unseen_make(&unseen, &attempt);
	CHECK_INT(unseen.status, AKA_BOTH_FAIL);
	CHECK(!unseen.compiles && !unseen.original_compiles && is(unseen.score, 0));
	CHECK(is(unseen.seen.speedup, 4));
	CHECK_STR(unseen.error->text, "Injection failed in opt/");
}

TEST(a_task_that_its_own_reader_dies_of_has_a_record_all_the_same)
{
	const struct aka_unseen_attempt attempt = attempt_of(ONE, HALF);

	optimized.lost_why = "could not convert";
	aka_unseen_make(&unseen, &attempt);
	CHECK_STR(unseen.lost_why, "could not convert");
	CHECK_STR(unseen.error->text, "no result: could not convert");
	CHECK_INT(unseen.status, AKA_BOTH_PASS);
	CHECK(is(unseen.speedup, 0) && is(unseen.score, 120));
}
