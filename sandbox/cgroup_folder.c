/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/cgroup_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"

#define LEAF "launcher"

/* A host with thousands of mounts has some hundred kilobytes of them. */
enum { MOUNTINFO_MAX = 16 << 20, OPEN_TRIES = 100 };

static int read_text(const char *path, struct str *out, struct err *err)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(err, "open '%s'", path);
	return io_read_fd(fd, MOUNTINFO_MAX, path, out, err);
}

int cgroup_folder_layout(struct arena *arena, pid_t pid, struct str *own_text,
			 struct cgroup_layout *out, struct err *err)
{
	cleanup(str_done) struct str mounts = STR_INIT;
	char path[64] = "/proc/self/cgroup";

	if (pid != 0)
		snprintf(path, sizeof(path), "/proc/%d/cgroup", (int) pid);
	if (read_text("/proc/self/mountinfo", &mounts, err) < 0 ||
	    read_text(path, own_text, err) < 0)
		return -1;
	return cgroup_find(arena, mounts.text, own_text->text, out, err);
}

int cgroup_folder_group(const char *mount, const char *own, long magic, struct err *err)
{
	cleanup(str_done) struct str path = STR_INIT;
	auto_fd fd = -1;
	struct statfs kind;

	str_addf(&path, "%s%s", mount, own);
	fd = open(path.text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstatfs(fd, &kind) < 0)
		return err_host(err, "open the control group '%s'", path.text);
	if (kind.f_type != magic)
		return err_set(err, ERR_HOST,
			       "'%s' is no control group any more: something is "
			       "mounted over it",
			       path.text);
	return fd_take(&fd);
}

/* Return: 1 the folder is opened is the one that has the name, and locked; 0 not now; -1. */
static int lock_folder(int parent_fd, int fd, struct err *err)
{
	struct stat opened, named;

	if (fstat(fd, &opened) < 0)
		return err_sys(err, "look at the control group '" CGROUP_FOLDER "'");
	/* In a group of its own anybody may make one, keep the lock and so keep us waiting. */
	if (opened.st_uid != geteuid() || (opened.st_mode & 022) != 0)
		return err_set(err, ERR_HOST,
			       "the control group '" CGROUP_FOLDER "' in it belongs to user %u, "
			       "not to root: remove it",
			       opened.st_uid);
	if (flock(fd, LOCK_SH | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return 0;
		return err_host(err, "lock the control group '" CGROUP_FOLDER "'");
	}
	return fstatat(parent_fd, CGROUP_FOLDER, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       opened.st_ino == named.st_ino;
}

/*
 * Another launcher may be removing it at this moment: then once more. Nobody but root gets in, or
 * anybody could keep the lock.
 */
int cgroup_folder_open(int parent_fd, struct err *err)
{
	const struct timespec pause = { .tv_nsec = NS_PER_MS };

	for (int try = 0; try < OPEN_TRIES; try++) {
		auto_fd fd = -1;
		int got;

		if (mkdirat(parent_fd, CGROUP_FOLDER, 0700) < 0 && errno != EEXIST)
			return err_host(err,
					"create a control group '" CGROUP_FOLDER "' in our own");
		fd = openat(parent_fd, CGROUP_FOLDER,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0)
			return err_host(err, "open the control group '" CGROUP_FOLDER "'");
		got = lock_folder(parent_fd, fd, err);
		if (got != 0)
			return got < 0 ? -1 : fd_take(&fd);
		nanosleep(&pause, NULL);
	}
	return err_set(err, ERR_SYS,
		       "the control group '" CGROUP_FOLDER "' is removed again and again");
}

/* A new v1 cpuset is empty, and nothing can run below it: it gets what the group above has. */
static int copy_cpuset(int parent_fd, int folder_fd, const char *file, char *text, size_t room,
		       struct err *err)
{
	if (io_read_kernel_file(folder_fd, file, text, room, err) < 0)
		return -1;
	if (text[0] != '\0')
		return 0;
	if (io_read_kernel_file(parent_fd, file, text, room, err) < 0)
		return -1;
	return io_write_kernel_file(folder_fd, file, text, err);
}

int cgroup_folder_open_v1(struct cgroup_host *host, const struct cgroup_place *place,
			  size_t controller, struct err *err)
{
	auto_fd parent_fd = cgroup_folder_group(place->mount, place->own, CGROUP_SUPER_MAGIC, err);
	char *path = host->v1_paths[controller];
	char cpus[CGROUP_CPUS_MAX];
	int fd;

	if (parent_fd < 0)
		return -1;
	if (strlen(place->mount) + strlen(place->own) + sizeof("/" CGROUP_FOLDER) > CGROUP_PATH_MAX)
		return err_set(err, ERR_HOST, "the path of the group is longer than %d bytes",
			       CGROUP_PATH_MAX);
	fd = cgroup_folder_open(parent_fd, err);
	if (fd < 0)
		return err_wrap(err, "'%s%s'", place->mount, place->own);
	snprintf(path, CGROUP_PATH_MAX, "%s%s/" CGROUP_FOLDER, place->mount, place->own);
	host->v1_fds[controller] = fd;
	if (controller != CGROUP_CPUSET)
		return 0;
	if (copy_cpuset(parent_fd, fd, "cpuset.mems", host->mems, sizeof(host->mems), err) < 0)
		return -1;
	return copy_cpuset(parent_fd, fd, "cpuset.cpus", cpus, sizeof(cpus), err);
}

/*
 * Each folder has a lock of its own: those that share the v2 folder may be in different v1 groups.
 * A folder with leaves in it does not go, and is somebody's.
 */
void cgroup_folder_leave(int *fd)
{
	if (*fd >= 0 && flock(*fd, LOCK_EX | LOCK_NB) == 0)
		best_effort(unlinkat(*fd, "../" CGROUP_FOLDER, AT_REMOVEDIR));
	/* A child may have a copy, which would keep the lock, and all others waiting. */
	if (*fd >= 0)
		flock(*fd, LOCK_UN);
	fd_close(fd);
}

uint32_t cgroup_folder_offers(int group_fd, const char *file)
{
	struct err none = ERR_INIT;
	char text[512];

	if (io_read_kernel_file(group_fd, file, text, sizeof(text), &none) < 0)
		return 0;
	return cgroup_controllers(text);
}

bool cgroup_folder_is_alone(int group_fd, pid_t pid)
{
	struct err none = ERR_INIT;
	char text[64], *end;

	if (faccessat(group_fd, "cgroup.type", F_OK, 0) < 0)
		return false;
	if (io_read_kernel_file(group_fd, "cgroup.procs", text, sizeof(text), &none) < 0)
		return false;
	return strtol(text, &end, 10) == (long) pid && *end == '\0';
}

/* "+memory +pids" of a set. */
static void format_enable(char *out, size_t room, uint32_t set)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if ((set & CGROUP_BIT(i)) != 0 && used < room)
			used += (size_t) snprintf(out + used, room - used, "%s+%s",
						  used > 0 ? " " : "", cgroup_controller_names[i]);
}

int cgroup_folder_enable(int group_fd, uint32_t set, struct err *err)
{
	char text[64];

	format_enable(text, sizeof(text), set);
	return set == 0 ? 0 : io_write_kernel_file(group_fd, "cgroup.subtree_control", text, err);
}

/* A group that hands controllers on has no processes of its own. */
int cgroup_folder_delegate(int group_fd, pid_t pid, uid_t uid, uint32_t wanted, struct err *err)
{
	struct err ignored = ERR_INIT;
	char who[16];

	snprintf(who, sizeof(who), "%d", (int) pid);
	if (mkdirat(group_fd, LEAF, 0755) < 0 && errno != EEXIST)
		return err_sys(err, "create control group '" LEAF "'");
	if (fchownat(group_fd, LEAF, uid, (gid_t) -1, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, "give control group '" LEAF "' to user %u", uid);
	if (io_write_kernel_file(group_fd, LEAF "/cgroup.procs", who, err) < 0)
		return -1;
	if (cgroup_folder_enable(group_fd, wanted, err) == 0)
		return 0;
	/* The failure above is the one to report. */
	best_effort(io_write_kernel_file(group_fd, "cgroup.procs", who, &ignored));
	best_effort(unlinkat(group_fd, LEAF, AT_REMOVEDIR));
	return -1;
}
