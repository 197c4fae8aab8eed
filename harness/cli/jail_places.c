/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli/jail_places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/collect.h"

void jail_places_done(struct jail_places *places)
{
	fd_close(&places->put_fd);
	fd_close(&places->archive_fd);
	fd_close(&places->service_log_fd);
	fd_close(&places->stdout_fd);
	fd_close(&places->stderr_fd);
}

/*
 * A nonblocking description of our own for a pipe or a terminal: a reader that stalls must not keep
 * us from our signals, and the description that we were given is others' too, who would not like
 * it to change. Where there is none, -1, what we were given will do.
 */
static int open_shown(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat info;
	char path[32];

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || fstat(fd, &info) < 0 ||
	    !(S_ISFIFO(info.st_mode) || isatty(fd)))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static int open_put(const char *path, struct jail_places *places, struct err *err)
{
	struct stat info;

	places->put = path;
	places->put_fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (places->put_fd < 0 || fstat(places->put_fd, &info) < 0) {
		err_sys(err, "option --put: open '%s'", path);
		err->kind = ERR_INPUT;
		return -1;
	}
	places->is_tree = S_ISREG(info.st_mode);
	if (!places->is_tree && !S_ISDIR(info.st_mode))
		return err_set(err, ERR_INPUT, "option --put: '%s' is neither a folder nor a tree",
			       path);
	return 0;
}

/* What is left of a call that had no jail is in nobody's way. Return: its descriptor, or -1. */
static int open_empty(const char *path, const struct account *account)
{
	auto_fd fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat info;

	if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0 &&
	    info.st_uid == account->uid && info.st_nlink == 1)
		return fd_take(&fd);
	errno = EEXIST;
	return -1;
}

/* The account's, whoever we are. */
static int create_file(const char *option, const char *path, const struct account *account, int *fd,
		       struct err *err)
{
	*fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (*fd < 0 && errno == EEXIST)
		*fd = open_empty(path, account);
	if (*fd < 0) {
		err_sys(err, "option %s: create file '%s'", option, path);
		err->kind = ERR_INPUT;
		return -1;
	}
	if (!account->is_callers && fchown(*fd, account->uid, account->gid) < 0)
		return err_sys(err, "give '%s' to '%s'", path, account->name);
	return 0;
}

int jail_places_open(const struct jail_places_names *names, const struct account *account,
		     struct jail_places *out, struct err *err)
{
	out->stdout_fd = open_shown(STDOUT_FILENO);
	out->stderr_fd = open_shown(STDERR_FILENO);
	if (names->put && open_put(names->put, out, err) < 0)
		return -1;
	if (names->archive &&
	    create_file("--archive", names->archive, account, &out->archive_fd, err) < 0)
		return -1;
	if (names->service_log && create_file("--service-log", names->service_log, account,
					      &out->service_log_fd, err) < 0)
		return -1;
	return 0;
}

/* The files of a folder as a tree; the caller closes *tree_fd. */
static int make_tree(const struct jail_places *places, const struct account *account, int *tree_fd,
		     struct err *err)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	struct collect_report report;

	if (faccessat(places->put_fd, ".", R_OK | X_OK, AT_EACCESS) < 0) {
		err_sys(err,
			"option --put: read the folder '%s' as the account '%s', which proctor "
			"runs as; give it the right to, or call proctor through sudo from an "
			"account that has it",
			places->put, account->name);
		err->kind = ERR_INPUT;
		return -1;
	}
	*tree_fd = memfd_create("proctor-put", MFD_CLOEXEC);
	if (*tree_fd < 0)
		return err_sys(err, "create a memfd");
	if (collect_tree(places->put_fd, &limits, *tree_fd, &report, err) < 0 ||
	    lseek(*tree_fd, 0, SEEK_SET) < 0)
		return err_wrap(err, "option --put: folder '%s'", places->put);
	if (report.counts.refused > 0)
		return err_set(err, ERR_INPUT,
			       "option --put: '%s' can not be put: it is no regular file, or not "
			       "readable for the account that proctor runs as",
			       report.first_refused);
	return 0;
}

/* A file with another beginning was never meant to be one. */
static int check_tree(const struct jail_places *places, struct err *err)
{
	char magic[sizeof(STREAM_MAGIC)];

	if (pread(places->put_fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	    memcmp(magic, STREAM_MAGIC, sizeof(magic)) == 0)
		return 0;
	return err_set(
		err, ERR_INPUT,
		"option --put: '%s' is neither a folder nor a tree, such as --archive writes",
		places->put);
}

int jail_places_tree(const struct jail_places *places, const struct account *account, int *tree_fd,
		     struct err *err)
{
	/* What is in a tree is looked at in the jail alone, which does not know its name. */
	return places->is_tree ? check_tree(places, err) : make_tree(places, account, tree_fd, err);
}
