/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/problems.h"

#include <string.h>

#include "harness/judge/constants.h"
#include "harness/judge/draw.h"
#include "harness/judge/poison.h"
#include "harness/judge/results.h"
#include "sandbox/base/mem.h"

/* What the desk needs for the largest case. */
static void make_desk(struct problems *problems)
{
	uint64_t fill = 0, plain = 0;

	for (uint32_t i = 0; i < problems->plan->case_count; i++) {
		const struct marking_case *item = &problems->plan->cases[i];

		fill = MAX_OF(fill, problems->oracle_shapes[i].filled_bytes);
		for (uint32_t arg = 0; arg < item->arg_count; arg++)
			if (marking_has_values(&item->args[arg]) &&
			    !tensor_is_dense(&item->args[arg].tensor))
				plain = MAX_OF(plain, tensor_plain_bytes(&item->args[arg].tensor));
	}
	problems->desk = (struct problem_desk){
		.inputs = mem_alloc(problems->oracle_inputs_span, 1),
		.fill = mem_alloc(fill, 1),
		.plain = mem_alloc(plain, 1),
	};
}

int problems_create(struct problems *out, const struct marking_plan *plan, const uint8_t *key,
		    struct err *err)
{
	cleanup(problems_done) struct problems made = { .plan = plan, .key = key };

	made.shapes = mem_alloc(plan->case_count, sizeof(*made.shapes));
	made.oracle_shapes = mem_alloc(plan->case_count, sizeof(*made.oracle_shapes));
	made.list = mem_alloc(plan->case_count * JUDGE_CALLS, sizeof(*made.list));
	for (uint32_t i = 0; i < plan->case_count; i++) {
		const struct marking_case *item = &plan->cases[i];
		struct marking_shape *shape = &made.shapes[i], *wide = &made.oracle_shapes[i];

		if (marking_shape(item, MARKING_TASK, shape, err) < 0 ||
		    marking_shape(item, MARKING_ORACLE, wide, err) < 0)
			return err_wrap(err, "case '%s'", item->name);
		made.inputs_span = MAX_OF(made.inputs_span, shape->inputs.span);
		made.outputs_span = MAX_OF(made.outputs_span, shape->outputs.span);
		made.oracle_inputs_span = MAX_OF(made.oracle_inputs_span, wide->inputs.span);
		made.oracle_outputs_span = MAX_OF(made.oracle_outputs_span, wide->outputs.span);
		for (uint32_t call = 0; call < JUDGE_CALLS; call++) {
			struct problem *problem = &made.list[i * JUDGE_CALLS + call];

			problem->inputs = mem_alloc(shape->inputs.span, 1);
			problem->fill = mem_alloc(shape->filled_bytes, 1);
			problem->expected = mem_alloc(wide->outputs.span, 1);
		}
	}
	make_desk(&made);
	*out = take(made, PROBLEMS_INIT);
	return 0;
}

/* Where the bytes of an argument are, among the inputs or among what inouts hold. */
struct targets {
	uint8_t *task, *oracle;
};

static void draw_arg(struct problems *problems, struct inputs *stream,
		     const struct marking_arg *arg, uint64_t poison_seed,
		     const struct targets *targets)
{
	bool is_dense = tensor_is_dense(&arg->tensor);
	uint8_t *plain = is_dense ? targets->task : problems->desk.plain;

	draw_values(stream, &arg->values, &arg->tensor, plain);
	if (!is_dense) {
		poison_fill_bytes(targets->task, tensor_bytes(&arg->tensor), poison_seed);
		tensor_scatter(&arg->tensor, plain, NULL, targets->task);
	}
	element_widen(arg->tensor.element, plain, 0, arg->tensor.count, targets->oracle);
}

static int draw(struct problems *problems, struct inputs *stream, uint32_t slot, struct err *err)
{
	uint32_t index = slot / JUDGE_CALLS;
	const struct marking_case *item = &problems->plan->cases[index];
	const struct marking_shape *shape = &problems->shapes[index];
	const struct marking_shape *wide = &problems->oracle_shapes[index];
	uint64_t numbers[INPUTS_NUMBERS] = { problems->round, 0, index, slot % JUDGE_CALLS };
	struct problem *problem = &problems->list[slot];
	struct targets fill = { problem->fill, problems->desk.fill };
	uint64_t seed;

	if (inputs_open(stream, problems->key, "proctor/inputs/1", numbers, err) < 0)
		return -1;
	seed = inputs_u64(stream);
	poison_fill_redzones(problem->inputs, &shape->inputs, seed);
	poison_fill_redzones(problems->desk.inputs, &wide->inputs, seed);
	for (uint32_t i = 0; i < item->arg_count; i++) {
		const struct marking_arg *arg = &item->args[i];

		if (arg->use == MARKING_INPUT) {
			const struct targets targets = {
				problem->inputs + shape->call.args[i].offset,
				problems->desk.inputs + wide->call.args[i].offset,
			};

			draw_arg(problems, stream, arg, seed, &targets);
		} else if (arg->use == MARKING_INOUT) {
			draw_arg(problems, stream, arg, seed, &fill);
			fill.task += protocol_fill_bytes(shape->call.args[i].bytes);
			fill.oracle += protocol_fill_bytes(wide->call.args[i].bytes);
		}
	}
	return 0;
}

/* The oracle is called like any worker; its time does not matter. */
static int solve(struct problems *problems, struct caliper *oracle, struct inputs *stream,
		 uint32_t slot, struct mark *failed, struct err *err)
{
	uint32_t index = slot / JUDGE_CALLS;
	const struct marking_shape *shape = &problems->oracle_shapes[index];
	uint64_t probes[JUDGE_PROBES];
	struct caliper_reading reading;
	struct caliper_job job = {
		.call = &shape->call,
		.shape = index,
		.inputs = problems->desk.inputs,
		.inputs_span = shape->inputs.span,
		.outputs = &shape->outputs,
		.filled = shape->filled,
		.fill = problems->desk.fill,
		.poison_seed = inputs_u64(stream),
		.probes = probes,
		.wall_ns = problems->plan->call_ns,
	};

	for (int i = 0; i < JUDGE_PROBES; i++)
		probes[i] = shape->outputs.offset[0];
	if (caliper_call(oracle, &job, &reading, err) < 0)
		return -1;
	*failed = verdict_of_reading(&reading, WORKER_ORACLE, STAGE_ORACLE);
	failed->has_case = true;
	failed->case_index = index;
	memcpy(problems->list[slot].expected, oracle->snapshot, shape->outputs.span);
	return 0;
}

int problems_draw(struct problems *problems, struct caliper *oracle, const bool *live,
		  struct mark *failed, struct err *err)
{
	cleanup(inputs_done) struct inputs stream = INPUTS_INIT;

	*failed = (struct mark){ .kind = MARK_NONE };
	problems->round++;
	for (uint32_t i = 0; i < problems->plan->case_count * JUDGE_CALLS; i++) {
		if (!live[i / JUDGE_CALLS])
			continue;
		if (draw(problems, &stream, i, err) < 0 ||
		    solve(problems, oracle, &stream, i, failed, err) < 0)
			return -1;
		if (failed->kind != MARK_NONE)
			return 0;
	}
	return 0;
}

/* How many places of an argument a probe may look at: words, or elements where padding lies
 * between. */
static uint64_t probe_places(const struct marking_arg *arg)
{
	if (!marking_has_result(arg))
		return 0;
	return tensor_is_dense(&arg->tensor) ? (tensor_bytes(&arg->tensor) + 7) / 8
					     : arg->tensor.count;
}

/* The offset of the word that holds this place, counted through all outputs. */
static uint64_t probe_offset(const struct marking_case *item, const struct marking_shape *shape,
			     uint64_t place)
{
	uint32_t i = 0;
	uint64_t within;

	for (; place >= probe_places(&item->args[i]); i++)
		place -= probe_places(&item->args[i]);
	within = tensor_is_dense(&item->args[i].tensor)
		       ? 8 * place
		       : tensor_offset(&item->args[i].tensor, place);
	return (shape->call.args[i].offset + within) / 8 * 8;
}

int problems_secrets(const struct problems *problems, struct inputs *stream, uint32_t worker,
		     uint32_t slot, struct problem_secrets *out, struct err *err)
{
	const struct marking_case *item = &problems->plan->cases[slot / JUDGE_CALLS];
	const struct marking_shape *shape = &problems->shapes[slot / JUDGE_CALLS];
	uint64_t numbers[INPUTS_NUMBERS] = { problems->round, worker, slot, 0 };
	uint64_t places = 0;

	if (inputs_open(stream, problems->key, "proctor/call/1", numbers, err) < 0)
		return -1;
	for (uint32_t i = 0; i < item->arg_count; i++)
		places += probe_places(&item->args[i]);
	out->poison_seed = inputs_u64(stream);
	for (int i = 0; i < JUDGE_PROBES; i++)
		out->probes[i] = probe_offset(item, shape, inputs_below(stream, places));
	return 0;
}

struct comparison problems_compare(const struct problems *problems, uint32_t slot,
				   const uint8_t *snapshot, uint64_t poison_seed, uint32_t *arg)
{
	uint32_t index = slot / JUDGE_CALLS;
	const struct problem *problem = &problems->list[slot];
	const struct results results = {
		.item = &problems->plan->cases[index],
		.shape = &problems->shapes[index],
		.oracle_shape = &problems->oracle_shapes[index],
		.inputs = problem->inputs,
		.fill = problem->fill,
		.expected = problem->expected,
		.snapshot = snapshot,
		.poison_seed = poison_seed,
	};

	return results_compare(&results, arg);
}

void problems_done(struct problems *problems)
{
	for (uint32_t i = 0; problems->list && i < problems->plan->case_count * JUDGE_CALLS; i++) {
		mem_free(&problems->list[i].inputs);
		mem_free(&problems->list[i].fill);
		mem_free(&problems->list[i].expected);
	}
	mem_free(&problems->list);
	mem_free(&problems->shapes);
	mem_free(&problems->oracle_shapes);
	mem_free(&problems->desk.inputs);
	mem_free(&problems->desk.fill);
	mem_free(&problems->desk.plain);
	*problems = PROBLEMS_INIT;
}
