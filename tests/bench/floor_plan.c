/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/floor.h"

long need(long result, const char *what)
{
	if (result < 0) {
		fprintf(stderr, "bench-floor: %s: %s\n", what, strerror(errno));
		_exit(1);
	}
	return result;
}

static bool is_there(const struct plan_row *row, bool *is_folder)
{
	struct stat info;
	char path[128];

	*is_folder = false;
	snprintf(path, sizeof(path), "/%s", row->target);
	if (row->kind == PLAN_BIND || row->kind == PLAN_AS_HOST)
		snprintf(path, sizeof(path), "%s", row->source);
	else if (row->kind != PLAN_MASK && row->kind != PLAN_READ_ONLY)
		return true;
	if (stat(path, &info) < 0)
		return false;
	*is_folder = S_ISDIR(info.st_mode);
	return true;
}

/* What is a link on the host is one in the jail. */
static void see_links(struct plan_row *row)
{
	char text[128];
	ssize_t len = row->kind != PLAN_AS_HOST ? -1 : readlink(row->source, text, sizeof(text));

	if (len < 0)
		return;
	row->kind = PLAN_LINK;
	row->source = strndup(text, (size_t) len);
}

static void plan_tree(struct floor *floor)
{
	static const struct tmpfs_slice tmpfs[] = {
		{ .path = "/work", .bytes = 256 * MIB, .inodes = 65536 },
		{ .path = "/tmp", .bytes = 128 * MIB, .inodes = 16384, .shared = 1 },
		{ .path = "/dev/shm", .bytes = 64 * MIB, .inodes = 4096, .shared = 1 },
	};
	struct plan whole;

	floor->slice.tmpfs_count = ARRAY_LEN(tmpfs);
	memcpy(floor->slice.tmpfs, tmpfs, sizeof(tmpfs));
	plan_make(&floor->slice, &whole);
	for (size_t i = 0; i < whole.count; i++) {
		bool *folder = &floor->is_folder[floor->plan.count];

		if (!is_there(&whole.rows[i], folder))
			continue;
		see_links(&whole.rows[i]);
		floor->plan.rows[floor->plan.count++] = whole.rows[i];
	}
	for (size_t i = 0; i < ARRAY_LEN(tmpfs); i++)
		mounts_tmpfs_options(&floor->slice.tmpfs[i], ids_host(&floor->ids, IDS_PAYLOAD),
				     &floor->tmpfs[i]);
}

static void plan_landlock(struct floor *floor)
{
	struct err err = ERR_INIT;

	need(landlock_add(&floor->landlock, "/", LANDLOCK_READ_EXEC, &err), err.text);
	need(landlock_add(&floor->landlock, "/proc", LANDLOCK_OWN_PROC, &err), err.text);
	need(landlock_add(&floor->landlock, "/dev", LANDLOCK_DEVICE, &err), err.text);
	for (uint32_t i = 0; i < floor->slice.tmpfs_count; i++)
		need(landlock_add(&floor->landlock, floor->slice.tmpfs[i].path, LANDLOCK_WRITE,
				  &err),
		     err.text);
}

static void plan_group(struct floor *floor)
{
	const struct cgroup_limits limits = { .memory = GIB, .pids = 256 };
	uint32_t v1 = 0;

	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (floor->v1_fds[i] >= 0)
			v1 |= CGROUP_BIT(i);
	snprintf(floor->name, sizeof(floor->name), "bench-floor-%d", (int) getpid());
	snprintf(floor->tasks, sizeof(floor->tasks), "%s/tasks", floor->name);
	floor->knob_count = cgroup_plan(&limits, v1, "", floor->knobs);
	for (size_t i = 0; i < floor->knob_count; i++)
		snprintf(floor->knob_paths[i], sizeof(floor->knob_paths[i]), "%s%s%s",
			 v1 & CGROUP_BIT(floor->knobs[i].controller) ? floor->name : "",
			 v1 & CGROUP_BIT(floor->knobs[i].controller) ? "/" : "",
			 floor->knobs[i].file);
}

void floor_plan(struct floor *floor)
{
	plan_tree(floor);
	plan_landlock(floor);
	plan_group(floor);
	devices_base(&floor->devices);
}
