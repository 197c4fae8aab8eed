/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "harness/config/task.h"
#include "harness/judge/draw.h"
#include "harness/run/hidden.h"
#include "sandbox/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t next(void *user)
{
	return *(uint64_t *) user += UINT64_C(0x9e3779b97f4a7c15);
}

enum { DRAWN_MAX = 4096 };

/* What has been resolved is within its limits. */
static void check_case(const struct cases *cases, const struct task_case *made)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < cases->arg_count; i++) {
		const struct tensor *tensor = &made->args[i].tensor;

		bytes += made->args[i].bytes;
		if (cases->args[i].role == ARG_SCALAR)
			continue;
		if (tensor_fault(tensor, CASES_BYTES_MAX) ||
		    tensor_bytes(tensor) != made->args[i].bytes)
			__builtin_trap();
		if (arg_has_values(&cases->args[i]) && values_fault(&made->args[i].values, tensor))
			__builtin_trap();
	}
	if (bytes != made->bytes || bytes > CASES_BYTES_MAX)
		__builtin_trap();
}

/* Small buffers are filled, and come back from their padding as they went. */
static void fill(const struct marking_arg *arg, struct inputs *stream)
{
	uint64_t plain = tensor_plain_bytes(&arg->tensor), bytes = tensor_bytes(&arg->tensor);
	cleanup(mem_free) uint8_t *values = NULL, *buffer = NULL, *back = NULL;

	if (bytes > DRAWN_MAX)
		return;
	values = mem_alloc(plain, 1);
	buffer = mem_alloc(bytes, 1);
	back = mem_alloc(plain, 1);
	draw_values(stream, &arg->values, &arg->tensor, values);
	tensor_scatter(&arg->tensor, values, NULL, buffer);
	tensor_gather(&arg->tensor, buffer, back);
	if (memcmp(values, back, plain) != 0)
		__builtin_trap();
}

/* The judge has nothing against a task that was read, but that it may take too much memory. */
static void check_plan(const struct task *task)
{
	static const uint8_t key[INPUTS_KEY];
	static const uint64_t numbers[INPUTS_NUMBERS];
	static struct marking_plan plan;
	cleanup(inputs_done) struct inputs stream = INPUTS_INIT;
	struct err err = ERR_INIT;

	if (hidden_plan(task, key, &plan, &err) < 0) {
		if (err.kind != ERR_INPUT)
			__builtin_trap();
		return;
	}
	plan.worker_cpu = 1;
	if (marking_plan_check(&plan, &err) < 0 && !strstr(err.text, " bytes"))
		__builtin_trap();
	if (inputs_open(&stream, key, "fuzz", numbers, &err) < 0)
		__builtin_trap();
	for (uint32_t i = 0; i < plan.cases[0].arg_count; i++)
		if (marking_has_values(&plan.cases[0].args[i]))
			fill(&plan.cases[0].args[i], &stream);
}

/* Whatever a file says, a failure is the file's; a good one has cases that can be had. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(task_done) struct task task = TASK_INIT;
	struct err err = ERR_INIT;
	uint64_t state = 1;
	struct expr_draw draw = { next, &state };
	struct task_case made;

	if (task_parse("task.yaml", (const char *) data, size, &task, &err) < 0) {
		if (err.kind != ERR_INPUT || !*err.text)
			__builtin_trap();
		return 0;
	}
	for (size_t i = 0; i < task.cases.seen_count; i++) {
		if (cases_resolve(&task.cases, task.cases.seen[i].dims, &made, &err) < 0)
			__builtin_trap();
		check_case(&task.cases, &made);
	}
	check_plan(&task);
	for (size_t i = 0; i < task.cases.hidden_count; i++) {
		if (cases_draw(&task.cases, i, &draw, &made, &err) == 0)
			check_case(&task.cases, &made);
		else if (err.kind != ERR_INPUT)
			__builtin_trap();
	}
	return 0;
}
