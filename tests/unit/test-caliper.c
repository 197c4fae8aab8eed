/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/caliper.h"

#include <string.h>

#include "harness/check/plain_source.h"
#include "harness/judge/marking_plan.h"
#include "harness/judge/poison.h"
#include "harness/judge/raw_clock.h"
#include "sandbox/base/mem.h"
#include "tests/lib/check.h"
#include "tests/lib/judge_cases.h"

enum { ROWS = 40, COLS = 100 };

/* A caliper over one softmax case, and all that it borrows. */
struct bench {
	struct plain_source source;
	struct worker_source workers;
	struct buffers buffers;
	struct sentry sentry;
	struct caliper caliper;
	struct marking_shape shape;
	uint8_t *inputs;
	uint64_t probes[JUDGE_PROBES];
	struct caliper_job job;
};

static void prepare_job(struct bench *bench)
{
	float *values;

	bench->inputs = mem_alloc(bench->shape.inputs.span, 1);
	poison_fill_redzones(bench->inputs, &bench->shape.inputs, 5);
	values = (float *) (void *) (bench->inputs + bench->shape.inputs.offset[0]);
	for (int i = 0; i < ROWS * COLS; i++)
		values[i] = (float) (i % 97) / 50;
	for (int i = 0; i < JUDGE_PROBES; i++)
		bench->probes[i] = bench->shape.outputs.offset[0] +
				   8 * (uint64_t) (i * 31 % (ROWS * COLS / 2));
	bench->job = (struct caliper_job){
		.call = &bench->shape.call,
		.inputs = bench->inputs,
		.inputs_span = bench->shape.inputs.span,
		.outputs = &bench->shape.outputs,
		.poison_seed = 77,
		.probes = bench->probes,
		.wall_ns = 100 * NS_PER_MS,
	};
}

static struct bench *open_bench(const char *symbol)
{
	struct bench *bench = mem_alloc(1, sizeof(*bench));
	struct marking_plan *plan = mem_alloc(1, sizeof(*plan));
	struct err err = ERR_INIT;

	if (!judge_has_cpus())
		SKIP("needs CPUs 0 and 1");
	judge_plan(plan);
	judge_add_softmax(plan, ROWS, COLS, false);
	CHECK_OK(marking_shape(&plan->cases[0], MARKING_TASK, &bench->shape, &err));
	mem_free(&plan);
	plain_source_init(&bench->source);
	bench->source.program = WORKER_PROGRAM;
	bench->source.cpu = 1;
	bench->source.roles[WORKER_CANDIDATE] = (struct plain_implementation){ KERNELS, symbol };
	bench->workers = plain_source_workers(&bench->source);
	CHECK_OK(buffers_create(&bench->buffers, bench->shape.inputs.span,
				bench->shape.outputs.span, &err));
	CHECK_OK(sentry_start(&bench->sentry, 1, &err));
	prepare_job(bench);
	caliper_init(&bench->caliper, &bench->workers, &bench->buffers, &bench->sentry);
	return bench;
}

static void close_bench(struct bench *bench)
{
	caliper_done(&bench->caliper);
	sentry_done(&bench->sentry);
	buffers_done(&bench->buffers);
	mem_free(&bench->inputs);
	mem_free(&bench);
}

static struct caliper_reading open_worker(struct bench *bench, enum worker_role role)
{
	struct caliper_reading reading;
	struct err err = ERR_INIT;

	CHECK_OK(caliper_open(&bench->caliper, role, &reading, &err));
	return reading;
}

static struct caliper_reading call(struct bench *bench)
{
	struct caliper_reading reading;
	struct err err = ERR_INIT;

	CHECK_OK(caliper_call(&bench->caliper, &bench->job, &reading, &err));
	return reading;
}

TEST(an_honest_worker_answers_and_its_outputs_are_in_the_snapshot)
{
	struct bench *bench = open_bench("softmax");
	const float *out;
	double sum = 0;

	CHECK_INT(open_worker(bench, WORKER_CANDIDATE).status, PROTOCOL_OK);
	for (int n = 1; n <= 20; n++) {
		struct caliper_reading reading = call(bench);

		CHECK_INT(reading.end, CALIPER_DONE);
		CHECK_INT(reading.status, PROTOCOL_OK);
		CHECK(reading.claimed_ns > 0 && reading.claimed_ns < reading.sealed_ns);
		CHECK_INT(bench->caliper.number, n);
	}
	out = (const float *) (void *) (bench->caliper.snapshot + bench->shape.outputs.offset[0]);
	for (int i = 0; i < COLS; i++)
		sum += (double) out[i];
	CHECK(sum > 0.9999 && sum < 1.0001);
	close_bench(bench);
}

TEST(what_an_inout_holds_is_there_before_the_call_and_poison_around_it)
{
	struct bench *bench = open_bench("cheat_nothing");
	uint64_t offset = bench->shape.outputs.offset[0], bytes = bench->shape.outputs.bytes[0];
	uint8_t *fill = mem_alloc(protocol_fill_bytes(bytes), 1);
	const uint8_t *snapshot = bench->caliper.snapshot;

	memset(fill, 0x5a, bytes);
	bench->job.filled = 1;
	bench->job.fill = fill;
	open_worker(bench, WORKER_CANDIDATE);
	CHECK_INT(call(bench).end, CALIPER_DONE);
	CHECK(memcmp(snapshot + offset, fill, bytes) == 0);
	CHECK_INT(snapshot[offset - 1], poison_byte(77, offset - 1));
	CHECK_INT(snapshot[offset + bytes], poison_byte(77, offset + bytes));
	mem_free(&fill);
	close_bench(bench);
}

TEST(the_path_worker_runs_null_and_store_and_no_task)
{
	struct bench *bench = open_bench("softmax");
	uint64_t offset = bench->shape.outputs.offset[0];
	uint8_t *snapshot = bench->caliper.snapshot;

	CHECK_INT(open_worker(bench, WORKER_PATH).status, PROTOCOL_OK);
	bench->shape.call.entry = PROTOCOL_NULL;
	CHECK_INT(call(bench).status, PROTOCOL_OK);
	CHECK_INT(*(uint32_t *) (void *) (snapshot + offset), poison_word(77, offset / 4));
	bench->shape.call.entry = PROTOCOL_STORE;
	bench->job.shape = 1;
	CHECK_INT(call(bench).status, PROTOCOL_OK);
	CHECK(*(uint32_t *) (void *) (snapshot + offset) != poison_word(77, offset / 4));
	bench->shape.call.entry = PROTOCOL_TASK;
	bench->job.shape = 2;
	CHECK_INT(call(bench).status, PROTOCOL_BAD_CALL);
	close_bench(bench);
}

TEST(a_library_or_symbol_that_is_missing_is_said)
{
	struct bench *bench = open_bench("no_such_symbol");
	struct worker_end end;
	struct err err = ERR_INIT;

	CHECK_INT(open_worker(bench, WORKER_CANDIDATE).status, PROTOCOL_NO_SYMBOL);
	CHECK_OK(caliper_close(&bench->caliper, &end, &err));
	bench->source.roles[WORKER_CANDIDATE].shared_object = "/no/such/library.so";
	CHECK_INT(open_worker(bench, WORKER_CANDIDATE).status, PROTOCOL_NO_LIBRARY);
	close_bench(bench);
}

TEST(a_worker_that_can_not_start_has_died)
{
	struct bench *bench = open_bench("softmax");
	struct worker_end end;
	struct err err = ERR_INIT;

	bench->source.program = "/no/such/program";
	CHECK_INT(open_worker(bench, WORKER_CANDIDATE).end, CALIPER_DIED);
	CHECK_OK(caliper_close(&bench->caliper, &end, &err));
	CHECK_INT(end.ending, WORKER_EXITED);
	CHECK_INT(end.code, 127);
	close_bench(bench);
}

TEST(each_way_not_to_answer_is_told_apart)
{
	static const struct {
		const char *symbol;
		enum caliper_end end;
		enum worker_ending ending;
		int code;
	} cases[] = {
		{ "cheat_exit_0", CALIPER_DIED, WORKER_EXITED, 0 },
		{ "cheat_exit_77", CALIPER_DIED, WORKER_EXITED, 77 },
		{ "cheat_segv", CALIPER_DIED, WORKER_SIGNALED, 11 },
		{ "cheat_kill", CALIPER_DIED, WORKER_SIGNALED, 9 },
		{ "cheat_stop", CALIPER_TIMEOUT, WORKER_STOPPED, 0 },
		{ "cheat_hang", CALIPER_TIMEOUT, WORKER_STOPPED, 0 },
		{ "cheat_done", CALIPER_GARBAGE, WORKER_STOPPED, 0 },
		{ "cheat_scribble", CALIPER_GARBAGE, WORKER_STOPPED, 0 },
		{ "cheat_writes_inputs", CALIPER_DIED, WORKER_SIGNALED, 11 },
		{ "cheat_past_end", CALIPER_REDZONE, WORKER_STOPPED, 0 },
		{ "cheat_before_start", CALIPER_REDZONE, WORKER_STOPPED, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct bench *bench = open_bench(cases[i].symbol);
		struct worker_end end = { .code = 0 };
		struct err err = ERR_INIT;

		check_note("%s", cases[i].symbol);
		CHECK_INT(open_worker(bench, WORKER_CANDIDATE).end, CALIPER_DONE);
		CHECK_INT(call(bench).end, cases[i].end);
		CHECK_OK(caliper_close(&bench->caliper, &end, &err));
		CHECK_INT(end.ending, cases[i].ending);
		CHECK_INT(end.code, cases[i].code);
		close_bench(bench);
	}
}

TEST(a_worker_that_is_gone_after_its_answer_fails_the_next_call)
{
	struct bench *bench = open_bench("cheat_exit_after");

	open_worker(bench, WORKER_CANDIDATE);
	CHECK_INT(call(bench).end, CALIPER_DONE);
	CHECK_INT(call(bench).end, CALIPER_DIED);
	close_bench(bench);
}

/* No worker can do it, so a release that does stands for one that could. */
static struct bench *tampered;

static void release_and_tamper(void *context, const struct worker *worker)
{
	tampered->buffers.inputs[tampered->shape.inputs.offset[0] + 7] ^= 1;
	tampered->workers.release(context, worker);
}

TEST(a_changed_input_is_found)
{
	struct bench *bench = open_bench("softmax");
	struct worker_source tampering = bench->workers;

	open_worker(bench, WORKER_CANDIDATE);
	tampered = bench;
	tampering.release = release_and_tamper;
	bench->caliper.source = &tampering;
	CHECK_INT(call(bench).end, CALIPER_TAMPERED);
	bench->caliper.source = &bench->workers;
	close_bench(bench);
}

TEST(no_worker_runs_between_two_calls)
{
	struct bench *bench = open_bench("cheat_claim_tiny");
	struct protocol_control *control = bench->buffers.control;

	open_worker(bench, WORKER_CANDIDATE);
	CHECK_INT(call(bench).end, CALIPER_DONE);
	/* It would answer within microseconds, were it running. */
	atomic_store(&control->go, 2);
	for (int64_t until = raw_clock_ns() + 20 * NS_PER_MS; raw_clock_ns() < until;)
		CHECK_INT(atomic_load(&control->done), 1);
	close_bench(bench);
}

TEST(what_one_worker_left_is_not_there_for_the_next)
{
	struct bench *bench = open_bench("softmax");
	struct worker_end end;
	struct err err = ERR_INIT;
	const uint64_t *word;

	open_worker(bench, WORKER_CANDIDATE);
	call(bench);
	CHECK_OK(caliper_close(&bench->caliper, &end, &err));
	open_worker(bench, WORKER_CANDIDATE);
	for (uint64_t at = 0; at < bench->buffers.outputs_size; at += 8) {
		word = (const uint64_t *) (const void *) (bench->buffers.outputs + at);
		CHECK(*word == 0);
	}
	for (uint64_t at = 0; at < bench->buffers.inputs_size; at += 8) {
		word = (const uint64_t *) (const void *) (bench->buffers.inputs + at);
		CHECK(*word == 0);
	}
	close_bench(bench);
}
