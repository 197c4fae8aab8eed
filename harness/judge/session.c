/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/session.h"

#include "harness/judge/constants.h"
#include "sandbox/base/mem.h"

/* The path's calls carry which entry is meant; bits above every case number. */
enum { STORE_BIT = 1 << 16 };

_Static_assert(2 * MARKING_CASES_MAX <= PROTOCOL_SHAPES, "each call of each case has a number");
_Static_assert((int) MARKING_CASES_MAX < (int) STORE_BIT, "a case number and a bit share a word");

enum { ORDER_MAX = MARKING_CASES_MAX * JUDGE_CALLS * 2 };

/* Both sides of a half get the same order: what a case does to the next one is the same for both.
 */
static int draw_order(const struct session *session, struct inputs *stream, uint32_t *order,
		      uint32_t *count, struct err *err)
{
	const struct problems *problems = session->problems;
	uint64_t numbers[INPUTS_NUMBERS] = { problems->round };

	*count = 0;
	for (uint32_t i = 0; i < problems->plan->case_count; i++) {
		for (int call = 0; session->live[i] && call < JUDGE_CALLS; call++) {
			order[(*count)++] = i;
			if (session->role == WORKER_PATH)
				order[(*count)++] = i | STORE_BIT;
		}
	}
	if (inputs_open(stream, problems->key, "proctor/order/1", numbers, err) < 0)
		return -1;
	inputs_shuffle(stream, order, *count);
	return 0;
}

static enum sample_role sample_role(const struct session *session, bool is_store)
{
	if (session->role == WORKER_BASELINE)
		return SAMPLE_BASELINE;
	if (session->role == WORKER_CANDIDATE)
		return SAMPLE_CANDIDATE;
	return is_store ? SAMPLE_STORE : SAMPLE_NULL;
}

static void keep_sample(const struct session *session, uint32_t slot, bool is_store,
			const struct caliper_reading *reading)
{
	struct sample sample = {
		.block = session->block,
		.case_index = (uint16_t) (slot / JUDGE_CALLS),
		.role = (uint8_t) sample_role(session, is_store),
		.half = session->half,
		.call = (uint8_t) (slot % JUDGE_CALLS),
		.flags = reading->handover_seen ? 0 : SAMPLE_HANDOVER_UNSEEN,
		.sealed_ns = reading->sealed_ns,
		.claimed_ns = reading->claimed_ns,
	};

	if (session->samples)
		samples_add(session->samples, &sample);
}

static int call(const struct session *session, struct inputs *stream, uint32_t slot, bool is_store,
		struct mark *failed, struct err *err)
{
	const struct problems *problems = session->problems;
	const struct marking_shape *shape = &problems->shapes[slot / JUDGE_CALLS];
	struct protocol_call what = shape->call;
	struct problem_secrets secrets;
	struct caliper_reading reading;
	struct comparison found;
	uint32_t arg = 0;
	struct caliper_job job = {
		.call = &what,
		.inputs = problems->list[slot].inputs,
		.inputs_span = shape->inputs.span,
		.outputs = &shape->outputs,
		.filled = shape->filled,
		.fill = problems->list[slot].fill,
		.probes = secrets.probes,
		.wall_ns = problems->plan->call_ns,
	};

	if (session->role == WORKER_PATH)
		what.entry = is_store ? PROTOCOL_STORE : PROTOCOL_NULL;
	job.shape = slot / JUDGE_CALLS + (is_store ? MARKING_CASES_MAX : 0);
	if (problems_secrets(problems, stream, session->worker, slot, &secrets, err) < 0)
		return -1;
	job.poison_seed = secrets.poison_seed;
	if (caliper_call(session->caliper, &job, &reading, err) < 0)
		return -1;
	*failed = verdict_of_reading(&reading, session->role, session->stage);
	if (failed->kind == MARK_NONE && session->role != WORKER_PATH) {
		found = problems_compare(problems, slot, session->caliper->snapshot,
					 job.poison_seed, &arg);
		if (found.wrong)
			*failed = verdict_of_comparison(&found, arg, session->role, session->stage);
	}
	failed->has_case = true;
	failed->case_index = slot / JUDGE_CALLS;
	failed->call = session->caliper->number - 1;
	keep_sample(session, slot, is_store, &reading);
	return 0;
}

static int call_all(const struct session *session, struct mark *failed, struct err *err)
{
	cleanup(inputs_done) struct inputs stream = INPUTS_INIT;
	uint32_t done[2][MARKING_CASES_MAX] = { 0 };
	uint32_t order[ORDER_MAX];
	uint32_t count;

	if (draw_order(session, &stream, order, &count, err) < 0)
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		bool is_store = order[i] & STORE_BIT;
		uint32_t index = order[i] & (STORE_BIT - 1);
		uint32_t slot = index * JUDGE_CALLS + done[is_store][index]++;

		if (call(session, &stream, slot, is_store, failed, err) < 0)
			return -1;
		if (failed->kind != MARK_NONE)
			return 0;
	}
	return 0;
}

int session_run(const struct session *session, struct mark *failed, struct err *err)
{
	struct worker_end end = { .ending = WORKER_STOPPED };
	struct caliper_reading reading;

	if (caliper_open(session->caliper, session->role, &reading, err) < 0)
		return err_wrap(err, "%s", names_text(worker_role_names, (int) session->role));
	*failed = verdict_of_reading(&reading, session->role, session->stage);
	if (failed->kind == MARK_NONE && call_all(session, failed, err) < 0)
		return err_wrap(err, "%s", names_text(worker_role_names, (int) session->role));
	if (caliper_close(session->caliper, &end, err) < 0)
		return err_wrap(err, "%s", names_text(worker_role_names, (int) session->role));
	if (failed->kind != MARK_NONE)
		verdict_set_end(failed, end);
	return 0;
}
