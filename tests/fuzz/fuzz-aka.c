/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "harness/aka/aka_list.h"
#include "sandbox/base/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hold(bool condition)
{
	if (!condition)
		__builtin_trap();
}

static void check_failure(const struct err *err)
{
	hold(err->kind == ERR_INPUT && *err->text);
	for (const char *at = err->text; *at; at++)
		hold((unsigned char) *at >= ' ' && *at != 0x7f);
}

/* What is executed has words, and the interpreter's place is the first. */
static void check_action(const struct aka_action *action)
{
	for (size_t i = 0; i < action->count; i++) {
		cleanup(arena_done) struct arena arena = ARENA_INIT;
		const struct aka_command *command = &action->commands[i];
		struct argv argv = aka_command_plan(command, "PY", action->extra, &arena);

		hold(argv.count > 0 && argv.items[0][0]);
		hold(command->needs_shell == (command->argv.count == 0));
		hold(command->needs_shell || command->tool == AKA_TOOL_OTHER ||
		     strcmp(argv.items[0], "PY") == 0);
		for (size_t j = 0; j < argv.count; j++)
			hold(argv.items[j]);
	}
}

/* Nothing that a task names leads out of its folder, and something can be edited and marked. */
static void check_task(const struct aka_task *task)
{
	hold(task->edit_count > 0 && task->type && task->from && task->language);
	for (size_t i = 0; i < task->edit_count; i++)
		hold(path_is_relative(task->edits[i].path));
	for (size_t i = 0; i < task->sources.count; i++)
		hold(path_is_relative(task->sources.items[i]));
	for (size_t i = 0; i < task->brought_count; i++)
		hold(path_is_relative(task->brought[i].to));
	for (int step = AKA_COMPILE; step <= AKA_PERFORMANCE; step++)
		hold(task->steps[step].count > 0 && task->steps[step].wall_s > 0);
	for (int step = 0; step < AKA_STEPS; step++)
		check_action(&task->steps[step]);
	check_action(&task->setup);
}

/* It can be shown, and what is shown is one line a line. */
static void check_shown(const struct aka_task *task)
{
	cleanup(str_done) struct str text = STR_INIT, json = STR_INIT;
	cleanup(table_done) struct table table = TABLE_INIT;
	struct json_writer writer;

	aka_list_table(&table);
	aka_list_add(&table, task);
	table_print(&table, &(struct table_style){ .width = 0 }, &text);
	aka_list_print(task, "python3", &text);
	for (size_t i = 0; i < text.len; i++)
		hold((unsigned char) text.text[i] >= ' ' || text.text[i] == '\n');
	json_writer_init(&writer, &json);
	aka_list_put(task, "python3", &writer);
	hold(json_writer_is_whole(&writer));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(aka_task_done) struct aka_task task = AKA_TASK_INIT;
	struct err err = ERR_INIT;

	if (aka_task_parse("a/b", (const char *) data, size, &task, &err) < 0) {
		check_failure(&err);
		return 0;
	}
	check_task(&task);
	check_shown(&task);
	return 0;
}
