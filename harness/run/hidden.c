/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/hidden.h"

#include <stdio.h>
#include <string.h>

_Static_assert((int) CASES_MAX == (int) MARKING_CASES_MAX, "a task's cases fit one marking");
_Static_assert((int) CASES_ARGS_MAX == (int) PROTOCOL_ARGS_MAX, "its arguments one call");

#define HIDDEN_STREAM "hidden cases"

static const uint32_t uses[] = {
	[ARG_IN] = MARKING_INPUT,        [ARG_OUT] = MARKING_OUTPUT,    [ARG_INOUT] = MARKING_INOUT,
	[ARG_SCRATCH] = MARKING_SCRATCH, [ARG_SCALAR] = MARKING_SCALAR,
};

static void fill_arg(const struct cases *cases, size_t index, const struct case_arg *sized,
		     struct marking_arg *out)
{
	const struct arg *arg = &cases->args[index];

	*out = (struct marking_arg){
		.use = uses[arg->role],
		.align = (uint32_t) arg->align,
		.tensor = sized->tensor,
		.values = sized->values,
		.compare = arg->compare,
		.rows = arg->rows ? (uint32_t) cases_find_arg(cases, arg->rows) + 1 : 0,
		.real = sized->real,
		.whole = sized->whole,
	};
	out->tensor.element = (uint32_t) arg->element;
}

static struct marking_case *add_case(const struct cases *cases, const struct task_case *resolved,
				     struct marking_plan *plan)
{
	struct marking_case *item = &plan->cases[plan->case_count++];

	*item = (struct marking_case){ .arg_count = (uint32_t) cases->arg_count };
	for (size_t i = 0; i < cases->arg_count; i++)
		fill_arg(cases, i, &resolved->args[i], &item->args[i]);
	return item;
}

/* "R=256 C=1024" */
static void name_seen(const struct dims *dims, const int64_t *values, struct marking_case *item)
{
	size_t used = 0;

	for (size_t i = 0; i < dims->given && used < sizeof(item->name); i++)
		used += (size_t) snprintf(item->name + used, sizeof(item->name) - used, "%s%s=%lld",
					  i > 0 ? " " : "", dims->names[i], (long long) values[i]);
}

static uint64_t next_draw(void *inputs)
{
	return inputs_u64(inputs);
}

static int draw_category(const struct cases *cases, size_t index, struct inputs *inputs,
			 struct marking_plan *plan, struct err *err)
{
	const struct hidden_category *category = &cases->hidden[index];
	const struct expr_draw draw = { .next = next_draw, .user = inputs };

	for (uint64_t i = 0; i < category->cases; i++) {
		struct task_case resolved;
		struct marking_case *item;

		if (cases_draw(cases, index, &draw, &resolved, err) < 0)
			return err_wrap(err, "hidden category '%s'",
					names_text(category_names, category->category));
		item = add_case(cases, &resolved, plan);
		item->unseen = 1;
		snprintf(item->name, sizeof(item->name), "%s %llu",
			 names_text(category_names, category->category),
			 (unsigned long long) i + 1);
	}
	return 0;
}

int hidden_plan(const struct task *task, const uint8_t key[INPUTS_KEY], struct marking_plan *out,
		struct err *err)
{
	static const uint64_t numbers[INPUTS_NUMBERS];
	cleanup(inputs_done) struct inputs inputs = INPUTS_INIT;
	const struct cases *cases = &task->cases;

	*out = (struct marking_plan){ .call_ns = (int64_t) task->mark.call_wall_ms * NS_PER_MS };
	for (size_t i = 0; i < cases->seen_count; i++) {
		struct task_case resolved;

		if (cases_resolve(cases, cases->seen[i].dims, &resolved, err) < 0)
			return -1;
		name_seen(&cases->dims, cases->seen[i].dims, add_case(cases, &resolved, out));
	}
	if (inputs_open(&inputs, key, HIDDEN_STREAM, numbers, err) < 0)
		return -1;
	for (size_t i = 0; i < cases->hidden_count; i++)
		if (draw_category(cases, i, &inputs, out, err) < 0)
			return -1;
	return 0;
}

int hidden_dims(const struct task *task, const uint8_t key[INPUTS_KEY],
		int64_t (*dims)[DIMS_MAX + 1], struct err *err)
{
	static const uint64_t numbers[INPUTS_NUMBERS];
	cleanup(inputs_done) struct inputs inputs = INPUTS_INIT;
	const struct expr_draw draw = { .next = next_draw, .user = &inputs };
	const struct cases *cases = &task->cases;
	const size_t size = cases->dims.given * sizeof(**dims);
	struct task_case drawn;

	for (size_t i = 0; i < cases->seen_count; i++)
		memcpy(*dims++, cases->seen[i].dims, size);
	if (inputs_open(&inputs, key, HIDDEN_STREAM, numbers, err) < 0)
		return -1;
	for (size_t i = 0; i < cases->hidden_count; i++)
		for (uint64_t k = 0; k < cases->hidden[i].cases; k++) {
			if (cases_draw(cases, i, &draw, &drawn, err) < 0)
				return -1;
			memcpy(*dims++, drawn.dims, size);
		}
	return 0;
}

void hidden_name_dims(const struct dims *dims, const int64_t *values, struct str *out)
{
	for (size_t i = 0; i < dims->given; i++)
		str_addf(out, "%s%s=%lld", i > 0 ? " " : "", dims->names[i], (long long) values[i]);
}
