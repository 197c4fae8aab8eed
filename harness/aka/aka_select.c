/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_select.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "harness/config/yaml.h"
#include "sandbox/base/path.h"

/* The longest name of a folder. */
enum { NAME_ROOM = 256 };

/* Copies the name before the next slash; what is behind it, NULL if nothing is. */
static const char *next_name(const char *path, char *name)
{
	size_t len = strcspn(path, "/");

	memcpy(name, path, len);
	name[len] = '\0';
	path += len;
	while (*path == '/')
		path++;
	return *path ? path : NULL;
}

static int refuse(const char *selector, const char *why, struct err *err)
{
	char room[YAML_SHOWN];

	return err_set(err, ERR_INPUT, "the selector '%s' %s", yaml_shown(selector, room), why);
}

int aka_select_check(const char *selector, struct err *err)
{
	char name[NAME_ROOM], plain[4096];
	size_t len = strlen(selector), deep = 0;

	while (len > 1 && selector[len - 1] == '/')
		len--;
	if (len >= sizeof(plain))
		return refuse(selector, "is too long", err);
	memcpy(plain, selector, len);
	plain[len] = '\0';
	if (!path_is_relative(plain))
		return refuse(selector,
			      "is no path below tasks/: relative, without . and .. and empty names",
			      err);
	for (const char *at = plain; at;) {
		at = next_name(at, name);
		if (strcmp(name, "**") == 0)
			deep++;
		else if (strstr(name, "**"))
			return refuse(selector, "has a ** that is not a whole name", err);
		if (strstr(name, "[^") || strstr(name, "[["))
			return refuse(selector, "has a set other than [abc] or [!abc]", err);
	}
	/* Each one multiplies the ways to match. */
	return deep > 4 ? refuse(selector, "has more than four **", err) : 0;
}

static bool matches(const char *selector, const char *name)
{
	char wanted[NAME_ROOM], here[NAME_ROOM];
	const char *more;

	if (!selector)
		return true;
	more = next_name(selector, wanted);
	if (strcmp(wanted, "**") == 0) {
		for (; name; name = next_name(name, here))
			if (matches(more, name))
				return true;
		return matches(more, NULL);
	}
	if (!name)
		return false;
	name = next_name(name, here);
	return fnmatch(wanted, here, FNM_NOESCAPE) == 0 && matches(more, name);
}

/* "all" stands for itself, wherever it is. */
static bool has_all(const struct argv *selectors)
{
	for (size_t i = 0; i < selectors->count; i++)
		if (strcmp(selectors->items[i], "all") == 0)
			return true;
	return false;
}

static int mark(const struct aka_tree *tree, const char *selector, bool *is_meant, struct err *err)
{
	const bool is_all = strcmp(selector, "all") == 0;
	bool any = false;

	if (aka_select_check(selector, err) < 0)
		return -1;
	for (size_t i = 0; i < tree->count; i++) {
		if (is_all || matches(selector, tree->entries[i].name)) {
			is_meant[i] = true;
			any = true;
		}
	}
	return any ? 0 : refuse(selector, "matches no task", err);
}

int aka_select(const struct aka_tree *tree, const struct argv *selectors, struct arena *arena,
	       struct aka_entry **out, size_t *count, struct err *err)
{
	static const char *const everything[] = { "all", NULL };
	const struct argv all = { everything, 1 };
	bool *is_meant = arena_alloc(arena, tree->count + 1, sizeof(*is_meant));
	struct aka_entry *entries = arena_alloc(arena, tree->count + 1, sizeof(*entries));
	size_t found = 0;

	if (selectors->count == 0)
		return err_set(err, ERR_INPUT, "no task is selected");
	if (has_all(selectors))
		selectors = &all;
	for (size_t i = 0; i < selectors->count; i++)
		if (mark(tree, selectors->items[i], is_meant, err) < 0)
			return -1;
	for (size_t i = 0; i < tree->count; i++)
		if (is_meant[i])
			entries[found++] = tree->entries[i];
	*out = entries;
	*count = found;
	return 0;
}

static int compare(const void *key, const void *entry)
{
	return strcmp(key, ((const struct aka_entry *) entry)->name);
}

void aka_select_names(const struct aka_tree *tree, const struct argv *names, struct arena *arena,
		      struct aka_entry **out, size_t *count, struct argv *absent)
{
	bool *is_meant = arena_alloc(arena, tree->count + 1, sizeof(*is_meant));
	struct aka_entry *entries = arena_alloc(arena, tree->count + 1, sizeof(*entries));
	const char **missing = arena_alloc(arena, names->count + 1, sizeof(*missing));
	size_t found = 0, lost = 0;

	for (size_t i = 0; i < names->count; i++) {
		const struct aka_entry *entry = bsearch(names->items[i], tree->entries, tree->count,
							sizeof(tree->entries[0]), compare);

		if (entry)
			is_meant[entry - tree->entries] = true;
		else
			missing[lost++] = names->items[i];
	}
	for (size_t i = 0; i < tree->count; i++)
		if (is_meant[i])
			entries[found++] = tree->entries[i];
	*out = entries;
	*count = found;
	*absent = (struct argv){ missing, lost };
}

const char *aka_select_dropped(const struct aka_task *task, const char *arch, struct arena *arena)
{
	const struct aka_platform *platform = &task->platform;

	if (platform->is_skipped)
		return arena_printf(arena, "platform_support.status is skip%s%s",
				    platform->reason ? ": " : "",
				    platform->reason ? platform->reason : "");
	if (!platform->required_arch || (arch && strcmp(platform->required_arch, arch) == 0))
		return NULL;
	return arena_printf(arena, "it needs %s, and the GPU is %s%s", platform->required_arch,
			    arch ? arch : "", arch ? "" : "not known");
}
