/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/marking.h"

#include <math.h>
#include <string.h>

#include "harness/check/plain_source.h"
#include "harness/judge/inputs.h"
#include "sandbox/base/mem.h"
#include "tests/lib/check.h"
#include "tests/lib/judge_cases.h"

enum { FEW = 2 }; /* blocks of a marking whose times do not matter */

struct trial {
	struct marking_plan plan;
	struct plain_source source;
	uint32_t started;    /* workers so far */
	uint32_t candidates; /* of these the candidate's */
	struct marking_result result;
	struct err err;
#ifdef PROCTOR_TEST_HOOKS
	struct caliper_walls walls;
#endif
};

static struct trial *new_trial(const char *candidate)
{
	struct trial *trial = mem_alloc(1, sizeof(*trial));

	if (!judge_has_cpus())
		SKIP("needs CPUs 0 and 1");
	judge_plan(&trial->plan);
	judge_add_softmax(&trial->plan, 64, 256, false);
	plain_source_init(&trial->source);
	trial->source.program = WORKER_PROGRAM;
	trial->source.cpu = 1;
	trial->source.roles[WORKER_ORACLE] =
		(struct plain_implementation){ KERNELS, "softmax_oracle" };
	trial->source.roles[WORKER_BASELINE] = (struct plain_implementation){ KERNELS, "softmax" };
	trial->source.roles[WORKER_CANDIDATE] = (struct plain_implementation){ KERNELS, candidate };
	return trial;
}

/* Counts, and starts a worker as the source does. */
static int start(void *context, enum worker_role role, const struct worker_fds *fds,
		 struct worker *out, struct err *err)
{
	struct trial *trial = context;

	trial->started++;
	trial->candidates += role == WORKER_CANDIDATE;
	return plain_source_workers(&trial->source).start(&trial->source, role, fds, out, err);
}

static int hold(void *context, const struct worker *worker, struct err *err)
{
	struct trial *trial = context;

	return plain_source_workers(&trial->source).hold(&trial->source, worker, err);
}

static void release(void *context, const struct worker *worker)
{
	struct trial *trial = context;

	plain_source_workers(&trial->source).release(&trial->source, worker);
}

static int stop(void *context, struct worker *worker, struct worker_end *out, struct err *err)
{
	struct trial *trial = context;

	return plain_source_workers(&trial->source).stop(&trial->source, worker, out, err);
}

static int try_within(struct trial *trial, uint32_t blocks, int64_t limit_ns)
{
	static uint8_t key[INPUTS_KEY];
	const struct worker_source workers = { trial, start, hold, release, stop };
	struct marking_options options = { .most_blocks = blocks, .limit_ns = limit_ns };

#ifdef PROCTOR_TEST_HOOKS
	options.walls = trial->walls;
#endif
	key[0]++; /* other problems each time */
	return marking_run(&trial->plan, key, &workers, &options, &trial->result, &trial->err);
}

static int try(struct trial *trial, uint32_t blocks)
{
	return try_within(trial, blocks, 0);
}

static void end_trial(struct trial *trial)
{
	CHECK_INT(trial->source.running[0].pid_fd, -1);
	CHECK_INT(trial->source.running[1].pid_fd, -1);
	marking_result_done(&trial->result);
	mem_free(&trial);
}

/* A worker that rings early and goes on writing, over outputs that it makes faster than the judge
 * copies them. */
static struct trial *new_large_trial(const char *candidate)
{
	struct trial *trial = new_trial(candidate);

	trial->plan.case_count = 0;
	judge_add_curve(&trial->plan, 1024, 1024);
	trial->plan.call_ns = 5000000000; /* also on a busy machine, with sanitizers */
	trial->source.roles[WORKER_ORACLE].symbol = "curve_oracle";
	trial->source.roles[WORKER_BASELINE].symbol = "curve";
	return trial;
}

static struct mark mark_of(const char *candidate, uint32_t blocks)
{
	struct trial *trial = new_trial(candidate);
	struct mark mark;

	if (try(trial, blocks) < 0)
		check_fail(__FILE__, __LINE__, "%s: %s", candidate, trial->err.text);
	mark = trial->result.seen.mark;
	end_trial(trial);
	return mark;
}

TEST(an_early_ring_is_wrong_in_twenty_of_twenty_and_its_honest_twin_never)
{
	static const char *const cheats[] = { "cheat_early_50", "cheat_early_75",
					      "cheat_early_90" };

	for (size_t i = 0; i < ARRAY_LEN(cheats); i++)
		for (int n = 0; n < 20; n++)
			CHECK_INT(mark_of(cheats[i], FEW).kind, MARK_WRONG);
	for (int n = 0; n < 20; n++)
		CHECK_INT(mark_of("honest_ring", FEW).kind, MARK_VALID);
}

TEST(an_early_ring_is_wrong_also_where_the_worker_outruns_the_snapshot)
{
	static const char *const cheats[] = { "cheat_curve_50", "cheat_curve_75",
					      "cheat_curve_90" };

	for (size_t i = 0; i < 20 * ARRAY_LEN(cheats); i++) {
		struct trial *trial = new_large_trial(cheats[i / 20]);

		CHECK_INT(try(trial, 1), 0);
		CHECK_INT(trial->result.seen.mark.kind, MARK_WRONG);
		CHECK_INT(trial->result.seen.mark.reason, REASON_LATE);
		end_trial(trial);
	}
}

#ifdef PROCTOR_TEST_HOOKS
/* What the test above is worth; how much such a worker gains: bench-judge walls. */
TEST(without_probes_the_same_worker_passes)
{
	uint32_t valid = 0;

	for (int i = 0; i < 20 && valid == 0; i++) {
		struct trial *trial = new_large_trial("cheat_curve_75");

		trial->walls.no_probes = true;
		CHECK_INT(try(trial, 1), 0);
		valid += trial->result.seen.mark.kind == MARK_VALID;
		end_trial(trial);
	}
	CHECK(valid > 0);
}
#endif

TEST(each_cheat_has_its_mark)
{
	static const struct {
		const char *candidate;
		enum mark_kind kind;
		enum mark_reason reason;
	} cases[] = {
		{ "cheat_thread", MARK_WRONG, REASON_UNWRITTEN },
		{ "cheat_previous", MARK_WRONG, REASON_VALUE },
		{ "cheat_after_five", MARK_WRONG, REASON_VALUE },
		{ "cheat_nothing", MARK_WRONG, REASON_UNWRITTEN },
		{ "cheat_half", MARK_WRONG, REASON_UNWRITTEN },
		{ "cheat_past_end", MARK_WRONG, REASON_REDZONE },
		{ "cheat_before_start", MARK_WRONG, REASON_REDZONE },
		{ "cheat_zeros", MARK_WRONG, REASON_VALUE },
		{ "cheat_minus_zeros", MARK_WRONG, REASON_VALUE },
		{ "cheat_mean", MARK_WRONG, REASON_VALUE },
		{ "cheat_copy", MARK_WRONG, REASON_VALUE },
		{ "cheat_nan", MARK_WRONG, REASON_VALUE },
		{ "cheat_inf", MARK_WRONG, REASON_VALUE },
		{ "cheat_writes_inputs", MARK_WRONG, REASON_DIED },
		{ "cheat_status", MARK_VIOLATION, REASON_PROTOCOL },
		{ "cheat_done", MARK_VIOLATION, REASON_PROTOCOL },
		{ "cheat_flood", MARK_VIOLATION, REASON_PROTOCOL },
		{ "cheat_scribble", MARK_VIOLATION, REASON_PROTOCOL },
		{ "cheat_exit_0", MARK_WRONG, REASON_DIED },
		{ "cheat_exit_77", MARK_WRONG, REASON_DIED },
		{ "cheat_exit_after", MARK_WRONG, REASON_DIED },
		{ "cheat_segv", MARK_WRONG, REASON_DIED },
		{ "cheat_kill", MARK_WRONG, REASON_DIED },
		{ "cheat_stop", MARK_RESOURCE, REASON_TIMEOUT },
		{ "cheat_vfork", MARK_RESOURCE, REASON_TIMEOUT },
		{ "cheat_hang", MARK_RESOURCE, REASON_TIMEOUT },
		{ "no_such_symbol", MARK_WRONG, REASON_NO_SYMBOL },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct mark mark = mark_of(cases[i].candidate, FEW);

		if (mark.kind != cases[i].kind || mark.reason != cases[i].reason)
			check_note("%s", cases[i].candidate);
		CHECK_INT(mark.kind, cases[i].kind);
		CHECK_INT(mark.reason, cases[i].reason);
		CHECK_INT(mark.role, WORKER_CANDIDATE);
		CHECK_INT(mark.stage, STAGE_CHECK);
	}
}

TEST(what_gains_nothing_is_no_offence)
{
	static const char *const candidates[] = { "softmax",     "honest_ring",  "cheat_memo",
						  "cheat_close", "cheat_inputs", "cheat_ahead" };

	for (size_t i = 0; i < ARRAY_LEN(candidates); i++) {
		struct mark mark = mark_of(candidates[i], FEW);

		if (mark.kind != MARK_VALID)
			check_note("%s", candidates[i]);
		CHECK_INT(mark.kind, MARK_VALID);
	}
}

TEST(a_claim_changes_no_time_and_is_labelled)
{
	static const char *const liars[] = { "cheat_claim_tiny", "cheat_claim_negative",
					     "cheat_claim_huge" };

	for (size_t i = 0; i < ARRAY_LEN(liars); i++) {
		struct trial *trial = new_trial(liars[i]);

		CHECK_INT(try(trial, JUDGE_LOOK_EVERY), 0);
		CHECK_INT(trial->result.seen.mark.kind, MARK_VALID);
		CHECK(trial->result.cases[0].clock_mismatch);
		CHECK(trial->result.seen.stats.verdict != VERDICT_FAST);
		end_trial(trial);
	}
}

TEST(a_wrong_unseen_case_costs_the_seen_ones_nothing)
{
	struct trial *trial = new_trial("cheat_few_rows");

	judge_add_softmax(&trial->plan, 128, 256, true);
	CHECK_INT(try(trial, JUDGE_LOOK_EVERY), 0);
	CHECK_INT(trial->result.seen.mark.kind, MARK_VALID);
	CHECK_INT(trial->result.seen.stats.blocks, JUDGE_LOOK_EVERY);
	CHECK_INT(trial->result.unseen.mark.kind, MARK_WRONG);
	CHECK_INT(trial->result.unseen.mark.case_index, 1);
	CHECK_INT(trial->result.unseen.stats.blocks, 0);
	end_trial(trial);
}

TEST(a_wrong_seen_case_leaves_the_unseen_ones_their_mark_and_no_time)
{
	struct trial *trial = new_trial("cheat_many_rows");

	judge_add_softmax(&trial->plan, 128, 256, true);
	CHECK_INT(try(trial, JUDGE_LOOK_EVERY), 0);
	CHECK_INT(trial->result.seen.mark.kind, MARK_WRONG);
	CHECK_INT(trial->result.unseen.mark.kind, MARK_VALID);
	CHECK_INT(trial->result.seen.stats.blocks, 0);
	CHECK_INT(trial->result.unseen.stats.blocks, 0);
	CHECK_INT(trial->result.samples.count, 0);
	end_trial(trial);
}

TEST(unseen_cases_have_a_figure_of_their_own)
{
	struct trial *trial = new_trial("softmax");

	judge_add_softmax(&trial->plan, 100, 200, true);
	CHECK_INT(try(trial, JUDGE_LOOK_EVERY), 0);
	CHECK_INT(trial->result.seen.mark.kind, MARK_VALID);
	CHECK_INT(trial->result.unseen.mark.kind, MARK_VALID);
	CHECK_INT(trial->result.unseen.stats.blocks, JUDGE_LOOK_EVERY);
	CHECK(trial->result.cases[1].baseline_ns > 0);
	end_trial(trial);
}

/* A retry would be an offer: fail until the machine is lucky. */
TEST(a_candidate_that_fails_is_started_once_a_set)
{
	struct trial *trial = new_trial("cheat_exit_0");

	CHECK_INT(try(trial, FEW), 0);
	CHECK_INT(trial->candidates, 1);
	end_trial(trial);
	trial = new_trial("cheat_exit_0");
	judge_add_softmax(&trial->plan, 100, 200, true);
	CHECK_INT(try(trial, FEW), 0);
	CHECK_INT(trial->result.seen.mark.kind, MARK_WRONG);
	CHECK_INT(trial->result.unseen.mark.kind, MARK_WRONG);
	CHECK_INT(trial->candidates, 2);
	end_trial(trial);
}

TEST(a_candidate_that_is_wrong_only_while_it_is_timed_is_wrong)
{
	struct trial *trial = new_trial("cheat_third_worker");

	CHECK_INT(try(trial, FEW), 0);
	CHECK_INT(trial->result.seen.mark.kind, MARK_WRONG);
	CHECK_INT(trial->result.seen.mark.stage, STAGE_TIMING);
	end_trial(trial);
}

/* So short that no number of blocks decides anything. */
TEST(a_marking_that_runs_out_of_time_ends_at_a_look_and_fails_nobody)
{
	struct trial *trial = new_trial("softmax");

	trial->plan.case_count = 0;
	judge_add_softmax(&trial->plan, 1, 16, false);
	CHECK_INT(try_within(trial, 2 * JUDGE_LOOK_EVERY, 1), 0);
	CHECK_INT(trial->result.seen.mark.kind, MARK_VALID);
	CHECK_INT(trial->result.seen.stats.verdict, VERDICT_AMBG);
	CHECK_INT(trial->result.seen.stats.blocks, JUDGE_LOOK_EVERY);
	marking_result_done(&trial->result);
	CHECK_INT(try_within(trial, 2 * JUDGE_LOOK_EVERY, INT64_MAX / 4), 0);
	CHECK_INT(trial->result.seen.stats.blocks, 2 * JUDGE_LOOK_EVERY);
	end_trial(trial);
}

TEST(a_block_has_four_fresh_workers_of_equal_length)
{
	struct trial *trial = new_trial("softmax");
	uint32_t counts[2][4] = { { 0 } };

	CHECK_INT(try(trial, FEW), 0);
	/* The oracle, a check a side, and five a block. */
	CHECK_INT(trial->started, 1 + 2 + 5 * FEW);
	for (uint32_t i = 0; i < trial->result.samples.count; i++) {
		const struct sample *sample = &trial->result.samples.list[i];

		counts[sample->half][sample->role]++;
	}
	for (int half = 0; half < 2; half++) {
		CHECK_INT(counts[half][SAMPLE_BASELINE], FEW * JUDGE_CALLS);
		CHECK_INT(counts[half][SAMPLE_CANDIDATE], FEW * JUDGE_CALLS);
	}
	CHECK_INT(counts[0][SAMPLE_NULL], FEW * JUDGE_CALLS);
	CHECK_INT(counts[0][SAMPLE_STORE], FEW * JUDGE_CALLS);
	end_trial(trial);
}

TEST(our_own_failures_are_never_the_candidates)
{
	struct trial *trial = new_trial("softmax");

	trial->source.roles[WORKER_BASELINE].symbol = "cheat_zeros";
	CHECK_INT(try(trial, FEW), 0);
	CHECK_INT(trial->result.seen.mark.kind, MARK_INFRA);
	CHECK_INT(trial->result.seen.mark.role, WORKER_BASELINE);
	CHECK_INT(trial->candidates, 0);
	end_trial(trial);
	trial = new_trial("softmax");
	trial->source.roles[WORKER_ORACLE].symbol = "no_such_symbol";
	CHECK_INT(try(trial, FEW), 0);
	CHECK_INT(trial->result.seen.mark.kind, MARK_INFRA);
	CHECK_INT(trial->result.seen.mark.stage, STAGE_ORACLE);
	end_trial(trial);
}

TEST(a_bad_plan_is_an_error_of_its_author)
{
	struct trial *trial = new_trial("softmax");

	trial->plan.call_ns = -1;
	CHECK_INT(try(trial, FEW), -1);
	CHECK_INT(trial->err.kind, ERR_INPUT);
	CHECK_STR(trial->err.text, "marking plan: a call may take up to 600 s, not -1 ns");
	CHECK_INT(trial->started, 0);
	end_trial(trial);
}
