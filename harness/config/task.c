/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/task.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/path.h"

/*
 * What task.yaml binds to: the task, and the parts that are read once all of it is known. The task
 * stands first, so that a section which fills both can be bound to the task.
 */
struct source {
	struct task task;
	const struct yaml_node *root;
	struct cases_nodes nodes;
};

/* Every default of the format. */
#define DEFAULT_BUILD_WALL_MS 60000
static const char *const default_check[] = { "proctor-check", NULL };
static const struct source defaults = {
	.task = {
		.kind = TASK_C2C,
		.build = { .wall_ms = DEFAULT_BUILD_WALL_MS },
		.baseline = { .wall_ms = DEFAULT_BUILD_WALL_MS },
		.oracle = { .build = { .wall_ms = DEFAULT_BUILD_WALL_MS } },
		.check = { default_check, 1 },
		.mark = { .call_wall_ms = 2000, .wall_ms = 60000, .cache = TASK_CACHE_COLD },
	},
};

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

/* A jail with the smallest tmpfs that a policy can give needs more than 16MiB: spec_check(). */
#define MEMORY_MIN (17 * MIB)

/* clang-format off */
static const struct name kinds[] = {
	{ "c2c", TASK_C2C },
	{ "hip2hip", WORD_LATER }, { "cuda2cuda", WORD_LATER }, { "cuda2hip", WORD_LATER },
	{ "triton2triton", WORD_LATER }, { "torch2hip", WORD_LATER }, { "torch2triton", WORD_LATER },
	{ NULL },
};
static const struct name abis[] = { { "c", 0 }, { "python", WORD_LATER }, { NULL } };
static const struct name inits[] = { { "none", 0 }, { "once", WORD_LATER }, { NULL } };
static const struct name caches[] = {
	{ "cold", TASK_CACHE_COLD }, { "hot", WORD_LATER }, { NULL },
};

static const struct field build_fields[] = {
	{ "argv", &type_argv,     ARGV_AT(struct task_build, argv),   REQUIRED, 1, 64, NULL,
	  "the command, a list of texts; `{out}` is the folder for its results; there is no shell" },
	{ "out",  &type_paths,    ARGV_AT(struct task_build, out),    REQUIRED, 1, 8, NULL,
	  "the files it leaves in `{out}`; the first is the shared library" },
	{ "wall", &type_duration, U64_AT(struct task_build, wall_ms), OPTIONAL, SECOND, HOUR, NULL,
	  "time after which it is ended" },
};
static const struct schema build_schema = { "a build", build_fields, ARRAY_LEN(build_fields), false };

static const struct field baseline_fields[] = {
	{ "build", &type_map, STRUCT_AT(struct task, baseline, struct task_build), REQUIRED, 0, 0, &build_schema,
	  "how the pristine workspace is built, where not as the candidate" },
};
static const struct schema baseline_schema = { "baseline", baseline_fields, ARRAY_LEN(baseline_fields), false };

static const struct collection entry_args = { "a list of names of arguments such as [x, y]", NULL };
static const struct field entry_fields[] = {
	{ "symbol", &type_symbol, TEXT_AT(struct source, task.entry.symbol), REQUIRED, 0, 0, NULL,
	  "the function to mark" },
	{ "abi",    &type_word,   INT_AT(struct source, task.entry.abi),     OPTIONAL, 0, 0, abis,
	  "how it is called" },
	{ "args",   &type_items,  NODE_AT(struct source, nodes.entry_args),  REQUIRED, 1, CASES_ARGS_MAX, &entry_args,
	  "its parameters in order: names of args, and of dimensions, which are passed as int64_t" },
	{ "init",   &type_word,   INT_AT(struct source, task.entry.init),    OPTIONAL, 0, 0, inits,
	  "a function called once before the first case" },
};
static const struct schema entry_schema = { "entry", entry_fields, ARRAY_LEN(entry_fields), false };

static const struct field oracle_fields[] = {
	{ "build",  &type_map,    STRUCT_AT(struct task_oracle, build, struct task_build), REQUIRED, 0, 0, &build_schema,
	  "how it is built; run in evaluate/" },
	{ "symbol", &type_symbol, TEXT_AT(struct task_oracle, symbol), REQUIRED, 0, 0, NULL,
	  "its function; it takes what the entry takes, real numbers as double, whole ones as int64_t" },
};
static const struct schema oracle_schema = { "oracle", oracle_fields, ARRAY_LEN(oracle_fields), false };

static const struct field check_fields[] = {
	{ "argv", &type_argv, ARGV_AT(struct task, check), REQUIRED, 1, 16, NULL,
	  "what the agent is told to run to try its work on the seen cases" },
};
static const struct schema check_schema = { "check", check_fields, ARRAY_LEN(check_fields), false };

static const struct field mark_fields[] = {
	{ "call_wall", &type_duration, U64_AT(struct task_mark, call_wall_ms), OPTIONAL, 1, MINUTE, NULL,
	  "time for one call; a longer one ends the marking" },
	{ "wall",      &type_duration, U64_AT(struct task_mark, wall_ms),      OPTIONAL, SECOND, HOUR, NULL,
	  "time for the whole marking" },
	{ "cache",     &type_word,     INT_AT(struct task_mark, cache),        OPTIONAL, 0, 0, caches,
	  "the caches before each timed call" },
	{ "tier",      &type_later,    NOWHERE, LATER, 0, 0, NULL, "the tiers that may be used; c2c is always T2" },
	{ "bytes",     &type_later,    NOWHERE, LATER, 0, 0, NULL, "bytes that have to move, for the floor" },
	{ "flops",     &type_later,    NOWHERE, LATER, 0, 0, NULL, "operations that have to be done, for the floor" },
};
static const struct schema mark_schema = { "mark", mark_fields, ARRAY_LEN(mark_fields), false };

static const struct field limits_fields[] = {
	{ "wall",      &type_duration, U64_AT(struct task_limits, wall_ms),   OPTIONAL, SECOND, 168 * (uint64_t) HOUR, NULL,
	  "time the agent has" },
	{ "memory",    &type_size,     U64_AT(struct task_limits, memory),    OPTIONAL, MEMORY_MIN, TIB, NULL,
	  "memory of the agent's jail" },
	{ "pids",      &type_count,    U64_AT(struct task_limits, pids),      OPTIONAL, 16, 32768, NULL,
	  "processes and threads at a time" },
	{ "workspace", &type_size,     U64_AT(struct task_limits, workspace), OPTIONAL, MIB, TIB, NULL,
	  "size of the workspace" },
	{ "inodes",    &type_count,    U64_AT(struct task_limits, inodes),    OPTIONAL, 64, 10000000, NULL,
	  "files and folders in the workspace" },
	{ "output",    &type_size,     U64_AT(struct task_limits, output),    OPTIONAL, 4 * KIB, GIB, NULL,
	  "what the agent may print" },
};
static const struct schema limits_schema = { "limits", limits_fields, ARRAY_LEN(limits_fields), false };

static const struct collection dims = { "a mapping such as {M: \"cdiv(L, P)\"}", NULL };
static const struct collection where = { "a list of constraints such as [\"H % R == 0\"]", NULL };
static const struct collection args = { "a mapping of arguments by name", &arg_schema };
static const struct collection seen = { "a list of cases such as [{rows: 8, cols: 64}]", NULL };
static const struct collection hidden = { "a mapping such as {odd: {cases: 2, B: \"prime(3, 61)\"}}", &hidden_schema };

static const struct field task_fields[] = {
	{ "schema",    &type_count, U64_AT(struct source, task.schema),       REQUIRED, 1, 1, NULL, "the version of this format" },
	{ "name",      &type_name,  TEXT_AT(struct source, task.name),        REQUIRED, 0, 0, NULL, "the task's name, that of its folder" },
	{ "kind",      &type_word,  INT_AT(struct source, task.kind),         REQUIRED, 0, 0, kinds, "language of the baseline and of the result" },
	{ "summary",   &type_text,  TEXT_AT(struct source, task.summary),     REQUIRED, 1, 500, NULL, "one sentence for lists" },
	{ "editable",  &type_paths, ARGV_AT(struct source, task.editable),    REQUIRED, 1, 64, NULL, "the files below workspace/ that the agent's work is taken from" },
	{ "build",     &type_map,   STRUCT_AT(struct source, task.build, struct task_build), REQUIRED, 0, 0, &build_schema, "how a candidate is built; run in the workspace" },
	{ "baseline",  &type_map,   STRUCT_AT(struct source, task, struct task), OPTIONAL, 0, 0, &baseline_schema, "how the baseline is built, where it differs" },
	{ "entry",     &type_map,   STRUCT_AT(struct source, task, struct task), REQUIRED, 0, 0, &entry_schema, "the function to mark" },
	{ "oracle",    &type_map,   STRUCT_AT(struct source, task.oracle, struct task_oracle), REQUIRED, 0, 0, &oracle_schema, "where right results come from" },
	{ "check",     &type_map,   STRUCT_AT(struct source, task, struct task), OPTIONAL, 0, 0, &check_schema, "how the agent tries its work" },
	{ "dims",      &type_entries, NODE_AT(struct source, nodes.dims),     OPTIONAL, 0, DIMS_MAX - 1, &dims, "derived dimensions: name and expression" },
	{ "where",     &type_items, NODE_AT(struct source, nodes.where),      OPTIONAL, 0, DIMS_WHERE_MAX, &where, "constraints: expressions that are not 0" },
	{ "args",      &type_entries, NODE_AT(struct source, nodes.args),     REQUIRED, 1, CASES_ARGS_MAX, &args, "the arguments by name" },
	{ "seen",      &type_items, NODE_AT(struct source, nodes.seen),       REQUIRED, 1, CASES_SEEN_MAX, &seen, "cases that the agent knows: a value for each dimension" },
	{ "hidden",    &type_entries, NODE_AT(struct source, nodes.hidden),   REQUIRED, 1, CATEGORY_COUNT, &hidden, "categories of cases that it does not know: odd, up, down, edge, asymmetric, production" },
	{ "mark",      &type_map,   STRUCT_AT(struct source, task.mark, struct task_mark), OPTIONAL, 0, 0, &mark_schema, "how it is marked" },
	{ "limits",    &type_map,   STRUCT_AT(struct source, task.limits, struct task_limits), OPTIONAL, 0, 0, &limits_schema, "what the agent's jail needs" },
	{ "needs",     &type_later, NOWHERE, LATER, 0, 0, NULL, "architectures, GPU memory, host features" },
	{ "reference", &type_later, NOWHERE, LATER, 0, 0, NULL, "a reference in Python" },
	{ "generate",  &type_later, NOWHERE, LATER, 0, 0, NULL, "a generator of dependent inputs" },
	{ "weights",   &type_later, NOWHERE, LATER, 0, 0, NULL, "parameters drawn once a process" },
	{ "returns",   &type_later, NOWHERE, LATER, 0, 0, NULL, "tensors that the function returns" },
};
const struct schema task_schema = { "the task", task_fields, ARRAY_LEN(task_fields), false };
/* clang-format on */

static void source_done(struct source *source)
{
	task_done(&source->task);
}

/* Only "{out}" may stand in braces, and it has to be there, or no result could get out. */
static int check_build(const struct yaml_node *build, struct err *err)
{
	const struct yaml_node *argv = yaml_find(build, "argv");
	bool has_out = false;
	char room[YAML_SHOWN];

	for (const struct yaml_node *item = argv->first; item; item = item->next) {
		for (const char *at = strchr(item->text, '{'); at; at = strchr(at + 1, '{')) {
			if (strncmp(at, "{out}", 5) != 0)
				return yaml_err(item, err,
						"'%s': the only word in braces that is "
						"supported yet is {out}",
						yaml_shown(item->text, room));
			has_out = true;
		}
	}
	if (!has_out)
		return yaml_err(argv, err,
				"no text holds {out}, the folder where the results of the "
				"build have to go");
	return 0;
}

static int check_builds(const struct source *source, const struct yaml_node *baseline,
			struct err *err)
{
	if (check_build(yaml_find(source->root, "build"), err) < 0 ||
	    check_build(yaml_find(yaml_find(source->root, "oracle"), "build"), err) < 0)
		return -1;
	return baseline ? check_build(yaml_find(baseline, "build"), err) : 0;
}

/* The task as an agent is given it lacks one key (task_given.h), and may. */
static int bind_given(const struct yaml_node *root, struct arena *arena, struct source *source,
		      struct err *err)
{
	struct field fields[ARRAY_LEN(task_fields)];
	const struct schema given = { task_schema.name, fields, ARRAY_LEN(fields), false };

	memcpy(fields, task_fields, sizeof(fields));
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (strcmp(fields[i].key, "hidden") == 0)
			fields[i].need = OPTIONAL;
	return schema_bind(&given, root, arena, source, err);
}

static int read_root(struct source *source, bool is_given, struct err *err)
{
	struct task *task = &source->task;
	struct arena *arena = &task->arena;
	const struct yaml_node *baseline;

	if (is_given ? bind_given(source->root, arena, source, err) < 0
		     : schema_bind(&task_schema, source->root, arena, source, err) < 0)
		return -1;
	baseline = yaml_find(source->root, "baseline");
	if (!baseline)
		task->baseline = task->build;
	if (check_builds(source, baseline, err) < 0)
		return -1;
	return cases_read(&source->nodes, arena, &task->cases, err);
}

static int read_source(const char *file, const char *text, size_t len, struct source *source,
		       struct err *err)
{
	source->root = yaml_parse(&source->task.arena, file, text, len, err);
	return source->root ? read_root(source, false, err) : -1;
}

int task_parse(const char *file, const char *text, size_t len, struct task *out, struct err *err)
{
	cleanup(source_done) struct source source = defaults;

	if (read_source(file, text, len, &source, err) < 0)
		return -1;
	*out = take(source.task, TASK_INIT);
	return 0;
}

int task_parse_given(const char *file, const char *text, size_t len, struct task *out,
		     struct err *err)
{
	cleanup(source_done) struct source source = defaults;

	source.root = yaml_parse(&source.task.arena, file, text, len, err);
	if (!source.root || read_root(&source, true, err) < 0)
		return -1;
	*out = take(source.task, TASK_INIT);
	return 0;
}

static int check_file(int dir_fd, const char *path, struct err *err)
{
	auto_fd fd = path_open(dir_fd, path, O_PATH, 0, err);
	struct stat info;

	if (fd < 0)
		return -1;
	if (fstat(fd, &info) < 0)
		return err_sys(err, "look at '%s'", path);
	if (!S_ISREG(info.st_mode))
		return err_set(err, ERR_INPUT, "'%s' is not a regular file", path);
	return 0;
}

static int check_folder(int folder_fd, const struct source *source, struct err *err)
{
	const struct yaml_node *editable = yaml_find(source->root, "editable");
	auto_fd workspace_fd = path_open_folder(folder_fd, "workspace", err);
	auto_fd evaluate_fd = -1;

	if (workspace_fd < 0)
		return err_wrap(err, "the task's files for the agent");
	evaluate_fd = path_open_folder(folder_fd, "evaluate", err);
	if (evaluate_fd < 0)
		return err_wrap(err, "the task's oracle");
	if (check_file(folder_fd, "README.md", err) < 0)
		return err_wrap(err, "the task's text for the agent");
	for (const struct yaml_node *item = editable->first; item; item = item->next)
		if (check_file(workspace_fd, item->text, err) < 0)
			return err_wrap(err, "%s:%d: key '%s': in workspace/", item->file,
					item->line, item->key);
	return 0;
}

/*
 * Runs keep a task under its name, and people look for it there: two names for one thing would have
 * to be guessed. The folder's own name counts, whatever path led to it.
 */
static int check_name(int folder_fd, const struct source *source, struct err *err)
{
	char link[64], path[PATH_MAX], room[YAML_SHOWN];
	const char *name;
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", folder_fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len < 0)
		return err_sys(err, "ask for the name of the task's folder");
	path[len] = '\0';
	name = strrchr(path, '/');
	name = name ? name + 1 : path;
	if (strcmp(name, source->task.name) != 0)
		return yaml_err(
			yaml_find(source->root, "name"), err,
			"'%s' is not the name of the task's folder, '%s'; rename one of both",
			source->task.name, yaml_shown(name, room));
	return 0;
}

static void text_done(struct str *text)
{
	str_done(text);
}

int task_load(int folder_fd, struct task *out, struct err *err)
{
	cleanup(source_done) struct source source = defaults;
	cleanup(text_done) struct str text = STR_INIT;

	if (io_read_file(folder_fd, "task.yaml", TASK_FILE_MAX, &text, err) < 0 ||
	    read_source("task.yaml", text.text, text.len, &source, err) < 0 ||
	    check_name(folder_fd, &source, err) < 0 || check_folder(folder_fd, &source, err) < 0)
		return -1;
	*out = take(source.task, TASK_INIT);
	return 0;
}

void task_done(struct task *task)
{
	arena_done(&task->arena);
	*task = TASK_INIT;
}

static const char *replace_out(const char *text, const char *out_folder, struct arena *arena)
{
	cleanup(text_done) struct str made = STR_INIT;
	const char *at;

	for (; (at = strstr(text, "{out}")); text = at + 5) {
		str_add(&made, text, (size_t) (at - text));
		str_addf(&made, "%s", out_folder);
	}
	str_addf(&made, "%s", text);
	return arena_copy(arena, made.text, made.len);
}

const char *const *task_build_argv(const struct task_build *build, const char *out_folder,
				   struct arena *arena)
{
	const char **argv = arena_alloc(arena, build->argv.count + 1, sizeof(*argv));

	for (size_t i = 0; i < build->argv.count; i++)
		argv[i] = replace_out(build->argv.items[i], out_folder, arena);
	return argv;
}

/* clang-format off */
static const struct key_table tables[] = {
	{ "task.yaml",                   &task_schema,     &defaults },
	{ "build, and build in oracle",  &build_schema,    &defaults.task.build },
	{ "baseline",                    &baseline_schema, &defaults.task },
	{ "entry",                       &entry_schema,    &defaults },
	{ "oracle",                      &oracle_schema,   &defaults.task.oracle },
	{ "check",                       &check_schema,    &defaults.task },
	{ "args: each argument",         &arg_schema,      NULL },
	{ "hidden: each category",       &hidden_schema,   NULL },
	{ "mark",                        &mark_schema,     &defaults.task.mark },
	{ "limits",                      &limits_schema,   &defaults.task.limits },
};
/* clang-format on */
const struct key_tables task_keys = { tables, ARRAY_LEN(tables) };
