/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/cgroup.h"
#include "sandbox/cgroup_folder.h"

/* A line is "v2 PATH", or the name of a v1 controller and the path. */
#define UNIFIED "v2"

enum { LOCK_TRIES = 100 };

void cgroup_places_text(const struct cgroup_host *host, char out[CGROUP_PLACES_MAX])
{
	size_t used = (size_t) snprintf(out, CGROUP_PLACES_MAX, UNIFIED " %s\n", host->path);

	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (host->v1_paths[i][0] != '\0')
			used += (size_t) snprintf(out + used, CGROUP_PLACES_MAX - used, "%s %s\n",
						  cgroup_controller_names[i], host->v1_paths[i]);
}

/* Whoever leaves the folder has it alone for a moment; nobody is waited for longer. */
static int lock_shared(int fd, const char *path, struct err *err)
{
	const struct timespec pause = { .tv_nsec = 10 * NS_PER_MS };

	for (int try = 0; try < LOCK_TRIES; try++) {
		if (flock(fd, LOCK_SH | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK)
			break;
		nanosleep(&pause, NULL);
	}
	return err_sys(err, "lock '%s'", path);
}

/* Return: the folder, locked shared; -1 with no error where it is gone. */
static int open_place(const char *path, long magic, struct err *err)
{
	auto_fd fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct statfs kind;
	struct stat info;

	if (fd < 0)
		return errno == ENOENT ? -1 : err_sys(err, "open the control group '%s'", path);
	if (fstatfs(fd, &kind) < 0 || fstat(fd, &info) < 0)
		return err_sys(err, "look at the control group '%s'", path);
	if (kind.f_type != magic || info.st_uid != geteuid())
		return -1; /* somebody else's by now */
	return lock_shared(fd, path, err) < 0 ? -1 : fd_take(&fd);
}

/* Into the descriptor that the line is about; false: it is no line of ours. */
static bool open_line(struct cgroup_host *host, const char *line, struct err *err)
{
	const char *path = strchr(line, ' ');
	size_t len = path ? (size_t) (path - line) : 0;

	if (!path || path[1] != '/')
		return false;
	path++;
	if (len == strlen(UNIFIED) && strncmp(line, UNIFIED, len) == 0 && host->unified_fd < 0) {
		host->unified_fd = open_place(path, CGROUP2_SUPER_MAGIC, err);
		return true;
	}
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++) {
		if (len != strlen(cgroup_controller_names[i]) ||
		    strncmp(line, cgroup_controller_names[i], len) != 0 || host->v1_fds[i] >= 0)
			continue;
		host->v1_fds[i] = open_place(path, CGROUP_SUPER_MAGIC, err);
		if (host->v1_fds[i] >= 0)
			host->v1 |= CGROUP_BIT(i);
		return true;
	}
	return false;
}

int cgroup_places_reap(const char *text, const char *name, struct err *err)
{
	cleanup(cgroup_host_done) struct cgroup_host host = CGROUP_HOST_INIT;
	char line[CGROUP_PATH_MAX + 16];

	*err = (struct err) ERR_INIT;
	while (*text != '\0') {
		size_t len = strcspn(text, "\n");

		if (len >= sizeof(line))
			return err_set(err, ERR_SYS, "a line of a lease is too long");
		memcpy(line, text, len);
		line[len] = '\0';
		if (!open_line(&host, line, err))
			return err_set(err, ERR_SYS, "a line of a lease is '%.80s'", line);
		if (err->kind != ERR_NONE)
			return -1;
		text += len + (text[len] == '\n');
	}
	return cgroup_reap(&host, name, err);
}
