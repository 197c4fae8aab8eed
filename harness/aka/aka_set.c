/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_set.h"

#include <string.h>

#include "harness/aka/aka_tree.h"
#include "harness/config/yaml.h"
#include "sandbox/base/path.h"

/* shipped-sets.S */
extern const char paper_196_set[], paper_196_set_end[];
extern const char curated_60_set[], curated_60_set_end[];

static const struct {
	const char *name, *begin, *end;
} shipped[] = {
	{ "curated-60", curated_60_set, curated_60_set_end },
	{ "paper-196", paper_196_set, paper_196_set_end },
};

const char *aka_set_shipped(const char *name, size_t *len)
{
	for (size_t i = 0; i < ARRAY_LEN(shipped); i++) {
		if (strcmp(shipped[i].name, name) != 0)
			continue;
		*len = (size_t) (shipped[i].end - shipped[i].begin);
		return shipped[i].begin;
	}
	return NULL;
}

void aka_set_names(struct str *out)
{
	for (size_t i = 0; i < ARRAY_LEN(shipped); i++)
		str_addf(out, "%s%s", i > 0 ? ", " : "", shipped[i].name);
}

/* What of a line counts. */
static const char *strip(struct arena *arena, const char *line, size_t len)
{
	const char *comment = memchr(line, '#', len);

	if (comment)
		len = (size_t) (comment - line);
	while (len > 0 && strchr(" \t\r", line[len - 1]))
		len--;
	while (len > 0 && strchr(" \t", *line)) {
		line++;
		len--;
	}
	return arena_copy(arena, line, len);
}

static int check_name(const char *file, size_t line, const char *name, const struct argv *before,
		      struct err *err)
{
	char room[YAML_SHOWN];

	if (!path_is_relative(name))
		return err_set(err, ERR_INPUT,
			       "%s:%zu: '%s' is no name of a task, such as "
			       "hip2hip/gpumode/GELU",
			       file, line, yaml_shown(name, room));
	for (size_t i = 0; i < before->count; i++)
		if (strcmp(before->items[i], name) == 0)
			return err_set(err, ERR_INPUT, "%s:%zu: '%s' is there twice", file, line,
				       yaml_shown(name, room));
	if (before->count >= AKA_TASKS_MAX)
		return err_set(err, ERR_INPUT, "%s:%zu: there are more than %d tasks", file, line,
			       AKA_TASKS_MAX);
	return 0;
}

int aka_set_parse(const char *file, const char *text, size_t len, struct arena *arena,
		  struct argv *out, struct err *err)
{
	const char **items = arena_alloc(arena, AKA_TASKS_MAX + 1, sizeof(*items));
	const char *at = text, *end = text + len;
	struct argv names = { items, 0 };

	if (memchr(text, '\0', len))
		return err_set(err, ERR_INPUT, "%s: it has a zero byte", file);
	for (size_t line = 1; at < end; line++) {
		const char *next = memchr(at, '\n', (size_t) (end - at));
		const char *name = strip(arena, at, (size_t) ((next ? next : end) - at));

		at = next ? next + 1 : end;
		if (!*name)
			continue;
		if (check_name(file, line, name, &names, err) < 0)
			return -1;
		items[names.count++] = name;
	}
	if (names.count == 0)
		return err_set(err, ERR_INPUT, "%s: it names no task", file);
	*out = names;
	return 0;
}
