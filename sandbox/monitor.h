/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/jail.h"

/*
 * The monitor: one root process for each jail, which builds it, watches it and takes it down.
 *
 * It reads nothing that the payload wrote: the payload's output goes to the client's pipes, its
 * files leave through the collect jail, and pid 1 reports in records of fixed size.
 */

/* How often limits that raise no event of the kernel are looked at. */
enum { MONITOR_TICK_MS = 100 };

struct monitor {
	const struct jail_host *host; /* borrowed */
	struct lease lease;
	struct jail jail; /* once there is a lease */
};

/**
 * monitor_init() - a monitor that has nothing yet
 */
void monitor_init(struct monitor *monitor, const struct jail_host *host);

/**
 * monitor_prepare() - take a lease and build what is the same for every jail: optional, and before
 * anybody has asked for one
 *
 * After a failure monitor_run() tries again, and tells its client.
 */
int monitor_prepare(struct monitor *monitor, struct err *err) must_check;

/**
 * monitor_pid_1() - the pidfd of the pid 1 that was prepared, borrowed; -1: there is none
 */
int monitor_pid_1(const struct monitor *monitor);

/**
 * monitor_run() - build the jail of @spec, watch it and take it down; tell the client all along
 * @fds: what came with the spec
 *
 * Runs in a process of its own. When it returns, nothing of the jail is left on the host, or the
 * next taker of the same lease clears it. A client that goes away takes its jail along.
 */
void monitor_run(struct monitor *monitor, const struct jail_spec *spec, struct spec_fds *fds);

/**
 * monitor_done() - take down what is there, and give the lease back; for a monitor that was
 * prepared and that nobody needs
 */
void monitor_done(struct monitor *monitor);
