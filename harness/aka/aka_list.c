/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "harness/aka/aka_helper.h"

static const char *const tool_words[] = {
	[AKA_TOOL_OTHER] = "program",
	[AKA_TOOL_PYTHON] = "python",
	[AKA_TOOL_PYTEST] = "pytest",
};

static const char *const origin_words[] = {
	[AKA_ORIGIN_IMAGE] = "image",
	[AKA_ORIGIN_GIT] = "git",
};

static void add_shown(struct str *out, const char *text)
{
	str_add_shown(out, text, strlen(text));
}

/* ---- a list ---- */

static const struct table_column columns[] = {
	/* clang-format off */
	{ "task",     "TASK",     TABLE_LEFT },
	{ "type",     "TYPE",     TABLE_LEFT },
	{ "from",     "FROM",     TABLE_LEFT },
	{ "language", "TO",       TABLE_LEFT },
	{ "commands", "COMMANDS", TABLE_LEFT },
	{ "source",   "SOURCE",   TABLE_LEFT },
	{ "platform", "PLATFORM", TABLE_LEFT },
	{ "editable", "EDITABLE", TABLE_LEFT },
	{ "remarks",  "REMARKS",  TABLE_LEFT },
	/* clang-format on */
};

void aka_list_table(struct table *out)
{
	table_init(out, columns, ARRAY_LEN(columns));
}

/* "pytest", "python scripts/task_runner.py", "shell": what decides about a candidate. */
static void add_kind(const struct aka_task *task, struct str *out)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	const struct aka_command *command = task->steps[AKA_CORRECTNESS].commands;
	const char *file = aka_command_file(command, &arena);

	if (command->needs_shell) {
		str_addf(out, "shell");
		return;
	}
	str_addf(out, "%s", tool_words[command->tool]);
	if (file || command->tool == AKA_TOOL_OTHER)
		str_addf(out, " %s", file ? file : command->argv.items[0]);
}

static void add_edit(const struct aka_edit *edit, struct str *out)
{
	str_addf(out, "%s%s", edit->path, edit->scope == AKA_SCOPE_TREE ? "/" : "");
	if (edit->scope != AKA_SCOPE_SYMBOLS)
		return;
	for (size_t i = 0; i < edit->symbols.count; i++)
		str_addf(out, "%s%s", i > 0 ? "," : ":", edit->symbols.items[i]);
}

void aka_list_add(struct table *table, const struct aka_task *task)
{
	cleanup(str_done) struct str kind = STR_INIT, editable = STR_INIT, remarks = STR_INIT;
	const struct aka_platform *platform = &task->platform;

	add_kind(task, &kind);
	for (size_t i = 0; i < task->edit_count; i++) {
		str_addf(&editable, "%s", i > 0 ? " " : "");
		add_edit(&task->edits[i], &editable);
	}
	for (size_t i = 0; i < task->remark_count; i++)
		str_addf(&remarks, "%s%s", i > 0 ? "; " : "", task->remarks[i]);
	table_text(table, task->name);
	table_text(table, task->type);
	table_text(table, task->from);
	table_text(table, task->language);
	table_bytes(table, kind.text, kind.len);
	table_text(table, task->brought_count > 0 ? origin_words[task->brought->origin] : "folder");
	table_text(table, platform->is_skipped ? "skip" : platform->required_arch);
	table_bytes(table, editable.text, editable.len);
	table_text(table, remarks.len > 0 ? remarks.text : NULL);
}

/* ---- how many of each type ---- */

void aka_counts_add(struct aka_counts *counts, const char *type)
{
	size_t at = 0;

	counts->total++;
	while (at < counts->types && strcmp(counts->items[at].type, type) < 0)
		at++;
	if (at >= counts->types || strcmp(counts->items[at].type, type) != 0) {
		if (counts->types == AKA_TYPES_MAX) {
			counts->items[AKA_TYPES_MAX - 1].count++;
			return;
		}
		memmove(&counts->items[at + 1], &counts->items[at],
			(counts->types - at) * sizeof(counts->items[0]));
		snprintf(counts->items[at].type, sizeof(counts->items[at].type), "%s", type);
		counts->items[at].count = 0;
		counts->types++;
	}
	counts->items[at].count++;
}

void aka_counts_table(const struct aka_counts *counts, struct table *out)
{
	static const struct table_column of_types[] = {
		{ "type", "TYPE", TABLE_LEFT },
		{ "tasks", "TASKS", TABLE_RIGHT },
	};

	table_init(out, of_types, ARRAY_LEN(of_types));
	for (size_t i = 0; i < counts->types; i++) {
		table_text(out, counts->items[i].type);
		table_int(out, (int64_t) counts->items[i].count);
	}
}

/* ---- one, as text ---- */

static void add_field(struct str *out, const char *name)
{
	str_addf(out, "%-20s ", name);
}

static void add_line(struct str *out, const char *name, const char *text)
{
	if (!text)
		return;
	add_field(out, name);
	add_shown(out, text);
	str_addf(out, "\n");
}

static void add_words(struct str *out, const char *name, const struct argv *words)
{
	for (size_t i = 0; i < words->count; i++)
		add_line(out, i == 0 ? name : "", words->items[i]);
}

/* Words so that their ends can be seen. */
static void add_argv(struct str *out, const struct argv *argv)
{
	for (size_t i = 0; i < argv->count; i++) {
		bool is_plain = argv->items[i][0] && !strpbrk(argv->items[i], " \t\n'\"\\");

		str_addf(out, "%s%s", i > 0 ? " " : "", is_plain ? "" : "\"");
		add_shown(out, argv->items[i]);
		str_addf(out, "%s", is_plain ? "" : "\"");
	}
}

static void add_action(struct str *out, const char *name, const struct aka_action *action,
		       const char *python)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < action->count; i++) {
		struct argv argv =
			aka_command_plan(&action->commands[i], python, action->extra, &arena);

		add_field(out, i == 0 ? name : "");
		add_argv(out, &argv);
		str_addf(out, " (at most %" PRIu64 " s)\n", action->wall_s);
	}
}

static void add_brought(struct str *out, const struct aka_source *source)
{
	add_field(out, "source");
	str_addf(out, "%s ", origin_words[source->origin]);
	add_shown(out, source->from);
	if (source->origin == AKA_ORIGIN_GIT)
		str_addf(out, " at %s", source->revision ? source->revision : "no pinned commit");
	str_addf(out, " -> %s/\n", source->to);
	add_words(out, "  without", &source->exclude);
}

static void add_platform(struct str *out, const struct aka_platform *platform)
{
	add_field(out, "platform");
	if (platform->is_skipped)
		str_addf(out, "skip");
	else
		str_addf(out, "%s", platform->required_arch ? platform->required_arch : "any");
	if (platform->reason) {
		str_addf(out, ": ");
		add_shown(out, platform->reason);
	}
	str_addf(out, "\n");
}

/* The files that the originals of the checkout go into. */
static struct argv helpers_of(const struct aka_task *task, const char *room[2])
{
	size_t count = 0;

	if (task->helpers & AKA_HELPER_PYTEST)
		room[count++] = AKA_HELPER_FILE;
	if (task->helpers & AKA_HELPER_RUNNER)
		room[count++] = AKA_HELPER_SCRIPT;
	return (struct argv){ room, count };
}

void aka_list_print(const struct aka_task *task, const char *python, struct str *out)
{
	const char *room[2];
	const struct argv helpers = helpers_of(task, room);

	add_line(out, "task", task->name);
	add_field(out, "format");
	str_addf(out, "%d\n", task->version);
	add_line(out, "type", task->type);
	add_line(out, "from", task->from);
	add_line(out, "to", task->language);
	for (size_t i = 0; i < task->edit_count; i++) {
		cleanup(str_done) struct str text = STR_INIT;

		add_edit(&task->edits[i], &text);
		add_line(out, i == 0 ? "editable" : "", text.text);
	}
	add_words(out, "source files", &task->sources);
	add_words(out, "functions", &task->functions);
	for (size_t i = 0; i < task->brought_count; i++)
		add_brought(out, &task->brought[i]);
	add_words(out, "helpers", &helpers);
	add_action(out, "setup", &task->setup, python);
	for (int step = 0; step < AKA_STEPS; step++)
		add_action(out, names_text(aka_step_names, step), &task->steps[step], python);
	add_platform(out, &task->platform);
	add_words(out, "supported archs", &task->supported_archs);
	add_line(out, "baseline", task->contract.baseline);
	add_line(out, "prompt", task->prompt.instructions);
	for (size_t i = 0; i < task->remark_count; i++)
		add_line(out, "remark", task->remarks[i]);
}

/* ---- one, as JSON ---- */

static void put_words(struct json_writer *json, const char *key, const struct argv *words)
{
	json_put_array(json, key);
	for (size_t i = 0; i < words->count; i++)
		json_put_text(json, NULL, words->items[i]);
	json_put_end(json);
}

static void put_edits(struct json_writer *json, const struct aka_task *task)
{
	json_put_array(json, "editable");
	for (size_t i = 0; i < task->edit_count; i++) {
		const struct aka_edit *edit = &task->edits[i];

		json_put_object(json, NULL);
		json_put_text(json, "path", edit->path);
		json_put_text(json, "scope", names_text(aka_scope_names, (int) edit->scope));
		put_words(json, "symbols", &edit->symbols);
		json_put_bool(json, "allow_new_helpers", edit->allow_new_helpers);
		json_put_end(json);
	}
	json_put_end(json);
}

static void put_action(struct json_writer *json, const char *name, const struct aka_action *action,
		       const char *python)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < action->count; i++) {
		struct argv argv =
			aka_command_plan(&action->commands[i], python, action->extra, &arena);

		json_put_object(json, NULL);
		json_put_text(json, "step", name);
		put_words(json, "argv", &argv);
		json_put_bool(json, "shell", action->commands[i].needs_shell);
		json_put_int(json, "wall_s", (int64_t) action->wall_s);
		json_put_end(json);
	}
}

static void put_brought(struct json_writer *json, const struct aka_task *task)
{
	json_put_array(json, "brought");
	for (size_t i = 0; i < task->brought_count; i++) {
		const struct aka_source *source = &task->brought[i];

		json_put_object(json, NULL);
		json_put_text(json, "origin", origin_words[source->origin]);
		json_put_text(json, "from", source->from);
		json_put_text(json, "to", source->to);
		json_put_text(json, "revision", source->revision);
		put_words(json, "exclude", &source->exclude);
		json_put_end(json);
	}
	json_put_end(json);
}

void aka_list_put(const struct aka_task *task, const char *python, struct json_writer *json)
{
	const struct argv remarks = { task->remarks, task->remark_count };
	const char *room[2];
	const struct argv helpers = helpers_of(task, room);

	json_put_object(json, NULL);
	json_put_text(json, "task", task->name);
	json_put_int(json, "format", task->version);
	json_put_text(json, "type", task->type);
	json_put_text(json, "from", task->from);
	json_put_text(json, "language", task->language);
	put_edits(json, task);
	put_words(json, "source_files", &task->sources);
	put_words(json, "functions", &task->functions);
	json_put_text(json, "target", task->target);
	put_brought(json, task);
	put_words(json, "helpers", &helpers);
	json_put_array(json, "steps");
	put_action(json, "setup", &task->setup, python);
	for (int step = 0; step < AKA_STEPS; step++)
		put_action(json, names_text(aka_step_names, step), &task->steps[step], python);
	json_put_end(json);
	json_put_bool(json, "skip", task->platform.is_skipped);
	json_put_text(json, "skip_reason", task->platform.reason);
	json_put_text(json, "required_arch", task->platform.required_arch);
	put_words(json, "supported_archs", &task->supported_archs);
	json_put_text(json, "baseline", task->contract.baseline);
	json_put_text(json, "instructions", task->prompt.instructions);
	put_words(json, "remarks", &remarks);
	json_put_end(json);
}
