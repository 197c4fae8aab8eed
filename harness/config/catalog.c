/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/catalog.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"

static void close_folder(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

static bool is_folder(int folder_fd, const char *name)
{
	struct stat info;

	return fstatat(folder_fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode);
}

static int compare(const void *left, const void *right)
{
	const char *const *one = left, *const *other = right;

	return strcmp(*one, *other);
}

static DIR *open_listing(int folder_fd)
{
	int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	if (!folder)
		fd_close(&fd);
	return folder;
}

const char **catalog_names(int folder_fd, struct arena *arena, size_t *count, struct err *err)
{
	const char **names = arena_alloc(arena, CATALOG_NAMES_MAX, sizeof(*names));
	cleanup(close_folder) DIR *folder = open_listing(folder_fd);
	const struct dirent *entry;
	size_t found = 0, seen = 0;

	if (!folder) {
		err_sys(err, "read the folder");
		err->kind = ERR_INPUT;
		return NULL;
	}
	while ((entry = readdir(folder))) {
		if (seen++ >= CATALOG_NAMES_MAX) {
			err_set(err, ERR_INPUT, "the folder has more than %d entries",
				CATALOG_NAMES_MAX);
			return NULL;
		}
		if (entry->d_name[0] != '.' && is_folder(folder_fd, entry->d_name))
			names[found++] = arena_copy(arena, entry->d_name, strlen(entry->d_name));
	}
	qsort(names, found, sizeof(*names), compare);
	*count = found;
	return names;
}

struct walk {
	const struct catalog_visitor *visitor;
	int depth;
};

static int walk_folder(const struct walk *walk, int folder_fd, const char *path, struct err *err);

/* A folder that can not be read is the visitor's to tell: the walk goes on past it. */
static int walk_below(const struct walk *walk, int folder_fd, const char *path, const char *name,
		      struct err *err)
{
	const struct walk next = { walk->visitor, walk->depth + 1 };
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	auto_fd fd = openat(folder_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const char *below = arena_printf(&arena, "%s/%s", path, name);
	struct err why = ERR_INIT;

	if (fd >= 0)
		return walk_folder(&next, fd, below, err);
	best_effort(err_sys(&why, "open the folder"));
	return walk->visitor->visit(walk->visitor->user, -1, below, &why, err);
}

static int walk_folder(const struct walk *walk, int folder_fd, const char *path, struct err *err)
{
	const struct catalog_visitor *visitor = walk->visitor;
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct err why = ERR_INIT;
	const char **names;
	size_t count;

	if (faccessat(folder_fd, "task.yaml", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return visitor->visit(visitor->user, folder_fd, path, NULL, err);
	if (walk->depth >= CATALOG_DEPTH)
		return 0;
	names = catalog_names(folder_fd, &arena, &count, &why);
	if (!names)
		return visitor->visit(visitor->user, -1, path, &why, err);
	for (size_t i = 0; i < count; i++)
		if (walk_below(walk, folder_fd, path, names[i], err) < 0)
			return -1;
	return 0;
}

int catalog_walk(int folder_fd, const char *path, const struct catalog_visitor *visitor,
		 struct err *err)
{
	const struct walk walk = { visitor, 0 };

	return walk_folder(&walk, folder_fd, path, err);
}
