/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/score.h"

#include <math.h>

#include "tests/lib/check.h"

/* To a billionth, so that the text of a failure shows what it was. */
#define CHECK_NEAR(got, want) CHECK_INT(llround((got) *1e9), llround((want) *1e9))

static double score(bool compiled, bool correct, double speedup)
{
	return score_attempt(&(struct score_result){ compiled, correct, speedup, false });
}

TEST(the_score_of_an_attempt_is_the_benchmarks)
{
	CHECK_NEAR(score(false, false, 0), 0);
	CHECK_NEAR(score(false, true, 3), 0);
	CHECK_NEAR(score(true, false, 3), 20);
	CHECK_NEAR(score(true, true, 0), 120);
	CHECK_NEAR(score(true, true, 0.5), 170);
	CHECK_NEAR(score(true, true, 1), 220);
	CHECK_NEAR(score(true, true, 2.345), 354.5);
}

TEST(a_speedup_that_is_no_number_counts_nothing)
{
	CHECK_NEAR(score(true, true, NAN), 120);
	CHECK_NEAR(score(true, true, INFINITY), 120);
	CHECK_NEAR(score(true, true, -4), 120);
}

TEST(every_selected_task_counts)
{
	static const struct score_result results[] = {
		{ true, true, 4, true },    /* 520 */
		{ true, true, 1, false },   /* 220 */
		{ true, false, 9, false },  /* 20 */
		{ false, false, 0, false }, /* 0 */
	};
	const struct score_summary sum = score_summarise(results, 4);

	CHECK_INT(sum.tasks, 4);
	CHECK_INT(sum.compiled, 3);
	CHECK_INT(sum.correct, 2);
	CHECK_NEAR(sum.total_score, 760);
	CHECK_NEAR(sum.mean_score, 190);
	CHECK_NEAR(sum.mean_speedup, 1.25);
	CHECK_NEAR(sum.geometric, 0.447213595); /* (4 * 1 * 0.1 * 0.1) ^ (1/4) */
	CHECK_NEAR(sum.geometric_correct, 2);
	CHECK_NEAR(sum.fast_1, 0.25); /* 1.0 is not faster */
	CHECK_NEAR(sum.fast_2, 0.25);
}

TEST(failing_never_pays_in_the_geometric_mean)
{
	static const struct score_result slow[] = { { true, true, 0.001, false },
						    { true, true, 2, true } };
	static const struct score_result failed[] = { { true, false, 0, false },
						      { true, true, 2, true } };

	CHECK_NEAR(score_summarise(slow, 2).geometric, score_summarise(failed, 2).geometric);
	CHECK_NEAR(score_summarise(slow, 2).geometric, 0.447213595);
	CHECK_NEAR(score_summarise(failed, 2).fast_1, 0.5);
	CHECK_NEAR(score_summarise(failed, 2).fast_2, 0); /* more than twice, not twice */
}

/* Where nothing was done, half of all speedups are above 1. */
TEST(a_speedup_without_the_verdict_fast_is_not_fast)
{
	static const struct score_result results[] = {
		{ true, true, 1.0003, false },
		{ true, true, 2.5, false }, /* AMBG: too few blocks, say */
		{ true, true, 1.5, true },
		{ true, true, 2.5, true },
		{ true, false, 3, true }, /* never so: a wrong one has no verdict that counts */
	};
	const struct score_summary sum = score_summarise(results, 5);

	CHECK_NEAR(sum.fast_1, 0.4);
	CHECK_NEAR(sum.fast_2, 0.2);
	CHECK_NEAR(score_summarise(results, 2).fast_1, 0);
	CHECK_NEAR(score_summarise(results, 2).mean_speedup, 1.75015);
}

TEST(no_task_gives_zeros_and_no_division)
{
	const struct score_summary sum = score_summarise(NULL, 0);

	CHECK_NEAR(sum.mean_score, 0);
	CHECK_NEAR(sum.geometric, 0);
	CHECK_NEAR(sum.fast_1, 0);
	CHECK_NEAR(score_spread(NULL, 0).mean, 0);
}

TEST(repeats_have_a_mean_and_a_spread)
{
	static const double values[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	const struct score_spread spread = score_spread(values, 8);

	CHECK_INT(spread.count, 8);
	CHECK_NEAR(spread.mean, 5);
	CHECK_NEAR(spread.sd, 2.138089935); /* sqrt(32 / 7) */
	CHECK_NEAR(spread.least, 2);
	CHECK_NEAR(spread.most, 9);
	CHECK_NEAR(score_spread(values, 1).sd, 0);
}

TEST(a_mean_has_an_interval_by_students_t)
{
	static const double values[] = { 1, 2, 3, 4 };
	const struct score_interval interval = score_mean_interval(values, 4);

	/* sd = sqrt(5 / 3), half = 3.1824 * sd / 2 */
	CHECK_INT(interval.count, 4);
	CHECK_NEAR(interval.mean, 2.5);
	CHECK_NEAR(interval.low, 0.445769633);
	CHECK_NEAR(interval.high, 4.554230367);
}

TEST(an_interval_between_two_rows_of_the_table_is_the_wider_one)
{
	double values[36];

	for (size_t i = 0; i < 36; i++)
		values[i] = i % 2 == 0 ? 1 : -1; /* sd = sqrt(36 / 35) */
	CHECK_NEAR(score_mean_interval(values, 36).high, 2.0423 / sqrt(35));
}

TEST(of_one_value_or_none_no_interval_is_known)
{
	static const double one[] = { 3 };

	CHECK(isnan(score_mean_interval(NULL, 0).mean));
	CHECK_NEAR(score_mean_interval(one, 1).mean, 3);
	CHECK(isinf(score_mean_interval(one, 1).low) && score_mean_interval(one, 1).low < 0);
	CHECK(isinf(score_mean_interval(one, 1).high));
	CHECK(isinf(score_mean_interval(NULL, 0).high));
}
