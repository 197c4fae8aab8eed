/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_task_v2.h"

#include <string.h>

#include "harness/aka/aka_read_v2.h"
#include "harness/aka/aka_scalar.h"
#include "sandbox/base/path.h"

/* ---- candidate ---- */

/* Is @path the edit's, or below it where the edit is a tree? */
static bool covers(const struct aka_edit *edit, const char *path)
{
	size_t len = strlen(edit->path);

	if (strcmp(edit->path, path) == 0)
		return true;
	return edit->scope == AKA_SCOPE_TREE && strncmp(edit->path, path, len) == 0 &&
	       path[len] == '/';
}

static int read_scope(struct aka_task *task, const struct yaml_node *node, struct aka_edit *out,
		      struct err *err)
{
	static const char *const keys[] = { "path", "scope", "symbols", "allow_new_helpers", NULL };
	static const char *const scopes[] = { "file", "symbols", "tree", NULL };
	size_t scope = AKA_SCOPE_FILE;

	if (aka_v2_known(node, "an editable file", keys, err) < 0 ||
	    aka_v2_path(node, "path", &out->path, err) < 0 ||
	    aka_read_word(node, "scope", scopes, &scope, err) < 0)
		return -1;
	out->scope = (enum aka_scope) scope;
	if (out->scope != AKA_SCOPE_SYMBOLS) {
		if (yaml_find(node, "symbols") || yaml_find(node, "allow_new_helpers"))
			return yaml_err(node, err,
					"symbols and allow_new_helpers belong to "
					"scope: symbols alone");
		return 0;
	}
	if (aka_v2_texts(node, "symbols", &task->arena, &out->symbols, err) < 0 ||
	    aka_v2_bool(node, "allow_new_helpers", &out->allow_new_helpers, err) < 0)
		return -1;
	if (out->symbols.count == 0)
		return yaml_err(node, err, "scope: symbols names at least one of symbols");
	return 0;
}

static int read_edit(struct aka_task *task, const struct yaml_node *node, struct aka_edit *edits,
		     struct err *err)
{
	struct aka_edit *edit = &edits[task->edit_count];
	char room[YAML_SHOWN];

	if (node->kind == YAML_TEXT) {
		if (aka_v2_path_item(node, &edit->path, err) < 0)
			return -1;
	} else if (read_scope(task, node, edit, err) < 0) {
		return -1;
	}
	for (size_t i = 0; i < task->edit_count; i++)
		if (covers(&edits[i], edit->path) || covers(edit, edits[i].path))
			return yaml_err(node, err, "'%s' and an earlier item of the list overlap",
					yaml_shown(edit->path, room));
	task->edit_count++;
	return 0;
}

static int read_editable(struct aka_task *task, const struct yaml_node *map, struct err *err)
{
	const struct yaml_node *list = NULL;
	struct aka_edit *edits;
	const char **paths;

	if (aka_v2_list(map, "editable", &list, err) < 0)
		return -1;
	if (!list || list->count == 0)
		return yaml_err(map, err, "the key 'editable' has to name at least one file");
	edits = arena_alloc(&task->arena, list->count, sizeof(*edits));
	paths = arena_alloc(&task->arena, list->count + 1, sizeof(*paths));
	task->edits = edits;
	for (const struct yaml_node *node = list->first; node; node = node->next) {
		if (read_edit(task, node, edits, err) < 0)
			return -1;
		paths[task->edit_count - 1] = edits[task->edit_count - 1].path;
	}
	task->sources = (struct argv){ paths, task->edit_count };
	return 0;
}

static int read_entrypoint(struct aka_task *task, const struct yaml_node *node,
			   struct aka_entrypoint *out, struct err *err)
{
	static const char *const keys[] = { "file", "kind", "symbol", NULL };
	static const char *const kinds[] = { "function", "builder", "class", "executable", NULL };
	size_t kind = ARRAY_LEN(kinds);
	char room[YAML_SHOWN];

	if (aka_v2_known(node, "an entry point", keys, err) < 0 ||
	    aka_v2_path(node, "file", &out->file, err) < 0 ||
	    aka_read_word(node, "kind", kinds, &kind, err) < 0)
		return -1;
	if (kind >= ARRAY_LEN(kinds))
		return yaml_err(node, err, "the key 'kind' is missing");
	out->kind = kinds[kind];
	if (strcmp(out->kind, "executable") != 0) {
		if (aka_read_needed(node, "symbol", &out->symbol, err) < 0)
			return -1;
	} else if (yaml_find(node, "symbol")) {
		return yaml_err(node, err, "an executable has no symbol");
	}
	for (size_t i = 0; i < task->edit_count; i++)
		if (covers(&task->edits[i], out->file))
			return 0;
	return yaml_err(node, err, "'%s' is outside of what may be edited",
			yaml_shown(out->file, room));
}

static int read_entrypoints(struct aka_task *task, const struct yaml_node *map, struct err *err)
{
	const struct yaml_node *list = NULL;
	struct aka_entrypoint *entries;
	const char **symbols;
	size_t count = 0;

	if (aka_v2_list(map, "entrypoints", &list, err) < 0)
		return -1;
	if (!list)
		return 0;
	entries = arena_alloc(&task->arena, list->count + 1, sizeof(*entries));
	symbols = arena_alloc(&task->arena, list->count + 1, sizeof(*symbols));
	for (const struct yaml_node *node = list->first; node; node = node->next) {
		struct aka_entrypoint *entry = &entries[task->contract.entrypoint_count];

		if (read_entrypoint(task, node, entry, err) < 0)
			return -1;
		for (size_t i = 0; i < task->contract.entrypoint_count; i++)
			if (strcmp(entries[i].file, entry->file) == 0 &&
			    strcmp(entries[i].kind, entry->kind) == 0 &&
			    (!entry->symbol || strcmp(entries[i].symbol, entry->symbol) == 0))
				return yaml_err(node, err, "this entry point is given twice");
		if (entry->symbol)
			symbols[count++] = entry->symbol;
		task->contract.entrypoint_count++;
	}
	task->contract.entrypoints = entries;
	task->functions = (struct argv){ symbols, count };
	return 0;
}

static int read_candidate(struct aka_task *task, struct err *err)
{
	static const char *const keys[] = { "language", "initial_state", "initial_language",
					    "editable", "entrypoints",   NULL };
	static const char *const states[] = { "implemented", "unimplemented", NULL };
	struct aka_contract *contract = &task->contract;
	const struct yaml_node *map;
	size_t state = 0;

	if (aka_v2_map(task->root, "candidate", keys, true, &map, err) < 0 ||
	    aka_read_needed(map, "language", &task->language, err) < 0 ||
	    aka_read_word(map, "initial_state", states, &state, err) < 0)
		return -1;
	contract->initial_state = states[state];
	if (state == 0) {
		contract->initial_language = task->language;
		if (yaml_find(map, "initial_language") &&
		    aka_read_needed(map, "initial_language", &contract->initial_language, err) < 0)
			return -1;
	} else if (yaml_find(map, "initial_language")) {
		return yaml_err(yaml_find(map, "initial_language"), err,
				"what is unimplemented has no initial language");
	}
	if (read_editable(task, map, err) < 0)
		return -1;
	return read_entrypoints(task, map, err);
}

/* ---- baseline ---- */

static int read_baseline(struct aka_task *task, struct err *err)
{
	static const char *const keys[] = {
		"kind", "language", "source_files", "correctness_policy", "diagnostic_reason", NULL
	};
	static const char *const kinds[] = { "initial_candidate", "provided", NULL };
	static const char *const policies[] = { "required", "diagnostic", NULL };
	struct aka_contract *contract = &task->contract;
	bool is_implemented = strcmp(contract->initial_state, "implemented") == 0;
	size_t kind = is_implemented ? 0 : 1, policy = 0;
	const struct yaml_node *map;

	if (aka_v2_map(task->root, "baseline", keys, false, &map, err) < 0)
		return -1;
	if (map &&
	    (aka_read_word(map, "kind", kinds, &kind, err) < 0 ||
	     aka_read_word(map, "correctness_policy", policies, &policy, err) < 0 ||
	     (!aka_scalar_is_null(yaml_find(map, "language")) &&
	      aka_read_needed(map, "language", &contract->baseline_language, err) < 0) ||
	     aka_v2_paths(map, "source_files", &task->arena, &contract->baseline_sources, err) < 0))
		return -1;
	contract->baseline = kinds[kind];
	contract->correctness_policy = policies[policy];
	if (kind == 0 && !is_implemented)
		return yaml_err(map, err, "what is unimplemented can not be the baseline");
	if (policy == 1)
		return aka_read_needed(map, "diagnostic_reason", &contract->diagnostic_reason, err);
	if (map && yaml_find(map, "diagnostic_reason"))
		return yaml_err(yaml_find(map, "diagnostic_reason"), err,
				"it belongs to correctness_policy: diagnostic alone");
	return 0;
}

/* ---- evaluation ---- */

static const struct {
	enum aka_step step;
	const char *role, *action;
} actions[] = {
	{ AKA_VALIDATE, "task", "validate-task" },
	{ AKA_BASELINE_COMPILE, "baseline", "compile" },
	{ AKA_BASELINE_CORRECTNESS, "baseline", "correctness" },
	{ AKA_BASELINE_PERFORMANCE, "baseline", "performance" },
	{ AKA_COMPILE, "candidate", "compile" },
	{ AKA_CORRECTNESS, "candidate", "correctness" },
	{ AKA_PERFORMANCE, "candidate", "performance" },
};

/* "RUNNER… validate-task", "RUNNER… baseline compile" */
static void plan_runner(struct aka_task *task, const struct argv *runner, size_t row,
			struct aka_action *out)
{
	const char **words = arena_alloc(&task->arena, runner->count + 3, sizeof(*words));
	struct aka_command *command = arena_alloc(&task->arena, 1, sizeof(*command));
	size_t count = 0;

	for (; count < runner->count; count++)
		words[count] = runner->items[count];
	if (actions[row].step != AKA_VALIDATE)
		words[count++] = actions[row].role;
	words[count++] = actions[row].action;
	*command = aka_command_of((struct argv){ words, count });
	out->commands = command;
	out->count = 1;
}

/* What replaces the runner for one step; @map is NULL where nothing does. */
static int read_override(struct aka_task *task, const struct yaml_node *map, struct aka_action *out,
			 struct err *err)
{
	static const char *const keys[] = { "commands", "timeout_s", NULL };

	if (!map)
		return 0;
	if (aka_v2_known(map, "a step", keys, err) < 0 ||
	    aka_v2_seconds(map, "timeout_s", &out->wall_s, err) < 0)
		return -1;
	return aka_v2_commands(map, "commands", &task->arena, out, err);
}

static int read_action(struct aka_task *task, const struct yaml_node *map,
		       const struct argv *runner, size_t row, struct err *err)
{
	static const char *const keys[] = { "compile", "correctness", "performance", NULL };
	struct aka_action *action = &task->steps[actions[row].step];
	const struct yaml_node *role = yaml_find(map, actions[row].role), *override = role;

	if (role && actions[row].step != AKA_VALIDATE) {
		if (aka_v2_known(role, "a role", keys, err) < 0)
			return -1;
		override = yaml_find(role, actions[row].action);
	}
	if (read_override(task, override, action, err) < 0)
		return -1;
	if (action->count == 0 && runner->count > 0)
		plan_runner(task, runner, row, action);
	if (action->count == 0)
		return yaml_err(map, err, "there is no runner, and no commands for %s %s",
				actions[row].role, actions[row].action);
	return 0;
}

static int read_evaluation(struct aka_task *task, struct err *err)
{
	static const char *const keys[] = { "runner",   "workloads", "timeout_s", "task",
					    "baseline", "candidate", NULL };
	struct argv runner = { NULL, 0 };
	const struct yaml_node *map;
	uint64_t wall_s = AKA_WALL_S;

	if (aka_v2_map(task->root, "evaluation", keys, true, &map, err) < 0 ||
	    aka_v2_argv(map, "runner", &task->arena, &runner, err) < 0 ||
	    aka_v2_seconds(map, "timeout_s", &wall_s, err) < 0 ||
	    (yaml_find(map, "workloads") &&
	     aka_v2_path(map, "workloads", &task->contract.workloads, err) < 0))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
		task->steps[actions[i].step].wall_s = wall_s;
		if (read_action(task, map, &runner, i, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- the rest ---- */

static int read_platform(struct aka_task *task, struct err *err)
{
	static const char *const keys[] = { "required_arch", "status", "skip_reason", NULL };
	static const char *const states[] = { "active", "skip", NULL };
	struct aka_platform *platform = &task->platform;
	const struct yaml_node *map;
	size_t status = 0;

	if (aka_v2_map(task->root, "platform_support", keys, false, &map, err) < 0)
		return -1;
	if (!map)
		return 0;
	if (aka_read_word(map, "status", states, &status, err) < 0 ||
	    (yaml_find(map, "required_arch") &&
	     aka_read_needed(map, "required_arch", &platform->required_arch, err) < 0) ||
	    ((status == 1 || yaml_find(map, "skip_reason")) &&
	     aka_read_needed(map, "skip_reason", &platform->reason, err) < 0))
		return -1;
	platform->is_skipped = status == 1;
	return 0;
}

static int read_identity(struct aka_task *task, struct err *err)
{
	static const char *const keys[] = { "logical_operator", "source_owner", NULL };
	const struct yaml_node *map;

	if (aka_v2_map(task->root, "kernel_identity", keys, false, &map, err) < 0)
		return -1;
	if (!map)
		return 0;
	if (yaml_find(map, "logical_operator") &&
	    aka_read_needed(map, "logical_operator", &task->logical_operator, err) < 0)
		return -1;
	if (yaml_find(map, "source_owner") &&
	    aka_read_needed(map, "source_owner", &task->source_owner, err) < 0)
		return -1;
	return 0;
}

static int check_protected(const struct aka_task *task, const char *path, bool is_baseline,
			   struct err *err)
{
	for (size_t i = 0; i < task->edit_count; i++)
		if (covers(&task->edits[i], path) &&
		    !(is_baseline && task->edits[i].scope == AKA_SCOPE_SYMBOLS))
			return yaml_err(yaml_find(task->root, "candidate"), err,
					"'%s' may be edited, and is what the task is judged by",
					task->edits[i].path);
	return 0;
}

/* What the agent is judged by is not the agent's. */
static int check_boundary(const struct aka_task *task, struct err *err)
{
	const struct aka_contract *contract = &task->contract;

	if (check_protected(task, "config.yaml", false, err) < 0 ||
	    check_protected(task, "README.md", false, err) < 0 ||
	    (contract->workloads && check_protected(task, contract->workloads, false, err) < 0))
		return -1;
	for (size_t i = 0; i < contract->instructions.count; i++)
		if (check_protected(task, contract->instructions.items[i], false, err) < 0)
			return -1;
	for (size_t i = 0; i < contract->baseline_sources.count; i++)
		if (check_protected(task, contract->baseline_sources.items[i], true, err) < 0)
			return -1;
	return 0;
}

/* There is no task_type: the top folder is what reports count by. */
static void name_type(struct aka_task *task)
{
	const char *slash = strchr(task->name, '/');
	size_t len = slash ? (size_t) (slash - task->name) : strlen(task->name);
	const struct aka_contract *contract = &task->contract;

	task->type = arena_copy(&task->arena, task->name, len);
	task->from = contract->initial_language ? contract->initial_language
						: contract->baseline_language;
	if (!task->from)
		task->from = contract->baseline;
}

int aka_task_v2_bind(struct aka_task *task, struct err *err)
{
	static const char *const keys[] = { "schema_version",
					    "description",
					    "instructions",
					    "kernel_identity",
					    "candidate",
					    "baseline",
					    "evaluation",
					    "workspace",
					    "platform_support",
					    "evaluation_profile",
					    "evaluation_tools",
					    "exports",
					    NULL };
	struct aka_contract *contract = &task->contract;

	if (aka_v2_known(task->root, "the file", keys, err) < 0 || read_candidate(task, err) < 0 ||
	    read_baseline(task, err) < 0 || read_evaluation(task, err) < 0 ||
	    read_platform(task, err) < 0 || read_identity(task, err) < 0 ||
	    aka_v2_workspace(task, err) < 0 || aka_v2_exports(task, err) < 0 ||
	    (yaml_find(task->root, "description") &&
	     aka_read_needed(task->root, "description", &contract->description, err) < 0) ||
	    aka_v2_paths(task->root, "instructions", &task->arena, &contract->instructions, err) <
		    0 ||
	    check_boundary(task, err) < 0)
		return -1;
	name_type(task);
	return 0;
}
