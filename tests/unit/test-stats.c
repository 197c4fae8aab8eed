/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/stats.h"

#include <math.h>
#include <string.h>

#include "sandbox/base/compiler.h"
#include "tests/lib/check.h"

static bool is_near(double got, double want)
{
	return fabs(got - want) < 1e-9;
}

TEST(a_median_is_in_the_middle)
{
	double odd[] = { 3, 1, 2 }, even[] = { 4, 1, 3, 2 };

	CHECK(is_near(stats_median(odd, 3), 2));
	CHECK(is_near(stats_median(even, 4), 2.5));
	CHECK(is_near(stats_median(odd, 0), 0));
}

TEST(a_robust_deviation_ignores_what_is_far_away)
{
	double values[101], wild[101];

	for (int i = 0; i <= 100; i++)
		wild[i] = values[i] = i;
	wild[100] = 1e12;
	wild[0] = -1e12;
	CHECK(is_near(stats_robust_sd(values, 101), 50 / 1.35));
	CHECK(is_near(stats_robust_sd(wild, 101), 50 / 1.35));
	CHECK(is_near(stats_robust_sd(values, 0), 0));
}

/* From published tables of the signed-rank statistic: critical value + 1. */
TEST(signed_ranks_are_those_of_the_tables)
{
	static const struct {
		uint32_t count, alpha_ppm, rank;
	} cases[] = {
		{ 10, 50000, 9 },  { 10, 20000, 6 },  { 10, 10000, 4 },   { 20, 50000, 53 },
		{ 20, 20000, 44 }, { 20, 10000, 38 }, { 30, 20000, 121 }, { 40, 20000, 239 },
		{ 6, 50000, 1 },   { 5, 50000, 0 },   { 7, 20000, 1 },    { 6, 20000, 0 },
		{ 0, 20000, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint32_t rank = stats_signed_rank(cases[i].count, cases[i].alpha_ppm);

		if (rank != cases[i].rank)
			check_note("n=%u alpha=%u", cases[i].count, cases[i].alpha_ppm);
		CHECK_INT(rank, cases[i].rank);
	}
}

/* All 2^n signs of distinct values: how many intervals miss the centre is what alpha promises. */
TEST(the_interval_covers_exactly_what_it_promises)
{
	enum { N = 10 };
	uint32_t missed = 0, k = stats_signed_rank(N, JUDGE_ALPHA_PPM);
	uint32_t below = 0;

	for (uint32_t signs = 0; signs < 1U << N; signs++) {
		double values[N];
		struct interval made;
		uint32_t sum = 0;

		for (uint32_t i = 0; i < N; i++) {
			values[i] = (signs >> i & 1 ? 1 : -1) * (exp2(i) + 0.25 * i);
			sum += signs >> i & 1 ? i + 1 : 0;
		}
		made = stats_interval(values, N, JUDGE_ALPHA_PPM);
		missed += made.low > 0 || made.high < 0;
		below += sum < k;
	}
	CHECK_INT(missed, 2 * below);
	CHECK(missed <= 0.02 * (1U << N));
	CHECK(missed > 0.015 * (1U << N));
}

TEST(the_estimate_is_the_centre_of_symmetric_values)
{
	double values[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
	struct interval made = stats_interval(values, 10, JUDGE_ALPHA_PPM);

	CHECK(is_near(made.center, 5.5));
	CHECK(is_near(made.low + made.high, 11));
	CHECK(made.low > 1 && made.high < 10);
}

TEST(one_wild_block_moves_the_estimate_little)
{
	double values[] = { .01, .011, .009, .01, .0105, .0095, .01, .01, .01, 5 };
	struct interval made = stats_interval(values, 10, JUDGE_ALPHA_PPM);

	CHECK(made.center < 0.012 && made.center > 0.009);
}

TEST(too_few_values_have_no_interval)
{
	double values[] = { 1, 2, 3 };
	struct interval made = stats_interval(values, 3, JUDGE_ALPHA_PPM);

	CHECK(is_near(made.center, 2));
	CHECK(isinf(made.low) && isinf(made.high));
	CHECK_INT(stats_verdict(made, 0.01), VERDICT_AMBG);
}

TEST(a_verdict_needs_the_whole_interval_on_one_side)
{
	static const struct {
		double low, high;
		enum verdict verdict;
	} cases[] = {
		{ 0.011, 0.5, VERDICT_FAST },    { 0.010, 0.5, VERDICT_AMBG },
		{ -0.5, -0.011, VERDICT_SLOW },  { -0.5, -0.010, VERDICT_AMBG },
		{ -0.009, 0.009, VERDICT_SAME }, { -0.010, 0.009, VERDICT_AMBG },
		{ -0.009, 0.010, VERDICT_AMBG }, { -1, 1, VERDICT_AMBG },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct interval ratio = { 0, cases[i].low, cases[i].high };

		CHECK_INT(stats_verdict(ratio, 0.010), cases[i].verdict);
	}
}

/* --- marks of made-up samples ------------------------------------------------------------------
 */

struct made_up {
	int64_t null_ns, baseline_ns, candidate_ns, store_ns, claim_off, program_ns;
};

static void add(struct samples *samples, uint32_t block, uint32_t index, enum sample_role role,
		int64_t sealed, int64_t claimed)
{
	for (uint8_t call = 0; call < JUDGE_CALLS; call++) {
		struct sample sample = {
			.block = block,
			.case_index = (uint16_t) index,
			.role = (uint8_t) role,
			.call = call,
			/* Warm-up calls would spoil everything if they counted. */
			.sealed_ns = call < JUDGE_WARMUPS ? 90000000 : sealed + call % 2,
			.claimed_ns = claimed,
		};

		samples_add(samples, &sample);
	}
}

static void make(struct samples *samples, uint32_t blocks, uint32_t index,
		 const struct made_up *what)
{
	for (uint32_t block = 0; block < blocks; block++) {
		int64_t null = what->null_ns + 10 * (block % 3);

		add(samples, block, index, SAMPLE_NULL, null, what->program_ns);
		add(samples, block, index, SAMPLE_STORE, null + what->store_ns + what->claim_off,
		    what->store_ns);
		for (int half = 0; half < 2; half++) {
			add(samples, block, index, SAMPLE_BASELINE, null + what->baseline_ns,
			    what->baseline_ns);
			add(samples, block, index, SAMPLE_CANDIDATE, null + what->candidate_ns,
			    what->candidate_ns);
		}
	}
}

static struct stats_mark mark_of(const struct made_up *what, uint32_t blocks,
				 struct stats_case *out)
{
	struct samples samples = SAMPLES_INIT;
	bool counted[1] = { true };
	struct stats_mark mark;

	make(&samples, blocks, 0, what);
	mark = stats_mark(&samples, counted, 1, 0, blocks, out);
	samples_done(&samples);
	return mark;
}

TEST(twice_as_fast_is_two_and_the_path_is_not_in_it)
{
	static const struct made_up what = { 8000, 200000, 100000, 5000, 20 };
	struct stats_case item;
	struct stats_mark mark = mark_of(&what, 10, &item);

	CHECK_INT(mark.verdict, VERDICT_FAST);
	CHECK(fabs(exp(mark.ratio.center) - 2) < 1e-4);
	CHECK(fabs(item.baseline_ns - 200000) < 2);
	CHECK(fabs(item.candidate_ns - 100000) < 2);
	CHECK(fabs(item.null_ns - 8010) < 12);
}

TEST(swapped_sides_are_slow_and_never_fast)
{
	static const struct made_up what = { 8000, 100000, 200000, 5000, 20 };
	struct stats_case item;

	CHECK_INT(mark_of(&what, 10, &item).verdict, VERDICT_SLOW);
}

TEST(equal_times_are_the_same)
{
	static const struct made_up what = { 8000, 100000, 100000, 5000, 20 };
	struct stats_case item;
	struct stats_mark mark = mark_of(&what, 20, &item);

	CHECK_INT(mark.verdict, VERDICT_SAME);
	CHECK(!mark.launch_bound);
	CHECK_INT(mark.blocks, 20);
}

TEST(a_time_under_a_hundred_deltas_is_launch_bound)
{
	static const struct made_up what = { 8000, 200000, 100000, 5000, 1001 };
	struct stats_case item;
	struct stats_mark mark = mark_of(&what, 10, &item);

	CHECK(fabs(item.delta_ns - 1001) < 2);
	CHECK(mark.launch_bound && item.launch_bound);
	CHECK_INT(mark.verdict, VERDICT_AMBG);
}

TEST(a_time_under_a_hundred_times_the_workers_own_part_is_launch_bound)
{
	static const struct made_up what = { 8000, 200000, 100000, 5000, 0, 1001 };
	struct stats_case item;
	struct stats_mark mark = mark_of(&what, 10, &item);

	CHECK(fabs(item.program_ns - 1001) < 1);
	CHECK(mark.launch_bound);
	CHECK_INT(mark.verdict, VERDICT_AMBG);
}

TEST(a_time_of_nothing_or_less_is_launch_bound)
{
	static const struct made_up what = { 8000, 100000, -3, 5000, 0 };
	struct stats_case item;
	struct stats_mark mark = mark_of(&what, 10, &item);

	CHECK(mark.launch_bound);
	CHECK_INT(mark.verdict, VERDICT_AMBG);
	CHECK(isfinite(mark.ratio.center));
}

TEST(the_mean_over_cases_is_of_logarithms)
{
	static const struct made_up up = { 8000, 200000, 100000, 5000, 0 };
	static const struct made_up down = { 8000, 100000, 200000, 5000, 0 };
	struct samples samples = SAMPLES_INIT;
	struct stats_case items[3] = { { .null_ns = -1 }, { .null_ns = -1 }, { .null_ns = -1 } };
	bool counted[3] = { true, true, false };
	struct stats_mark mark;

	/* Interleaved by block, as a marking has them. */
	for (uint32_t block = 0; block < 10; block++) {
		struct samples one = SAMPLES_INIT;

		make(&one, 1, 0, &up);
		make(&one, 1, 1, &down);
		make(&one, 1, 2, &up);
		for (uint32_t i = 0; i < one.count; i++) {
			one.list[i].block = block;
			samples_add(&samples, &one.list[i]);
		}
		samples_done(&one);
	}
	mark = stats_mark(&samples, counted, 3, 0, 10, items);
	CHECK(fabs(mark.ratio.center) < 1e-6);
	CHECK(items[0].null_ns > 0 && items[1].null_ns > 0);
	CHECK(items[2].null_ns < 0);
	samples_done(&samples);
}

TEST(a_hosts_floor_widens_the_margin_and_never_narrows_it)
{
	static const struct made_up what = { 8000, 102000, 100000, 5000, 0 };
	struct samples samples = SAMPLES_INIT;
	struct stats_case item;
	bool counted[1] = { true };

	make(&samples, 10, 0, &what);
	CHECK_INT(stats_mark(&samples, counted, 1, 0, 10, &item).verdict, VERDICT_FAST);
	CHECK_INT(stats_mark(&samples, counted, 1, 1, 10, &item).verdict, VERDICT_FAST);
	CHECK_INT(stats_mark(&samples, counted, 1, 50000, 10, &item).verdict, VERDICT_SAME);
	samples_done(&samples);
}

TEST(a_claim_is_labelled_and_changes_nothing)
{
	static const struct made_up what = { 8000, 200000, 100000, 5000, 20 };
	struct samples honest = SAMPLES_INIT, lying = SAMPLES_INIT;
	struct stats_case true_item, false_item;
	bool counted[1] = { true };
	struct stats_mark one, other;

	make(&honest, 10, 0, &what);
	make(&lying, 10, 0, &what);
	for (uint32_t i = 0; i < lying.count; i++)
		if (lying.list[i].role == SAMPLE_CANDIDATE)
			lying.list[i].claimed_ns = i % 2 ? INT64_MIN : 1;
	one = stats_mark(&honest, counted, 1, 0, 10, &true_item);
	other = stats_mark(&lying, counted, 1, 0, 10, &false_item);
	CHECK(!true_item.clock_mismatch && false_item.clock_mismatch);
	CHECK(memcmp(&one, &other, sizeof(one)) == 0);
	samples_done(&honest);
	samples_done(&lying);
}

TEST(the_same_samples_give_the_same_bits)
{
	static const struct made_up what = { 8123, 102345, 98765, 5000, 20 };
	struct stats_case item;
	struct stats_mark one = mark_of(&what, 30, &item), other = mark_of(&what, 30, &item);

	CHECK(memcmp(&one, &other, sizeof(one)) == 0);
}
