/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_task.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/aka/aka_helper.h"
#include "harness/aka/aka_scalar.h"
#include "harness/aka/aka_task_v1.h"
#include "harness/aka/aka_task_v2.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/path.h"
#include "sandbox/base/str.h"

const struct name aka_step_names[] = {
	{ "validate-task", AKA_VALIDATE },
	{ "baseline compile", AKA_BASELINE_COMPILE },
	{ "baseline correctness", AKA_BASELINE_CORRECTNESS },
	{ "baseline performance", AKA_BASELINE_PERFORMANCE },
	{ "compile", AKA_COMPILE },
	{ "correctness", AKA_CORRECTNESS },
	{ "performance", AKA_PERFORMANCE },
	{ NULL, 0 },
};

const struct name aka_scope_names[] = {
	{ "file", AKA_SCOPE_FILE },
	{ "symbols", AKA_SCOPE_SYMBOLS },
	{ "tree", AKA_SCOPE_TREE },
	{ NULL, 0 },
};

void aka_task_done(struct aka_task *task)
{
	arena_done(&task->arena);
	*task = AKA_TASK_INIT;
}

void aka_task_remark(struct aka_task *task, const char *format, ...)
{
	char text[400];
	va_list args;

	if (task->remark_count >= AKA_REMARKS_MAX)
		return;
	if (!task->remarks)
		task->remarks = arena_alloc(&task->arena, AKA_REMARKS_MAX, sizeof(*task->remarks));
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	task->remarks[task->remark_count++] = arena_copy(&task->arena, text, strlen(text));
}

bool aka_task_is_colocated(const struct aka_task *task)
{
	for (size_t i = 0; i < task->edit_count; i++)
		if (task->edits[i].scope == AKA_SCOPE_SYMBOLS)
			return true;
	return false;
}

/* Which format: the key is a number, and there are two of them. */
static int find_version(const struct yaml_node *root, int *out, struct err *err)
{
	const struct yaml_node *node = yaml_find(root, "schema_version");
	char room[YAML_SHOWN];

	*out = 1;
	if (!node)
		return 0;
	*out = 2;
	if (node->kind == YAML_TEXT && aka_scalar_kind(node) == AKA_SCALAR_INT &&
	    strcmp(node->text, "2") == 0)
		return 0;
	return yaml_err(node, err, "'%s' is not 2, the only format that has this key",
			node->kind == YAML_TEXT ? yaml_shown(node->text, room) : "a collection");
}

int aka_task_parse(const char *name, const char *text, size_t len, struct aka_task *out,
		   struct err *err)
{
	cleanup(aka_task_done) struct aka_task made = AKA_TASK_INIT;
	const char *file = arena_printf(&made.arena, "tasks/%s/config.yaml", name);

	made.name = arena_copy(&made.arena, name, strlen(name));
	made.root = yaml_parse(&made.arena, file, text, len, err);
	if (!made.root)
		return -1;
	if (made.root->kind != YAML_MAP)
		return yaml_err(made.root, err,
				"the file has to be a mapping of keys such as "
				"task_type");
	if (find_version(made.root, &made.version, err) < 0 ||
	    (made.version == 1 ? aka_task_v1_bind(&made, err) : aka_task_v2_bind(&made, err)) < 0)
		return -1;
	*out = take(made, AKA_TASK_INIT);
	return 0;
}

/* A file that may be edited and is not there can still be written: told, not refused. */
static void look_at_files(int folder_fd, struct aka_task *task)
{
	for (size_t i = 0; i < task->edit_count && task->brought_count == 0; i++) {
		struct err none = ERR_INIT;
		int fd = path_open(folder_fd, task->edits[i].path, O_PATH, 0, &none);

		if (fd < 0)
			aka_task_remark(task, "'%s', which may be edited, is not in the folder",
					task->edits[i].path);
		else
			close(fd);
	}
}

int aka_task_load(int tasks_fd, const char *name, struct aka_task *out, struct err *err)
{
	cleanup(aka_task_done) struct aka_task made = AKA_TASK_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	auto_fd folder_fd = path_open_folder(tasks_fd, name, err);

	if (folder_fd < 0 ||
	    io_read_file(folder_fd, "config.yaml", yaml_limits.bytes, &text, err) < 0)
		return err_wrap(err, "tasks/%s", name);
	if (aka_task_parse(name, text.text, text.len, &made, err) < 0)
		return -1;
	if (made.version == 1 && aka_helper_find(folder_fd, &made.helpers, err) < 0)
		return err_wrap(err, "tasks/%s", name);
	look_at_files(folder_fd, &made);
	*out = take(made, AKA_TASK_INIT);
	return 0;
}
