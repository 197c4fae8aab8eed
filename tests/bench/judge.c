/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the judge's constants rest on, and whether it keeps what it promises: run on a quiet
 * machine with two CPUs of its own.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/check/plain_source.h"
#include "harness/judge/inputs.h"
#include "harness/judge/marking.h"
#include "harness/judge/raw_clock.h"
#include "sandbox/base/mem.h"
#include "tests/lib/judge_cases.h"

struct subject {
	const char *oracle;
	const char *baseline;
	const char *candidate;
};

static const struct subject softmax_itself = { "softmax_oracle", "softmax", "softmax" };

/* One marking of two functions of the test kernels. */
static int mark(const struct marking_plan *plan, const struct subject *subject, uint64_t seed,
		const struct marking_options *options, struct marking_result *out)
{
	uint8_t key[INPUTS_KEY] = { 0 };
	struct plain_source source;
	struct worker_source workers;
	struct err err = ERR_INIT;

	plain_source_init(&source);
	source.program = WORKER_PROGRAM;
	source.cpu = plan->worker_cpu;
	source.roles[WORKER_ORACLE] = (struct plain_implementation){ KERNELS, subject->oracle };
	source.roles[WORKER_BASELINE] = (struct plain_implementation){ KERNELS, subject->baseline };
	source.roles[WORKER_CANDIDATE] =
		(struct plain_implementation){ KERNELS, subject->candidate };
	workers = plain_source_workers(&source);
	memcpy(key, &seed, sizeof(seed));
	if (marking_run(plan, key, &workers, options, out, &err) < 0) {
		fprintf(stderr, "judge: %s\n", err.text);
		return -1;
	}
	return 0;
}

static void print_result(const struct marking_plan *plan, const struct marking_result *result)
{
	struct str text = STR_INIT;
	const struct stats_mark *stats = &result->seen.stats;
	uint32_t unseen_handovers = 0;

	verdict_text(&result->seen.mark, plan, NULL, &text);
	printf("seen    %s\n", text.text);
	str_clear(&text);
	verdict_text(&result->unseen.mark, plan, NULL, &text);
	printf("unseen  %s\n", text.text);
	str_done(&text);
	if (stats->blocks == 0)
		return;
	printf("verdict %s%s  speedup %.4f  [%.4f, %.4f]  %u blocks, %.2f s\n",
	       names_text(verdict_names, (int) stats->verdict),
	       stats->launch_bound ? " LAUNCH_BOUND" : "", exp(stats->ratio.center),
	       exp(stats->ratio.low), exp(stats->ratio.high), stats->blocks,
	       (double) result->wall_ns / 1e9);
	for (uint32_t i = 0; i < result->samples.count; i++)
		unseen_handovers += result->samples.list[i].flags & SAMPLE_HANDOVER_UNSEEN;
	printf("        %u calls, %u without a handover\n", result->samples.count,
	       unseen_handovers);
	for (uint32_t i = 0; i < plan->case_count; i++) {
		const struct stats_case *item = &result->cases[i];

		printf("        %-20s baseline %9.0f ns  candidate %9.0f ns  claimed %9.0f ns  "
		       "null %6.0f sd %4.0f  delta %4.0f  program %4.0f  floor %6.0f%s%s\n",
		       plan->cases[i].name, item->baseline_ns, item->candidate_ns, item->claimed_ns,
		       item->null_ns, item->null_sd_ns, item->delta_ns, item->program_ns,
		       item->floor_ns, item->launch_bound ? " LAUNCH_BOUND" : "",
		       item->clock_mismatch ? " CLOCK_MISMATCH" : "");
	}
}

static int run_mark(int count, char **args)
{
	struct marking_plan *plan = mem_alloc(1, sizeof(*plan));
	struct subject subject = softmax_itself;
	struct marking_result result = MARKING_RESULT_INIT;
	struct marking_options options = { .most_blocks = 0 };
	int rc;

	if (count > 0)
		subject.candidate = args[0];
	judge_plan(plan);
	judge_add_softmax(plan, 64, 512, false);
	judge_add_softmax(plan, 200, 333, false);
	judge_add_softmax(plan, 77, 1001, true);
	rc = mark(plan, &subject, (uint64_t) raw_clock_ns(), &options, &result);
	if (rc == 0)
		print_result(plan, &result);
	marking_result_done(&result);
	mem_free(&plan);
	return rc;
}

/* --- campaigns: many markings of one subject ---------------------------------------------------
 */

enum { MARKINGS_MAX = 1000 };

struct campaign {
	const char *name;
	struct subject subject;
	double truth; /* log ratio by construction */
	void (*plan)(struct marking_plan *plan);
};

static void plan_softmax(struct marking_plan *plan)
{
	judge_add_softmax(plan, 64, 512, false);
	judge_add_softmax(plan, 200, 333, false);
}

static void plan_one(struct marking_plan *plan)
{
	judge_add_softmax(plan, 64, 512, false);
}

/* Few outputs and much work, so that the ratio is that of the steps to 0.2 %. */
static void plan_chain(struct marking_plan *plan)
{
	judge_add_chain(plan, 256, 4000);
	judge_add_chain(plan, 192, 8000);
}

#define LN_1_05 0.04879016416943205
#define LN_2    0.6931471805599453

static const struct campaign campaigns[] = {
	{ "aa", { "softmax_oracle", "softmax", "softmax" }, 0, plan_softmax },
	{ "twice", { "chain_oracle", "chain_twice", "chain" }, LN_2, plan_chain },
	{ "slower", { "chain_oracle", "chain_slower", "chain" }, LN_1_05, plan_chain },
	/* A candidate that answers the judge itself saves the worker program's part of the path. */
	{ "serves", { "softmax_oracle", "softmax", "cheat_claim_tiny" }, 0, plan_one },
	{ "one", { "softmax_oracle", "softmax", "softmax" }, 0, plan_one },
	{ "reverse", { "chain_oracle", "chain", "chain_twice" }, -LN_2, plan_chain },
};

struct tally {
	uint32_t verdicts[4];
	uint32_t markings, covered, blocks, unseen_handovers, calls, unresolved;
	double width[MARKINGS_MAX]; /* half of each interval */
	double center[MARKINGS_MAX];
	double error[MARKINGS_MAX];  /* |center - truth| */
	double sealed[MARKINGS_MAX]; /* |sealed - claimed| / claimed, first case */
	double seconds[MARKINGS_MAX];
};

static void count_result(struct tally *tally, const struct campaign *campaign,
			 const struct marking_result *result)
{
	const struct stats_mark *stats = &result->seen.stats;
	uint32_t i = tally->markings++;

	tally->verdicts[stats->verdict]++;
	tally->covered +=
		stats->ratio.low <= campaign->truth && campaign->truth <= stats->ratio.high;
	tally->blocks += stats->blocks;
	tally->unresolved += stats->launch_bound;
	tally->width[i] = (stats->ratio.high - stats->ratio.low) / 2;
	tally->center[i] = stats->ratio.center;
	tally->error[i] = fabs(stats->ratio.center - campaign->truth);
	tally->sealed[i] = fabs(result->cases[0].candidate_ns / result->cases[0].claimed_ns - 1);
	tally->seconds[i] = (double) result->wall_ns / 1e9;
	tally->calls += result->samples.count;
	for (uint32_t j = 0; j < result->samples.count; j++)
		tally->unseen_handovers += result->samples.list[j].flags & SAMPLE_HANDOVER_UNSEEN;
}

/* Sorts; the part-quantile in percent. */
static double percent(double *values, uint32_t count, double part)
{
	stats_median(values, count);
	return 100 * values[(uint32_t) (part * (count - 1))];
}

static void print_tally(struct tally *tally, const struct campaign *campaign)
{
	uint32_t n = tally->markings;

	printf("%s: %u markings: FAST %u SLOW %u SAME %u AMBG %u (LAUNCH_BOUND %u)\n",
	       campaign->name, n, tally->verdicts[VERDICT_FAST], tally->verdicts[VERDICT_SLOW],
	       tally->verdicts[VERDICT_SAME], tally->verdicts[VERDICT_AMBG], tally->unresolved);
	printf("  truth %.4f inside the interval: %u of %u (%.1f %%)\n", exp(campaign->truth),
	       tally->covered, n, 100.0 * tally->covered / n);
	printf("  speedup: median %.4f\n", exp(percent(tally->center, n, 0.5) / 100));
	printf("  half width %%: median %.2f, p90 %.2f; error %%: median %.2f, p95 %.2f, worst "
	       "%.2f\n",
	       percent(tally->width, n, 0.5), percent(tally->width, n, 0.9),
	       percent(tally->error, n, 0.5), percent(tally->error, n, 0.95),
	       percent(tally->error, n, 1));
	printf("  sealed against in-process %%: median %.2f, worst %.2f\n",
	       percent(tally->sealed, n, 0.5), percent(tally->sealed, n, 1));
	printf("  blocks %.1f, seconds: median %.2f, worst %.2f; handovers unseen %u of %u\n",
	       (double) tally->blocks / n, percent(tally->seconds, n, 0.5) / 100,
	       percent(tally->seconds, n, 1) / 100, tally->unseen_handovers, tally->calls);
}

/* How much longer each call of a fresh worker is than the counted ones: why three do not count. */
struct warmup {
	double ratio[JUDGE_CALLS][4 * MARKINGS_MAX];
	uint32_t count;
};

static void count_warmup(struct warmup *warmup, const struct marking_result *result)
{
	for (uint32_t block = 0; block < result->seen.stats.blocks; block++) {
		double calls[JUDGE_CALLS] = { 0 }, counted[JUDGE_TIMED];

		for (uint32_t i = 0; i < result->samples.count; i++) {
			const struct sample *at = &result->samples.list[i];

			if (at->block == block && at->case_index == 0 && at->half == 0 &&
			    at->role == SAMPLE_CANDIDATE)
				calls[at->call] = (double) at->sealed_ns;
		}
		if (warmup->count == ARRAY_LEN(warmup->ratio[0]))
			return;
		memcpy(counted, calls + JUDGE_WARMUPS, sizeof(counted));
		for (int i = 0; i < JUDGE_CALLS; i++)
			warmup->ratio[i][warmup->count] =
				calls[i] / stats_median(counted, JUDGE_TIMED) - 1;
		warmup->count++;
	}
}

static void print_warmup(struct warmup *warmup)
{
	printf("  call of a fresh worker against its counted ones %%:");
	for (int i = 0; i < JUDGE_CALLS; i++)
		printf(" %.2f", percent(warmup->ratio[i], warmup->count, 0.5));
	printf("\n");
}

static int run_campaign(const struct campaign *campaign, uint32_t count)
{
	struct marking_plan *plan = mem_alloc(1, sizeof(*plan));
	struct tally *tally = mem_alloc(1, sizeof(*tally));
	struct warmup *warmup = mem_alloc(1, sizeof(*warmup));
	static const struct marking_options options;
	int rc = 0;

	judge_plan(plan);
	campaign->plan(plan);
	for (uint32_t i = 0; rc == 0 && i < count && i < MARKINGS_MAX; i++) {
		struct marking_result result = MARKING_RESULT_INIT;

		rc = mark(plan, &campaign->subject, (uint64_t) raw_clock_ns(), &options, &result);
		if (rc == 0 && result.seen.mark.kind != MARK_VALID) {
			print_result(plan, &result);
			rc = -1;
		} else if (rc == 0) {
			count_result(tally, campaign, &result);
			count_warmup(warmup, &result);
		}
		marking_result_done(&result);
	}
	if (rc == 0) {
		print_tally(tally, campaign);
		print_warmup(warmup);
	}
	mem_free(&warmup);
	mem_free(&tally);
	mem_free(&plan);
	return rc;
}

/* --- walls: what probes and holding hold back ----------------------------------------------------
 */

#ifdef PROCTOR_TEST_HOOKS
static void plan_small(struct marking_plan *plan)
{
	judge_add_softmax(plan, 200, 333, false);
}

static void plan_large(struct marking_plan *plan)
{
	judge_add_curve(plan, 1024, 1024);
}

static const struct wall_group {
	const char *what;
	void (*plan)(struct marking_plan *plan);
	const char *oracle, *baseline;
	uint32_t blocks; /* 0: as many as it takes */
} small_outputs = { "softmax, 0.25 MiB of outputs", plan_small, "softmax_oracle", "softmax", 0 },
  large_outputs = { "curve, 4 MiB of outputs", plan_large, "curve_oracle", "curve",
		    JUDGE_LOOK_EVERY };

static const struct wall_row {
	const struct wall_group *group;
	const char *candidate;
	struct caliper_walls walls;
	const char *what;
} wall_rows[] = {
	{ &small_outputs, "honest_ring", { false, false }, "honest twin, all walls" },
	{ &small_outputs, "cheat_early_98", { false, false }, "rings at 98 %, all walls" },
	{ &small_outputs, "cheat_early_95", { false, false }, "rings at 95 %, all walls" },
	{ &small_outputs, "cheat_early_90", { false, false }, "rings at 90 %, all walls" },
	{ &small_outputs, "cheat_early_75", { false, false }, "rings at 75 %, all walls" },
	{ &small_outputs, "cheat_early_50", { false, false }, "rings at 50 %, all walls" },
	{ &small_outputs, "cheat_early_98", { true, false }, "rings at 98 %, no probes" },
	{ &small_outputs, "cheat_early_95", { true, false }, "rings at 95 %, no probes" },
	{ &small_outputs, "cheat_early_90", { true, false }, "rings at 90 %, no probes" },
	{ &small_outputs, "cheat_ahead", { false, false }, "reads ahead, all walls" },
	{ &small_outputs, "honest_ring", { false, true }, "honest twin, not held" },
	{ &small_outputs, "cheat_ahead", { false, true }, "reads ahead, not held" },
	{ &large_outputs, "honest_curve", { false, false }, "honest twin, all walls" },
	{ &large_outputs, "cheat_curve_90", { false, false }, "rings at 90 %, all walls" },
	{ &large_outputs, "cheat_curve_75", { false, false }, "rings at 75 %, all walls" },
	{ &large_outputs, "cheat_curve_50", { false, false }, "rings at 50 %, all walls" },
	{ &large_outputs, "honest_curve", { true, false }, "honest twin, no probes" },
	{ &large_outputs, "cheat_curve_90", { true, false }, "rings at 90 %, no probes" },
	{ &large_outputs, "cheat_curve_75", { true, false }, "rings at 75 %, no probes" },
	{ &large_outputs, "cheat_curve_50", { true, false }, "rings at 50 %, no probes" },
};

struct wall_tally {
	uint32_t markings, valid, fast;
	enum mark_reason reason;
	double best;
};

static int run_wall(const struct wall_row *row, struct wall_tally *tally)
{
	struct marking_plan *plan = mem_alloc(1, sizeof(*plan));
	const struct subject subject = { row->group->oracle, row->group->baseline, row->candidate };
	const struct marking_options options = { .walls = row->walls,
						 .most_blocks = row->group->blocks };
	struct marking_result result = MARKING_RESULT_INIT;
	int rc;

	judge_plan(plan);
	row->group->plan(plan);
	rc = mark(plan, &subject, (uint64_t) raw_clock_ns(), &options, &result);
	tally->markings++;
	tally->valid += result.seen.mark.kind == MARK_VALID;
	tally->reason = result.seen.mark.reason;
	tally->fast += result.seen.stats.verdict == VERDICT_FAST;
	if (result.seen.mark.kind == MARK_VALID)
		tally->best = fmax(tally->best, exp(result.seen.stats.ratio.center));
	marking_result_done(&result);
	mem_free(&plan);
	return rc;
}

static int run_walls(uint32_t count, const char *only)
{
	const struct wall_group *group = NULL;

	for (uint32_t row = 0; row < ARRAY_LEN(wall_rows); row++) {
		struct wall_tally tally = { .reason = REASON_NONE };

		if (!strstr(wall_rows[row].what, only))
			continue;
		if (wall_rows[row].group != group) {
			group = wall_rows[row].group;
			printf("%s\n", group->what);
		}
		for (uint32_t i = 0; i < count; i++)
			if (run_wall(&wall_rows[row], &tally) < 0)
				return -1;
		printf("  %-28s VALID %u of %u, FAST %u, best speedup %.3f, last reason %s\n",
		       wall_rows[row].what, tally.valid, count, tally.fast, tally.best,
		       names_text(mark_reason_names, (int) tally.reason));
	}
	return 0;
}
#else
static int run_walls(uint32_t count, const char *only)
{
	(void) count;
	(void) only;
	fprintf(stderr, "judge: walls stand in this build; configure with -Dtest_hooks=true\n");
	return -1;
}
#endif

/* --- inputs: how fast fresh values come ----------------------------------------------------------
 */

static int run_inputs(void)
{
	enum { FLOATS = 4 << 20, ROUNDS = 10 };
	static const uint8_t key[INPUTS_KEY];
	uint64_t numbers[INPUTS_NUMBERS] = { 0 };
	cleanup(inputs_done) struct inputs stream = INPUTS_INIT;
	float *values = mem_alloc(FLOATS, sizeof(*values));
	struct err err = ERR_INIT;
	double best[3] = { 1e9, 1e9, 1e9 };

	if (inputs_open(&stream, key, "bench", numbers, &err) < 0)
		return -1;
	for (int round = 0; round < ROUNDS; round++) {
		int64_t at = raw_clock_ns();

		inputs_f32(&stream, values, FLOATS, -1, 1);
		best[0] = fmin(best[0], (double) (raw_clock_ns() - at));
		at = raw_clock_ns();
		inputs_f64(&stream, (double *) (void *) values, FLOATS / 2, -1, 1);
		best[1] = fmin(best[1], (double) (raw_clock_ns() - at));
		at = raw_clock_ns();
		inputs_i32(&stream, (int32_t *) (void *) values, FLOATS, 0, 999);
		best[2] = fmin(best[2], (double) (raw_clock_ns() - at));
	}
	printf("inputs: f32 %.2f GB/s, f64 %.2f GB/s, i32 %.2f GB/s\n", 4.0 * FLOATS / best[0],
	       4.0 * FLOATS / best[1], 4.0 * FLOATS / best[2]);
	mem_free(&values);
	return 0;
}

static int usage(void)
{
	fprintf(stderr, "usage: judge mark [SYMBOL] | inputs | walls N [TEXT] | CAMPAIGN N\n"
			"campaigns: aa, one, serves, twice, slower, reverse\n");
	return 2;
}

int main(int argc, char **argv)
{
	uint32_t count = argc > 2 ? (uint32_t) strtoul(argv[2], NULL, 10) : 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc >= 2 && strcmp(argv[1], "mark") == 0)
		return run_mark(argc - 2, argv + 2) < 0;
	if (argc == 2 && strcmp(argv[1], "inputs") == 0)
		return run_inputs() < 0;
	if (argc >= 3 && count > 0 && strcmp(argv[1], "walls") == 0)
		return run_walls(count, argc > 3 ? argv[3] : "") < 0;
	for (uint32_t i = 0; argc == 3 && count > 0 && i < ARRAY_LEN(campaigns); i++)
		if (strcmp(argv[1], campaigns[i].name) == 0)
			return run_campaign(&campaigns[i], count) < 0;
	return usage();
}
