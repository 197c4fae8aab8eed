/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/site.h"

/* Whoever may write a file, or put another in its place, decides what root does. */
static int check_owner(int fd, const char *path, bool is_folder, struct err *err)
{
	struct stat info;

	if (fstat(fd, &info) < 0)
		return err_host(err, "look at '%s'", path);
	if (!is_folder && !S_ISREG(info.st_mode))
		return err_set(err, ERR_HOST, "'%s' is no regular file: put one there", path);
	if (info.st_uid != 0 || (info.st_mode & 022) != 0)
		return err_set(err, ERR_HOST,
			       "'%s' belongs to user %u and has mode %04o: root alone may be able "
			       "to write it (chown root '%s'; chmod go-w '%s')",
			       path, info.st_uid, info.st_mode & 07777U, path, path);
	return 0;
}

/* Return: the folder's descriptor, -1 with *is_there false where there is none, or an error. */
static int open_folder(const char *path, bool *is_there, struct err *err)
{
	const char *slash = strrchr(path, '/');
	char folder[256] = ".";
	auto_fd fd = -1;

	*is_there = true;
	if (slash && (size_t) (slash - path) >= sizeof(folder) - 1)
		return err_set(err, ERR_HOST, "the path of '%s' is too long", path);
	if (slash)
		snprintf(folder, sizeof(folder), "%.*s", (int) MAX_OF(slash - path, 1), path);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		*is_there = errno != ENOENT;
		return err_host(err, "open the folder '%s'", folder);
	}
	if (check_owner(fd, folder, true, err) < 0)
		return -1;
	return fd_take(&fd);
}

int site_load(const char *path, struct site *out, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;
	const char *slash = strrchr(path, '/');
	struct err none = ERR_INIT;
	bool is_there;
	auto_fd folder_fd = open_folder(path, &is_there, &none);
	auto_fd fd = -1;

	if (folder_fd >= 0) {
		fd = openat(folder_fd, slash ? slash + 1 : path,
			    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		is_there = fd >= 0 || errno != ENOENT;
		if (fd < 0)
			err_host(&none, "open '%s'", path);
	}
	if (!is_there) {
		site_default(out);
		return 0;
	}
	if (fd < 0) {
		*err = none;
		return -1;
	}
	if (check_owner(fd, path, false, err) < 0)
		return -1;
	if (io_read_fd(fd, SITE_FILE_MAX, path, &text, err) < 0) {
		err->kind = ERR_HOST;
		return -1;
	}
	return site_parse(path, text.text, text.len, out, err) < 0 ? -1 : 1;
}
