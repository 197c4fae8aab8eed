/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_tree.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/config/catalog.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/path.h"

void aka_tree_done(struct aka_tree *tree)
{
	fd_close(&tree->fd);
	arena_done(&tree->arena);
	*tree = AKA_TREE_INIT;
}

/* What a walk fills. */
struct walk {
	struct arena *arena;
	struct aka_entry *entries;
	size_t count;
};

static int add(struct walk *walk, const char *name, const char *why, struct err *err)
{
	if (walk->count >= AKA_TASKS_MAX)
		return err_set(err, ERR_INPUT, "there are more than %d tasks", AKA_TASKS_MAX);
	walk->entries[walk->count++] = (struct aka_entry){
		.name = arena_copy(walk->arena, name, strlen(name)),
		.why = why ? arena_copy(walk->arena, why, strlen(why)) : NULL,
	};
	return 0;
}

static int walk_folder(struct walk *walk, int folder_fd, const char *name, int depth,
		       struct err *err);

static int walk_below(struct walk *walk, int folder_fd, const char *below, int depth,
		      struct err *err)
{
	const char *slash = strrchr(below, '/');
	auto_fd fd = openat(folder_fd, slash ? slash + 1 : below,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct err why = ERR_INIT;

	if (fd >= 0)
		return walk_folder(walk, fd, below, depth + 1, err);
	best_effort(err_sys(&why, "open the folder"));
	return add(walk, below, why.text, err);
}

/* @name is "" for tasks/ itself, which is no task. */
static int walk_folder(struct walk *walk, int folder_fd, const char *name, int depth,
		       struct err *err)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct err why = ERR_INIT;
	const char **names;
	size_t count;

	if (*name && faccessat(folder_fd, "config.yaml", F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
	    add(walk, name, NULL, err) < 0)
		return -1;
	names = catalog_names(folder_fd, &arena, &count, &why);
	if (!names)
		return *name ? add(walk, name, why.text, err)
			     : err_set(err, why.kind, "%s", why.text);
	if (count > 0 && depth >= AKA_DEPTH_MAX)
		return add(walk, name, "what lies deeper is not looked into", err);
	for (size_t i = 0; i < count; i++) {
		const char *below =
			*name ? arena_printf(&arena, "%s/%s", name, names[i]) : names[i];

		if (walk_below(walk, folder_fd, below, depth, err) < 0)
			return -1;
	}
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct aka_entry *one = left, *other = right;

	return strcmp(one->name, other->name);
}

int aka_tree_open(int folder_fd, const char *path, struct aka_tree *out, struct err *err)
{
	cleanup(aka_tree_done) struct aka_tree made = AKA_TREE_INIT;
	struct walk walk = { .arena = &made.arena };

	made.fd = path_open_folder(folder_fd, "tasks", err);
	if (made.fd < 0)
		return err_wrap(err, "'%s' is no checkout of AgentKernelArena", path);
	walk.entries = arena_alloc(&made.arena, AKA_TASKS_MAX, sizeof(*walk.entries));
	if (walk_folder(&walk, made.fd, "", 0, err) < 0)
		return err_wrap(err, "'%s/tasks'", path);
	qsort(walk.entries, walk.count, sizeof(*walk.entries), compare);
	made.entries = walk.entries;
	made.count = walk.count;
	*out = take(made, AKA_TREE_INIT);
	return 0;
}
