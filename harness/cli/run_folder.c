/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli/run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/evidence/journal.h"
#include "harness/run/planned.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"

static bool is_empty(int folder_fd)
{
	DIR *list = fdopendir(openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	size_t count = 0;

	if (!list)
		return false;
	while (count <= 2 && readdir(list))
		count++; /* "." and ".." */
	closedir(list);
	return count == 2;
}

static bool has(int folder_fd, const char *name)
{
	return faccessat(folder_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* What is in it, and thus what is to be done. */
static int refuse(int folder_fd, struct err *err)
{
	if (has(folder_fd, JOURNAL_FILE) || has(folder_fd, PLANNED_FILE))
		return err_set(
			err, ERR_INPUT,
			"it is not empty: it has a run; go on with that by `proctor resume`, "
			"or name a new folder");
	if (has(folder_fd, PLANNED_POLICY) && has(folder_fd, "tasks"))
		return err_set(
			err, ERR_INPUT,
			"it is not empty: it has what a run left that could not begin (what "
			"its builds printed is in tasks/NAME/*.stderr); remove it, or name a "
			"new folder");
	return err_set(err, ERR_INPUT,
		       "it is not empty, and what is in it is no run's; name a new folder");
}

/* --- the child --- */

static void remove_if_empty(int parent_fd, const char *name, const struct stat *made)
{
	struct stat now;

	if (fstatat(parent_fd, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	    now.st_dev == made->st_dev && now.st_ino == made->st_ino)
		unlinkat(parent_fd, name, AT_REMOVEDIR);
}

/* Signals of a terminal reach all of us; this one has to outlive the others. */
static void wait_for_word(int fd)
{
	char word;

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	prctl(PR_SET_NAME, "proctor-folder");
	while (read(fd, &word, 1) < 0 && errno == EINTR)
		;
}

static int start_remover(struct run_folder *folder, int parent_fd, const char *name, int folder_fd,
			 struct err *err)
{
	struct stat made;
	int pair[2], pid;

	if (fstat(folder_fd, &made) < 0)
		return err_sys(err, "look at it");
	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_sys(err, "create a pipe");
	pid = process_fork(&folder->remover, err);
	if (pid == 0) {
		close(pair[1]);
		wait_for_word(pair[0]);
		remove_if_empty(parent_fd, name, &made);
		_exit(0);
	}
	close(pair[0]);
	if (pid < 0) {
		close(pair[1]);
		return -1;
	}
	folder->word_fd = pair[1];
	return 0;
}

/* --- the folder --- */

/* Takes @fd. Return: it, or -1. */
static int take_folder(int given_fd, const struct stat *info, const struct account *account,
		       struct err *err)
{
	auto_fd fd = given_fd;

	if (!is_empty(fd))
		return refuse(fd, err);
	if (info->st_uid == account->uid)
		return fd_take(&fd);
	if (info->st_uid != geteuid())
		return err_set(err, ERR_INPUT, "it is somebody else's");
	if (fchown(fd, account->uid, account->gid) < 0)
		return err_sys(err, "give it to '%s'", account->name);
	return fd_take(&fd);
}

/*
 * It is reached once, through its parent: whoever may rename what lies on the way could else have
 * another folder given to the account.
 */
static int make(struct run_folder *folder, int parent_fd, const char *name,
		const struct account *account, struct err *err)
{
	const bool is_made = mkdirat(parent_fd, name, 0755) == 0;
	struct stat info;
	auto_fd fd = -1;

	if (!is_made && errno != EEXIST)
		return err_sys(err, "create it");
	fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &info) < 0)
		err_sys(err, "open it");
	else if (!is_made || start_remover(folder, parent_fd, name, fd, err) == 0)
		return take_folder(fd_take(&fd), &info, account, err);
	/* Nobody is there yet who would. */
	if (is_made)
		unlinkat(parent_fd, name, AT_REMOVEDIR);
	return -1;
}

int run_folder_open(struct run_folder *folder, const char *path, const struct account *account,
		    struct err *err)
{
	char parent[PATH_MAX];
	const char *name = strrchr(path, '/');
	size_t len = name ? (size_t) (name - path) : 1;
	auto_fd parent_fd = -1;
	int fd;

	len = len == 0 ? 1 : len; /* "/" itself */
	if (len >= sizeof(parent))
		return err_set(err, ERR_INPUT, "the run's folder: its path is too long");
	memcpy(parent, name ? path : ".", len);
	parent[len] = '\0';
	parent_fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent_fd < 0) {
		err_sys(err, "the run's folder '%s': open where it is to be", path);
		err->kind = ERR_INPUT;
		return -1;
	}
	fd = make(folder, parent_fd, name ? name + 1 : path, account, err);
	if (fd >= 0)
		return fd;
	err->kind = ERR_INPUT;
	return err_wrap(err, "the run's folder '%s'", path);
}

void run_folder_done(struct run_folder *folder)
{
	struct err ignored = ERR_INIT;
	int status;

	if (folder->word_fd < 0)
		return;
	/* A word, and not the end of the pipe alone, whose descriptor others may have by now. */
	best_effort(io_write_all(folder->word_fd, "", 1, "the word", &ignored));
	fd_close(&folder->word_fd);
	best_effort(process_wait(&folder->remover, CLOCK_NEVER, &status, &ignored));
}
