/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/problems.h"

#include <string.h>

#include "harness/judge/constants.h"
#include "harness/judge/poison.h"
#include "sandbox/base/mem.h"

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

		if (marking_shape(item, false, shape, err) < 0 ||
		    marking_shape(item, true, wide, err) < 0)
			return err_wrap(err, "case '%s'", item->name);
		made.inputs_span = MAX_OF(made.inputs_span, shape->inputs.span);
		made.outputs_span = MAX_OF(made.outputs_span, shape->outputs.span);
		made.oracle_span = MAX_OF(made.oracle_span, wide->outputs.span);
		for (uint32_t call = 0; call < JUDGE_CALLS; call++) {
			struct problem *problem = &made.list[i * JUDGE_CALLS + call];

			problem->inputs = mem_alloc(shape->inputs.span, 1);
			problem->expected = mem_alloc(wide->outputs.span, 1);
		}
	}
	*out = take(made, PROBLEMS_INIT);
	return 0;
}

static void draw_arg(struct inputs *stream, const struct marking_arg *arg, void *at)
{
	switch ((enum element) arg->element) {
	case ELEMENT_F32:
		inputs_f32(stream, at, arg->count, (float) arg->low, (float) arg->high);
		break;
	case ELEMENT_F64:
		inputs_f64(stream, at, arg->count, arg->low, arg->high);
		break;
	case ELEMENT_I32:
		inputs_i32(stream, at, arg->count, (int32_t) arg->integer,
			   (int32_t) arg->integer_high);
		break;
	case ELEMENT_I64:
		inputs_i64(stream, at, arg->count, arg->integer, arg->integer_high);
		break;
	}
}

static int draw(struct problems *problems, struct inputs *stream, uint32_t slot, struct err *err)
{
	const struct marking_case *item = &problems->plan->cases[slot / JUDGE_CALLS];
	const struct protocol_layout *layout = &problems->shapes[slot / JUDGE_CALLS].inputs;
	uint64_t numbers[INPUTS_NUMBERS] = { problems->round, 0, slot / JUDGE_CALLS,
					     slot % JUDGE_CALLS };
	uint8_t *span = problems->list[slot].inputs;
	uint32_t buffer = 0;

	if (inputs_open(stream, problems->key, "proctor/inputs/1", numbers, err) < 0)
		return -1;
	poison_fill_redzones(span, layout, inputs_u64(stream));
	for (uint32_t i = 0; i < item->arg_count; i++)
		if (item->args[i].use == MARKING_INPUT)
			draw_arg(stream, &item->args[i], span + layout->offset[buffer++]);
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
		.inputs = problems->list[slot].inputs,
		.inputs_span = shape->inputs.span,
		.outputs = &shape->outputs,
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

static uint64_t whole_words(uint64_t bytes)
{
	return (bytes + 7) / 8;
}

/* The offset of the word with this number, counted through all outputs. */
static uint64_t word_offset(const struct protocol_layout *outputs, uint64_t word)
{
	uint32_t i = 0;

	for (; word >= whole_words(outputs->bytes[i]); i++)
		word -= whole_words(outputs->bytes[i]);
	return outputs->offset[i] + 8 * word;
}

int problems_secrets(const struct problems *problems, struct inputs *stream, uint32_t worker,
		     uint32_t slot, struct problem_secrets *out, struct err *err)
{
	const struct protocol_layout *outputs = &problems->shapes[slot / JUDGE_CALLS].outputs;
	uint64_t numbers[INPUTS_NUMBERS] = { problems->round, worker, slot, 0 };
	uint64_t words = 0;

	if (inputs_open(stream, problems->key, "proctor/call/1", numbers, err) < 0)
		return -1;
	for (uint32_t i = 0; i < outputs->count; i++)
		words += whole_words(outputs->bytes[i]);
	out->poison_seed = inputs_u64(stream);
	for (int i = 0; i < JUDGE_PROBES; i++)
		out->probes[i] = word_offset(outputs, inputs_below(stream, words));
	return 0;
}

static struct comparison compare_arg(const struct marking_arg *arg, const void *got,
				     const void *want, struct compare_poison poison)
{
	switch ((enum element) arg->element) {
	case ELEMENT_F32:
		return compare_close_f32(got, want, arg->count, arg->rel, arg->abs, poison);
	case ELEMENT_F64:
		return compare_close_f64(got, want, arg->count, arg->rel, arg->abs, poison);
	case ELEMENT_I32:
		return compare_exact_i32(got, want, arg->count, poison);
	case ELEMENT_I64:
		return compare_exact_i64(got, want, arg->count, poison);
	}
	return (struct comparison){ .wrong = true };
}

struct comparison problems_compare(const struct problems *problems, uint32_t slot,
				   const uint8_t *snapshot, uint64_t poison_seed, uint32_t *arg)
{
	const struct marking_case *item = &problems->plan->cases[slot / JUDGE_CALLS];
	const struct protocol_layout *outputs = &problems->shapes[slot / JUDGE_CALLS].outputs;
	const struct protocol_layout *wide = &problems->oracle_shapes[slot / JUDGE_CALLS].outputs;
	struct comparison found = { .wrong = true };
	uint32_t buffer = 0;

	for (uint32_t i = 0; i < item->arg_count; i++) {
		struct compare_poison poison = { .seed = poison_seed };

		if (item->args[i].use != MARKING_OUTPUT)
			continue;
		poison.word = outputs->offset[buffer] / 4;
		found = compare_arg(&item->args[i], snapshot + outputs->offset[buffer],
				    problems->list[slot].expected + wide->offset[buffer], poison);
		*arg = i;
		if (found.wrong)
			break;
		buffer++;
	}
	return found;
}

void problems_done(struct problems *problems)
{
	for (uint32_t i = 0; problems->list && i < problems->plan->case_count * JUDGE_CALLS; i++) {
		mem_free(&problems->list[i].inputs);
		mem_free(&problems->list[i].expected);
	}
	mem_free(&problems->list);
	mem_free(&problems->shapes);
	mem_free(&problems->oracle_shapes);
	*problems = PROBLEMS_INIT;
}
