/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/marking_plan.h"

#include <math.h>
#include <string.h>

#include "harness/judge/constants.h"

uint64_t element_size(uint32_t element)
{
	return element == ELEMENT_F64 || element == ELEMENT_I64 ? 8 : 4;
}

static bool is_float(const struct marking_arg *arg)
{
	return arg->element == ELEMENT_F32 || arg->element == ELEMENT_F64;
}

/* What is wrong with the argument, or NULL. */
static const char *input_fault(const struct marking_arg *arg)
{
	double largest = arg->element == ELEMENT_F32 ? (double) 0x1.fffffep126 : 0x1p1022;

	if (is_float(arg))
		return arg->low <= arg->high && fabs(arg->low) <= largest &&
				       fabs(arg->high) <= largest
			     ? NULL
			     : "its range is empty or not finite";
	if (arg->integer > arg->integer_high)
		return "its range is empty";
	if (arg->element == ELEMENT_I32 &&
	    (arg->integer < INT32_MIN || arg->integer_high > INT32_MAX))
		return "its range does not fit i32";
	return NULL;
}

static const char *output_fault(const struct marking_arg *arg)
{
	if (arg->compare == MARKING_EXACT)
		return is_float(arg) ? "exact compares integers only" : NULL;
	if (arg->compare != MARKING_CLOSE || !is_float(arg))
		return "close compares f32 and f64 only";
	return arg->rel >= 0 && arg->rel < 1 && arg->abs >= 0 && isfinite(arg->abs)
		     ? NULL
		     : "its tolerance is not a finite number from 0";
}

static const char *arg_fault(const struct marking_arg *arg)
{
	if (arg->element > ELEMENT_I64)
		return "its type is unknown";
	if (arg->use > MARKING_SCALAR)
		return "its use is unknown";
	if (arg->use == MARKING_SCALAR)
		return arg->element == ELEMENT_I32 &&
				       (arg->integer < INT32_MIN || arg->integer > INT32_MAX)
			     ? "its value does not fit i32"
			     : NULL;
	if (arg->count == 0)
		return "it is empty";
	if (arg->count > PROTOCOL_BUFFER_MAX / 8)
		return "it is too large";
	return arg->use == MARKING_INPUT ? input_fault(arg) : output_fault(arg);
}

static int case_check(const struct marking_case *item, uint64_t *memory, struct err *err)
{
	struct marking_shape shape, wide;
	uint32_t outputs = 0;

	if (!memchr(item->name, 0, sizeof(item->name)))
		return err_set(err, ERR_INPUT, "a case's name does not end");
	if (item->unseen > 1 || item->arg_count == 0 || item->arg_count > PROTOCOL_ARGS_MAX)
		return err_set(err, ERR_INPUT, "case '%s': it has %u arguments, not 1 to %d",
			       item->name, item->arg_count, PROTOCOL_ARGS_MAX);
	for (uint32_t i = 0; i < item->arg_count; i++) {
		const char *fault = arg_fault(&item->args[i]);

		if (fault)
			return err_set(err, ERR_INPUT, "case '%s': argument %u: %s", item->name, i,
				       fault);
		outputs += item->args[i].use == MARKING_OUTPUT;
	}
	if (outputs == 0)
		return err_set(err, ERR_INPUT, "case '%s': it has no output", item->name);
	if (marking_shape(item, false, &shape, err) < 0 ||
	    marking_shape(item, true, &wide, err) < 0)
		return err_wrap(err, "case '%s'", item->name);
	*memory += JUDGE_CALLS * (shape.inputs.span + wide.outputs.span);
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

static void shape_scalar(const struct marking_arg *arg, struct protocol_arg *out)
{
	static const uint32_t kinds[] = {
		[ELEMENT_F32] = PROTOCOL_F32,
		[ELEMENT_F64] = PROTOCOL_F64,
		[ELEMENT_I32] = PROTOCOL_I32,
		[ELEMENT_I64] = PROTOCOL_I64,
	};

	out->kind = kinds[arg->element];
	if (arg->element == ELEMENT_F32)
		out->f32 = (float) arg->low;
	else if (arg->element == ELEMENT_F64)
		out->f64 = arg->low;
	else if (arg->element == ELEMENT_I32)
		out->i32 = (int32_t) arg->integer;
	else
		out->i64 = arg->integer;
}

int marking_shape(const struct marking_case *item, bool in_double, struct marking_shape *out,
		  struct err *err)
{
	struct marking_shape made = { .call.arg_count = item->arg_count };
	uint64_t in[PROTOCOL_ARGS_MAX], outs[PROTOCOL_ARGS_MAX];
	uint32_t in_count = 0, out_count = 0;

	for (uint32_t i = 0; i < item->arg_count; i++) {
		const struct marking_arg *arg = &item->args[i];
		uint64_t size = element_size(arg->element);

		if (arg->use == MARKING_INPUT)
			in[in_count++] = arg->count * size;
		else if (arg->use == MARKING_OUTPUT)
			outs[out_count++] = arg->count * (in_double && is_float(arg) ? 8 : size);
	}
	if (protocol_lay_out(in, in_count, &made.inputs, err) < 0)
		return err_wrap(err, "inputs");
	if (protocol_lay_out(outs, out_count, &made.outputs, err) < 0)
		return err_wrap(err, "outputs");

	in_count = out_count = 0;
	for (uint32_t i = 0; i < item->arg_count; i++) {
		struct protocol_arg *arg = &made.call.args[i];

		if (item->args[i].use == MARKING_SCALAR) {
			shape_scalar(&item->args[i], arg);
		} else if (item->args[i].use == MARKING_INPUT) {
			arg->kind = PROTOCOL_INPUT;
			arg->bytes = made.inputs.bytes[in_count];
			arg->offset = made.inputs.offset[in_count++];
		} else {
			arg->kind = PROTOCOL_OUTPUT;
			arg->bytes = made.outputs.bytes[out_count];
			arg->offset = made.outputs.offset[out_count++];
		}
	}
	*out = made;
	return 0;
}
