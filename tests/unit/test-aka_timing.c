/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_timing.h"

#include <math.h>
#include <string.h>

#include "sandbox/base/clock.h"
#include "tests/lib/check.h"

enum { CASES = 2, MOST = 12 };

static struct aka_run runs[MOST];
static struct aka_timing timing;

/* Cases a and b; @swapped: in the other order. */
static void fill(struct aka_run *run, double a, double b, bool swapped)
{
	static const char *const names[CASES] = { "a", "b" };
	const double times[CASES] = { a, b };

	run->cases = AKA_CASES_INIT;
	for (size_t i = 0; i < CASES; i++) {
		const size_t which = swapped ? CASES - 1 - i : i;
		struct aka_case *made = aka_cases_add(
			&run->cases, pyvalue_new_text(&run->cases.arena, names[which], 1));

		made->time_ms = times[which];
		made->source = "execution_time_ms";
	}
	run->wall_ns = INT64_C(1000000000);
}

/* One factor a run, in the order of the runs: case a has that time, case b twice. */
static size_t make(const double *factors, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fill(&runs[i], factors[i], 2 * factors[i], false);
	return aka_timing_make(&timing, runs, count, true);
}

static void done(size_t count)
{
	for (size_t i = 0; i < count; i++)
		aka_cases_done(&runs[i].cases);
}

/* Baselines are the first, fourth, fifth, eighth. */
static void check_verdict(const double factors[8], const char *verdict)
{
	CHECK_INT(make(factors, 8), 0);
	CHECK_INT(timing.rounds, 2);
	CHECK_STR(timing.verdict, verdict);
	done(8);
}

TEST(turns_are_baseline_candidate_candidate_baseline)
{
	static const char want[] = "BCCBBCCB";

	for (size_t i = 0; i < 8; i++)
		CHECK_INT(aka_timing_side(i),
			  want[i] == 'B' ? AKA_SIDE_BASELINE : AKA_SIDE_CANDIDATE);
}

TEST(a_difference_is_larger_than_the_margin_and_all_noise)
{
	check_verdict((double[]){ 2, 1, 1, 2, 2, 1, 1, 2 }, "FAST");
	check_verdict((double[]){ 1, 2, 2, 1, 1, 2, 2, 1 }, "SLOW");
	check_verdict((double[]){ 1, 1, 1, 1, 1, 1, 1, 1 }, "SAME");
	check_verdict((double[]){ 1.009, 1, 1, 1.009, 1.009, 1, 1, 1.009 }, "SAME");
	check_verdict((double[]){ 1.011, 1, 1, 1.011, 1.011, 1, 1, 1.011 }, "FAST");
	/* One run of the baseline is as quick as a candidate. */
	check_verdict((double[]){ 2, 1, 1, 2, 1, 1, 1, 2 }, "AMBG");
	/* All are slower, by less than half of what they lie apart. */
	check_verdict((double[]){ 1.2, 1.15, 1, 1.4, 1.5, 1.1, 1, 1.2 }, "AMBG");
}

TEST(one_round_tells_nothing_apart)
{
	CHECK_INT(make((double[]){ 2, 1, 1, 2 }, 4), 0);
	CHECK_INT(timing.rounds, 1);
	CHECK_STR(timing.verdict, "AMBG");
	CHECK(aka_timing_counts(&timing) == 1);
	CHECK(fabs(timing.speedup - 2) < 1e-12);
	done(4);
	CHECK_INT(make((double[]){ 1, 1, 1, 1 }, 4), 0);
	CHECK_STR(timing.verdict, "SAME");
	done(4);
}

TEST(runs_behind_the_last_whole_round_do_not_count)
{
	CHECK_INT(make((double[]){ 1, 1, 1, 1, 9, 9, 9 }, 7), 0);
	CHECK_INT(timing.rounds, 1);
	CHECK_STR(timing.verdict, "SAME");
	done(7);
	CHECK_INT(make((double[]){ 1, 1, 1 }, 3), 0);
	CHECK_INT(timing.rounds, 0);
	CHECK(aka_timing_counts(&timing) == 0);
	done(3);
}

TEST(the_speedup_is_the_mean_of_the_cases_ratios_of_medians)
{
	static const double base[8] = { 4, 0, 0, 4, 4, 0, 0, 9 };

	for (size_t i = 0; i < 8; i++) {
		if (base[i] > 0)
			fill(&runs[i], base[i], 3, i % 2);
		else
			fill(&runs[i], 1, 1, i % 2);
	}
	CHECK_INT(aka_timing_make(&timing, runs, 8, true), 0);
	CHECK_STR(timing.verdict, "FAST");
	CHECK(fabs(timing.speedup - 3.5) < 1e-12);
	CHECK(fabs(timing.ratio - (log(4) + log(3)) / 2) < 1e-12);
	CHECK(aka_timing_counts(&timing) == timing.speedup);
	done(8);
}

TEST(a_run_with_other_cases_is_named)
{
	CHECK_INT(make((double[]){ 1, 1, 1, 1 }, 4), 0);
	runs[2].cases.list[1].id = pyvalue_new_text(&runs[2].cases.arena, "c", 1);
	CHECK_INT(aka_timing_make(&timing, runs, 4, true), 3);
	CHECK_INT(timing.rounds, 0);
	done(4);
	CHECK_INT(make((double[]){ 1, 1, 1, 1 }, 4), 0);
	runs[3].cases.list[0].time_ms = INFINITY;
	CHECK_INT(aka_timing_make(&timing, runs, 4, true), 4);
	runs[3].cases.list[0].time_ms = -1;
	CHECK_INT(aka_timing_make(&timing, runs, 4, true), 4);
	runs[0].cases.count = 0;
	CHECK_INT(aka_timing_make(&timing, runs, 4, true), 1);
	done(4);
}

static bool has(enum aka_label label)
{
	return timing.labels & 1U << label;
}

TEST(a_time_that_no_kernel_has_does_not_count_on_a_gpu)
{
	static const double factors[8] = { 1, 4e-4, 4e-4, 1, 1, 4e-4, 5e-4, 1 };

	CHECK_INT(make(factors, 8), 0);
	CHECK_STR(timing.verdict, "FAST");
	CHECK(has(AKA_LABEL_BELOW_FLOOR));
	CHECK(aka_timing_counts(&timing) == 0);
	CHECK_INT(aka_timing_make(&timing, runs, 8, false), 0);
	CHECK(!has(AKA_LABEL_BELOW_FLOOR));
	CHECK(aka_timing_counts(&timing) > 1000);
	done(8);
}

TEST(figures_that_never_change_are_labelled_where_those_of_the_baseline_do)
{
	CHECK_INT(make((double[]){ 2, 1, 1, 2.1, 2, 1, 1, 2.2 }, 8), 0);
	CHECK(has(AKA_LABEL_SAME_FIGURES));
	done(8);
	CHECK_INT(make((double[]){ 2, 1, 1, 2.1, 2, 1, 1.01, 2.2 }, 8), 0);
	CHECK(!has(AKA_LABEL_SAME_FIGURES));
	done(8);
	CHECK_INT(make((double[]){ 2, 1, 1, 2, 2, 1, 1, 2 }, 8), 0);
	CHECK(!has(AKA_LABEL_SAME_FIGURES));
	done(8);
}

TEST(what_was_saved_by_the_figures_has_to_be_saved_by_the_clock)
{
	/* 100 calls of two cases save 100 * (1 + 2) ms. */
	static const double factors[8] = { 2, 1, 1, 2, 2, 1, 1, 2 };

	CHECK_INT(make(factors, 8), 0);
	CHECK(has(AKA_LABEL_WALL_UNMOVED));
	for (size_t i = 0; i < 8; i++)
		if (aka_timing_side(i) == AKA_SIDE_CANDIDATE)
			runs[i].wall_ns -= 300 * INT64_C(1000000);
	CHECK_INT(aka_timing_make(&timing, runs, 8, true), 0);
	CHECK(!has(AKA_LABEL_WALL_UNMOVED));
	/* Where the clock's readings lie further apart than that, nothing can be seen. */
	for (size_t i = 0; i < 8; i++)
		runs[i].wall_ns = INT64_C(1000000000) + (int64_t) i * 50 * INT64_C(1000000);
	CHECK_INT(aka_timing_make(&timing, runs, 8, true), 0);
	CHECK(!has(AKA_LABEL_WALL_UNMOVED));
	done(8);
}
