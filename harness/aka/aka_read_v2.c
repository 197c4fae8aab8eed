/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_read_v2.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "harness/aka/aka_scalar.h"
#include "sandbox/base/path.h"

static const char *key_at(const void *list, size_t i)
{
	const char *const *keys = list;

	return keys[i];
}

int aka_v2_known(const struct yaml_node *node, const char *what, const char *const *keys,
		 struct err *err)
{
	char room[YAML_SHOWN];
	size_t count = 0;

	if (node->kind != YAML_MAP)
		return yaml_err(node, err, "%s has to be a mapping of keys such as '%s', not %s",
				what, keys[0], aka_read_kind(node));
	while (keys[count])
		count++;
	for (const struct yaml_node *child = node->first; child; child = child->next) {
		size_t i = 0;

		while (keys[i] && strcmp(keys[i], child->key) != 0)
			i++;
		if (!keys[i])
			return err_set(err, ERR_INPUT,
				       "%s:%d: %s has no key '%s'; the nearest is '%s'", node->file,
				       child->key_line, what, yaml_shown(child->key, room),
				       schema_nearest(child->key, count, key_at, keys));
		if (aka_scalar_is_null(child) && strcmp(child->key, "language") != 0)
			return yaml_err(child, err, "it is null; leave the key out");
	}
	return 0;
}

int aka_v2_map(const struct yaml_node *map, const char *key, const char *const *keys,
	       bool is_needed, const struct yaml_node **out, struct err *err)
{
	const struct yaml_node *node = yaml_find(map, key);

	*out = node;
	if (node)
		return aka_v2_known(node, key, keys, err);
	return is_needed ? yaml_err(map, err, "the key '%s' is missing", key) : 0;
}

int aka_v2_path_item(const struct yaml_node *node, const char **out, struct err *err)
{
	char room[YAML_SHOWN];
	const char *path;

	if (aka_read_item(node, &path, err) < 0)
		return -1;
	if (!path_is_relative(path) || strchr(path, '\\') ||
	    (isalpha((unsigned char) path[0]) && path[1] == ':'))
		return yaml_err(
			node, err,
			"'%s' is not a path in the task's folder: relative, without . and ..",
			yaml_shown(path, room));
	*out = path;
	return 0;
}

int aka_v2_path(const struct yaml_node *map, const char *key, const char **out, struct err *err)
{
	const struct yaml_node *node = yaml_find(map, key);

	if (!node)
		return yaml_err(map, err, "the key '%s' is missing", key);
	return aka_v2_path_item(node, out, err);
}

int aka_v2_list(const struct yaml_node *map, const char *key, const struct yaml_node **out,
		struct err *err)
{
	const struct yaml_node *node = yaml_find(map, key);

	if (node && node->kind != YAML_LIST)
		return yaml_err(node, err, "a list is meant, not %s", aka_read_kind(node));
	return aka_read_list(map, key, out, err);
}

static int read_items(const struct yaml_node *map, const char *key,
		      int (*read)(const struct yaml_node *, const char **, struct err *),
		      struct arena *arena, struct argv *out, struct err *err)
{
	const struct yaml_node *list = NULL;
	char room[YAML_SHOWN];
	const char **items;
	size_t count = 0;

	if (aka_v2_list(map, key, &list, err) < 0)
		return -1;
	if (!list)
		return 0;
	items = arena_alloc(arena, list->count + 1, sizeof(*items));
	for (const struct yaml_node *node = list->first; node; node = node->next) {
		if (read(node, &items[count], err) < 0)
			return -1;
		if (items[count][0] == '\0')
			return yaml_err(node, err, "an empty text names nothing");
		for (size_t i = 0; i < count; i++)
			if (strcmp(items[i], items[count]) == 0)
				return yaml_err(node, err, "'%s' is given twice",
						yaml_shown(items[i], room));
		count++;
	}
	*out = (struct argv){ items, count };
	return 0;
}

int aka_v2_texts(const struct yaml_node *map, const char *key, struct arena *arena,
		 struct argv *out, struct err *err)
{
	return read_items(map, key, aka_read_item, arena, out, err);
}

int aka_v2_paths(const struct yaml_node *map, const char *key, struct arena *arena,
		 struct argv *out, struct err *err)
{
	return read_items(map, key, aka_v2_path_item, arena, out, err);
}

static int read_argv(const struct yaml_node *list, struct arena *arena, struct argv *out,
		     struct err *err)
{
	const char **words;
	size_t count = 0;

	if (list->kind != YAML_LIST || list->count == 0 || list->count > aka_limits.items)
		return yaml_err(list, err,
				"a command is a list of 1 to %zu words such as [python3, run.py]",
				aka_limits.items);
	words = arena_alloc(arena, list->count + 1, sizeof(*words));
	for (const struct yaml_node *node = list->first; node; node = node->next)
		if (aka_read_item(node, &words[count++], err) < 0)
			return -1;
	if (words[0][strspn(words[0], " \t\n")] == '\0')
		return yaml_err(list, err, "the first word of a command is empty");
	*out = (struct argv){ words, count };
	return 0;
}

int aka_v2_argv(const struct yaml_node *map, const char *key, struct arena *arena, struct argv *out,
		struct err *err)
{
	const struct yaml_node *list = yaml_find(map, key);

	return list ? read_argv(list, arena, out, err) : 0;
}

int aka_v2_commands(const struct yaml_node *map, const char *key, struct arena *arena,
		    struct aka_action *out, struct err *err)
{
	const struct yaml_node *list = NULL;
	struct aka_command *commands;
	size_t count = 0;

	if (!yaml_find(map, key))
		return 0;
	if (aka_v2_list(map, key, &list, err) < 0)
		return -1;
	if (!list || list->count == 0)
		return yaml_err(yaml_find(map, key), err, "it has no command");
	commands = arena_alloc(arena, list->count, sizeof(*commands));
	for (const struct yaml_node *node = list->first; node; node = node->next) {
		struct argv argv;

		if (read_argv(node, arena, &argv, err) < 0)
			return -1;
		commands[count++] = aka_command_of(argv);
	}
	out->commands = commands;
	out->count = count;
	return 0;
}

int aka_v2_seconds(const struct yaml_node *map, const char *key, uint64_t *out, struct err *err)
{
	const struct yaml_node *node = yaml_find(map, key);

	if (node && (node->kind != YAML_TEXT || aka_scalar_kind(node) != AKA_SCALAR_INT))
		return yaml_err(node, err, "a number of seconds is meant, not %s",
				aka_read_kind(node));
	return aka_read_seconds(map, key, out, err);
}

int aka_v2_bool(const struct yaml_node *map, const char *key, bool *out, struct err *err)
{
	const struct yaml_node *node = yaml_find(map, key);

	if (!node)
		return 0;
	if (node->kind != YAML_TEXT || aka_scalar_kind(node) != AKA_SCALAR_BOOL)
		return yaml_err(node, err, "true or false is meant, not %s", aka_read_kind(node));
	*out = strchr("tTyY", node->text[0]) || strcasecmp(node->text, "on") == 0;
	return 0;
}

/* ---- workspace ---- */

static int read_image(struct aka_task *task, const struct yaml_node *node, struct aka_source *out,
		      struct err *err)
{
	if (yaml_find(node, "url") || yaml_find(node, "revision"))
		return yaml_err(node, err, "url and revision belong to kind: git alone");
	if (aka_read_absolute(node, "image_path", &task->arena, &out->from, err) < 0)
		return -1;
	return aka_v2_paths(node, "exclude", &task->arena, &out->exclude, err);
}

static int read_git(const struct yaml_node *node, struct aka_source *out, struct err *err)
{
	if (yaml_find(node, "image_path") || yaml_find(node, "exclude"))
		return yaml_err(node, err, "image_path and exclude belong to kind: image alone");
	if (aka_read_needed(node, "url", &out->from, err) < 0 ||
	    aka_read_needed(node, "revision", &out->revision, err) < 0)
		return -1;
	if (strlen(out->revision) != 40 ||
	    out->revision[strspn(out->revision, "0123456789abcdefABCDEF")] != '\0')
		return yaml_err(yaml_find(node, "revision"), err,
				"a revision is a whole commit: 40 hexadecimal digits");
	return 0;
}

static bool is_within(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

static int read_source(struct aka_task *task, const struct yaml_node *node,
		       struct aka_source *sources, struct err *err)
{
	static const char *const keys[] = { "kind", "image_path", "destination", "exclude",
					    "url",  "revision",   NULL };
	static const char *const kinds[] = { "image", "git", NULL };
	struct aka_source *source = &sources[task->brought_count];
	size_t kind = ARRAY_LEN(kinds);

	if (aka_v2_known(node, "a source", keys, err) < 0 ||
	    aka_read_word(node, "kind", kinds, &kind, err) < 0 ||
	    aka_v2_path(node, "destination", &source->to, err) < 0)
		return -1;
	if (kind >= ARRAY_LEN(kinds))
		return yaml_err(node, err, "the key 'kind' is missing");
	source->origin = kind == 0 ? AKA_ORIGIN_IMAGE : AKA_ORIGIN_GIT;
	if ((kind == 0 ? read_image(task, node, source, err) : read_git(node, source, err)) < 0)
		return -1;
	for (size_t i = 0; i < task->brought_count; i++)
		if (is_within(source->to, sources[i].to) || is_within(sources[i].to, source->to))
			return yaml_err(node, err, "two sources go to the same place");
	task->brought_count++;
	return 0;
}

int aka_v2_workspace(struct aka_task *task, struct err *err)
{
	static const char *const keys[] = { "sources", "setup", "timeout_s", NULL };
	const struct yaml_node *map, *list = NULL;
	struct aka_source *sources;

	task->setup.wall_s = AKA_WALL_S;
	task->sets_up_each_time = true;
	if (aka_v2_map(task->root, "workspace", keys, false, &map, err) < 0)
		return -1;
	if (!map)
		return 0;
	if (aka_v2_seconds(map, "timeout_s", &task->setup.wall_s, err) < 0 ||
	    aka_v2_commands(map, "setup", &task->arena, &task->setup, err) < 0 ||
	    aka_v2_list(map, "sources", &list, err) < 0)
		return -1;
	if (!list)
		return 0;
	sources = arena_alloc(&task->arena, list->count + 1, sizeof(*sources));
	task->brought = sources;
	for (const struct yaml_node *node = list->first; node; node = node->next)
		if (read_source(task, node, sources, err) < 0)
			return -1;
	return 0;
}

/* ---- what is carried along ---- */

static int check_export(struct aka_task *task, const struct yaml_node *node, const char **output,
			struct err *err)
{
	static const char *const keys[] = { "format", "output", "command", "timeout_s", NULL };
	struct argv command = { NULL, 0 };
	const char *format;
	uint64_t wall_s;

	if (aka_v2_known(node, "an export", keys, err) < 0 ||
	    aka_read_needed(node, "format", &format, err) < 0 ||
	    aka_v2_path(node, "output", output, err) < 0 ||
	    aka_v2_argv(node, "command", &task->arena, &command, err) < 0 ||
	    aka_v2_seconds(node, "timeout_s", &wall_s, err) < 0)
		return -1;
	return command.count > 0 ? 0 : yaml_err(node, err, "the key 'command' is missing");
}

int aka_v2_exports(struct aka_task *task, struct err *err)
{
	struct aka_contract *contract = &task->contract;
	const char **outputs = arena_alloc(&task->arena, aka_limits.items, sizeof(*outputs));
	size_t count = 0;

	if (aka_v2_list(task->root, "exports", &contract->exports, err) < 0)
		return -1;
	if (contract->exports) {
		for (const struct yaml_node *node = contract->exports->first; node;
		     node = node->next) {
			if (check_export(task, node, &outputs[count], err) < 0)
				return -1;
			for (size_t i = 0; i < count; i++)
				if (strcmp(outputs[i], outputs[count]) == 0)
					return yaml_err(node, err, "two exports have one output");
			count++;
		}
	}
	contract->evaluation_profile = yaml_find(task->root, "evaluation_profile");
	contract->evaluation_tools = yaml_find(task->root, "evaluation_tools");
	if (contract->evaluation_profile && contract->evaluation_profile->kind != YAML_MAP)
		return yaml_err(contract->evaluation_profile, err, "a mapping is meant");
	if (contract->evaluation_tools && contract->evaluation_tools->kind != YAML_MAP)
		return yaml_err(contract->evaluation_tools, err, "a mapping is meant");
	return 0;
}
