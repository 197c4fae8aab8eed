/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/marking.h"

#include <sched.h>

#include "harness/judge/buffers.h"
#include "harness/judge/raw_clock.h"
#include "harness/judge/session.h"

struct marking {
	const struct marking_plan *plan;
	const struct marking_options *options;
	int64_t began;
	struct buffers buffers;        /* of baseline, candidate and path */
	struct buffers oracle_buffers; /* nobody else's */
	struct sentry sentry;
	struct caliper caliper;
	struct caliper oracle;
	struct problems problems;
	bool live[MARKING_CASES_MAX];
	struct marking_result *result;
};

static void marking_done(struct marking *marking)
{
	caliper_done(&marking->caliper);
	caliper_done(&marking->oracle);
	problems_done(&marking->problems);
	sentry_done(&marking->sentry);
	buffers_done(&marking->buffers);
	buffers_done(&marking->oracle_buffers);
}

static int pin(uint32_t cpu, struct err *err)
{
	cpu_set_t only;

	if (cpu >= CPU_SETSIZE)
		return err_set(err, ERR_INPUT, "there is no CPU %u", cpu);
	CPU_ZERO(&only);
	CPU_SET(cpu, &only);
	if (sched_setaffinity(0, sizeof(only), &only) < 0)
		return err_host(err, "run on CPU %u", cpu);
	return 0;
}

static bool is_live(const struct marking *marking, bool unseen)
{
	for (uint32_t i = 0; i < marking->plan->case_count; i++)
		if (marking->live[i] && marking->plan->cases[i].unseen == unseen)
			return true;
	return false;
}

static void end_set(struct marking *marking, bool unseen, const struct mark *mark)
{
	struct marking_set *set = unseen ? &marking->result->unseen : &marking->result->seen;

	if (!is_live(marking, unseen))
		return;
	set->mark = *mark;
	for (uint32_t i = 0; i < marking->plan->case_count; i++)
		if (marking->plan->cases[i].unseen == unseen)
			marking->live[i] = false;
}

/* Ends the set that failed, or both where it happened before any call. */
static void end_failed(struct marking *marking, const struct mark *failed)
{
	if (!failed->has_case || !marking->plan->cases[failed->case_index].unseen)
		end_set(marking, false, failed);
	if (!failed->has_case || marking->plan->cases[failed->case_index].unseen)
		end_set(marking, true, failed);
}

/* Whether the oracle is there; where not, nothing can be marked. */
static int open_oracle(struct marking *marking, struct err *err)
{
	struct caliper_reading reading;
	struct mark failed;

	if (caliper_open(&marking->oracle, WORKER_ORACLE, &reading, err) < 0)
		return err_wrap(err, "oracle");
	failed = verdict_of_reading(&reading, WORKER_ORACLE, STAGE_ORACLE);
	if (failed.kind != MARK_NONE)
		end_failed(marking, &failed);
	return 0;
}

static int prepare(struct marking *marking, const uint8_t *key, const struct worker_source *source,
		   struct err *err)
{
	struct problems *problems = &marking->problems;

	/* First, while the process knows the least. */
	if (sentry_start(&marking->sentry, marking->plan->worker_cpu, err) < 0 ||
	    pin(marking->plan->judge_cpu, err) < 0 ||
	    problems_create(problems, marking->plan, key, err) < 0 ||
	    buffers_create(&marking->buffers, problems->inputs_span, problems->outputs_span, err) <
		    0 ||
	    buffers_create(&marking->oracle_buffers, problems->oracle_inputs_span,
			   problems->oracle_outputs_span, err) < 0)
		return -1;
	caliper_init(&marking->caliper, source, &marking->buffers, &marking->sentry);
	caliper_init(&marking->oracle, source, &marking->oracle_buffers, &marking->sentry);
#ifdef PROCTOR_TEST_HOOKS
	marking->caliper.walls = marking->options->walls;
#endif
	for (uint32_t i = 0; i < marking->plan->case_count; i++)
		marking->live[i] = true;
	return open_oracle(marking, err);
}

static int draw(struct marking *marking, struct mark *failed, struct err *err)
{
	return problems_draw(&marking->problems, &marking->oracle, marking->live, failed, err);
}

/* One side over all cases that are left, again with new problems after a set has failed. */
static int check_side(struct marking *marking, enum worker_role role, struct err *err)
{
	struct mark failed;

	while (is_live(marking, false) || is_live(marking, true)) {
		struct session session = {
			.caliper = &marking->caliper,
			.problems = &marking->problems,
			.live = marking->live,
			.role = role,
			.stage = STAGE_CHECK,
		};

		if (draw(marking, &failed, err) < 0)
			return -1;
		if (failed.kind == MARK_NONE && session_run(&session, &failed, err) < 0)
			return -1;
		if (failed.kind == MARK_NONE)
			return 0;
		end_failed(marking, &failed);
	}
	return 0;
}

/* The workers of a block, in order; new problems where a half begins. */
static const struct turn {
	enum worker_role role;
	uint8_t half;
	bool draws;
} turns[] = {
	{ WORKER_PATH, 0, true },       { WORKER_BASELINE, 0, false },
	{ WORKER_CANDIDATE, 0, false }, { WORKER_CANDIDATE, 1, true },
	{ WORKER_BASELINE, 1, false },
};

static int run_block(struct marking *marking, uint32_t block, struct mark *failed, struct err *err)
{
	for (uint32_t i = 0; i < ARRAY_LEN(turns); i++) {
		struct session session = {
			.caliper = &marking->caliper,
			.problems = &marking->problems,
			.live = marking->live,
			.role = turns[i].role,
			.stage = STAGE_TIMING,
			.worker = i,
			.block = block,
			.half = turns[i].half,
			.samples = &marking->result->samples,
		};

		if (turns[i].draws && draw(marking, failed, err) < 0)
			return -1;
		if (failed->kind == MARK_NONE && session_run(&session, failed, err) < 0)
			return -1;
		if (failed->kind != MARK_NONE)
			return 0;
	}
	return 0;
}

static void look(struct marking *marking, bool unseen, uint32_t blocks)
{
	struct marking_set *set = unseen ? &marking->result->unseen : &marking->result->seen;
	bool counted[MARKING_CASES_MAX];

	if (!is_live(marking, unseen) || blocks == 0)
		return;
	for (uint32_t i = 0; i < marking->plan->case_count; i++)
		counted[i] = marking->live[i] && marking->plan->cases[i].unseen == unseen;
	set->stats = stats_mark(&marking->result->samples, counted, marking->plan->case_count,
				marking->plan->floor_ppm, blocks, marking->result->cases);
}

/* After @blocks blocks: would the next look, at this pace, be too late? */
static bool is_last_look(const struct marking *marking, uint32_t blocks)
{
	int64_t used = raw_clock_ns() - marking->began;
	int64_t looks = blocks / JUDGE_LOOK_EVERY;

	return marking->options->limit_ns > 0 && used + used / looks > marking->options->limit_ns;
}

static int time_blocks(struct marking *marking, struct err *err)
{
	struct samples *samples = &marking->result->samples;
	struct marking_result *result = marking->result;
	uint32_t most = marking->options->most_blocks;
	uint32_t block = 0;

	most = most == 0 ? JUDGE_BLOCKS : MIN_OF(most, (uint32_t) JUDGE_BLOCKS);
	while (block < most && is_live(marking, false)) {
		struct mark failed = { .kind = MARK_NONE };
		uint32_t before = samples->count;

		if (run_block(marking, block, &failed, err) < 0)
			return err_wrap(err, "block %u", block);
		if (failed.kind != MARK_NONE) {
			end_failed(marking, &failed);
			samples->count = before;
			continue;
		}
		block++;
		if (block % JUDGE_LOOK_EVERY != 0)
			continue;
		look(marking, false, block);
		if (result->seen.stats.verdict != VERDICT_AMBG || is_last_look(marking, block))
			break;
	}
	look(marking, true, block - block % JUDGE_LOOK_EVERY);
	return 0;
}

static void mark_valid(const struct marking *marking, bool unseen, struct marking_set *set)
{
	if (is_live(marking, unseen))
		set->mark = (struct mark){ .kind = MARK_VALID };
	else
		set->stats = (struct stats_mark){ .blocks = 0 };
}

int marking_run(const struct marking_plan *plan, const uint8_t *key,
		const struct worker_source *source, const struct marking_options *options,
		struct marking_result *out, struct err *err)
{
	cleanup(marking_result_done) struct marking_result made = MARKING_RESULT_INIT;
	cleanup(marking_done) struct marking marking = {
		.plan = plan,
		.options = options,
		.buffers = BUFFERS_INIT,
		.oracle_buffers = BUFFERS_INIT,
		.sentry = SENTRY_INIT,
		.caliper = CALIPER_INIT,
		.oracle = CALIPER_INIT,
		.result = &made,
		.began = raw_clock_ns(),
	};

	if (marking_plan_check(plan, err) < 0)
		return err_wrap(err, "marking plan");
	if (prepare(&marking, key, source, err) < 0 ||
	    check_side(&marking, WORKER_BASELINE, err) < 0 ||
	    check_side(&marking, WORKER_CANDIDATE, err) < 0 ||
	    (!options->check_only && time_blocks(&marking, err) < 0))
		return err_wrap(err, "marking");
	mark_valid(&marking, false, &made.seen);
	mark_valid(&marking, true, &made.unseen);
	made.wall_ns = raw_clock_ns() - marking.began;
	*out = take(made, MARKING_RESULT_INIT);
	return 0;
}

void marking_result_done(struct marking_result *result)
{
	samples_done(&result->samples);
}
