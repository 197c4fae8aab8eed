/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "harness/judge/marking_plan.h"
#include "harness/judge/samples.h"
#include "harness/judge/stats.h"
#include "harness/judge/verdict.h"
#include "harness/judge/worker_source.h"

/*
 * One marking: baseline and candidate against the oracle, then against each other
 *
 *   check   one worker a side, every case, seen and unseen: is it right?
 *   blocks  the path; baseline, candidate; new problems; candidate, baseline: four fresh workers
 *           of equal length. After every JUDGE_LOOK_EVERY blocks a look: a verdict ends it.
 *
 * Seen and unseen cases are two sets with a mark each. The first wrong output of a set is its
 * mark, and the set is over; when the seen set is over, so is the marking. Where a set fails
 * within a block, the block is done again for the other: a set fails once, so this is bounded.
 */
struct marking_set {
	struct mark mark;
	struct stats_mark stats; /* blocks 0: not timed */
};

struct marking_result {
	struct marking_set seen; /* its look decides how many blocks there are */
	struct marking_set unseen;
	struct stats_case cases[MARKING_CASES_MAX];
	struct samples samples; /* owned */
	int64_t wall_ns;        /* of the whole marking */
};

#define MARKING_RESULT_INIT ((struct marking_result){ .samples = SAMPLES_INIT })

struct marking_options {
	uint32_t most_blocks; /* 0, as for every mark that counts: JUDGE_BLOCKS */
	/*
	 * A look whose successor would come later than this after the start is the last one, and
	 * what is undecided then stays AMBG: a host that is slow today makes no candidate fail. 0:
	 * no limit.
	 */
	int64_t limit_ns;
	bool check_only; /* no blocks: a mark of what is right, without times */
#ifdef PROCTOR_TEST_HOOKS
	struct caliper_walls walls;
#endif
};

/**
 * marking_run() - mark; the calling process pins itself to the plan's judge CPU
 * @key:  INPUTS_KEY secret bytes
 * @out:  receives the result; marking_result_done() frees it
 *
 * Errors are the plan's (ERR_INPUT) or the host's, and mean INFRA: nothing that a candidate does
 * is an error.
 */
int marking_run(const struct marking_plan *plan, const uint8_t *key,
		const struct worker_source *source, const struct marking_options *options,
		struct marking_result *out, struct err *err) must_check;

/**
 * marking_result_done() - free the samples
 */
void marking_result_done(struct marking_result *result);
