/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/process.h"
#include "sandbox/devices.h"
#include "sandbox/mounts.h"
#include "sandbox/namespaces.h"

/* --- a leaf and its limits --- */

static int open_leaf(struct probe *probe, const struct cgroup_limits *limits, struct cgroup *out,
		     struct err *err)
{
	/* The lease is ours, so whatever has this name belongs to a holder that is dead. */
	if (cgroup_reap(&probe->cgroups, probe->leaf, err) < 0)
		return -1;
	return cgroup_create(&probe->cgroups, probe->leaf, limits, out, err);
}

static int close_leaf(struct cgroup *leaf, int result, struct err *err)
{
	struct err ignored = ERR_INIT;

	/* What was found first is what is told. */
	if (result == 0)
		return cgroup_remove(leaf, err);
	best_effort(cgroup_remove(leaf, &ignored));
	return -1;
}

int probe_cgroups(struct probe *probe, struct trial *trial)
{
	const struct cgroup_limits none = { 0 };
	struct cgroup leaf = CGROUP_INIT;

	if (cgroup_host_open(&probe->cgroups, &trial->err) < 0 ||
	    open_leaf(probe, &none, &leaf, &trial->err) < 0)
		return -1;
	snprintf(trial->found, sizeof(trial->found), "a group in '%s'%s", probe->cgroups.path,
		 probe->cgroups.v1 != 0 ? ", and in v1 hierarchies" : "");
	return close_leaf(&leaf, 0, &trial->err);
}

static bool has_file(const struct cgroup *leaf, const struct cgroup_knob *knob)
{
	char path[128];

	if ((leaf->host->v1 & CGROUP_BIT(knob->controller)) == 0)
		return faccessat(leaf->fd, knob->file, F_OK, 0) == 0;
	snprintf(path, sizeof(path), "%s/%s", leaf->name, knob->file);
	return faccessat(leaf->host->v1_fds[knob->controller], path, F_OK, 0) == 0;
}

/* The files that hold the limit, of those that are optional or of the others. */
static void list_files(const struct cgroup *leaf, const struct cgroup_limits *limits, bool optional,
		       struct trial *trial)
{
	const struct cgroup_host *host = leaf->host;
	struct cgroup_knob knobs[CGROUP_KNOBS_MAX];
	size_t count = cgroup_plan(limits, host->v1, host->mems, knobs), used = 0;

	for (size_t i = 0; i < count; i++) {
		bool v1 = (host->v1 & CGROUP_BIT(knobs[i].controller)) != 0;

		if (knobs[i].optional != optional || used >= sizeof(trial->found))
			continue;
		if (optional && !has_file(leaf, &knobs[i])) {
			trial->result = TRIAL_PARTLY;
			used += (size_t) snprintf(trial->found + used, sizeof(trial->found) - used,
						  "there is no %s (%s)", knobs[i].file,
						  v1 ? "v1" : "v2");
			continue;
		}
		used += (size_t) snprintf(trial->found + used, sizeof(trial->found) - used,
					  "%s%s = %s (%s)", used > 0 ? ", " : "", knobs[i].file,
					  knobs[i].text, v1 ? "v1" : "v2");
	}
}

/* cgroup_create() reads back what it has written. */
static int try_limits(struct probe *probe, const struct cgroup_limits *limits, bool optional,
		      struct trial *trial)
{
	struct cgroup leaf = CGROUP_INIT;

	if (open_leaf(probe, limits, &leaf, &trial->err) < 0)
		return -1;
	list_files(&leaf, limits, optional, trial);
	return close_leaf(&leaf, 0, &trial->err);
}

int probe_memory(struct probe *probe, struct trial *trial)
{
	return try_limits(probe, &(struct cgroup_limits){ .memory = 64 * MIB }, false, trial);
}

int probe_swap(struct probe *probe, struct trial *trial)
{
	return try_limits(probe, &(struct cgroup_limits){ .memory = 64 * MIB }, true, trial);
}

int probe_pids(struct probe *probe, struct trial *trial)
{
	return try_limits(probe, &(struct cgroup_limits){ .pids = 16 }, false, trial);
}

int probe_cpu(struct probe *probe, struct trial *trial)
{
	return try_limits(probe, &(struct cgroup_limits){ .cpu_milli = 1500 }, false, trial);
}

int probe_cpuset(struct probe *probe, struct trial *trial)
{
	struct cgroup_limits limits = { 0 };
	cpu_set_t allowed;
	int last = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return err_sys(&trial->err, "ask for our CPUs");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			last = cpu;
	snprintf(limits.cpus, sizeof(limits.cpus), "%d", last);
	return try_limits(probe, &limits, false, trial);
}

/* --- a process in a leaf --- */

/* In the leaf: joins the v1 groups as pid 1 does, says so, and waits to be killed. */
no_return static void inhabit(const struct cgroup *leaf, int tell_fd)
{
	int joins[CGROUP_CONTROLLERS];
	struct err err = ERR_INIT;
	int count = cgroup_join_fds(leaf, joins, &err);

	alarm(2 * PROBE_PATIENCE_MS / 1000);
	for (int i = 0; i < count; i++)
		if (write(joins[i], "0", 1) < 0)
			count = err_sys(&err, "join a v1 control group");
	if (count < 0)
		probe_tell(tell_fd, &err);
	close(tell_fd);
	for (;;)
		pause();
}

struct inhabited {
	struct cgroup leaf;
	struct process process;
};

/* Ends the process whatever is left of it, and removes the leaf. */
static int end_inhabited(struct inhabited *in, int result, struct err *err)
{
	process_kill(&in->process);
	return close_leaf(&in->leaf, result, err);
}

/*
 * A leaf with a process in it, which stands in new namespaces as a jail's first does.
 * After a failure nothing is left.
 */
static int start_inhabited(struct probe *probe, struct inhabited *out, struct err *err)
{
	const struct cgroup_limits limits = { .pids = 16 };
	auto_fd told = -1, tell = -1;
	int pair[2];

	*out = (struct inhabited){ CGROUP_INIT, PROCESS_INIT };
	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_sys(err, "make a pipe");
	told = pair[0];
	tell = pair[1];
	if (open_leaf(probe, &limits, &out->leaf, err) < 0)
		return -1;
	out->process.pid =
		namespaces_clone_host(cgroup_clone_fd(&out->leaf), 0, &out->process.pid_fd, err);
	if (out->process.pid == 0)
		inhabit(&out->leaf, tell);
	fd_close(&tell);
	if (out->process.pid < 0 || probe_hear(told, err) < 0)
		return end_inhabited(out, -1, err);
	return 0;
}

static int await_frozen(int leaf_fd, const char *wanted, struct err *err)
{
	auto_fd events_fd = openat(leaf_fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
	struct pollfd events = { .fd = events_fd, .events = POLLPRI };
	int64_t deadline = clock_after_ms(PROBE_PATIENCE_MS);
	char text[256];

	if (events_fd < 0)
		return err_host(err, "open 'cgroup.events'");
	for (;;) {
		ssize_t got = pread(events_fd, text, sizeof(text) - 1, 0);

		if (got < 0)
			return err_sys(err, "read 'cgroup.events'");
		text[got] = '\0';
		if (strstr(text, wanted))
			return 0;
		if (clock_now() > deadline)
			return err_set(err, ERR_HOST, "'cgroup.events' does not say '%s'", wanted);
		poll(&events, 1, 10);
	}
}

static int freeze_and_thaw(int leaf_fd, struct err *err)
{
	if (io_write_kernel_file(leaf_fd, "cgroup.freeze", "1", err) < 0 ||
	    await_frozen(leaf_fd, "frozen 1", err) < 0)
		return -1;
	if (io_write_kernel_file(leaf_fd, "cgroup.freeze", "0", err) < 0)
		return -1;
	return await_frozen(leaf_fd, "frozen 0", err);
}

int probe_freeze(struct probe *probe, struct trial *trial)
{
	struct inhabited in;

	if (start_inhabited(probe, &in, &trial->err) < 0)
		return -1;
	snprintf(trial->found, sizeof(trial->found), "cgroup.freeze (v2)");
	return end_inhabited(&in, freeze_and_thaw(in.leaf.fd, &trial->err), &trial->err);
}

static int kill_all(struct inhabited *in, struct err *err)
{
	int status, gone;

	if (cgroup_kill(&in->leaf, err) < 0)
		return -1;
	gone = process_wait(&in->process, clock_after_ms(PROBE_PATIENCE_MS), &status, err);
	return gone == 0 ? err_set(err, ERR_HOST, "'cgroup.kill' ends nothing") : MIN_OF(gone, 0);
}

int probe_kill(struct probe *probe, struct trial *trial)
{
	struct inhabited in;

	if (start_inhabited(probe, &in, &trial->err) < 0)
		return -1;
	snprintf(trial->found, sizeof(trial->found), "cgroup.kill (v2)");
	return end_inhabited(&in, kill_all(&in, &trial->err), &trial->err);
}

/* --- devices --- */

/* The first is every jail's, the second none's: the kernel's log. */
static int make_nodes(int dev_fd, const void *unused, struct err *err)
{
	const struct device_slice slice = {
		.count = 2,
		.devices = {
			{ "null", DEVICE_CHAR, 1, 3, DEVICE_READ | DEVICE_WRITE, 0666 },
			{ "kmsg", DEVICE_CHAR, 1, 11, DEVICE_READ, 0600 },
		},
	};

	(void) unused;
	return devices_make_nodes(dev_fd, &slice, err);
}

int probe_nodes(struct probe *probe, struct trial *trial)
{
	snprintf(trial->found, sizeof(trial->found), "a tmpfs that is nowhere mounted, and mknod");
	probe->nodes_fd = mounts_new_devices(make_nodes, NULL, &trial->err);
	return probe->nodes_fd < 0 ? -1 : 0;
}

static int open_nodes(struct probe *probe, struct err *err)
{
	auto_fd null_fd = openat(probe->nodes_fd, "null", O_RDWR | O_CLOEXEC), kmsg_fd = -1;

	if (null_fd < 0)
		return err_host(err,
				"open a device that the program allows; a v1 devices group above "
				"may refuse it");
	kmsg_fd = openat(probe->nodes_fd, "kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (kmsg_fd >= 0 || errno != EPERM)
		return err_set(err, ERR_HOST,
			       "a device that the program does not allow could be opened");
	return 0;
}

/* In a child, which moves into the leaf and leaves it by its end. */
static int open_guarded(struct probe *probe, struct err *err)
{
	auto_fd leaf_fd =
		openat(probe->cgroups.unified_fd, probe->leaf, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct device_slice slice;

	if (leaf_fd < 0)
		return err_sys(err, "open control group '%s'", probe->leaf);
	devices_base(&slice);
	if (devices_attach(leaf_fd, &slice, err) < 0 ||
	    io_write_kernel_file(leaf_fd, "cgroup.procs", "0", err) < 0)
		return -1;
	return open_nodes(probe, err);
}

int probe_devices(struct probe *probe, struct trial *trial)
{
	const struct cgroup_limits none = { 0 };
	struct cgroup leaf = CGROUP_INIT;
	struct device_slice slice;
	auto_fd program_fd = -1;

	if (probe->nodes_fd < 0) {
		devices_base(&slice);
		program_fd = devices_load(&slice, &trial->err);
		if (program_fd < 0)
			return -1;
		trial->result = TRIAL_UNTRIED;
		best_effort(err_set(&trial->err, ERR_HOST,
				    "it takes device nodes, and there are none"));
		return 0;
	}
	if (open_leaf(probe, &none, &leaf, &trial->err) < 0)
		return -1;
	snprintf(trial->found, sizeof(trial->found), "a BPF program on the v2 group");
	return close_leaf(&leaf, probe_apart(open_guarded, probe, &trial->err), &trial->err);
}
