/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_unseen_summary.h"

#include <math.h>
#include <string.h>

#include "tests/lib/check.h"

static bool is(double got, double want)
{
	return got >= want && got <= want;
}

static struct aka_unseen result(const char *name, enum aka_unseen_status status, double speedup,
				double seen)
{
	return (struct aka_unseen){
		.task_name = name,
		.compiles = true,
		.is_correct = status == AKA_BOTH_PASS || status == AKA_OPT_IMPROVEMENT,
		.original_compiles = true,
		.original_is_correct = status == AKA_BOTH_PASS || status == AKA_OPT_REGRESSION,
		.status = status,
		.speedup = speedup,
		.score = 120 + 100 * speedup,
		.seen = { .is_correct = true, .speedup = seen, .score = 120 + 100 * seen },
	};
}

TEST(speedups_are_of_tasks_that_are_right_on_both_sides)
{
	const struct aka_unseen tasks[] = {
		result("a", AKA_BOTH_PASS, 2, 4),        result("b", AKA_BOTH_PASS, 8, 4),
		result("c", AKA_OPT_REGRESSION, 0, 100), result("d", AKA_BOTH_FAIL, 0, 1),
		result("e", AKA_OPT_IMPROVEMENT, 50, 1), result("f", AKA_BOTH_PASS, 0, 16),
	};
	const struct aka_unseen *list[ARRAY_LEN(tasks)];
	struct aka_unseen_figures figures;

	for (size_t i = 0; i < ARRAY_LEN(tasks); i++)
		list[i] = &tasks[i];
	aka_unseen_count(&figures, list, ARRAY_LEN(list));
	CHECK_INT(figures.count, 6);
	CHECK_INT(figures.statuses[AKA_BOTH_PASS], 3);
	CHECK_INT(figures.statuses[AKA_OPT_IMPROVEMENT], 1);
	CHECK_INT(figures.original_correct, 4);
	CHECK_INT(figures.both_correct, 3);
	CHECK(is(figures.rate, 75));
	CHECK_INT(figures.held_out.count, 2);
	CHECK(is(figures.held_out.mean, 5) && is(figures.held_out.median, 5));
	CHECK(fabs(figures.held_out.deviation - sqrt(18)) < 1e-12);
	CHECK(fabs(figures.held_out.geometric - 4) < 1e-12);
	CHECK_INT(figures.seen.count, 3);
	CHECK(is(figures.seen.mean, 8) && is(figures.seen.median, 4));
	CHECK_INT(figures.retained_count, 2);
	CHECK(fabs(figures.retained - 1) < 1e-12);
}

TEST(the_file_has_rounded_figures)
{
	const struct aka_unseen task = result("hip2hip/a", AKA_BOTH_PASS, 1.23456, 2);
	const struct aka_unseen *list[] = { &task };
	struct str file = STR_INIT;

	CHECK(aka_unseen_summary_file(&file, list, 1));
	CHECK_STR(file.text,
		  "total_tasks: 1\n"
		  "quadrant_counts:\n"
		  "  both_pass: 1\n"
		  "  opt_regression: 0\n"
		  "  both_fail: 0\n"
		  "  opt_improvement: 0\n"
		  "conditional_correctness:\n"
		  "  description: P(opt correct on held-out | orig correct on held-out)\n"
		  "  orig_correct_count: 1\n"
		  "  opt_also_correct_count: 1\n"
		  "  rate_pct: 100.0\n"
		  "heldout_speedup_stats:\n"
		  "  description: Speedup on held-out shapes (both_pass tasks only)\n"
		  "  count: 1\n"
		  "  mean: 1.2346\n"
		  "  median: 1.2346\n"
		  "  std: 0.0\n"
		  "original_run_speedup_stats:\n"
		  "  description: Speedup from original run (both_pass tasks only, for reference)\n"
		  "  count: 1\n"
		  "  mean: 2.0\n"
		  "  median: 2.0\n"
		  "  std: 0.0\n"
		  "generalization_gap:\n"
		  "  correctness_retention_pct: 100.0\n"
		  "  speedup_mean_delta: -0.7654\n"
		  "per_task:\n"
		  "- task_name: hip2hip/a\n"
		  "  generalization_status: both_pass\n"
		  "  orig_heldout_correct: true\n"
		  "  opt_heldout_correct: true\n"
		  "  heldout_speedup: 1.2346\n"
		  "  original_run_speedup: 2.0\n"
		  "  speedup_delta: -0.7654\n"
		  "  heldout_score: 243.46\n"
		  "  original_run_score: 320.0\n"
		  "  error: null\n");
	str_done(&file);
}

TEST(of_no_task_there_is_no_file_and_all_figures_are_zero)
{
	struct aka_unseen_figures figures;
	struct str file = STR_INIT;

	CHECK(!aka_unseen_summary_file(&file, NULL, 0) && file.len == 0);
	aka_unseen_count(&figures, NULL, 0);
	CHECK(is(figures.rate, 0) && is(figures.held_out.mean, 0) && is(figures.retained, 0));
}

TEST(an_infinite_speedup_leaves_the_file_whole)
{
	const struct aka_unseen tasks[] = { result("a", AKA_BOTH_PASS, HUGE_VAL, 2),
					    result("b", AKA_BOTH_PASS, 1, 2) };
	const struct aka_unseen *list[] = { &tasks[0], &tasks[1] };
	struct aka_unseen_figures figures;
	struct str file = STR_INIT;

	aka_unseen_count(&figures, list, 2);
	CHECK_INT(figures.retained_count, 1);
	CHECK(is(figures.retained, 0.5));
	CHECK(aka_unseen_summary_file(&file, list, 2));
	CHECK(strstr(file.text, "  mean: .inf\n  median: .inf\n  std: .inf\n"));
	str_done(&file);
}
