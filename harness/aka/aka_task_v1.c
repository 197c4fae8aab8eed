/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_task_v1.h"

#include <ctype.h>
#include <string.h>

#include "harness/aka/aka_read.h"
#include "harness/aka/aka_scalar.h"
#include "sandbox/base/path.h"

/* What a type is about. A NULL: repository_language says it. */
/* clang-format off */
static const struct type {
	const char *name, *from, *language;
} types[] = {
	{ "cuda2hip",           "cuda",        "hip"    },
	{ "flydsl2flydsl",      "flydsl",      "flydsl" },
	{ "hip2hip",            "hip",         "hip"    },
	{ "image_kernel",       NULL,          NULL     },
	{ "instruction2triton", "instruction", "triton" },
	{ "repository",         NULL,          NULL     },
	{ "torch2flydsl",       "torch",       "flydsl" },
	{ "torch2hip",          "torch",       "hip"    },
	{ "triton2flydsl",      "triton",      "flydsl" },
	{ "triton2triton",      "triton",      "triton" },
};
/* clang-format on */

static bool is_type(const struct aka_task *task, const char *name)
{
	return strcmp(task->type, name) == 0;
}

static const char *type_at(const void *list, size_t i)
{
	const struct type *all = list;

	return all[i].name;
}

static const char *lower(struct arena *arena, const char *text)
{
	char *copy = arena_copy(arena, text, strlen(text));

	for (char *at = copy; *at; at++)
		*at = (char) tolower((unsigned char) *at);
	return copy;
}

static int read_type(struct aka_task *task, struct err *err)
{
	const char *language = NULL;
	char room[YAML_SHOWN];

	if (aka_read_needed(task->root, "task_type", &task->type, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		if (!is_type(task, types[i].name))
			continue;
		if (!types[i].language) {
			if (aka_read_needed(task->root, "repository_language", &language, err) < 0)
				return -1;
			language = lower(&task->arena, language);
		}
		task->from = types[i].from ? types[i].from : language;
		task->language = types[i].language ? types[i].language : language;
		return 0;
	}
	return yaml_err(yaml_find(task->root, "task_type"), err,
			"there is no type '%s'; the nearest is '%s'", yaml_shown(task->type, room),
			schema_nearest(task->type, ARRAY_LEN(types), type_at, types));
}

/* ---- commands ---- */

/* A plain text would be run there letter by letter: never a list of one. */
static int read_commands(struct aka_task *task, const char *key, struct aka_action *out,
			 struct err *err)
{
	const struct yaml_node *list = NULL;
	struct aka_command *commands;
	size_t count = 0;

	if (!yaml_find(task->root, key))
		return yaml_err(task->root, err, "the key '%s' is missing", key);
	if (aka_read_list(task->root, key, &list, err) < 0)
		return -1;
	if (!list || list->count == 0)
		return yaml_err(yaml_find(task->root, key), err, "it has no command");
	commands = arena_alloc(&task->arena, list->count, sizeof(*commands));
	for (const struct yaml_node *node = list->first; node; node = node->next) {
		const char *text, *why;
		char room[YAML_SHOWN];

		if (aka_read_item(node, &text, err) < 0)
			return -1;
		why = aka_command_parse(text, &task->arena, &commands[count++]);
		if (why)
			return yaml_err(node, err, "the command '%s': %s", yaml_shown(text, room),
					why);
	}
	out->commands = commands;
	out->count = count;
	return 0;
}

static int read_steps(struct aka_task *task, struct err *err)
{
	static const struct {
		enum aka_step step;
		const char *commands, *wall;
	} rows[] = {
		{ AKA_COMPILE, "compile_command", "compile_timeout" },
		{ AKA_CORRECTNESS, "correctness_command", "correctness_timeout" },
		{ AKA_PERFORMANCE, "performance_command", "performance_timeout" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct aka_action *action = &task->steps[rows[i].step];

		action->wall_s = AKA_WALL_S;
		if (read_commands(task, rows[i].commands, action, err) < 0 ||
		    aka_read_seconds(task->root, rows[i].wall, &action->wall_s, err) < 0)
			return -1;
	}
	/* The baseline's correctness is never looked at; that of torch2hip is PyTorch's. */
	task->steps[AKA_BASELINE_PERFORMANCE] = task->steps[AKA_PERFORMANCE];
	if (is_type(task, "torch2hip"))
		task->steps[AKA_BASELINE_PERFORMANCE].extra = "--baseline_only";
	else
		task->steps[AKA_BASELINE_COMPILE] = task->steps[AKA_COMPILE];
	return 0;
}

/* ---- what is brought ---- */

/* The last name of a path or URL, without .git. */
static const char *last_name(struct arena *arena, const char *path)
{
	size_t len = strlen(path);
	const char *name;
	char *copy;

	while (len > 0 && path[len - 1] == '/')
		len--;
	copy = arena_copy(arena, path, len);
	if (len > 4 && strcmp(copy + len - 4, ".git") == 0)
		copy[len - 4] = '\0';
	name = strrchr(copy, '/');
	return name ? name + 1 : copy;
}

static int read_image(struct aka_task *task, struct aka_source *out, struct err *err)
{
	out->origin = AKA_ORIGIN_IMAGE;
	if (aka_read_absolute(task->root, "image_repo_path", &task->arena, &out->from, err) < 0)
		return -1;
	return aka_read_paths(task->root, "image_repo_exclude", &task->arena, &out->exclude, err);
}

static int read_brought(struct aka_task *task, struct err *err)
{
	const struct yaml_node *image = yaml_find(task->root, "image_repo_path"),
			       *url = yaml_find(task->root, "repo_url");
	struct aka_source *source = arena_alloc(&task->arena, 1, sizeof(*source));

	if (!aka_scalar_is_null(image)) {
		if (read_image(task, source, err) < 0)
			return -1;
	} else if (!aka_scalar_is_null(url)) {
		source->origin = AKA_ORIGIN_GIT;
		if (aka_read_needed(task->root, "repo_url", &source->from, err) < 0)
			return -1;
	} else {
		if (is_type(task, "image_kernel"))
			return yaml_err(task->root, err, "the key 'image_repo_path' is missing");
		return 0;
	}
	if (aka_read_path(task->root, "repo_subdir", &source->to, err) < 0)
		return -1;
	if (!source->to)
		source->to = last_name(&task->arena, source->from);
	if (!path_is_relative(source->to))
		return yaml_err(aka_scalar_is_null(image) ? url : image, err,
				"its last name can not name a folder; give repo_subdir");
	task->brought = source;
	task->brought_count = 1;
	return 0;
}

static int read_setup(struct aka_task *task, struct err *err)
{
	static const char *const modes[] = { "after_clone", "every_setup", NULL };
	struct aka_command *commands;
	struct argv texts = { NULL, 0 };
	size_t mode = 0;

	if (aka_read_texts(task->root, "post_clone_install", &task->arena, &texts, err) < 0 ||
	    aka_read_word(task->root, "post_clone_install_mode", modes, &mode, err) < 0)
		return -1;
	commands = arena_alloc(&task->arena, texts.count + 1, sizeof(*commands));
	for (size_t i = 0; i < texts.count; i++)
		commands[i] = (struct aka_command){ .text = texts.items[i], .needs_shell = true };
	task->setup = (struct aka_action){ commands, texts.count, AKA_SETUP_WALL_S, NULL };
	task->sets_up_each_time = mode == 1;
	return 0;
}

/* ---- what may be edited ---- */

/* Is the file itself what the steps run: a kernel and its tests in one? */
static bool holds_tests(const struct aka_task *task, const char *path)
{
	for (int step = AKA_CORRECTNESS; step <= AKA_PERFORMANCE; step++)
		for (size_t i = 0; i < task->steps[step].count; i++)
			if (aka_command_runs(&task->steps[step].commands[i], path))
				return true;
	return false;
}

/* "a, b" of one item are two functions. */
static struct argv split_functions(struct aka_task *task)
{
	size_t room = 0, count = 0;
	const char **names;

	for (size_t i = 0; i < task->functions.count; i++)
		room += strlen(task->functions.items[i]) / 2 + 2;
	names = arena_alloc(&task->arena, room + 1, sizeof(*names));
	for (size_t i = 0; i < task->functions.count; i++) {
		const char *at = task->functions.items[i];

		while (*(at += strspn(at, ", \t\n"))) {
			size_t len = strcspn(at, ", \t\n");

			names[count++] = arena_copy(&task->arena, at, len);
			at += len;
		}
	}
	return (struct argv){ names, count };
}

static void add_edit(struct aka_task *task, struct aka_edit *edits, const char *path)
{
	struct aka_edit *edit = &edits[task->edit_count];

	for (size_t i = 0; i < task->edit_count; i++)
		if (strcmp(edits[i].path, path) == 0)
			return;
	*edit = (struct aka_edit){ .path = path };
	if (holds_tests(task, path)) {
		edit->scope = AKA_SCOPE_SYMBOLS;
		edit->symbols = split_functions(task);
	}
	task->edit_count++;
}

/*
 * Which files are the agent's: the whole of what was brought; the file to write, where one is
 * named (source_file_path of torch2hip is the reference); the sources; and for a specification, of
 * which no file is named, the one that its tests lie in.
 */
static int plan_edits(struct aka_task *task, struct err *err)
{
	struct aka_edit *edits = arena_alloc(&task->arena, task->sources.count + 2, sizeof(*edits));
	const char *tests;

	task->edits = edits;
	if (task->brought_count > 0) {
		edits[task->edit_count++] =
			(struct aka_edit){ .path = task->brought->to, .scope = AKA_SCOPE_TREE };
		return 0;
	}
	if (task->target)
		add_edit(task, edits, task->target);
	for (size_t i = 0; i < task->sources.count && !is_type(task, "torch2hip"); i++)
		add_edit(task, edits, task->sources.items[i]);
	if (task->edit_count > 0)
		return 0;
	tests = aka_command_file(&task->steps[AKA_CORRECTNESS].commands[0], &task->arena);
	if (!is_type(task, "instruction2triton") || !tests || !path_is_relative(tests))
		return yaml_err(task->root, err,
				"nothing may be edited: neither source_file_path nor "
				"target_file_path names a file");
	add_edit(task, edits, tests);
	return 0;
}

/* ---- the rest ---- */

static int read_files(struct aka_task *task, struct err *err)
{
	const struct yaml_node *map = task->root;
	struct arena *arena = &task->arena;

	if (aka_read_paths(map, "source_file_path", arena, &task->sources, err) < 0 ||
	    aka_read_texts(map, "target_kernel_functions", arena, &task->functions, err) < 0 ||
	    aka_read_path(map, "target_file_path", &task->target, err) < 0 ||
	    aka_read_path(map, "harness_path", &task->harness_path, err) < 0)
		return -1;
	if (is_type(task, "torch2hip") && !task->target)
		return yaml_err(map, err,
				"the key 'target_file_path' is missing: a torch2hip task names "
				"the file to write");
	return 0;
}

static int read_prompt(struct aka_task *task, struct err *err)
{
	const struct yaml_node *map = yaml_find(task->root, "prompt");
	struct aka_prompt *prompt = &task->prompt;

	if (!map)
		return 0;
	if (map->kind != YAML_MAP)
		return yaml_err(map, err, "a mapping is meant, not %s", aka_read_kind(map));
	if (aka_read_text(map, "instructions", &prompt->instructions, err) < 0 ||
	    aka_read_text(map, "cheatsheet", &prompt->cheatsheet, err) < 0 ||
	    aka_read_text(map, "source_code", &prompt->source_code, err) < 0 ||
	    aka_read_text(map, "task_type", &prompt->task_type, err) < 0)
		return -1;
	return aka_read_text(map, "output_format", &prompt->output_format, err);
}

/* A text without blanks around it, or NULL. */
static const char *strip(struct arena *arena, const char *text)
{
	size_t len;

	while (isspace((unsigned char) *text))
		text++;
	for (len = strlen(text); len > 0 && isspace((unsigned char) text[len - 1]);)
		len--;
	return len > 0 ? arena_copy(arena, text, len) : NULL;
}

static void read_required_arch(struct aka_task *task, const struct yaml_node *map)
{
	const struct yaml_node *node = yaml_find(map, "required_arch");

	if (aka_scalar_is_null(node))
		return;
	if (node->kind == YAML_TEXT && aka_scalar_kind(node) == AKA_SCALAR_TEXT)
		task->platform.required_arch = strip(&task->arena, node->text);
	else
		aka_task_remark(task,
				"platform_support.required_arch in line %d is %s: any will do",
				node->line, aka_read_kind(node));
}

/* There a malformed value is a warning, and the task runs: so here. */
static void read_platform(struct aka_task *task)
{
	const struct yaml_node *map = yaml_find(task->root, "platform_support");
	const struct yaml_node *status, *reason;
	const char *word;

	if (aka_scalar_is_null(map))
		return;
	if (map->kind != YAML_MAP) {
		aka_task_remark(task, "platform_support in line %d is %s: it is not looked at",
				map->line, aka_read_kind(map));
		return;
	}
	status = yaml_find(map, "status");
	reason = yaml_find(map, "skip_reason");
	if (!aka_scalar_is_null(status)) {
		word = status->kind == YAML_TEXT ? strip(&task->arena, status->text) : "";
		word = word ? lower(&task->arena, word) : "active";
		task->platform.is_skipped = strcmp(word, "skip") == 0;
		if (!task->platform.is_skipped && strcmp(word, "active") != 0)
			aka_task_remark(task,
					"platform_support.status in line %d is neither active nor "
					"skip: it is taken as active",
					status->line);
	}
	if (!aka_scalar_is_null(reason) && reason->kind == YAML_TEXT)
		task->platform.reason = strip(&task->arena, reason->text);
	read_required_arch(task, map);
}

/* Where a kernel comes from: nobody's business there, so nothing is refused. */
static void read_provenance(struct aka_task *task)
{
	const struct yaml_node *map = yaml_find(task->root, "kernel_identity");
	struct err ignored = ERR_INIT;

	best_effort(aka_read_texts(task->root, "supported_archs", &task->arena,
				   &task->supported_archs, &ignored));
	if (!map || map->kind != YAML_MAP)
		return;
	best_effort(aka_read_text(map, "logical_operator", &task->logical_operator, &ignored));
	best_effort(aka_read_text(map, "source_owner", &task->source_owner, &ignored));
	best_effort(aka_read_text(map, "kernel_kind", &task->kernel_kind, &ignored));
}

int aka_task_v1_bind(struct aka_task *task, struct err *err)
{
	if (read_type(task, err) < 0 || read_files(task, err) < 0 || read_steps(task, err) < 0 ||
	    read_brought(task, err) < 0 || read_setup(task, err) < 0 ||
	    read_prompt(task, err) < 0 || plan_edits(task, err) < 0)
		return -1;
	read_platform(task);
	read_provenance(task);
	return 0;
}
