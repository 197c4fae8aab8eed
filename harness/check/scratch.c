/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/path.h"

#define SUFFIX "-XXXXXX"

enum { TRIES = 16 };

static int remove_it(const char *path, const struct stat *info, int kind, struct FTW *where)
{
	(void) info;
	(void) kind;
	(void) where;
	/* One that stays has somebody else in it; the rest goes all the same. */
	best_effort(remove(path));
	return 0;
}

static void remove_tree(const char *path)
{
	enum { FOLDERS_OPEN = 16 };

	nftw(path, remove_it, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static bool take_lock(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static void close_folder(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

/* Removes a folder of ours that nobody uses: its program was killed. */
static void sweep_one(int parent_fd, const char *parent, const char *name)
{
	auto_fd fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char path[SCRATCH_PATH_MAX];
	struct stat info;

	if (fd < 0 || fstat(fd, &info) < 0 || info.st_uid != geteuid() || !take_lock(fd))
		return;
	if (snprintf(path, sizeof(path), "%s/%s", parent, name) < (int) sizeof(path))
		remove_tree(path);
}

static void sweep(const char *parent, const char *name)
{
	cleanup(close_folder) DIR *folder = opendir(parent);
	const size_t len = strlen(name);
	const struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (strlen(entry->d_name) == len + strlen(SUFFIX) &&
		    strncmp(entry->d_name, name, len) == 0 && entry->d_name[len] == '-')
			sweep_one(dirfd(folder), parent, entry->d_name);
}

/* Return: 1 it is ours, 0 somebody swept it before it had its lock. */
static int make_one(const char *parent, const char *name, struct scratch *out, struct err *err)
{
	struct stat opened, named;

	snprintf(out->path, sizeof(out->path), "%s/%s" SUFFIX, parent, name);
	if (!mkdtemp(out->path)) {
		out->path[0] = '\0';
		return err_host(err, "make a folder in '%s'", parent);
	}
	out->fd = open(out->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (out->fd < 0 && errno != ENOENT)
		return err_sys(err, "open '%s'", out->path);
	if (out->fd >= 0 && take_lock(out->fd) && fstat(out->fd, &opened) == 0 &&
	    lstat(out->path, &named) == 0 && opened.st_dev == named.st_dev &&
	    opened.st_ino == named.st_ino)
		return 1;
	fd_close(&out->fd);
	out->path[0] = '\0';
	return 0;
}

int scratch_open(const char *parent, const char *name, struct scratch *out, struct err *err)
{
	cleanup(scratch_done) struct scratch made = SCRATCH_INIT;
	char real[PATH_MAX];
	int rc = 0;

	/* Programs that work elsewhere are told the path. */
	if (!realpath(parent, real))
		return err_host(err, "make a folder in '%s'", parent);
	if (strlen(real) + 1 + strlen(name) + strlen(SUFFIX) >= sizeof(made.path))
		return err_set(err, ERR_HOST,
			       "make a folder in '%s': its path would be longer than %zu bytes",
			       real, sizeof(made.path) - 1);
	sweep(real, name);
	for (int i = 0; i < TRIES && rc == 0; i++)
		rc = make_one(real, name, &made, err);
	if (rc == 0)
		return err_set(err, ERR_HOST, "make a folder in '%s': it is removed at once", real);
	if (rc < 0)
		return -1;
	*out = take(made, SCRATCH_INIT);
	return 0;
}

int scratch_make(const struct scratch *scratch, const char *name, struct err *err)
{
	if (mkdirat(scratch->fd, name, 0755) < 0)
		return err_sys(err, "create folder '%s/%s'", scratch->path, name);
	return path_open_folder(scratch->fd, name, err);
}

void scratch_done(struct scratch *scratch)
{
	if (scratch->path[0])
		remove_tree(scratch->path);
	fd_close(&scratch->fd);
	*scratch = SCRATCH_INIT;
}
