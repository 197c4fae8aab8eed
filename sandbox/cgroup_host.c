/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"

#define FOLDER   "proctor"
#define LAUNCHER "launcher"

/* A host with thousands of mounts has some hundred kilobytes of them. */
enum { MOUNTINFO_MAX = 16 << 20, OPEN_TRIES = 100 };

static const uint32_t always_needed = CGROUP_BIT(CGROUP_MEMORY) | CGROUP_BIT(CGROUP_PIDS);

/* -- folders -- */

static int open_group(const char *mount, const char *own, long magic, struct err *err)
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

/*
 * Our folder in a group. Another launcher may be removing it at this moment: then once more. Nobody
 * but root gets in, or anybody could keep the lock and so keep us waiting.
 */
static int open_folder(int parent_fd, struct err *err)
{
	for (int try = 0; try < OPEN_TRIES; try++) {
		auto_fd fd = -1;
		struct stat opened, named;

		if (mkdirat(parent_fd, FOLDER, 0700) < 0 && errno != EEXIST)
			return err_host(err, "create a control group '" FOLDER "' in our own");
		fd = openat(parent_fd, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0 || flock(fd, LOCK_SH) < 0)
			return err_host(err, "open and lock the control group '" FOLDER "'");
		if (fstat(fd, &opened) == 0 &&
		    fstatat(parent_fd, FOLDER, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
		    opened.st_ino == named.st_ino)
			return fd_take(&fd);
	}
	return err_set(err, ERR_SYS, "the control group '" FOLDER "' is removed again and again");
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

static int open_v1(struct cgroup_host *host, const struct cgroup_layout *layout, size_t controller,
		   struct err *err)
{
	const struct cgroup_place *place = &layout->v1[controller];
	auto_fd parent_fd = open_group(place->mount, place->own, CGROUP_SUPER_MAGIC, err);
	char cpus[1024];
	int fd;

	if (parent_fd < 0)
		return -1;
	fd = open_folder(parent_fd, err);
	if (fd < 0)
		return err_wrap(err, "'%s%s'", place->mount, place->own);
	host->v1_fds[controller] = fd;
	if (controller != CGROUP_CPUSET)
		return 0;
	if (copy_cpuset(parent_fd, fd, "cpuset.mems", host->mems, sizeof(host->mems), err) < 0)
		return -1;
	return copy_cpuset(parent_fd, fd, "cpuset.cpus", cpus, sizeof(cpus), err);
}

/* -- where on v2 -- */

static uint32_t controllers_of(int group_fd, const char *file)
{
	struct err none = ERR_INIT;
	char text[512];

	if (io_read_kernel_file(group_fd, file, text, sizeof(text), &none) < 0)
		return 0;
	return cgroup_controllers(text);
}

static bool has_all(uint32_t set, uint32_t needed)
{
	return (set & needed) == needed;
}

/* Is this process alone in the group, and is the group not the root, which is everybody's? */
static bool is_ours_alone(int group_fd)
{
	struct err none = ERR_INIT;
	char text[64], *end;

	if (faccessat(group_fd, "cgroup.type", F_OK, 0) < 0)
		return false;
	if (io_read_kernel_file(group_fd, "cgroup.procs", text, sizeof(text), &none) < 0)
		return false;
	return strtol(text, &end, 10) == (long) getpid() && *end == '\0';
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

static int enable(int group_fd, uint32_t set, struct err *err)
{
	char text[64];

	format_enable(text, sizeof(text), set);
	return set == 0 ? 0 : io_write_kernel_file(group_fd, "cgroup.subtree_control", text, err);
}

/*
 * A group that hands controllers on has no processes of its own: so this one moves down into a
 * leaf. It moves back if that was in vain.
 */
static int delegate(int group_fd, uint32_t wanted, struct err *err)
{
	struct err ignored = ERR_INIT;

	if (mkdirat(group_fd, LAUNCHER, 0755) < 0 && errno != EEXIST)
		return err_sys(err, "create control group '" LAUNCHER "'");
	if (io_write_kernel_file(group_fd, LAUNCHER "/cgroup.procs", "0", err) < 0)
		return -1;
	if (enable(group_fd, wanted, err) == 0)
		return 0;
	/* The failure above is the one to report. */
	best_effort(io_write_kernel_file(group_fd, "cgroup.procs", "0", &ignored));
	best_effort(unlinkat(group_fd, LAUNCHER, AT_REMOVEDIR));
	return -1;
}

/* The path of the group above, in place; false at the mount's root. */
static bool step_up(char *own)
{
	char *slash = strrchr(own, '/');

	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

/*
 * Our own group before those above it, although these need no move: what limits our own group
 * has go on to hold for the jails. Where no group hands on what limits need it is our own: some
 * limits may have to hold no more than others.
 */
static int open_parent(struct arena *arena, const struct cgroup_place *place, uint32_t v1,
		       struct str *path, struct err *err)
{
	const uint32_t wanted = (CGROUP_BIT(CGROUP_CONTROLLERS) - 1) & ~v1;
	const uint32_t needed = always_needed & ~v1;
	char *own = arena_printf(arena, "%s", place->own);
	bool first = true;

	do {
		auto_fd fd = open_group(place->mount, own, CGROUP2_SUPER_MAGIC, err);
		uint32_t offered;

		if (fd < 0)
			return -1;
		str_clear(path);
		str_addf(path, "%s%s", place->mount, own);
		if (has_all(controllers_of(fd, "cgroup.subtree_control"), needed))
			return fd_take(&fd);
		offered = controllers_of(fd, "cgroup.controllers");
		if (first && has_all(offered, needed) && is_ours_alone(fd)) {
			if (delegate(fd, offered & wanted, err) < 0)
				return err_wrap(err, "'%s'", path->text);
			return fd_take(&fd);
		}
		first = false;
	} while (step_up(own));
	str_clear(path);
	str_addf(path, "%s%s", place->mount, place->own);
	return open_group(place->mount, place->own, CGROUP2_SUPER_MAGIC, err);
}

static int open_unified(struct cgroup_host *host, struct arena *arena,
			const struct cgroup_layout *layout, struct err *err)
{
	const uint32_t v2 = (CGROUP_BIT(CGROUP_CONTROLLERS) - 1) & ~host->v1;
	cleanup(str_done) struct str path = STR_INIT;
	auto_fd parent_fd = open_parent(arena, &layout->unified, host->v1, &path, err);

	if (parent_fd < 0)
		return -1;
	snprintf(host->path, sizeof(host->path), "%s/" FOLDER, path.text);
	host->unified_fd = open_folder(parent_fd, err);
	if (host->unified_fd < 0)
		return err_wrap(err, "'%s'", path.text);
	host->unified = controllers_of(host->unified_fd, "cgroup.controllers") & v2;
	if (enable(host->unified_fd, host->unified, err) < 0)
		return err_wrap(err, "'%s'", host->path);
	return 0;
}

int cgroup_look(struct arena *arena, struct cgroup_layout *out, bool *has_swap, struct err *err)
{
	static const char *const paths[] = { "/proc/self/mountinfo", "/proc/self/cgroup",
					     "/proc/swaps" };
	char *texts[ARRAY_LEN(paths)];

	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		cleanup(str_done) struct str text = STR_INIT;
		auto_fd fd = open(paths[i], O_RDONLY | O_CLOEXEC);

		texts[i] = arena_copy(arena, "", 0);
		if (fd < 0 && errno == ENOENT && i == 2)
			break; /* a kernel without swap */
		if (fd < 0)
			return err_sys(err, "open '%s'", paths[i]);
		if (io_read_fd(fd, MOUNTINFO_MAX, paths[i], &text, err) < 0)
			return -1;
		texts[i] = arena_copy(arena, text.text, text.len);
	}
	*has_swap = cgroup_has_swap(texts[2]);
	return cgroup_find(arena, texts[0], texts[1], out, err);
}

int cgroup_host_open(struct cgroup_host *out, struct err *err)
{
	cleanup(cgroup_host_done) struct cgroup_host host = CGROUP_HOST_INIT;
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct cgroup_layout layout;

	if (cgroup_look(&arena, &layout, &host.has_swap, err) < 0)
		return -1;
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (layout.v1[i].mount)
			host.v1 |= CGROUP_BIT(i);
	if (open_unified(&host, &arena, &layout, err) < 0)
		return -1;
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (layout.v1[i].mount && open_v1(&host, &layout, i, err) < 0)
			return err_wrap(err, "v1 controller %s", cgroup_controller_names[i]);
	*out = take(host, CGROUP_HOST_INIT);
	return 0;
}

/*
 * Each folder has a lock of its own: those that share the v2 folder may be in different v1 groups.
 * A folder with leaves in it does not go, and is somebody's.
 */
static void leave_folder(int *fd)
{
	if (*fd >= 0 && flock(*fd, LOCK_EX | LOCK_NB) == 0)
		best_effort(unlinkat(*fd, "../" FOLDER, AT_REMOVEDIR));
	fd_close(fd);
}

void cgroup_host_done(struct cgroup_host *host)
{
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		leave_folder(&host->v1_fds[i]);
	leave_folder(&host->unified_fd);
	*host = CGROUP_HOST_INIT;
}
