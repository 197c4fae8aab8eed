/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/brief.h"
#include "sandbox/cgroup.h"
#include "sandbox/devices.h"
#include "sandbox/wire.h"

/*
 * The monitor: one root process for each jail, which builds it, watches it and takes it down.
 *
 * It reads nothing that the payload wrote: the payload's output goes to the client's pipes, its
 * files leave through the collect jail, and pid 1 reports in records of fixed size.
 */

/* What all monitors share; the launcher prepares it once. */
struct monitor_host {
	const struct cgroup_host *cgroups;
	const struct seccomp_program *filter;
	const struct device_slice *devices;
	int devices_fd;      /* the BPF program that allows exactly these */
	int image_fd;        /* the program of pid 1: a sealed memfd */
	int state_fd;        /* the folder of the leases */
	uint32_t range_base; /* first host id of the uid ranges */
	uint32_t range_count;
	char masks[PLAN_MASKS_MAX][256]; /* proctor's own folders */
};

/**
 * monitor_run() - build the jail of @spec, watch it and take it down; tell the client all along
 * @fds: what came with the spec
 *
 * Runs in a process of its own. When it returns, nothing of the jail is left on the host, or the
 * next taker of the same lease clears it. A client that goes away takes its jail along.
 */
void monitor_run(const struct monitor_host *host, const struct jail_spec *spec,
		 struct spec_fds *fds);
