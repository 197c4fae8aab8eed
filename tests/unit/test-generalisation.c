/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/generalisation.h"

#include <math.h>

#include "tests/lib/check.h"
#include "tests/lib/paper_runs.h"

/* To a billionth, so that the text of a failure shows what it was. */
#define CHECK_NEAR(got, want) CHECK_INT(llround((got) *1e9), llround((want) *1e9))

/* Marked, right on seen cases, timed as FAST. */
static struct generalisation_attempt right(uint32_t task, double seen, double unseen)
{
	return (struct generalisation_attempt){
		.task = task,
		.is_marked = true,
		.result = { .is_compiled = true, .is_correct = true, .speedup = seen },
		.quadrant = unseen > 0 ? QUADRANT_BOTH : QUADRANT_SEEN,
		.timed = TIMED_FAST,
		.seen_ratio = log(seen),
		.unseen_ratio = unseen > 0 ? log(unseen) : (double) NAN,
	};
}

static struct generalisation_attempt failed(uint32_t task, bool compiled)
{
	return (struct generalisation_attempt){
		.task = task,
		.is_marked = true,
		.result = { .is_compiled = compiled },
		.quadrant = QUADRANT_NONE,
		.seen_ratio = NAN,
		.unseen_ratio = NAN,
	};
}

static struct generalisation_attempt infra(uint32_t task)
{
	return (struct generalisation_attempt){ .task = task };
}

TEST(the_example_of_the_readme_comes_out)
{
	const struct generalisation_attempt attempts[] = {
		right(0, 4, 2),
		right(0, 1, 0),
		failed(1, false),
	};
	const struct generalisation got = generalisation_of(attempts, 3);

	CHECK_INT(got.tasks, 2);
	CHECK_INT(got.attempts, 3);
	CHECK_NEAR(got.score, 185);
	CHECK_NEAR(got.geometric, 0.447213595);
	CHECK_INT(got.quadrant_attempts[QUADRANT_BOTH], 1);
	CHECK_INT(got.quadrant_attempts[QUADRANT_SEEN], 1);
	CHECK_INT(got.quadrant_attempts[QUADRANT_UNSEEN], 0);
	CHECK_INT(got.quadrant_attempts[QUADRANT_NONE], 1);
	CHECK_NEAR(got.quadrants[QUADRANT_BOTH], 0.25);
	CHECK_NEAR(got.quadrants[QUADRANT_SEEN], 0.25);
	CHECK_NEAR(got.quadrants[QUADRANT_UNSEEN], 0);
	CHECK_NEAR(got.quadrants[QUADRANT_NONE], 0.5);
	CHECK_NEAR(got.unseen_if_seen, 0.5);
	CHECK_NEAR(got.unseen_if_baseline, 0.25);
	CHECK_NEAR(got.retention.mean, 0.5);
	CHECK_NEAR(got.gap.mean, -2);
	CHECK_INT(got.gap.count, 1);
	CHECK(isinf(got.gap.low) && isinf(got.gap.high));
	CHECK(!isfinite(got.retention.low) && !isfinite(got.retention.high));
}

TEST(repeats_on_a_task_are_one_task)
{
	const struct generalisation_attempt attempts[] = {
		right(3, 4, 4), right(3, 1, 1), right(3, 1, 1), failed(3, true), right(7, 3, 3),
	};
	const struct generalisation got = generalisation_of(attempts, 5);

	CHECK_INT(got.tasks, 2);
	CHECK_INT(got.attempts, 5);
	CHECK_NEAR(got.compiled, 1);
	CHECK_NEAR(got.right, (0.75 + 1) / 2);
	CHECK_NEAR(got.once, 1);
	CHECK_NEAR(got.always, 0.5);
	/* scores 520, 220, 220, 20: mean 245; and 420 */
	CHECK_NEAR(got.score, (245.0 + 420) / 2);
	CHECK_NEAR(got.score_least, (20.0 + 420) / 2);
	CHECK_NEAR(got.score_most, (520.0 + 420) / 2);
	/* the squares of 275, -25, -25, -225 by 3; one attempt has no spread */
	CHECK_NEAR(got.score_sd, 206.155281281);
	CHECK_NEAR(got.speedup, (1.5 + 3) / 2);
	/* logarithms: (log 4 + log 0.1) / 4, and log 3 */
	CHECK_NEAR(got.geometric, exp(((log(4) + log(0.1)) / 4 + log(3)) / 2));
	CHECK_NEAR(got.geometric_right, exp((log(4) / 3 + log(3)) / 2));
	CHECK_NEAR(got.fast_1, (0.25 + 1) / 2); /* 1 is not more than 1 */
	CHECK_NEAR(got.fast_2, (0.25 + 1) / 2);
}

TEST(repeats_without_a_spread_have_none_and_single_attempts_have_no_figure)
{
	const struct generalisation_attempt same[] = { right(0, 2, 2), right(0, 2, 2) };
	const struct generalisation_attempt single[] = { right(0, 2, 2), right(1, 3, 3) };

	CHECK_NEAR(generalisation_of(same, 2).score_sd, 0);
	CHECK(isnan(generalisation_of(single, 2).score_sd));
}

TEST(retention_and_gap_have_intervals_over_tasks)
{
	/* Retained: 1, 1/2, 1/2, 1; logarithms 0, -l, -l, 0. Gaps 0, -1, -2, 0. */
	const struct generalisation_attempt attempts[] = {
		right(0, 2, 2),
		right(1, 2, 1),
		right(2, 4, 2),
		right(3, 3, 3),
	};
	const struct generalisation got = generalisation_of(attempts, 4);
	const double half = 3.1824 * log(2) / sqrt(3) / 2; /* sd = log 2 / sqrt 3 */

	CHECK_INT(got.retention.count, 4);
	CHECK_NEAR(got.retention.mean, sqrt(0.5));
	CHECK_NEAR(got.retention.low, exp(-log(2) / 2 - half));
	CHECK_NEAR(got.retention.high, exp(-log(2) / 2 + half));
	CHECK_NEAR(got.gap.mean, -0.75);
	/* squares 0.5625, 0.0625, 1.5625, 0.5625: sd = sqrt(2.75 / 3) */
	CHECK_NEAR(got.gap.low, -0.75 - 3.1824 * sqrt(2.75 / 3) / 2);
	CHECK_NEAR(got.gap.high, -0.75 + 3.1824 * sqrt(2.75 / 3) / 2);
}

TEST(what_was_tried_more_often_weighs_no_more)
{
	struct generalisation_attempt attempts[41];
	struct generalisation got;

	for (size_t i = 0; i < 40; i++)
		attempts[i] = right(0, 2, 1);
	attempts[40] = right(1, 2, 4);
	got = generalisation_of(attempts, 41);
	CHECK_NEAR(got.retention.mean, 1);
	CHECK_NEAR(got.gap.mean, 0.5);
	CHECK_INT(got.gap.count, 2);
}

TEST(infra_is_counted_and_in_no_figure)
{
	const struct generalisation_attempt with[] = { infra(0), right(0, 2, 2), infra(0),
						       infra(1), infra(1),       failed(2, true) };
	const struct generalisation_attempt without[] = { right(0, 2, 2), failed(2, true) };
	struct generalisation got = generalisation_of(with, 6);
	const struct generalisation want = generalisation_of(without, 2);

	CHECK_INT(got.infra, 4);
	CHECK_INT(got.unmarked, 1);
	CHECK_INT(got.tasks, 2);
	CHECK_NEAR(got.score, want.score);
	CHECK_NEAR(got.geometric, want.geometric);
	CHECK_NEAR(got.right, want.right);
	CHECK_NEAR(got.quadrants[QUADRANT_NONE], want.quadrants[QUADRANT_NONE]);
}

TEST(of_nothing_there_is_no_figure)
{
	const struct generalisation_attempt lost[] = { infra(0) };

	for (size_t count = 0; count < 2; count++) {
		const struct generalisation got = generalisation_of(lost, count);

		CHECK_INT(got.tasks, 0);
		CHECK_INT(got.infra, count);
		CHECK(isnan(got.score) && isnan(got.score_sd) && isnan(got.score_least));
		CHECK(isnan(got.right) && isnan(got.once) && isnan(got.fast_1));
		CHECK(isnan(got.geometric) && isnan(got.geometric_right));
		CHECK(isnan(got.quadrants[QUADRANT_BOTH]));
		CHECK(isnan(got.unseen_if_seen) && isnan(got.unseen_if_baseline));
		CHECK(isnan(got.retention.mean) && isnan(got.gap.mean));
	}
}

TEST(who_is_right_on_no_seen_case_has_no_conditional_correctness)
{
	struct generalisation_attempt attempts[] = { failed(0, true), failed(1, true) };
	struct generalisation got;

	attempts[1].quadrant = QUADRANT_UNSEEN;
	got = generalisation_of(attempts, 2);
	CHECK(isnan(got.unseen_if_seen));
	CHECK_NEAR(got.unseen_if_baseline, 0.5);
	CHECK_NEAR(got.geometric, 0.1);
	CHECK(isnan(got.geometric_right));
}

TEST(a_speedup_that_is_no_number_counts_as_failed_and_spoils_nothing)
{
	const double odd[] = { NAN, INFINITY, -INFINITY, -1 };

	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		struct generalisation_attempt attempts[] = { right(0, 4, 4), right(1, 1, 1) };
		struct generalisation got;

		attempts[1].result.speedup = odd[i];
		attempts[1].unseen_ratio = odd[i] < 0 ? (double) NAN : odd[i];
		got = generalisation_of(attempts, 2);
		CHECK_NEAR(got.score, (520.0 + 120) / 2);
		CHECK_NEAR(got.geometric, exp((log(4) + log(0.1)) / 2));
		CHECK_NEAR(got.fast_1, 0.5);
		CHECK_NEAR(got.retention.mean, 1);
		CHECK_INT(got.retention.count, 1);
	}
}

TEST(an_attempt_without_an_unseen_mark_is_in_no_quadrant)
{
	struct generalisation_attempt attempts[] = { right(0, 2, 2), right(0, 2, 2),
						     right(1, 2, 2) };
	struct generalisation got;

	attempts[1].quadrant = attempts[2].quadrant = QUADRANT_UNKNOWN;
	got = generalisation_of(attempts, 3);
	CHECK_INT(got.quadrant_attempts[QUADRANT_UNKNOWN], 2);
	CHECK_NEAR(got.quadrants[QUADRANT_BOTH], 1);
	CHECK_NEAR(got.right, 1);
	CHECK_INT(got.retention.count, 1);
}

TEST(only_a_fast_verdict_makes_an_attempt_fast)
{
	struct generalisation_attempt attempts[] = { right(0, 3, 3), right(1, 3, 3),
						     right(2, 3, 3) };
	struct generalisation got;

	attempts[1].timed = TIMED_AMBG;
	attempts[2].timed = TIMED_LAUNCH_BOUND;
	got = generalisation_of(attempts, 3);
	CHECK_NEAR(got.fast_2, 1.0 / 3);
	CHECK_INT(got.timed[TIMED_FAST], 1);
	CHECK_INT(got.timed[TIMED_AMBG], 1);
	CHECK_INT(got.timed[TIMED_LAUNCH_BOUND], 1);
}

static enum quadrant quadrant_of(const char *seen, const char *unseen)
{
	struct record record = paper_record("r", "t", "a", 1);

	if (seen)
		record.seen = paper_mark(seen, 2);
	if (unseen)
		record.unseen = paper_mark(unseen, 2);
	return generalisation_attempt(&record, 0).quadrant;
}

TEST(each_pair_of_marks_has_its_quadrant)
{
	CHECK_INT(quadrant_of("VALID", "VALID"), QUADRANT_BOTH);
	CHECK_INT(quadrant_of("SUSPECT", "SUSPECT"), QUADRANT_BOTH);
	CHECK_INT(quadrant_of("VALID", "WRONG"), QUADRANT_SEEN);
	CHECK_INT(quadrant_of("VALID", "RESOURCE"), QUADRANT_SEEN);
	CHECK_INT(quadrant_of("VALID", "VIOLATION"), QUADRANT_SEEN);
	CHECK_INT(quadrant_of("WRONG", "VALID"), QUADRANT_UNSEEN);
	CHECK_INT(quadrant_of("WRONG", "WRONG"), QUADRANT_NONE);
	CHECK_INT(quadrant_of("WRONG", NULL), QUADRANT_NONE);
	CHECK_INT(quadrant_of("VALID", NULL), QUADRANT_UNKNOWN);
	CHECK_INT(quadrant_of("VALID", "INFRA"), QUADRANT_UNKNOWN);
	CHECK_INT(quadrant_of("WRONG", "INFRA"), QUADRANT_UNKNOWN);
	CHECK_INT(quadrant_of(NULL, NULL), QUADRANT_NONE); /* does not compile */
}

TEST(a_record_counts_as_it_was_marked_and_timed)
{
	struct record record = paper_record("r", "t", "a", 1);
	struct generalisation_attempt got;

	record.seen = paper_mark("VALID", 2);
	record.unseen = paper_mark("VALID", 1.5);
	got = generalisation_attempt(&record, 5);
	CHECK_INT(got.task, 5);
	CHECK(got.is_marked);
	CHECK_INT(got.timed, TIMED_FAST);
	CHECK_NEAR(exp(got.seen_ratio), 2);
	CHECK_NEAR(exp(got.unseen_ratio), 1.5);

	record.seen.verdict = "AMBG";
	CHECK_INT(generalisation_attempt(&record, 5).timed, TIMED_AMBG);
	record.seen.verdict = NULL;
	CHECK_INT(generalisation_attempt(&record, 5).timed, TIMED_AMBG);
	record.seen.launch_bound = true;
	CHECK_INT(generalisation_attempt(&record, 5).timed, TIMED_LAUNCH_BOUND);
	CHECK(isnan(generalisation_attempt(&record, 5).seen_ratio));
	record.seen.ratio = 1e6; /* no speedup that a double could hold */
	record.seen.launch_bound = false;
	CHECK(isnan(generalisation_attempt(&record, 5).seen_ratio));
	record.seen.blocks = 0;
	CHECK_INT(generalisation_attempt(&record, 5).timed, TIMED_NOT);
	record.infra = "ours";
	record.seen = RECORD_MARK_NONE;
	CHECK(!generalisation_attempt(&record, 5).is_marked);
}
