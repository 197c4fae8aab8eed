/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/path.h"
#include "sandbox/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/syscalls.h"

bool path_is_relative(const char *path)
{
	if (strlen(path) >= PATH_MAX)
		return false;
	for (;;) {
		size_t len = strcspn(path, "/");

		if (len == 0 || len > NAME_MAX)
			return false;
		if ((len == 1 && path[0] == '.') || (len == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		if (path[len] == '\0')
			return true;
		path += len + 1;
	}
}

int path_open(int dir_fd, const char *path, int flags, mode_t mode, struct err *err)
{
	struct open_how how = {
		/* openat2 accepts O_NOCTTY only where a file is really opened. */
		.flags = (uint64_t) (flags | O_CLOEXEC | (flags & O_PATH ? 0 : O_NOCTTY)),
		.mode = flags & O_CREAT ? mode : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int fd;

	do
		fd = sys_openat2(dir_fd, path, &how);
	while (fd < 0 && errno == EINTR);
	if (fd >= 0)
		return fd;
	err_sys(err, "open '%s'", path);
	switch (err->sys) {
	case EAGAIN: /* somebody holds a lease, or moves folders on the way at this very moment */
	case ENOENT:
	case ENOTDIR:
	case ELOOP:
	case EXDEV:
	case EACCES:
	case EEXIST:
	case EISDIR:
	case ENAMETOOLONG:
		err->kind = ERR_INPUT;
		break;
	default:
		break;
	}
	return -1;
}

int path_open_folder(int dir_fd, const char *path, struct err *err)
{
	return path_open(dir_fd, path, O_RDONLY | O_DIRECTORY, 0, err);
}

int path_open_file(int dir_fd, const char *path, struct err *err)
{
	auto_fd fd = path_open(dir_fd, path, O_RDONLY | O_NONBLOCK, 0, err);
	struct stat info;

	if (fd < 0)
		return -1;
	if (fstat(fd, &info) < 0)
		return err_sys(err, "look at '%s'", path);
	if (!S_ISREG(info.st_mode))
		return err_set(err, ERR_INPUT, "'%s' is not a regular file", path);
	return fd_take(&fd);
}

int path_new_file(int dir_fd, const char *path, struct err *err)
{
	if (unlinkat(dir_fd, path, 0) < 0 && errno != ENOENT)
		return err_sys(err, "remove '%s'", path);
	return path_open(dir_fd, path, O_RDWR | O_CREAT | O_EXCL, 0644, err);
}
