/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_read.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "harness/aka/aka_scalar.h"
#include "sandbox/base/path.h"

const struct aka_limits aka_limits = {
	.items = 256,
	.text = 16 * KIB,
	.wall_s = 7 * 24 * 3600,
};

const char *aka_read_kind(const struct yaml_node *node)
{
	static const char *const kinds[] = {
		[AKA_SCALAR_TEXT] = "a text",        [AKA_SCALAR_NULL] = "null",
		[AKA_SCALAR_BOOL] = "a truth value", [AKA_SCALAR_INT] = "a number",
		[AKA_SCALAR_FLOAT] = "a number",     [AKA_SCALAR_DATE] = "a date",
	};

	if (node->kind != YAML_TEXT)
		return node->kind == YAML_MAP ? "a mapping" : "a list";
	return kinds[aka_scalar_kind(node)];
}

int aka_read_item(const struct yaml_node *item, const char **out, struct err *err)
{
	char room[YAML_SHOWN];

	if (item->kind != YAML_TEXT)
		return yaml_err(item, err, "a text is meant, not %s", aka_read_kind(item));
	if (aka_scalar_kind(item) != AKA_SCALAR_TEXT)
		return yaml_err(item, err, "'%s' is %s and no text; quote it",
				yaml_shown(item->text, room), aka_read_kind(item));
	if (strlen(item->text) > aka_limits.text)
		return yaml_err(item, err, "'%s' is longer than %zu bytes",
				yaml_shown(item->text, room), aka_limits.text);
	*out = item->text;
	return 0;
}

int aka_read_text(const struct yaml_node *map, const char *key, const char **out, struct err *err)
{
	const struct yaml_node *node = yaml_find(map, key);

	return aka_scalar_is_null(node) ? 0 : aka_read_item(node, out, err);
}

static bool is_blank(const char *text)
{
	while (isspace((unsigned char) *text))
		text++;
	return *text == '\0';
}

int aka_read_needed(const struct yaml_node *map, const char *key, const char **out, struct err *err)
{
	const struct yaml_node *node = yaml_find(map, key);
	const char *text = NULL;

	if (!node)
		return yaml_err(map, err, "the key '%s' is missing", key);
	if (aka_read_text(map, key, &text, err) < 0)
		return -1;
	if (!text || is_blank(text))
		return yaml_err(node, err, "it has to be a text that is not empty");
	*out = text;
	return 0;
}

static int check_path(const struct yaml_node *node, const char *path, struct err *err)
{
	char room[YAML_SHOWN];

	if (!path_is_relative(path))
		return yaml_err(
			node, err,
			"'%s' is not a path in the task's folder: relative, without . and ..",
			yaml_shown(path, room));
	return 0;
}

int aka_read_path(const struct yaml_node *map, const char *key, const char **out, struct err *err)
{
	const char *path = NULL;

	if (aka_read_text(map, key, &path, err) < 0 ||
	    (path && check_path(yaml_find(map, key), path, err) < 0))
		return -1;
	if (path)
		*out = path;
	return 0;
}

int aka_read_absolute(const struct yaml_node *map, const char *key, struct arena *arena,
		      const char **out, struct err *err)
{
	const char *path = "";
	char room[YAML_SHOWN];
	size_t len;

	if (aka_read_needed(map, key, &path, err) < 0)
		return -1;
	len = strlen(path);
	while (len > 1 && path[len - 1] == '/')
		len--;
	path = arena_copy(arena, path, len);
	if (path[0] != '/' || !path_is_relative(path + 1) || strchr(path, '\\'))
		return yaml_err(yaml_find(map, key), err,
				"'%s' is not an absolute path without . and ..",
				yaml_shown(path, room));
	*out = path;
	return 0;
}

int aka_read_list(const struct yaml_node *map, const char *key, const struct yaml_node **out,
		  struct err *err)
{
	const struct yaml_node *node = yaml_find(map, key);
	char room[YAML_SHOWN];

	*out = NULL;
	if (aka_scalar_is_null(node))
		return 0;
	if (node->kind == YAML_TEXT)
		return yaml_err(node, err, "'%s' is a plain text; write a list: - %s",
				yaml_shown(node->text, room), room);
	if (node->kind != YAML_LIST)
		return yaml_err(node, err, "a list is meant, not %s", aka_read_kind(node));
	if (node->count > aka_limits.items)
		return yaml_err(node, err, "it has more than %zu items", aka_limits.items);
	*out = node;
	return 0;
}

static int read_texts(const struct yaml_node *map, const char *key, bool are_paths,
		      struct arena *arena, struct argv *out, struct err *err)
{
	const struct yaml_node *node = yaml_find(map, key), *list = NULL;
	const char **items;
	size_t count = 0;

	if (!aka_scalar_is_null(node) && node->kind == YAML_TEXT)
		list = node;
	else if (aka_read_list(map, key, &list, err) < 0)
		return -1;
	if (!list)
		return 0;
	items = arena_alloc(arena, list->count + 2, sizeof(*items));
	for (node = list->kind == YAML_LIST ? list->first : list; node;
	     node = list->kind == YAML_LIST ? node->next : NULL) {
		if (aka_read_item(node, &items[count], err) < 0 ||
		    (are_paths && check_path(node, items[count], err) < 0))
			return -1;
		count++;
	}
	*out = (struct argv){ items, count };
	return 0;
}

int aka_read_texts(const struct yaml_node *map, const char *key, struct arena *arena,
		   struct argv *out, struct err *err)
{
	return read_texts(map, key, false, arena, out, err);
}

int aka_read_paths(const struct yaml_node *map, const char *key, struct arena *arena,
		   struct argv *out, struct err *err)
{
	return read_texts(map, key, true, arena, out, err);
}

int aka_read_seconds(const struct yaml_node *map, const char *key, uint64_t *out, struct err *err)
{
	const struct yaml_node *node = yaml_find(map, key);
	char room[YAML_SHOWN];
	uint64_t value;

	if (aka_scalar_is_null(node))
		return 0;
	if (node->kind != YAML_TEXT || types_parse_count(node->text, &value) < 0 || value < 1 ||
	    value > aka_limits.wall_s)
		return yaml_err(node, err, "'%s' is not a number of seconds, within 1..%" PRIu64,
				node->kind == YAML_TEXT ? yaml_shown(node->text, room)
							: aka_read_kind(node),
				aka_limits.wall_s);
	*out = value;
	return 0;
}

int aka_read_word(const struct yaml_node *map, const char *key, const char *const *words,
		  size_t *out, struct err *err)
{
	cleanup(str_done) struct str known = STR_INIT;
	const char *text = NULL;
	char room[YAML_SHOWN];

	if (aka_read_text(map, key, &text, err) < 0)
		return -1;
	if (!text)
		return 0;
	for (size_t i = 0; words[i]; i++) {
		if (strcmp(words[i], text) == 0) {
			*out = i;
			return 0;
		}
		str_addf(&known, "%s%s", i > 0 ? ", " : "", words[i]);
	}
	return yaml_err(yaml_find(map, key), err, "'%s' is none of %s", yaml_shown(text, room),
			known.text);
}
