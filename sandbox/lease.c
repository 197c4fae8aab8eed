/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"

int lease_open_folder(const char *path, struct err *err)
{
	struct stat info;
	auto_fd fd = -1;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_host(err, "create folder '%s'", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &info) < 0)
		return err_host(err, "open folder '%s'", path);
	if (info.st_uid != geteuid() || (info.st_mode & 022) != 0)
		return err_set(err, ERR_HOST, "'%s' is not root's alone: remove it", path);
	return fd_take(&fd);
}

int lease_try(int folder_fd, const char *kind, uint32_t number, struct lease *out, struct err *err)
{
	auto_fd fd = -1;
	char name[64];

	snprintf(name, sizeof(name), "%s-%04u.lock", kind, number);
	fd = openat(folder_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, "open lease '%s'", name);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return 0;
		return err_sys(err, "lock lease '%s'", name);
	}
	*out = (struct lease){ .lock_fd = fd_take(&fd), .number = number };
	return 1;
}

int lease_take(int folder_fd, const char *kind, uint32_t count, struct lease *out, struct err *err)
{
	for (uint32_t number = 0; number < count; number++) {
		int got = lease_try(folder_fd, kind, number, out, err);

		if (got != 0)
			return got < 0 ? -1 : 0;
	}
	return err_set(err, ERR_HOST, "all %u leases of '%s' are taken: too many jails at once",
		       count, kind);
}

int lease_note(const struct lease *lease, const char *text, struct err *err)
{
	size_t len = strlen(text);

	if (ftruncate(lease->lock_fd, 0) < 0 ||
	    (len > 0 && pwrite(lease->lock_fd, text, len, 0) != (ssize_t) len))
		return err_sys(err, "write to lease %u", lease->number);
	return 0;
}

int lease_read(const struct lease *lease, char *text, size_t room, struct err *err)
{
	ssize_t got = pread(lease->lock_fd, text, room, 0);

	if (got < 0)
		return err_sys(err, "read lease %u", lease->number);
	if ((size_t) got == room)
		return err_set(err, ERR_SYS, "lease %u holds more than %zu bytes", lease->number,
			       room - 1);
	text[got] = '\0';
	return 0;
}

void lease_done(struct lease *lease)
{
	fd_close(&lease->lock_fd);
	*lease = LEASE_INIT;
}
