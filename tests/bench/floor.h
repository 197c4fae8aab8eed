/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <linux/filter.h>

#include "sandbox/cgroup.h"
#include "sandbox/devices.h"
#include "sandbox/ids.h"
#include "sandbox/landlock.h"
#include "sandbox/mounts.h"
#include "sandbox/plan.h"

/*
 * What bench-floor knows before its first launch, out of the jail's own tables.
 */
struct floor {
	int unified_fd, v1_fds[CGROUP_CONTROLLERS];
	int program_fd;
	char name[32], tasks[64]; /* of the control group, of a file in it */
	struct sock_fprog filter;
	struct ids ids;
	struct plan_slice slice;
	struct plan plan;              /* without what this host does not have */
	bool is_folder[PLAN_ROWS_MAX]; /* what is bound or masked is a folder */
	struct mounts_tmpfs tmpfs[PLAN_TMPFS_MAX];
	struct cgroup_knob knobs[CGROUP_KNOBS_MAX];
	char knob_paths[CGROUP_KNOBS_MAX][128]; /* from the v1 folder or from the leaf */
	size_t knob_count;
	struct device_slice devices;
	struct landlock_slice landlock;
	char uid_map[64];
	char *const *command;
};

/* Ends the program where a call has failed. */
long need(long result, const char *what);

/* All but the descriptors, the filter, the ids and the command, which are there already. */
void floor_plan(struct floor *floor);
