/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/problems.h"

#include <string.h>

#include "harness/check/plain_source.h"
#include "harness/judge/poison.h"
#include "sandbox/base/mem.h"
#include "tests/lib/check.h"
#include "tests/lib/judge_cases.h"

static const uint8_t key[INPUTS_KEY] = { 9 };

/* Problems of two cases and the oracle that solves them. */
struct desk {
	struct marking_plan plan;
	struct problems problems;
	struct plain_source source;
	struct worker_source workers;
	struct buffers buffers;
	struct sentry sentry;
	struct caliper oracle;
	bool live[MARKING_CASES_MAX];
};

static struct desk *open_desk(const char *oracle)
{
	struct desk *desk = mem_alloc(1, sizeof(*desk));
	struct caliper_reading reading;
	struct err err = ERR_INIT;

	if (!judge_has_cpus())
		SKIP("needs CPUs 0 and 1");
	judge_plan(&desk->plan);
	judge_add_softmax(&desk->plan, 4, 33, false);
	judge_add_softmax(&desk->plan, 3, 7, true);
	CHECK_OK(problems_create(&desk->problems, &desk->plan, key, &err));
	plain_source_init(&desk->source);
	desk->source.program = WORKER_PROGRAM;
	desk->source.cpu = 1;
	desk->source.roles[WORKER_ORACLE] = (struct plain_implementation){ KERNELS, oracle };
	desk->workers = plain_source_workers(&desk->source);
	CHECK_OK(buffers_create(&desk->buffers, desk->problems.oracle_inputs_span,
				desk->problems.oracle_outputs_span, &err));
	CHECK_OK(sentry_start(&desk->sentry, 1, &err));
	caliper_init(&desk->oracle, &desk->workers, &desk->buffers, &desk->sentry);
	CHECK_OK(caliper_open(&desk->oracle, WORKER_ORACLE, &reading, &err));
	desk->live[0] = desk->live[1] = true;
	return desk;
}

static void close_desk(struct desk *desk)
{
	caliper_done(&desk->oracle);
	sentry_done(&desk->sentry);
	buffers_done(&desk->buffers);
	problems_done(&desk->problems);
	mem_free(&desk);
}

static struct mark draw(struct desk *desk)
{
	struct mark failed;
	struct err err = ERR_INIT;

	CHECK_OK(problems_draw(&desk->problems, &desk->oracle, desk->live, &failed, &err));
	return failed;
}

static const float *inputs(const struct desk *desk, uint32_t slot)
{
	const struct protocol_layout *layout = &desk->problems.shapes[slot / JUDGE_CALLS].inputs;

	return (const float *) (const void *) (desk->problems.list[slot].inputs +
					       layout->offset[0]);
}

static double *expected(const struct desk *desk, uint32_t slot)
{
	const struct protocol_layout *layout =
		&desk->problems.oracle_shapes[slot / JUDGE_CALLS].outputs;

	return (double *) (void *) (desk->problems.list[slot].expected + layout->offset[0]);
}

TEST(every_problem_is_new_and_solved)
{
	struct desk *desk = open_desk("softmax_oracle");

	for (int round = 0; round < 3; round++) {
		float before = inputs(desk, 5)[0];

		CHECK_INT(draw(desk).kind, MARK_NONE);
		CHECK(inputs(desk, 5)[0] != before);
		for (uint32_t slot = 0; slot < 2 * JUDGE_CALLS; slot++) {
			uint32_t cols = slot < JUDGE_CALLS ? 33 : 7;
			double sum = 0;

			for (uint32_t i = 0; i < cols; i++)
				sum += expected(desk, slot)[i];
			CHECK(sum > 0.999999 && sum < 1.000001);
			for (uint32_t other = 0; other < slot; other++)
				CHECK(memcmp(inputs(desk, slot), inputs(desk, other), 28) != 0);
		}
	}
	close_desk(desk);
}

TEST(an_oracle_that_fails_is_ours)
{
	struct desk *desk = open_desk("cheat_exit_0");
	struct mark failed = draw(desk);

	CHECK_INT(failed.kind, MARK_INFRA);
	CHECK_INT(failed.stage, STAGE_ORACLE);
	CHECK_INT(failed.role, WORKER_ORACLE);
	close_desk(desk);
}

TEST(outputs_are_compared_with_what_is_expected)
{
	struct desk *desk = open_desk("softmax_oracle");
	uint64_t offset = desk->problems.shapes[0].outputs.offset[0];
	uint8_t *snapshot = mem_alloc(desk->problems.outputs_span, 1);
	float *out = (float *) (void *) (snapshot + offset);
	struct comparison found;
	uint32_t arg = 99;

	CHECK_INT(draw(desk).kind, MARK_NONE);
	for (uint32_t i = 0; i < 4 * 33; i++)
		out[i] = (float) expected(desk, 2)[i];
	found = problems_compare(&desk->problems, 2, snapshot, 1, &arg);
	CHECK(!found.wrong);
	CHECK_INT(arg, 1);
	out[131] *= 1.01f;
	found = problems_compare(&desk->problems, 2, snapshot, 1, &arg);
	CHECK(found.wrong);
	CHECK_INT(found.index, 131);
	found = problems_compare(&desk->problems, 3, snapshot, 1, &arg);
	CHECK(found.wrong);
	mem_free(&snapshot);
	close_desk(desk);
}

TEST(probes_lie_in_outputs_and_reach_all_of_them)
{
	struct desk *desk = open_desk("softmax_oracle");
	const struct protocol_layout *outputs = &desk->problems.shapes[1].outputs;
	cleanup(inputs_done) struct inputs stream = INPUTS_INIT;
	struct problem_secrets secrets;
	uint64_t last = 0;
	struct err err = ERR_INIT;
	bool hit[11] = { false };

	for (uint32_t slot = JUDGE_CALLS; slot < 2 * JUDGE_CALLS; slot++) {
		CHECK_OK(problems_secrets(&desk->problems, &stream, 2, slot, &secrets, &err));
		CHECK(secrets.poison_seed != last);
		last = secrets.poison_seed;
		for (int i = 0; i < JUDGE_PROBES; i++) {
			CHECK_INT(secrets.probes[i] % 8, 0);
			CHECK(secrets.probes[i] >= outputs->offset[0]);
			CHECK(secrets.probes[i] < outputs->offset[0] + outputs->bytes[0]);
			hit[(secrets.probes[i] - outputs->offset[0]) / 8] = true;
		}
	}
	for (int i = 0; i < 11; i++)
		CHECK(hit[i]);
	close_desk(desk);
}
