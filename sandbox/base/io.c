/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/io.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/path.h"

enum { SEAL_MS = 10 * 1000 };

static int write_all(int fd, const void *bytes, size_t len, bool waits)
{
	struct pollfd room = { .fd = fd, .events = POLLOUT };
	const char *at = bytes;

	while (len > 0) {
		ssize_t put = write(fd, at, len);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0 && errno == EAGAIN && waits) {
			poll(&room, 1, -1);
			continue;
		}
		if (put < 0)
			return -1;
		at += put;
		len -= (size_t) put;
	}
	return 0;
}

int io_write_all(int fd, const void *bytes, size_t len, const char *what, struct err *err)
{
	return write_all(fd, bytes, len, false) < 0 ? err_sys(err, "write %s", what) : 0;
}

int io_write_waiting(int fd, const void *bytes, size_t len, const char *what, struct err *err)
{
	return write_all(fd, bytes, len, true) < 0 ? err_sys(err, "write %s", what) : 0;
}

ssize_t io_read_some(int fd, void *bytes, size_t len)
{
	ssize_t got;

	do
		got = read(fd, bytes, len);
	while (got < 0 && errno == EINTR);
	return got;
}

int io_read_exact(int fd, void *bytes, size_t len, const char *what, struct err *err)
{
	char *at = bytes;

	while (len > 0) {
		ssize_t got = io_read_some(fd, at, len);

		if (got < 0)
			return err_sys(err, "read %s", what);
		if (got == 0)
			return err_set(err, ERR_SYS, "read %s: it ends too early", what);
		at += got;
		len -= (size_t) got;
	}
	return 0;
}

int io_read_fd(int fd, size_t max, const char *what, struct str *out, struct err *err)
{
	char block[16384];
	size_t total = 0;

	for (;;) {
		ssize_t got = io_read_some(fd, block, sizeof(block));

		if (got < 0)
			return err_sys(err, "read %s", what);
		if (got == 0)
			return 0;
		total += (size_t) got;
		if (total > max)
			return err_set(err, ERR_INPUT, "%s is larger than %zu bytes", what, max);
		str_add(out, block, (size_t) got);
		if (out->truncated)
			return err_set(err, ERR_INPUT, "%s is larger than %zu bytes", what,
				       (size_t) STR_MAX - 1);
	}
}

int io_read_file(int dir_fd, const char *path, size_t max, struct str *out, struct err *err)
{
	auto_fd fd = path_open(dir_fd, path, O_RDONLY | O_NONBLOCK, 0, err);
	struct stat info;

	if (fd < 0)
		return -1;
	if (fstat(fd, &info) < 0)
		return err_sys(err, "look at '%s'", path);
	if (!S_ISREG(info.st_mode))
		return err_set(err, ERR_INPUT, "'%s' is not a regular file", path);
	return io_read_fd(fd, max, path, out, err);
}

int io_read_kernel_file(int dir_fd, const char *path, char *text, size_t room, struct err *err)
{
	auto_fd fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;

	if (fd < 0)
		return err_sys(err, "open '%s'", path);
	for (;;) {
		ssize_t got = io_read_some(fd, text + len, room - len);

		if (got < 0)
			return err_sys(err, "read '%s'", path);
		if (got == 0)
			break;
		len += (size_t) got;
		/* A number that lost its last digits would be believed. */
		if (len == room)
			return err_set(err, ERR_SYS, "'%s' does not fit %zu bytes", path, room - 1);
	}
	while (len > 0 && isspace((unsigned char) text[len - 1]))
		len--;
	text[len] = '\0';
	return 0;
}

int io_write_kernel_file(int dir_fd, const char *path, const char *text, struct err *err)
{
	auto_fd fd = openat(dir_fd, path, O_WRONLY | O_CLOEXEC);

	ssize_t put;

	if (fd < 0)
		return err_sys(err, "open '%s'", path);
	do
		put = write(fd, text, strlen(text));
	while (put < 0 && errno == EINTR);
	if (put < 0)
		return err_sys(err, "write '%s' to '%s'", text, path);
	return 0;
}

/* A draft in the place of `name`, all of it on disk before it gets there. */
static int put_draft(int dir_fd, const char *draft, const char *name, int fd, struct err *err)
{
	if (fsync(fd) < 0)
		return err_sys(err, "sync '%s'", draft);
	if (renameat(dir_fd, draft, dir_fd, name) < 0)
		return err_sys(err, "rename '%s' to '%s'", draft, name);
	return 0;
}

int io_replace_file(int dir_fd, const char *name, const void *bytes, size_t len, mode_t mode,
		    struct err *err)
{
	auto_fd fd = -1;
	char draft[NAME_MAX + 1];

	if (snprintf(draft, sizeof(draft), ".%s.new", name) >= (int) sizeof(draft))
		return err_set(err, ERR_INPUT, "the file name '%s' is too long", name);
	/* What a crash left there, or somebody put there, may have another mode or a second name.
	 */
	if (unlinkat(dir_fd, draft, 0) < 0 && errno != ENOENT)
		return err_sys(err, "remove the old '%s'", draft);
	fd = openat(dir_fd, draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return err_sys(err, "create '%s'", draft);
	if (io_write_all(fd, bytes, len, draft, err) < 0 ||
	    put_draft(dir_fd, draft, name, fd, err) < 0) {
		unlinkat(dir_fd, draft, 0);
		return -1;
	}
	if (fsync(dir_fd) < 0)
		return err_sys(err, "sync the folder of '%s'", name);
	return 0;
}

int io_seal(int fd, const char *name, struct err *err)
{
	const struct timespec pause = { .tv_nsec = 10 * NS_PER_MS };
	int64_t deadline = clock_after_ms(SEAL_MS);

	while (fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) <
	       0) {
		if (errno != EBUSY || clock_now() >= deadline)
			return err_sys(err, "seal memfd '%s'", name);
		nanosleep(&pause, NULL);
	}
	return 0;
}

int io_memfd(const char *name, const void *bytes, size_t len, struct err *err)
{
	auto_fd fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return err_sys(err, "create memfd '%s'", name);
	if (io_write_all(fd, bytes, len, name, err) < 0)
		return -1;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(err, "rewind memfd '%s'", name);
	if (io_seal(fd, name, err) < 0)
		return -1;
	return fd_take(&fd);
}
