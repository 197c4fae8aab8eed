/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/str.h"
#include "sandbox/cgroup.h"
#include "sandbox/cgroup_folder.h"

/*
 * Theory of operation
 *
 * On v1 any group may have groups below it: a client's jails always lie in its own, and the kernel
 * holds them to all of its limits. On v2 a group with processes in it can not hand controllers on.
 * So a jail with limits of its own lies below a client only where the client has been given a
 * subtree. Elsewhere it lies in the launcher's folder, out of reach of the client's limits; then
 * these are read at each request, and what one jail asks for, and what all jails of the same
 * groups have together, has to fit (ledger.c).
 */

/* -- the groups of a process -- */

static int note_place(const struct cgroup_place *place, char *path, size_t *mount, struct err *err)
{
	if (!place->mount)
		return 0;
	if (strlen(place->mount) + strlen(place->own) + sizeof("/" CGROUP_FOLDER) > CGROUP_PATH_MAX)
		return err_set(err, ERR_HOST, "the path of a control group, '%s%s', is too long",
			       place->mount, place->own);
	snprintf(path, CGROUP_PATH_MAX, "%s%s", place->mount, place->own);
	*mount = strlen(place->mount);
	return 0;
}

static bool is_same(pid_t pid, const struct cgroup_groups *known)
{
	struct err none = ERR_INIT;
	char path[64], text[sizeof(known->text)];

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int) pid);
	return known->text[0] != '\0' &&
	       io_read_kernel_file(AT_FDCWD, path, text, sizeof(text), &none) == 0 &&
	       strcmp(text, known->text) == 0;
}

int cgroup_groups_of(pid_t pid, struct cgroup_groups *out, struct err *err)
{
	cleanup(mem_free) struct cgroup_groups *groups = NULL;
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(str_done) struct str own = STR_INIT;
	struct cgroup_layout layout;

	if (is_same(pid, out))
		return 0;
	groups = mem_alloc(1, sizeof(*groups));
	if (cgroup_folder_layout(&arena, pid, &own, &layout, err) < 0)
		return err_wrap(err, "the control groups of process %d", (int) pid);
	while (own.len > 0 && own.text[own.len - 1] == '\n')
		own.text[--own.len] = '\0';
	if (own.len >= sizeof(groups->text))
		return err_set(err, ERR_HOST, "the control groups of process %d: too many",
			       (int) pid);
	snprintf(groups->text, sizeof(groups->text), "%s", own.text);
	if (note_place(&layout.unified, groups->unified, &groups->unified_mount, err) < 0)
		return -1;
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (note_place(&layout.v1[i], groups->v1[i], &groups->v1_mount[i], err) < 0)
			return -1;
	*out = *groups;
	return 1;
}

int cgroup_groups_events_fd(const struct cgroup_groups *groups)
{
	cleanup(str_done) struct str path = STR_INIT;
	char text[256];
	auto_fd fd = -1;

	str_addf(&path, "%s/cgroup.events", groups->unified);
	fd = open(path.text, O_RDONLY | O_CLOEXEC);
	/* Reading it is what arms the next POLLPRI. */
	if (fd < 0 || pread(fd, text, sizeof(text), 0) < 0)
		return -1;
	return fd_take(&fd);
}

/* -- the folder -- */

static struct cgroup_place place_of(char *path, size_t mount, char *mount_out)
{
	snprintf(mount_out, CGROUP_PATH_MAX, "%.*s", (int) mount, path);
	return (struct cgroup_place){ .mount = mount_out, .own = path + mount };
}

static bool has_all(uint32_t set, uint32_t needed)
{
	return (set & needed) == needed;
}

/* Shares the launcher's folder: with a lock of its own, as each user of a folder has. */
static int share(const struct cgroup_host *own, struct cgroup_host *host, struct err *err)
{
	host->unified_fd = openat(own->unified_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (host->unified_fd < 0 || flock(host->unified_fd, LOCK_SH | LOCK_NB) < 0)
		return err_sys(err, "share the control group '%s'", own->path);
	host->unified = own->unified;
	memcpy(host->path, own->path, sizeof(host->path));
	return 0;
}

static int take_folder(struct cgroup_host *host, int parent_fd, const char *path, struct err *err)
{
	const uint32_t v2 = (CGROUP_BIT(CGROUP_CONTROLLERS) - 1) & ~host->v1;

	host->unified_fd = cgroup_folder_open(parent_fd, err);
	if (host->unified_fd < 0)
		return err_wrap(err, "'%s'", path);
	snprintf(host->path, sizeof(host->path), "%s/" CGROUP_FOLDER, path);
	host->unified = cgroup_folder_offers(host->unified_fd, "cgroup.controllers") & v2;
	if (cgroup_folder_enable(host->unified_fd, host->unified, err) < 0)
		return err_wrap(err, "'%s'", host->path);
	return 0;
}

/* Whose subtree is this? Not root's: that is nobody's in particular. */
static bool is_delegated(int group_fd, uid_t uid)
{
	struct stat info;

	return uid != 0 && fstat(group_fd, &info) == 0 && info.st_uid == uid;
}

/*
 * The nearest group that is the client's and hands on what limits need.
 *
 * Return: its descriptor, with its path in @path; -1 where there is none, which is no error, or
 * where what was tried failed: the launcher's own folder will do.
 */
static int find_delegated(char *path, size_t mount, pid_t pid, uid_t uid, uint32_t v1)
{
	const uint32_t needed = (CGROUP_BIT(CGROUP_MEMORY) | CGROUP_BIT(CGROUP_PIDS)) & ~v1;
	const uint32_t wanted = (CGROUP_BIT(CGROUP_CONTROLLERS) - 1) & ~v1;
	struct err none = ERR_INIT;
	bool first = true;

	while (strlen(path) > mount) {
		auto_fd fd = cgroup_folder_group(path, "", CGROUP2_SUPER_MAGIC, &none);
		uint32_t offered;

		if (fd < 0 || !is_delegated(fd, uid))
			return -1;
		if (has_all(cgroup_folder_offers(fd, "cgroup.subtree_control"), needed))
			return fd_take(&fd);
		offered = cgroup_folder_offers(fd, "cgroup.controllers");
		if (first && has_all(offered, needed) && cgroup_folder_is_alone(fd, pid) &&
		    cgroup_folder_delegate(fd, pid, uid, offered & wanted, &none) == 0)
			return fd_take(&fd);
		first = false;
		*strrchr(path, '/') = '\0';
	}
	return -1;
}

static int open_unified(struct cgroup_host *host, const struct cgroup_groups *groups, pid_t pid,
			uid_t uid, const struct cgroup_host *own, struct err *err)
{
	const uint32_t limits = CGROUP_BIT(CGROUP_CONTROLLERS) - 1;
	char path[CGROUP_PATH_MAX];
	auto_fd parent_fd = -1;

	memcpy(path, groups->unified, sizeof(path));
	/* With all limits in v1, v2 is for the end of jails alone, and any group may have some. */
	if (has_all(host->v1, limits) || (own->unified == 0 && host->v1 != 0))
		parent_fd = cgroup_folder_group(path, "", CGROUP2_SUPER_MAGIC, err);
	else
		parent_fd = find_delegated(path, groups->unified_mount, pid, uid, host->v1);
	if (parent_fd >= 0)
		return take_folder(host, parent_fd, path, err);
	return err->kind != ERR_NONE ? -1 : share(own, host, err);
}

int cgroup_host_open_for(const struct cgroup_groups *groups, pid_t pid, uid_t uid,
			 const struct cgroup_host *own, struct cgroup_host *out, struct err *err)
{
	cleanup(cgroup_host_done) struct cgroup_host host = CGROUP_HOST_INIT;

	host.has_swap = own->has_swap;
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (groups->v1[i][0] != '\0')
			host.v1 |= CGROUP_BIT(i);
	*err = (struct err) ERR_INIT;
	if (open_unified(&host, groups, pid, uid, own, err) < 0)
		return err_wrap(err, "a place for the jails of process %d", (int) pid);
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++) {
		char path[CGROUP_PATH_MAX], mount[CGROUP_PATH_MAX];
		struct cgroup_place place;

		if ((host.v1 & CGROUP_BIT(i)) == 0)
			continue;
		memcpy(path, groups->v1[i], sizeof(path));
		place = place_of(path, groups->v1_mount[i], mount);
		if (cgroup_folder_open_v1(&host, &place, i, err) < 0)
			return err_wrap(err, "a place for the jails of process %d: %s", (int) pid,
					cgroup_controller_names[i]);
	}
	*out = take(host, CGROUP_HOST_INIT);
	return 0;
}

/* -- what the groups allow -- */

/* Return: 1 with the file's text, 0 where the group has no such file, -1. */
static int read_limit(int group_fd, const char *file, char *text, size_t room, struct err *err)
{
	if (faccessat(group_fd, file, F_OK, 0) < 0 && errno == ENOENT)
		return 0;
	return io_read_kernel_file(group_fd, file, text, room, err) < 0 ? -1 : 1;
}

/* What v1 writes for "no limit" is a number near the largest. */
static int read_number(int group_fd, const char *file, uint64_t *out, struct err *err)
{
	char text[64];
	int got = read_limit(group_fd, file, text, sizeof(text), err);

	if (got < 0)
		return -1;
	*out = CGROUP_ANY;
	if (got > 0 && text[0] >= '0' && text[0] <= '9')
		*out = strtoull(text, NULL, 10);
	if (*out > UINT64_C(1) << 62)
		*out = CGROUP_ANY;
	return 0;
}

static uint64_t milli(uint64_t quota, uint64_t period)
{
	return period == 0 || quota > UINT64_MAX / 1000 ? CGROUP_ANY : quota * 1000 / period;
}

static int read_quota_v2(int group_fd, uint64_t *out, struct err *err)
{
	char text[64], *end;
	uint64_t quota;
	int got = read_limit(group_fd, "cpu.max", text, sizeof(text), err);

	if (got < 0)
		return -1;
	*out = CGROUP_ANY;
	if (got == 0 || text[0] < '0' || text[0] > '9')
		return 0;
	quota = strtoull(text, &end, 10);
	*out = milli(quota, strtoull(end, NULL, 10));
	return 0;
}

static int read_quota_v1(int group_fd, uint64_t *out, struct err *err)
{
	uint64_t quota, period;

	if (read_number(group_fd, "cpu.cfs_quota_us", &quota, err) < 0 ||
	    read_number(group_fd, "cpu.cfs_period_us", &period, err) < 0)
		return -1;
	*out = quota == CGROUP_ANY ? CGROUP_ANY : milli(quota, period);
	return 0;
}

static int read_level(int group_fd, uint32_t set, bool v1, struct cgroup_level *out,
		      struct err *err)
{
	*out = (struct cgroup_level){ .memory = CGROUP_ANY,
				      .pids = CGROUP_ANY,
				      .cpu_milli = CGROUP_ANY };
	if ((set & CGROUP_BIT(CGROUP_MEMORY)) != 0 &&
	    read_number(group_fd, v1 ? "memory.limit_in_bytes" : "memory.max", &out->memory, err) <
		    0)
		return -1;
	if ((set & CGROUP_BIT(CGROUP_PIDS)) != 0 &&
	    read_number(group_fd, "pids.max", &out->pids, err) < 0)
		return -1;
	if ((set & CGROUP_BIT(CGROUP_CPU)) == 0)
		return 0;
	return v1 ? read_quota_v1(group_fd, &out->cpu_milli, err)
		  : read_quota_v2(group_fd, &out->cpu_milli, err);
}

static void lower(struct cgroup_bounds *bounds, const struct cgroup_level *level)
{
	bounds->memory = MIN_OF(bounds->memory, level->memory);
	bounds->pids = MIN_OF(bounds->pids, level->pids);
	bounds->cpu_milli = MIN_OF(bounds->cpu_milli, level->cpu_milli);
}

static int note_level(struct cgroup_bounds *bounds, int group_fd, struct cgroup_level *level,
		      struct err *err)
{
	struct stat info;

	if (level->memory == CGROUP_ANY && level->pids == CGROUP_ANY &&
	    level->cpu_milli == CGROUP_ANY)
		return 0;
	if (fstat(group_fd, &info) < 0)
		return err_sys(err, "look at a control group");
	if (bounds->level_count == CGROUP_LEVELS_MAX)
		return err_set(err, ERR_HOST, "more than %d control groups above each other",
			       CGROUP_LEVELS_MAX);
	level->id = info.st_ino;
	bounds->levels[bounds->level_count++] = *level;
	return 0;
}

/* Does the folder @where lie in @group or below it? Then the kernel holds it to its limits. */
static bool is_below(const char *where, const char *group)
{
	size_t len = strlen(group);

	return strncmp(where, group, len) == 0 && where[len] == '/';
}

/* From a group up to the root of its hierarchy. */
struct way {
	const char *group;
	size_t mount;
	uint32_t set; /* the controllers that live there */
	bool v1;
	const char *where; /* our folder in the hierarchy */
};

static int read_way_up(const struct way *way, struct cgroup_bounds *bounds, struct err *err)
{
	const long magic = way->v1 ? CGROUP_SUPER_MAGIC : CGROUP2_SUPER_MAGIC;
	char path[CGROUP_PATH_MAX];

	memcpy(path, way->group, sizeof(path));
	for (;;) {
		auto_fd fd = cgroup_folder_group(path, "", magic, err);
		struct cgroup_level level;

		if (fd < 0 || read_level(fd, way->set, way->v1, &level, err) < 0)
			return -1;
		lower(bounds, &level);
		if (!is_below(way->where, path) && note_level(bounds, fd, &level, err) < 0)
			return -1;
		if (strlen(path) <= way->mount)
			return 0;
		*strrchr(path, '/') = '\0';
	}
}

static int read_cpus(const char *group, bool v1, struct cgroup_bounds *bounds, struct err *err)
{
	auto_fd fd =
		cgroup_folder_group(group, "", v1 ? CGROUP_SUPER_MAGIC : CGROUP2_SUPER_MAGIC, err);

	if (fd < 0)
		return -1;
	return read_limit(fd, v1 ? "cpuset.effective_cpus" : "cpuset.cpus.effective", bounds->cpus,
			  sizeof(bounds->cpus), err) < 0
		     ? -1
		     : 0;
}

/* Without the controller in its own group, a client's CPUs are those of the nearest group above. */
static int read_cpus_v2(const struct cgroup_groups *groups, struct cgroup_bounds *bounds,
			struct err *err)
{
	char path[CGROUP_PATH_MAX];

	memcpy(path, groups->unified, sizeof(path));
	for (;;) {
		if (read_cpus(path, false, bounds, err) < 0)
			return -1;
		if (bounds->cpus[0] != '\0' || strlen(path) <= groups->unified_mount)
			return 0;
		*strrchr(path, '/') = '\0';
	}
}

int cgroup_bounds_read(const struct cgroup_groups *groups, const struct cgroup_host *where,
		       struct cgroup_bounds *out, struct err *err)
{
	const struct way unified = { .group = groups->unified,
				     .mount = groups->unified_mount,
				     .set = (CGROUP_BIT(CGROUP_CONTROLLERS) - 1) & ~where->v1,
				     .where = where->path };
	struct cgroup_bounds bounds = { .memory = CGROUP_ANY,
					.pids = CGROUP_ANY,
					.cpu_milli = CGROUP_ANY };
	int got;

	for (size_t i = 0; i < CGROUP_CPUSET; i++) {
		const struct way way = { .group = groups->v1[i],
					 .mount = groups->v1_mount[i],
					 .set = CGROUP_BIT(i),
					 .v1 = true,
					 .where = where->v1_paths[i] };

		if (groups->v1[i][0] != '\0' && read_way_up(&way, &bounds, err) < 0)
			return -1;
	}
	if (read_way_up(&unified, &bounds, err) < 0)
		return -1;
	if (groups->v1[CGROUP_CPUSET][0] != '\0') {
		/* A jail has a leaf in this hierarchy only where it names CPUs. */
		got = read_cpus(groups->v1[CGROUP_CPUSET], true, &bounds, err);
	} else {
		got = read_cpus_v2(groups, &bounds, err);
		bounds.cpus_are_held = is_below(where->path, groups->unified);
	}
	if (got < 0)
		return -1;
	*out = bounds;
	return 0;
}
