/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/base/err.h"
#include "sandbox/cgroup.h"
#include "sandbox/lease.h"
#include "sandbox/site.h"
#include "sandbox/trial.h"

/*
 * Tries on this host what a launcher and its jails do, and puts back whatever it changed
 *
 * Each trial uses the mechanism's own functions, so that it fails where a jail would fail, with
 * the same words. It runs under a lease of a uid range, and its control group has the name that
 * goes with it: what a killed probe leaves is removed by the next launcher. Nothing is read but
 * the kernel's files, and nothing is taken from anybody.
 */

/**
 * probe_host() - try everything in the order of enum trial_kind and send a record for each
 * @socket_fd: SOCK_SEQPACKET
 *
 * What needs root is TRIAL_UNTRIED for others. An error is only that a record could not be sent.
 */
int probe_host(int socket_fd, struct err *err) must_check;

/* -- between probe.c and probe_cgroups.c -- */

/* Whatever takes longer does not work. */
#define PROBE_PATIENCE_MS 5000

struct probe {
	struct site site;           /* what this host permits */
	struct lease lease;         /* held all the time */
	char leaf[64];              /* the control group that goes with it */
	struct cgroup_host cgroups; /* from probe_cgroups() on */
	int nodes_fd;               /* from probe_nodes() on: a detached mount with device nodes */
};

/**
 * probe_apart() - make an attempt in a child, for what can not be taken back
 *
 * Return: 0, or -1 with the child's own error.
 */
int probe_apart(int (*attempt)(struct probe *probe, struct err *err), struct probe *probe,
		struct err *err) must_check;

/**
 * probe_tell() - in a child whose attempt has failed: write @err to a pipe, in one atomic write
 */
void probe_tell(int pipe_fd, const struct err *err);

/**
 * probe_hear() - in its parent: wait until the child has closed the pipe, with or without an error
 *
 * Return: 0 if it said nothing, -1 with the child's own error.
 */
int probe_hear(int pipe_fd, struct err *err) must_check;

/*
 * Each of the following makes one trial: 0 with trial->found, and trial->result where that is not
 * TRIAL_WORKS; or -1 with trial->err. The leaf is gone afterwards.
 */

/**
 * probe_cgroups() - find our place, and make a leaf
 */
int probe_cgroups(struct probe *probe, struct trial *trial) must_check;

/**
 * probe_memory() - a leaf whose memory is limited
 */
int probe_memory(struct probe *probe, struct trial *trial) must_check;

/**
 * probe_swap() - the same, for the files that a kernel need not have
 */
int probe_swap(struct probe *probe, struct trial *trial) must_check;

/**
 * probe_pids() - a leaf whose processes are limited
 */
int probe_pids(struct probe *probe, struct trial *trial) must_check;

/**
 * probe_cpu() - a leaf whose CPU time is limited
 */
int probe_cpu(struct probe *probe, struct trial *trial) must_check;

/**
 * probe_cpuset() - a leaf with one CPU
 */
int probe_cpuset(struct probe *probe, struct trial *trial) must_check;

/**
 * probe_freeze() - stop a process in a leaf, and let it go on
 */
int probe_freeze(struct probe *probe, struct trial *trial) must_check;

/**
 * probe_kill() - end the process in a leaf
 */
int probe_kill(struct probe *probe, struct trial *trial) must_check;

/**
 * probe_nodes() - make probe->nodes_fd: "null", and "kmsg", which no jail may open
 */
int probe_nodes(struct probe *probe, struct trial *trial) must_check;

/**
 * probe_devices() - open both in a leaf that the device program guards; without nodes the program
 * is only loaded
 */
int probe_devices(struct probe *probe, struct trial *trial) must_check;
