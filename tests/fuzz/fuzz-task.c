/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

#include "harness/config/task.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t next(void *user)
{
	return *(uint64_t *) user += UINT64_C(0x9e3779b97f4a7c15);
}

/* What has been resolved is within its limits. */
static void check_case(const struct cases *cases, const struct task_case *made)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < cases->arg_count; i++) {
		if (cases->args[i].role != ARG_SCALAR && made->args[i].tensor.count == 0)
			__builtin_trap();
		bytes += made->args[i].bytes;
	}
	if (bytes != made->bytes || bytes > CASES_BYTES_MAX)
		__builtin_trap();
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
	for (size_t i = 0; i < task.cases.hidden_count; i++) {
		if (cases_draw(&task.cases, i, &draw, &made, &err) == 0)
			check_case(&task.cases, &made);
		else if (err.kind != ERR_INPUT)
			__builtin_trap();
	}
	return 0;
}
