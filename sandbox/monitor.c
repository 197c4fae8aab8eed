/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/process.h"
#include "sandbox/base/syscalls.h"
#include "sandbox/handshake.h"
#include "sandbox/lease.h"
#include "sandbox/mounts.h"
#include "sandbox/namespaces.h"

/*
 * Theory of operation
 *
 * A request is one or two jails in a row under one lease: the payload's, and where the client
 * wants the workspace, a second one in the same uid range that holds nothing but a read-only
 * clone of it and our collector. The clone is what makes the order safe: the first jail is gone
 * (its cgroup empty) before the second is built, and a descriptor that the payload parked in a
 * socket can not write through a mount that it never had.
 *
 * A jail is built by the table of steps below. A step that leaves something on the host has an
 * undo; undoing runs bottom to top and is the same after success and after failure.
 */

/* A jail that is not built by then never will be; unpacking large trees is part of it. */
#define START_MS (120 * 1000)

/* From cgroup.kill to an empty cgroup: only a process stuck in the kernel takes so long. */
#define EMPTY_MS (20 * 1000)

/* How often limits that raise no event are looked at. */
#define TICK_MS 100

/* What our collector needs: it holds one block at a time. */
#define COLLECT_MEMORY (128 * MIB)

struct jail {
	const struct monitor_host *host;
	const struct jail_spec *spec;
	struct spec_fds *fds; /* borrowed */
	enum brief_payload payload;
	struct ids ids;
	char leaf[64]; /* the cgroup's name */
	struct cgroup_limits limits;

	size_t built; /* steps that were applied */
	struct cgroup cgroup;
	struct process init;
	int report_fd;            /* pid 1 talks here */
	int payload_fd;           /* the payload's pidfd */
	int given_fd;             /* borrowed: the frozen tree, for BRIEF_COLLECT */
	int devices_fd;           /* the mount that becomes /dev */
	struct report start;      /* what pid 1 said first */
	struct message_fds tmpfs; /* a read-only clone of each */
};

static int make_cgroup(struct jail *jail, struct err *err)
{
	/* The lease is ours, so whatever has this name belongs to a holder that is dead. */
	if (cgroup_reap(jail->host->cgroups, jail->leaf, err) < 0)
		return -1;
	return cgroup_create(jail->host->cgroups, jail->leaf, &jail->limits, &jail->cgroup, err);
}

static void drop_cgroup(struct jail *jail)
{
	struct err err = ERR_INIT;

	/* What can not be removed now is reaped by the next taker of the lease. */
	best_effort(cgroup_remove(&jail->cgroup, &err));
}

static int make_nodes(int dev_fd, const void *devices, struct err *err)
{
	return devices_make_nodes(dev_fd, devices, err);
}

static int make_devices(struct jail *jail, struct err *err)
{
	if (jail->payload == BRIEF_EXECUTE) {
		jail->devices_fd = mounts_new_devices(make_nodes, jail->host->devices, err);
		if (jail->devices_fd < 0)
			return -1;
	}
	return devices_guard(cgroup_clone_fd(&jail->cgroup), jail->host->devices_fd, err);
}

static void drop_devices(struct jail *jail)
{
	fd_close(&jail->devices_fd); /* the program on the cgroup goes with the cgroup */
}

/* The descriptors that pid 1 gets, from BRIEF_MONITOR_FD upwards; sources are borrowed. */
struct handover {
	size_t count;
	int source[2 + BRIEF_JOINS_MAX + 2 + SPEC_FD_COUNT];
};

static int32_t hand(struct handover *handover, int fd)
{
	handover->source[handover->count] = fd;
	return BRIEF_MONITOR_FD + (int32_t) handover->count++;
}

/* The second wall behind the mounts: where a jail may write at all, and ioctl at all. */
static int make_landlock(const struct plan_slice *plan, struct landlock_slice *out, struct err *err)
{
	if (landlock_add(out, "/", LANDLOCK_READ_EXEC, err) < 0 ||
	    landlock_add(out, "/proc", LANDLOCK_OWN_PROC, err) < 0 ||
	    landlock_add(out, "/dev", LANDLOCK_DEVICE, err) < 0)
		return -1;
	for (size_t i = 0; i < plan->tmpfs_count; i++)
		if (landlock_add(out, plan->tmpfs[i].path, LANDLOCK_WRITE, err) < 0)
			return -1;
	return 0;
}

static void write_brief(const struct jail *jail, const int *joins, size_t join_count,
			struct brief *brief, struct handover *handover)
{
	brief->payload = jail->payload;
	brief->ids = jail->ids;
	brief->filter = *jail->host->filter;
	brief->spec = *jail->spec;
	memcpy(brief->spec.plan.masks, jail->host->masks, sizeof(brief->spec.plan.masks));
	for (size_t i = 0; i < join_count; i++)
		brief->join_fd[i] = hand(handover, joins[i]);
	brief->join_count = (uint32_t) join_count;
	brief->given_fd = jail->given_fd >= 0 ? hand(handover, jail->given_fd) : -1;
	brief->devices_fd = jail->devices_fd >= 0 ? hand(handover, jail->devices_fd) : -1;
	for (int role = 0; role < SPEC_FD_COUNT; role++) {
		bool wanted = jail->payload == BRIEF_COLLECT
				    ? role == SPEC_FD_COLLECT
				    : role != SPEC_FD_CONTROL && role != SPEC_FD_COLLECT;

		brief->fd[role] = -1;
		if (wanted && jail->fds->fd[role] >= 0)
			brief->fd[role] = hand(handover, jail->fds->fd[role]);
	}
}

/*
 * In the clone: moves the descriptors to their numbers and becomes pid 1. Sources and targets may
 * overlap, so all sources move out of the way first.
 */
static int become_init(const struct handover *handover, int image_fd, struct err *err)
{
	enum { ASIDE = 256 };
	const unsigned int end = BRIEF_MONITOR_FD + (unsigned int) handover->count;
	static char *const no_strings[] = { NULL };
	int image = fcntl(image_fd, F_DUPFD_CLOEXEC, ASIDE);
	int moved[ARRAY_LEN(handover->source)];

	if (image < 0)
		return err_sys(err, "move the program of pid 1");
	for (size_t i = 0; i < handover->count; i++) {
		moved[i] = fcntl(handover->source[i], F_DUPFD_CLOEXEC, ASIDE);
		if (moved[i] < 0)
			return err_sys(err, "move descriptor %d", handover->source[i]);
	}
	for (size_t i = 0; i < handover->count; i++)
		if (dup2(moved[i], BRIEF_MONITOR_FD + (int) i) < 0)
			return err_sys(err, "place descriptor %zu", i);
	if (close_range(3, BRIEF_MONITOR_FD - 1, 0) < 0 ||
	    close_range(end, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		return err_sys(err, "close the other descriptors");
	execveat(image, "", no_strings, no_strings, AT_EMPTY_PATH);
	return err_sys(err, "execute pid 1");
}

no_return static void run_init(const struct handover *handover, int image_fd)
{
	struct report report = { .kind = REPORT_FAILED };
	struct err ignored = ERR_INIT;

	best_effort(become_init(handover, image_fd, &report.err));
	/* The monitor sees the socket close if not even this arrives. */
	best_effort(report_send(handover->source[0], &report, NULL, &ignored));
	_exit(1);
}

static int start_init(struct jail *jail, struct err *err)
{
	cleanup(mem_free) struct brief *brief = mem_alloc(1, sizeof(*brief));
	cleanup(message_fds_done) struct message_fds joins = MESSAGE_FDS_INIT;
	struct handover handover = { .count = 0 };
	auto_fd brief_fd = -1, theirs = -1;
	int pair[2], count;
	pid_t pid;

	if (message_pair(pair, err) < 0)
		return -1;
	jail->report_fd = pair[0];
	theirs = pair[1];
	count = cgroup_join_fds(&jail->cgroup, joins.fd, err);
	if (count < 0)
		return -1;
	joins.count = (size_t) count;
	hand(&handover, theirs);
	hand(&handover, -1); /* BRIEF_FD, which does not exist yet */
	write_brief(jail, joins.fd, joins.count, brief, &handover);
	if (make_landlock(&brief->spec.plan, &brief->landlock, err) < 0)
		return -1;
	brief_fd = io_memfd("proctor-brief", brief, sizeof(*brief), err);
	if (brief_fd < 0)
		return -1;
	handover.source[1] = brief_fd;
	pid = namespaces_clone_host(cgroup_clone_fd(&jail->cgroup), &jail->init.pid_fd, err);
	if (pid == 0)
		run_init(&handover, jail->host->image_fd);
	if (pid < 0)
		return -1;
	jail->init.pid = pid;
	return 0;
}

/*
 * Ends every process of the jail and waits until the kernel says that none is left. May be called
 * again.
 */
static void end_processes(struct jail *jail)
{
	struct err err = ERR_INIT;
	auto_fd populated_fd = cgroup_populated_fd(&jail->cgroup, &err);
	struct pollfd events = { .fd = populated_fd, .events = POLLPRI };
	int64_t deadline = clock_after_ms(EMPTY_MS);
	int status;

	while (populated_fd >= 0 && cgroup_is_populated(populated_fd) && clock_now() < deadline) {
		/* Again and again: a fork may have slipped past the last kill on old kernels. */
		best_effort(cgroup_kill(&jail->cgroup, &err));
		poll(&events, 1, TICK_MS);
	}
	if (jail->init.pid_fd >= 0)
		best_effort(process_wait(&jail->init, deadline, &status, &err));
	fd_close(&jail->init.pid_fd);
	fd_close(&jail->report_fd);
	fd_close(&jail->payload_fd);
}

static int wait_for_start(struct jail *jail, struct err *err)
{
	struct pollfd ready[] = {
		{ .fd = jail->report_fd, .events = POLLIN },
		{ .fd = jail->fds->fd[SPEC_FD_CONTROL], .events = POLLIN },
	};
	uint64_t limit = START_MS;
	int64_t deadline;
	int got;

	if (jail->payload == BRIEF_COLLECT)
		limit = jail->spec->collect.wall_ms; /* it reports when it has finished */
	deadline = clock_after_ms(limit);
	while (!(ready[0].revents)) {
		if (poll(ready, ARRAY_LEN(ready), clock_poll_ms(deadline)) < 0 && errno != EINTR)
			return err_sys(err, "wait for pid 1");
		if (ready[1].revents & (POLLHUP | POLLERR))
			return err_set(err, ERR_SYS, "the client has gone");
		if (!ready[0].revents && clock_now() >= deadline)
			return err_set(err, ERR_INPUT, "it was not ready after %llu ms",
				       (unsigned long long) limit);
		ready[1].events = 0; /* a wish for the end waits until there is something to end */
	}
	got = report_receive(jail->report_fd, &jail->start, &jail->tmpfs, err);
	if (got < 0)
		return -1;
	if (got == 0)
		return err_set(err, ERR_SYS, "pid 1 died before it said a word");
	if (jail->start.kind != REPORT_STARTED) {
		*err = jail->start.err;
		return -1;
	}
	if (jail->tmpfs.count < 1)
		return err_set(err, ERR_SYS, "pid 1 forgot the payload's pidfd");
	jail->payload_fd = fd_take(&jail->tmpfs.fd[0]);
	return 0;
}

/* clang-format off */

/*
 * The host side of a jail, in order. A step may rely on those above it and on nothing else; a step
 * that leaves something on the host has an undo.
 */
static const struct step {
	const char *name;
	int (*apply)(struct jail *jail, struct err *err);
	void (*undo)(struct jail *jail);
} steps[] = {
	{ "cgroup",  make_cgroup,    drop_cgroup },
	{ "devices", make_devices,   drop_devices },
	{ "pid 1",   start_init,     end_processes },
	{ "start",   wait_for_start, NULL },
};

/* clang-format on */

static void take_down(struct jail *jail)
{
	while (jail->built > 0) {
		const struct step *step = &steps[--jail->built];

		if (step->undo)
			step->undo(jail);
	}
}

static int build(struct jail *jail, struct err *err)
{
	for (; jail->built < ARRAY_LEN(steps); jail->built++) {
		if (steps[jail->built].apply(jail, err) < 0) {
			err_wrap(err, "jail '%s': %s", jail->spec->name, steps[jail->built].name);
			/* A step that failed half way has what its undo puts right. */
			if (steps[jail->built].undo)
				steps[jail->built].undo(jail);
			take_down(jail);
			return -1;
		}
	}
	return 0;
}

static void jail_init(struct jail *jail, const struct monitor_host *host,
		      const struct jail_spec *spec, struct spec_fds *fds, const struct lease *lease)
{
	*jail = (struct jail){
		.host = host,
		.spec = spec,
		.fds = fds,
		.payload = BRIEF_EXECUTE,
		.ids = { .base = host->range_base + lease->number * IDS_RANGE },
		.limits = spec->cgroup,
		.cgroup = CGROUP_INIT,
		.init = PROCESS_INIT,
		.report_fd = -1,
		.payload_fd = -1,
		.given_fd = -1,
		.devices_fd = -1,
	};
	snprintf(jail->leaf, sizeof(jail->leaf), "uids-%04u", lease->number);
}

/* --- watching --- */

/* How the end came about, as long as it is open; -1: not decided yet. */
struct watch {
	struct jail *jail;
	int64_t started, ended;
	int64_t wall_deadline, kill_deadline;
	int decided; /* enum ending, or -1 */
	int status;  /* the payload's, as from waitpid(2) */
	bool over;   /* pid 1 has said its last word, or has none left */
};

/* Asks the payload to end, and makes sure that it will. */
static void decide(struct watch *watch, enum ending ending, uint64_t grace_ms)
{
	if (watch->decided >= 0)
		return;
	watch->decided = (int) ending;
	watch->kill_deadline = clock_after_ms(grace_ms);
	if (grace_ms > 0)
		sys_pidfd_send_signal(watch->jail->payload_fd, SIGTERM);
}

static void on_report(struct watch *watch)
{
	struct report report;
	struct err err = ERR_INIT;

	if (report_receive(watch->jail->report_fd, &report, NULL, &err) > 0 &&
	    report.kind == REPORT_ENDED)
		watch->status = report.status;
	else
		watch->status = SIGKILL; /* pid 1 was killed, and the payload with it */
	watch->ended = clock_now();
	watch->over = true;
}

static void on_client(struct watch *watch)
{
	struct err err = ERR_INIT;
	enum ending wish;

	if (wire_ending_asked(watch->jail->fds->fd[SPEC_FD_CONTROL], &wish, &err) > 0) {
		decide(watch, wish, wish == ENDING_STOPPED ? watch->jail->spec->time.grace_ms : 0);
		return;
	}
	/* The client has gone, or talks nonsense: its jail goes as well, at once. */
	decide(watch, ENDING_STOPPED, 0);
	watch->kill_deadline = clock_now();
}

static void on_tick(struct watch *watch)
{
	const struct jail_spec *spec = watch->jail->spec;
	int64_t now = clock_now();
	struct cgroup_usage usage;
	struct err err = ERR_INIT;

	if (now >= watch->wall_deadline)
		decide(watch, ENDING_TIMEOUT, spec->time.grace_ms);
	if (cgroup_usage(&watch->jail->cgroup, &usage, &err) == 0) {
		/* Memory kills take one process on v1 and the whole group on v2: always the group.
		 */
		if (usage.oom_kills > 0)
			decide(watch, ENDING_OOM, 0);
		if (spec->time.cpu_ms > 0 && usage.cpu_us / 1000 >= spec->time.cpu_ms)
			decide(watch, ENDING_CPU, spec->time.grace_ms);
	}
	if (watch->decided >= 0 && now >= watch->kill_deadline) {
		best_effort(cgroup_kill(&watch->jail->cgroup, &err));
		watch->ended = now;
		watch->over = true;
	}
}

static void watch_payload(struct watch *watch)
{
	struct pollfd ready[] = {
		{ .fd = watch->jail->report_fd, .events = POLLIN },
		{ .fd = watch->jail->fds->fd[SPEC_FD_CONTROL], .events = POLLIN },
	};

	while (!watch->over) {
		int64_t next = MIN_OF(watch->wall_deadline, clock_after_ms(TICK_MS));

		if (watch->decided >= 0)
			next = MIN_OF(clock_after_ms(TICK_MS), watch->kill_deadline);
		if (poll(ready, ARRAY_LEN(ready), clock_poll_ms(next)) < 0)
			continue;
		if (ready[0].revents)
			on_report(watch);
		else if (ready[1].revents)
			on_client(watch);
		if (!watch->over)
			on_tick(watch);
	}
}

static uint32_t full_disks(const struct jail *jail)
{
	uint32_t flags = 0;

	for (size_t i = 1; i < jail->tmpfs.count; i++) {
		struct statfs state;

		if (fstatfs(jail->tmpfs.fd[i], &state) < 0)
			continue;
		if (state.f_bfree == 0)
			flags |= JAIL_DISK_FULL;
		if (state.f_ffree == 0)
			flags |= JAIL_INODES_FULL;
	}
	return flags;
}

static void fill_result(const struct watch *watch, struct jail_result *result)
{
	struct cgroup_usage usage = { 0 };
	struct err err = ERR_INIT;
	int decided = watch->decided;

	/* A figure that can not be read stays 0; every limit was enforced all the same. */
	best_effort(cgroup_usage(&watch->jail->cgroup, &usage, &err));
	if (decided < 0 && usage.oom_kills > 0)
		decided = ENDING_OOM;
	result->wall_ns = watch->ended - watch->started;
	result->cpu_us = usage.cpu_us;
	result->memory_peak = usage.memory_peak;
	result->pids_peak = usage.pids_peak;
	result->flags = full_disks(watch->jail) | (usage.pids_hits > 0 ? JAIL_PIDS_HIT : 0);
	if (decided >= 0) {
		result->ending = (uint32_t) decided;
	} else if ((watch->status & 0x7f) == 0) {
		result->ending = ENDING_EXITED;
		result->code = (watch->status >> 8) & 0xff;
	} else {
		result->ending = ENDING_SIGNALED;
		result->code = watch->status & 0x7f;
	}
}

/* --- a request, from the lease to the last event --- */

static void tell(struct spec_fds *fds, const struct event *event, const struct started_fds *started)
{
	struct err ignored = ERR_INIT;

	/* A client that is not there any more needs no answer. */
	best_effort(wire_tell(fds->fd[SPEC_FD_CONTROL], event, started, &ignored));
}

static void tell_failure(struct spec_fds *fds, const struct jail *jail, const struct err *err)
{
	static const uint32_t kinds[] = {
		[REPORT_NOT_FOUND] = EVENT_NOT_FOUND,
		[REPORT_NOT_EXECUTABLE] = EVENT_NOT_EXECUTABLE,
		[REPORT_FAILED] = EVENT_FAILED,
		[REPORT_STARTED] = EVENT_FAILED,
	};

	tell(fds, &(struct event){ .kind = kinds[jail->start.kind], .err = *err }, NULL);
}

static void tell_started(const struct jail *jail)
{
	struct started_fds started = { .pid_fd = jail->payload_fd,
				       .freeze_fd = -1,
				       .events_fd = -1 };
	int leaf_fd = cgroup_clone_fd(&jail->cgroup);

	if (jail->spec->freezable) {
		started.freeze_fd = openat(leaf_fd, "cgroup.freeze", O_WRONLY | O_CLOEXEC);
		started.events_fd = openat(leaf_fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
	}
	tell(jail->fds, &(struct event){ .kind = EVENT_STARTED }, &started);
	fd_close(&started.freeze_fd);
	fd_close(&started.events_fd);
}

static int collect(struct jail *first, const struct lease *lease, struct err *err)
{
	const struct jail_spec *spec = first->spec;
	struct jail jail;

	if (1 + spec->collect.tmpfs >= first->tmpfs.count)
		return err_set(err, ERR_SYS, "pid 1 sent no clone of the workspace");
	jail_init(&jail, first->host, spec, first->fds, lease);
	jail.payload = BRIEF_COLLECT;
	jail.given_fd = first->tmpfs.fd[1 + spec->collect.tmpfs];
	jail.limits = (struct cgroup_limits){ .memory = COLLECT_MEMORY, .pids = 16 };
	if (build(&jail, err) < 0)
		return err_wrap(err, "collect the workspace");
	take_down(&jail);
	message_fds_done(&jail.tmpfs);
	return 0;
}

/*
 * Where the spec names CPUs for the jail, this process keeps off them: a jail whose calls are
 * timed shares its CPU with nobody. Not before it is built: pid 1 would inherit that.
 */
static void leave_cpus(const char *cpus)
{
	cpu_set_t allowed, rest;
	const char *at = cpus;

	if (cpus[0] == '\0' || sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return;
	rest = allowed;
	while (*at) {
		char *end;
		unsigned long first = strtoul(at, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
			CPU_CLR(cpu, &rest);
		at = *end == ',' ? end + 1 : "";
	}
	/* On a host with no other CPU there is nowhere to go. */
	if (CPU_COUNT(&rest) > 0)
		sched_setaffinity(0, sizeof(rest), &rest);
}

static int run_jail(struct jail *jail, const struct lease *lease, struct event *last,
		    struct err *err)
{
	struct watch watch = { .jail = jail, .decided = -1 };

	if (build(jail, err) < 0)
		return -1;
	leave_cpus(jail->spec->cgroup.cpus);
	watch.started = clock_now();
	watch.wall_deadline = clock_after_ms(jail->spec->time.wall_ms);
	tell_started(jail);
	watch_payload(&watch);
	end_processes(jail);
	fill_result(&watch, &last->result);
	take_down(jail);
	if (!jail->spec->collect.wanted)
		return 0;
	if (collect(jail, lease, err) < 0)
		return -1;
	last->result.collected = 1;
	return 0;
}

void monitor_run(const struct monitor_host *host, const struct jail_spec *spec,
		 struct spec_fds *fds)
{
	cleanup(lease_done) struct lease lease = LEASE_INIT;
	struct event last = { .kind = EVENT_ENDED };
	struct err err = ERR_INIT;
	struct jail jail;

	if (lease_take(host->state_fd, "uids", host->range_count, &lease, &err) < 0) {
		tell(fds, &(struct event){ .kind = EVENT_FAILED, .err = err }, NULL);
		return;
	}
	jail_init(&jail, host, spec, fds, &lease);
	if (run_jail(&jail, &lease, &last, &err) < 0)
		tell_failure(fds, &jail, &err);
	else
		tell(fds, &last, NULL);
	message_fds_done(&jail.tmpfs);
}
