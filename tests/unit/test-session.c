/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/session.h"

#include <string.h>

#include "harness/check/plain_source.h"
#include "sandbox/base/mem.h"
#include "tests/lib/check.h"
#include "tests/lib/judge_cases.h"

static const uint8_t key[INPUTS_KEY] = { 9 };

/* Drawn problems of two cases, and a caliper for the worker under test. */
struct room {
	struct marking_plan plan;
	struct problems problems;
	struct plain_source source;
	struct worker_source workers;
	struct buffers buffers, oracle_buffers;
	struct sentry sentry;
	struct caliper oracle, caliper;
	struct samples samples;
	bool live[MARKING_CASES_MAX];
};

static struct room *open_room(const char *candidate)
{
	struct room *room = mem_alloc(1, sizeof(*room));
	struct caliper_reading reading;
	struct mark failed;
	struct err err = ERR_INIT;

	if (!judge_has_cpus())
		SKIP("needs CPUs 0 and 1");
	judge_plan(&room->plan);
	judge_add_softmax(&room->plan, 4, 33, false);
	judge_add_softmax(&room->plan, 3, 7, true);
	CHECK_OK(problems_create(&room->problems, &room->plan, key, &err));
	plain_source_init(&room->source);
	room->source.program = WORKER_PROGRAM;
	room->source.cpu = 1;
	room->source.roles[WORKER_ORACLE] =
		(struct plain_implementation){ KERNELS, "softmax_oracle" };
	room->source.roles[WORKER_CANDIDATE] = (struct plain_implementation){ KERNELS, candidate };
	room->workers = plain_source_workers(&room->source);
	CHECK_OK(buffers_create(&room->buffers, room->problems.inputs_span,
				room->problems.outputs_span, &err));
	CHECK_OK(buffers_create(&room->oracle_buffers, room->problems.oracle_inputs_span,
				room->problems.oracle_outputs_span, &err));
	CHECK_OK(sentry_start(&room->sentry, 1, &err));
	caliper_init(&room->caliper, &room->workers, &room->buffers, &room->sentry);
	caliper_init(&room->oracle, &room->workers, &room->oracle_buffers, &room->sentry);
	CHECK_OK(caliper_open(&room->oracle, WORKER_ORACLE, &reading, &err));
	room->live[0] = room->live[1] = true;
	CHECK_OK(problems_draw(&room->problems, &room->oracle, room->live, &failed, &err));
	CHECK_INT(failed.kind, MARK_NONE);
	return room;
}

static void close_room(struct room *room)
{
	caliper_done(&room->caliper);
	caliper_done(&room->oracle);
	sentry_done(&room->sentry);
	buffers_done(&room->buffers);
	buffers_done(&room->oracle_buffers);
	problems_done(&room->problems);
	samples_done(&room->samples);
	mem_free(&room);
}

static struct mark run(struct room *room, enum worker_role role)
{
	struct session session = {
		.caliper = &room->caliper,
		.problems = &room->problems,
		.live = room->live,
		.role = role,
		.stage = STAGE_TIMING,
		.block = 3,
		.half = 1,
		.samples = &room->samples,
	};
	struct mark failed;
	struct err err = ERR_INIT;

	CHECK_OK(session_run(&session, &failed, &err));
	CHECK_INT(room->caliper.worker.pid_fd, -1);
	return failed;
}

static uint32_t count(const struct room *room, uint32_t index, enum sample_role role)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < room->samples.count; i++)
		found += room->samples.list[i].case_index == index &&
			 room->samples.list[i].role == role;
	return found;
}

TEST(a_worker_gets_every_call_of_every_case_once)
{
	struct room *room = open_room("softmax");
	bool seen[2][JUDGE_CALLS] = { { false } };

	CHECK_INT(run(room, WORKER_CANDIDATE).kind, MARK_NONE);
	CHECK_INT(room->samples.count, 2 * JUDGE_CALLS);
	for (uint32_t i = 0; i < room->samples.count; i++) {
		const struct sample *sample = &room->samples.list[i];

		CHECK(!seen[sample->case_index][sample->call]);
		seen[sample->case_index][sample->call] = true;
		CHECK(sample->sealed_ns > 0);
		CHECK_INT(sample->block, 3);
		CHECK_INT(sample->half, 1);
	}
	close_room(room);
}

TEST(the_path_gets_null_and_store_of_every_case)
{
	struct room *room = open_room("softmax");

	CHECK_INT(run(room, WORKER_PATH).kind, MARK_NONE);
	for (uint32_t index = 0; index < 2; index++) {
		CHECK_INT(count(room, index, SAMPLE_NULL), JUDGE_CALLS);
		CHECK_INT(count(room, index, SAMPLE_STORE), JUDGE_CALLS);
	}
	close_room(room);
}

TEST(cases_that_are_over_are_not_called)
{
	struct room *room = open_room("softmax");

	room->live[1] = false;
	CHECK_INT(run(room, WORKER_CANDIDATE).kind, MARK_NONE);
	CHECK_INT(count(room, 0, SAMPLE_CANDIDATE), JUDGE_CALLS);
	CHECK_INT(count(room, 1, SAMPLE_CANDIDATE), 0);
	close_room(room);
}

TEST(the_first_wrong_call_ends_the_session)
{
	struct room *room = open_room("cheat_after_five");
	struct mark failed = run(room, WORKER_CANDIDATE);

	CHECK_INT(failed.kind, MARK_WRONG);
	CHECK_INT(failed.reason, REASON_VALUE);
	CHECK_INT(failed.call, 5);
	CHECK_INT(room->samples.count, 6);
	close_room(room);
}

TEST(how_the_worker_ended_is_in_the_mark)
{
	struct room *room = open_room("cheat_exit_77");
	struct mark failed = run(room, WORKER_CANDIDATE);

	CHECK_INT(failed.kind, MARK_WRONG);
	CHECK_INT(failed.reason, REASON_DIED);
	CHECK_INT(failed.end.ending, WORKER_EXITED);
	CHECK_INT(failed.end.code, 77);
	close_room(room);
}

TEST(the_order_is_secret_and_the_same_for_both_sides)
{
	struct room *room = open_room("softmax");
	uint32_t n = 2 * JUDGE_CALLS, ascending = 0;

	CHECK_INT(run(room, WORKER_CANDIDATE).kind, MARK_NONE);
	CHECK_INT(run(room, WORKER_CANDIDATE).kind, MARK_NONE);
	for (uint32_t i = 0; i < n; i++) {
		CHECK_INT(room->samples.list[i].case_index, room->samples.list[n + i].case_index);
		ascending += room->samples.list[i].case_index == (i >= JUDGE_CALLS);
	}
	CHECK(ascending < n);
	close_room(room);
}
