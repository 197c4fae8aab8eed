/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/str.h"
#include "sandbox/cgroup.h"
#include "sandbox/cgroup_folder.h"

enum { SWAPS_MAX = 1 << 20 };

static const uint32_t always_needed = CGROUP_BIT(CGROUP_MEMORY) | CGROUP_BIT(CGROUP_PIDS);

/* -- where on v2 -- */

static bool has_all(uint32_t set, uint32_t needed)
{
	return (set & needed) == needed;
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
		auto_fd fd = cgroup_folder_group(place->mount, own, CGROUP2_SUPER_MAGIC, err);
		uint32_t offered;

		if (fd < 0)
			return -1;
		str_clear(path);
		str_addf(path, "%s%s", place->mount, own);
		if (has_all(cgroup_folder_offers(fd, "cgroup.subtree_control"), needed))
			return fd_take(&fd);
		offered = cgroup_folder_offers(fd, "cgroup.controllers");
		if (first && has_all(offered, needed) && cgroup_folder_is_alone(fd, getpid())) {
			if (cgroup_folder_delegate(fd, getpid(), geteuid(), offered & wanted, err) <
			    0)
				return err_wrap(err, "'%s'", path->text);
			return fd_take(&fd);
		}
		first = false;
	} while (step_up(own));
	str_clear(path);
	str_addf(path, "%s%s", place->mount, place->own);
	return cgroup_folder_group(place->mount, place->own, CGROUP2_SUPER_MAGIC, err);
}

static int open_unified(struct cgroup_host *host, struct arena *arena,
			const struct cgroup_layout *layout, struct err *err)
{
	const uint32_t v2 = (CGROUP_BIT(CGROUP_CONTROLLERS) - 1) & ~host->v1;
	cleanup(str_done) struct str path = STR_INIT;
	auto_fd parent_fd = open_parent(arena, &layout->unified, host->v1, &path, err);

	if (parent_fd < 0)
		return -1;
	if (path.len + sizeof("/" CGROUP_FOLDER) > sizeof(host->path))
		return err_set(err, ERR_HOST, "the path '%s' is too long", path.text);
	snprintf(host->path, sizeof(host->path), "%s/" CGROUP_FOLDER, path.text);
	host->unified_fd = cgroup_folder_open(parent_fd, err);
	if (host->unified_fd < 0)
		return err_wrap(err, "'%s'", path.text);
	host->unified = cgroup_folder_offers(host->unified_fd, "cgroup.controllers") & v2;
	if (cgroup_folder_enable(host->unified_fd, host->unified, err) < 0)
		return err_wrap(err, "'%s'", host->path);
	return 0;
}

/* A kernel without swap has no such file. */
static int find_swap(bool *has_swap, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;
	auto_fd fd = open("/proc/swaps", O_RDONLY | O_CLOEXEC);

	if (fd < 0 && errno != ENOENT)
		return err_sys(err, "open '/proc/swaps'");
	if (fd >= 0 && io_read_fd(fd, SWAPS_MAX, "/proc/swaps", &text, err) < 0)
		return -1;
	*has_swap = cgroup_has_swap(text.text);
	return 0;
}

int cgroup_look(struct arena *arena, struct cgroup_layout *out, bool *has_swap, struct err *err)
{
	cleanup(str_done) struct str own = STR_INIT;

	if (cgroup_folder_layout(arena, 0, &own, out, err) < 0)
		return -1;
	return find_swap(has_swap, err);
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
		if (layout.v1[i].mount && cgroup_folder_open_v1(&host, &layout.v1[i], i, err) < 0)
			return err_wrap(err, "v1 controller %s", cgroup_controller_names[i]);
	*out = take(host, CGROUP_HOST_INIT);
	return 0;
}

void cgroup_host_done(struct cgroup_host *host)
{
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		cgroup_folder_leave(&host->v1_fds[i]);
	cgroup_folder_leave(&host->unified_fd);
	*host = CGROUP_HOST_INIT;
}

void cgroup_host_forget(struct cgroup_host *host)
{
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		fd_close(&host->v1_fds[i]);
	fd_close(&host->unified_fd);
	*host = CGROUP_HOST_INIT;
}
