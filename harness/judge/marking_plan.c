/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/marking_plan.h"

#include <math.h>
#include <string.h>

#include "harness/judge/constants.h"

_Static_assert((int) PROTOCOL_ARGS_MAX <= 32, "a bit for each buffer");

bool marking_has_values(const struct marking_arg *arg)
{
	return arg->use == MARKING_INPUT || arg->use == MARKING_INOUT;
}

bool marking_has_result(const struct marking_arg *arg)
{
	return arg->use == MARKING_OUTPUT || arg->use == MARKING_INOUT;
}

/* What is wrong with the argument, or NULL. */
static const char *scalar_fault(const struct marking_arg *arg)
{
	uint32_t element = arg->tensor.element;

	if (element_is_real(element))
		return NULL;
	return arg->whole < element_least_whole(element) || arg->whole > element_most_whole(element)
		     ? "its value does not fit its type"
		     : NULL;
}

static const char *rows_fault(const struct marking_case *item, const struct marking_arg *arg)
{
	const struct marking_arg *rows = &item->args[arg->rows - 1];

	if (arg->rows > item->arg_count || rows->use != MARKING_INPUT ||
	    element_is_real(rows->tensor.element))
		return "what names its rows is no input of a whole type";
	return element_is_packed(arg->tensor.element) && tensor_group(&arg->tensor) % 2 != 0
		     ? "its rows are not whole bytes"
		     : NULL;
}

static const char *arg_fault(const struct marking_case *item, const struct marking_arg *arg)
{
	const char *fault = NULL;

	if (arg->tensor.element >= ELEMENT_COUNT)
		return "its type is unknown";
	if (arg->use > MARKING_SCALAR)
		return "its use is unknown";
	if (arg->use == MARKING_SCALAR)
		return scalar_fault(arg);
	fault = tensor_fault(&arg->tensor, PROTOCOL_BUFFER_MAX);
	if (!fault && arg->use != MARKING_SCRATCH &&
	    arg->tensor.count > PROTOCOL_BUFFER_MAX / ELEMENT_WIDE)
		fault = "it is too large";
	if (!fault && arg->align % element_size(arg->tensor.element) != 0)
		fault = "its alignment is not that of its type";
	if (!fault && marking_has_values(arg))
		fault = values_fault(&arg->values, &arg->tensor);
	if (!fault && marking_has_result(arg))
		fault = comparer_fault(&arg->compare, arg->tensor.element);
	if (!fault && arg->use == MARKING_INOUT && arg->rows > 0)
		fault = rows_fault(item, arg);
	return fault;
}

static int case_check(const struct marking_case *item, uint64_t *memory, struct err *err)
{
	struct marking_shape shape, wide;
	uint32_t results = 0;

	if (!memchr(item->name, 0, sizeof(item->name)))
		return err_set(err, ERR_INPUT, "a case's name does not end");
	if (item->unseen > 1 || item->arg_count == 0 || item->arg_count > PROTOCOL_ARGS_MAX)
		return err_set(err, ERR_INPUT, "case '%s': it has %u arguments, not 1 to %d",
			       item->name, item->arg_count, PROTOCOL_ARGS_MAX);
	for (uint32_t i = 0; i < item->arg_count; i++) {
		const char *fault = arg_fault(item, &item->args[i]);

		if (fault)
			return err_set(err, ERR_INPUT, "case '%s': argument %u: %s", item->name, i,
				       fault);
		results += marking_has_result(&item->args[i]);
	}
	if (results == 0)
		return err_set(err, ERR_INPUT, "case '%s': it has no output", item->name);
	if (marking_shape(item, MARKING_TASK, &shape, err) < 0 ||
	    marking_shape(item, MARKING_ORACLE, &wide, err) < 0)
		return err_wrap(err, "case '%s'", item->name);
	*memory += JUDGE_CALLS * (shape.inputs.span + shape.filled_bytes + wide.outputs.span);
	return 0;
}

int marking_plan_check(const struct marking_plan *plan, struct err *err)
{
	uint64_t memory = 0;
	uint32_t seen = 0;

	if (plan->case_count == 0 || plan->case_count > MARKING_CASES_MAX)
		return err_set(err, ERR_INPUT, "a marking has 1 to %d cases, not %u",
			       MARKING_CASES_MAX, plan->case_count);
	if (plan->judge_cpu == plan->worker_cpu)
		return err_set(err, ERR_INPUT, "judge and worker need a CPU each, not %u twice",
			       plan->judge_cpu);
	if (plan->call_ns <= 0 || plan->call_ns > 600000000000)
		return err_set(err, ERR_INPUT, "a call may take up to 600 s, not %lld ns",
			       (long long) plan->call_ns);
	if (plan->floor_ppm < 0 || plan->floor_ppm > 1000000)
		return err_set(err, ERR_INPUT, "a floor of %lld ppm is not within 0..1000000",
			       (long long) plan->floor_ppm);
	for (uint32_t i = 0; i < plan->case_count; i++) {
		if (case_check(&plan->cases[i], &memory, err) < 0)
			return -1;
		seen += !plan->cases[i].unseen;
	}
	if (seen == 0)
		return err_set(err, ERR_INPUT, "a marking needs a seen case");
	if (memory > MARKING_MEMORY_MAX)
		return err_set(err, ERR_INPUT,
			       "the cases need %llu bytes of the judge's memory, more than %llu: "
			       "make them fewer or smaller",
			       (unsigned long long) memory,
			       (unsigned long long) MARKING_MEMORY_MAX);
	return 0;
}

/* C has no type for those of 16 and 4 bits: a float and a byte hold all of their values. */
static void shape_scalar(const struct marking_arg *arg, enum marking_side side,
			 struct protocol_arg *out)
{
	static const uint32_t kinds[ELEMENT_COUNT] = {
		[ELEMENT_F64] = PROTOCOL_F64, [ELEMENT_F32] = PROTOCOL_F32,
		[ELEMENT_F16] = PROTOCOL_F32, [ELEMENT_BF16] = PROTOCOL_F32,
		[ELEMENT_I64] = PROTOCOL_I64, [ELEMENT_I32] = PROTOCOL_I32,
		[ELEMENT_I8] = PROTOCOL_I8,   [ELEMENT_U8] = PROTOCOL_U8,
		[ELEMENT_I4] = PROTOCOL_I8,   [ELEMENT_U4] = PROTOCOL_U8,
	};

	out->kind = kinds[arg->tensor.element];
	if (side == MARKING_ORACLE)
		out->kind = element_is_real(arg->tensor.element) ? PROTOCOL_F64 : PROTOCOL_I64;
	if (out->kind == PROTOCOL_F64)
		out->f64 = arg->real;
	else if (out->kind == PROTOCOL_F32)
		out->f32 = (float) arg->real;
	else if (out->kind == PROTOCOL_I64)
		out->i64 = arg->whole;
	else if (out->kind == PROTOCOL_I32)
		out->i32 = (int32_t) arg->whole;
	else
		out->u8 = (uint8_t) arg->whole;
}

/* The oracle gets every value wide, dense and on a page of its own, and no work area. */
static struct protocol_buffer buffer_of(const struct marking_arg *arg, enum marking_side side)
{
	if (side == MARKING_ORACLE)
		return (struct protocol_buffer){ arg->tensor.count * ELEMENT_WIDE, 0 };
	return (struct protocol_buffer){ tensor_bytes(&arg->tensor), arg->align };
}

static const uint32_t kinds[] = {
	[MARKING_INPUT] = PROTOCOL_INPUT,
	[MARKING_OUTPUT] = PROTOCOL_OUTPUT,
	[MARKING_INOUT] = PROTOCOL_INOUT,
	[MARKING_SCRATCH] = PROTOCOL_SCRATCH,
};

int marking_shape(const struct marking_case *item, enum marking_side side,
		  struct marking_shape *out, struct err *err)
{
	struct marking_shape made = { .call.arg_count = item->arg_count };
	struct protocol_buffer in[PROTOCOL_ARGS_MAX], outs[PROTOCOL_ARGS_MAX];
	uint32_t in_count = 0, out_count = 0;

	for (uint32_t i = 0; i < item->arg_count; i++) {
		const struct marking_arg *arg = &item->args[i];
		struct protocol_arg *call = &made.call.args[i];

		if (arg->use == MARKING_SCALAR) {
			shape_scalar(arg, side, call);
			continue;
		}
		call->kind = kinds[arg->use];
		if (side == MARKING_ORACLE && arg->use == MARKING_SCRATCH) {
			call->kind = PROTOCOL_NOTHING;
		} else if (arg->use == MARKING_INPUT) {
			made.buffer[i] = in_count;
			in[in_count++] = buffer_of(arg, side);
		} else {
			made.filled |= (uint32_t) (arg->use == MARKING_INOUT) << out_count;
			made.buffer[i] = out_count;
			outs[out_count++] = buffer_of(arg, side);
		}
	}
	if (protocol_lay_out(in, in_count, &made.inputs, err) < 0)
		return err_wrap(err, "inputs");
	if (protocol_lay_out(outs, out_count, &made.outputs, err) < 0)
		return err_wrap(err, "outputs");

	for (uint32_t i = 0; i < item->arg_count; i++) {
		struct protocol_arg *call = &made.call.args[i];
		bool is_input = call->kind == PROTOCOL_INPUT;
		const struct protocol_layout *layout = is_input ? &made.inputs : &made.outputs;

		if (call->kind > PROTOCOL_SCRATCH)
			continue;
		call->bytes = layout->bytes[made.buffer[i]];
		call->offset = layout->offset[made.buffer[i]];
		if (call->kind == PROTOCOL_INOUT)
			made.filled_bytes += protocol_fill_bytes(call->bytes);
	}
	*out = made;
	return 0;
}
