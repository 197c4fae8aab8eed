/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/message.h"
#include "sandbox/base/process.h"
#include "sandbox/base/syscalls.h"

/*
 * Theory of operation
 *
 * A request is one or two jails in a row under one lease: the payload's, and where the client
 * wants the workspace, a second one in the same uid range that holds nothing but a read-only
 * clone of it and our collector. The clone is what makes the order safe: the first jail is gone
 * (its cgroup empty) before the second is built, and a descriptor that the payload parked in a
 * socket can not write through a mount that it never had.
 *
 * What the client says is received by a child. A message may carry descriptors, whose last close
 * takes as long as the client likes (SO_LINGER, FUSE), and the limits hold meanwhile.
 */

_Static_assert(DENIED_MAX == JAIL_DENIED_MAX, "counters are copied as they are");
_Static_assert((int) IMAGE_DIGEST_SIZE == (int) WIRE_DIGEST_SIZE, "so are digests");

/* What our collector needs: it holds one block at a time. */
#define COLLECT_MEMORY (128 * MIB)

/* --- watching --- */

/* How the end came about, as long as it is open; -1: not decided yet. */
struct watch {
	struct jail *jail;
	int64_t started, ended;
	int64_t wall_deadline, kill_deadline;
	int64_t active;     /* when there was CPU use or output last */
	uint64_t active_us; /* the CPU time of then */
	int decided;        /* enum ending, or -1 */
	int status;         /* the payload's, as from waitpid(2) */
	uint32_t flags;     /* limits that were met so far */
	bool over;          /* pid 1 has said its last word, or has none left */

	struct process reader; /* a child that receives a wish */
	int wish_fd;           /* owned: where it says which; -1: there is none */
};

/* What a reader says. */
struct heard {
	int got; /* as wire_wish() */
	struct wish wish;
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

/* The client has gone, or talks nonsense: its jail goes as well, at once. */
static void on_gone(struct watch *watch)
{
	decide(watch, ENDING_STOPPED, 0);
	watch->kill_deadline = clock_now();
}

/* Holds nothing of the monitor's, whose leases would else be kept as long as this takes. */
no_return static void run_reader(int control_fd, int said_fd)
{
	const unsigned int low = (unsigned int) MIN_OF(control_fd, said_fd);
	const unsigned int high = (unsigned int) MAX_OF(control_fd, said_fd);
	struct heard heard = { .got = -1 };
	struct err ignored = ERR_INIT;

	if (low > 0)
		close_range(0, low - 1, 0);
	if (low + 1 < high)
		close_range(low + 1, high - 1, 0);
	close_range(high + 1, ~0U, 0);
	heard.got = wire_wish(control_fd, &heard.wish, &ignored);
	best_effort(write(said_fd, &heard, sizeof(heard)));
	_exit(0);
}

static void start_reader(struct watch *watch)
{
	struct err ignored = ERR_INIT;
	auto_fd said = -1;
	int pair[2], forked;

	if (pipe2(pair, O_CLOEXEC) < 0) {
		on_gone(watch);
		return;
	}
	watch->wish_fd = pair[0];
	said = pair[1];
	forked = process_fork(&watch->reader, &ignored);
	if (forked == 0)
		run_reader(watch->jail->fds->fd[SPEC_FD_CONTROL], said);
	if (forked < 0)
		on_gone(watch);
}

static void on_client(struct watch *watch, short revents)
{
	if ((revents & ~POLLIN) != 0)
		on_gone(watch);
	else
		start_reader(watch);
}

static void on_heard(struct watch *watch)
{
	struct heard heard = { .got = -1 };
	const bool whole = read(watch->wish_fd, &heard, sizeof(heard)) == (ssize_t) sizeof(heard);

	fd_close(&watch->wish_fd);
	process_kill(&watch->reader);
	if (!whole || heard.got <= 0)
		on_gone(watch);
	else if (heard.wish.output_came)
		watch->active = clock_now();
	else
		decide(watch, heard.wish.ending,
		       heard.wish.ending == ENDING_STOPPED ? watch->jail->spec->time.grace_ms : 0);
}

/* The launcher's end, the client's, or that of the job that the client runs in. */
static void on_ties(struct watch *watch)
{
	enum tie broken = ties_broken(&watch->jail->host->ties);

	if (broken == TIE_NONE)
		return;
	decide(watch, broken == TIE_LAUNCHER ? ENDING_LAUNCHER_LOST : ENDING_STOPPED, 0);
	watch->kill_deadline = clock_now();
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

/*
 * A full tmpfs is no event of the kernel: one that was filled and emptied between two looks is
 * missed.
 */
static void look_at_disks(struct watch *watch)
{
	const struct jail_spec *spec = watch->jail->spec;
	uint32_t full = full_disks(watch->jail);

	watch->flags |= full;
	if (full && spec->ends_on_full)
		decide(watch, ENDING_FULL, spec->time.grace_ms);
}

/* A runtime that waits wakes up now and then: a thousandth of a CPU is no work. */
static void look_for_work(struct watch *watch, uint64_t cpu_us, int64_t now)
{
	const struct time_slice *time = &watch->jail->spec->time;

	if (time->idle_ms == 0)
		return;
	if (cpu_us - watch->active_us > time->idle_ms) { /* microseconds by milliseconds */
		watch->active = now;
		watch->active_us = cpu_us;
	}
	if (now - watch->active >= (int64_t) time->idle_ms * NS_PER_MS)
		decide(watch, ENDING_IDLE, time->grace_ms);
}

static void look_at_usage(struct watch *watch, int64_t now)
{
	const struct time_slice *time = &watch->jail->spec->time;
	struct cgroup_usage usage;
	struct err err = ERR_INIT;

	/* What can not be read now may be at the next tick. */
	if (cgroup_usage(&watch->jail->cgroup, &usage, &err) < 0)
		return;
	/* Memory kills take one process on v1 and the whole group on v2: always the group. */
	if (usage.oom_kills > 0)
		decide(watch, ENDING_OOM, 0);
	if (time->cpu_ms > 0 && usage.cpu_us / 1000 >= time->cpu_ms)
		decide(watch, ENDING_CPU, time->grace_ms);
	look_for_work(watch, usage.cpu_us, now);
}

static void on_tick(struct watch *watch)
{
	int64_t now = clock_now();
	struct err err = ERR_INIT;

	if (now >= watch->wall_deadline)
		decide(watch, ENDING_TIMEOUT, watch->jail->spec->time.grace_ms);
	look_at_usage(watch, now);
	look_at_disks(watch);
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
		{ .fd = watch->jail->fds->fd[SPEC_FD_CONTROL] },
		{ .fd = watch->jail->host->ties.fd, .events = POLLIN },
		{ .events = POLLIN },
	};

	while (!watch->over) {
		int64_t next = MIN_OF(watch->wall_deadline, clock_after_ms(MONITOR_TICK_MS));

		ready[1].events = watch->wish_fd < 0 ? POLLIN | POLLRDHUP : POLLRDHUP;
		ready[3].fd = watch->wish_fd;
		if (watch->decided >= 0)
			next = MIN_OF(clock_after_ms(MONITOR_TICK_MS), watch->kill_deadline);
		if (poll(ready, ARRAY_LEN(ready), clock_poll_ms(next)) < 0)
			continue;
		if (ready[0].revents)
			on_report(watch);
		else if (ready[2].revents)
			on_ties(watch);
		else if (ready[3].revents)
			on_heard(watch);
		else if (ready[1].revents)
			on_client(watch, ready[1].revents);
		if (!watch->over)
			on_tick(watch);
	}
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
	result->flags =
		watch->flags | full_disks(watch->jail) | (usage.pids_hits > 0 ? JAIL_PIDS_HIT : 0);
	result->without = watch->jail->without;
	result->clamped = watch->jail->host->clamped;
	memcpy(result->image, watch->jail->image.digest, sizeof(result->image));
	if (image_has_changed(&watch->jail->image))
		result->flags |= JAIL_IMAGE_CHANGED;
	if (watch->jail->denied)
		memcpy(result->denied, watch->jail->denied->tries, sizeof(result->denied));
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

	struct event event = { .kind = kinds[jail->start.kind], .err = *err };

	memcpy(event.result.image, jail->image.digest, sizeof(event.result.image));
	tell(fds, &event, NULL);
}

static void tell_started(struct jail *jail)
{
	struct started_fds started = { .pid_fd = jail->payload_fd,
				       .freeze_fd = -1,
				       .events_fd = -1 };
	int leaf_fd = cgroup_clone_fd(&jail->cgroup);

	while (started.service_count < jail->services.count) {
		started.service_fd[started.service_count] =
			jail->services.fd[started.service_count];
		started.service_count++;
	}
	if (jail->spec->freezable) {
		started.freeze_fd = openat(leaf_fd, "cgroup.freeze", O_WRONLY | O_CLOEXEC);
		started.events_fd = openat(leaf_fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
	}
	tell(jail->fds, &(struct event){ .kind = EVENT_STARTED }, &started);
	fd_close(&started.freeze_fd);
	fd_close(&started.events_fd);
	message_fds_done(&jail->services); /* a copy of ours would keep a port open */
}

static int collect(struct jail *first, const struct lease *lease, struct err *err)
{
	const struct jail_spec *spec = first->spec;
	struct jail jail;

	if (1 + spec->collect.tmpfs >= first->tmpfs.count)
		return err_set(err, ERR_SYS, "pid 1 sent no clone of the workspace");
	jail_init(&jail, first->host, lease);
	jail_assign(&jail, spec, first->fds);
	jail.payload = BRIEF_COLLECT;
	jail.given_fd = first->tmpfs.fd[1 + spec->collect.tmpfs];
	jail.limits = (struct cgroup_limits){ .memory = COLLECT_MEMORY,
					      .pids = 16,
					      .accept = spec->cgroup.accept };
	if (jail_build(&jail, err) < 0) {
		first->is_left |= jail.is_left;
		return err_wrap(err, "collect the workspace");
	}
	jail_take_down(&jail);
	first->is_left |= jail.is_left;
	jail_let_go(&jail);
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

/*
 * Before the client hears of it, who may ask for the next jail at once: the launcher then knows
 * that this one is over, although this process is not yet.
 */
static void tell_launcher(const struct jail_host *host)
{
	const pid_t self = getpid();
	struct err ignored = ERR_INIT;

	/* A launcher that is dead, or has not read for long, sees us end as well or never. */
	if (host->over_fd >= 0)
		best_effort(message_try_send(host->over_fd, &self, sizeof(self), NULL, &ignored));
}

/* Before the client hears of the end, who may ask for the same GPU at once. */
static void give_gpus_back(const struct jail_host *host)
{
	if (host->gpus)
		gpu_seat_done(host->gpus);
}

/*
 * Nothing is left that the next taker of the lease would have to look for: where the launcher is
 * dead, which would have removed the folder with its last jail, not that either.
 */
static void clear_note(const struct jail_host *host, const struct lease *lease)
{
	struct cgroup_host folder = *host->cgroups;
	struct err ignored = ERR_INIT;

	if (ties_broken(&host->ties) == TIE_LAUNCHER)
		cgroup_host_done(&folder);
	best_effort(lease_note(lease, "", &ignored));
}

/*
 * A process that the kernel does not end (one that waits for a file system of the client's) is as
 * much there as before: it keeps the lease, and its account's place in the ledger.
 */
static void outstay(const struct jail_host *host, const struct jail *jail,
		    const struct lease *lease)
{
	const struct timespec pause = { .tv_sec = 1 };
	struct err ignored = ERR_INIT;

	while (cgroup_reap(host->cgroups, jail->leaf, &ignored) < 0) {
		if (ties_broken(&host->ties) == TIE_LAUNCHER) {
			jail_leave_stuck(lease);
			return;
		}
		nanosleep(&pause, NULL);
	}
	clear_note(host, lease);
}

static int run_jail(struct jail *jail, const struct lease *lease, struct event *last,
		    struct process *reader, struct err *err)
{
	struct watch watch = { .jail = jail, .decided = -1, .reader = PROCESS_INIT, .wish_fd = -1 };

	if (jail_build(jail, err) < 0)
		return -1;
	leave_cpus(jail->spec->cgroup.cpus);
	watch.started = watch.active = clock_now();
	watch.wall_deadline = clock_after_ms(jail->spec->time.wall_ms);
	tell_started(jail);
	watch_payload(&watch);
	fd_close(&watch.wish_fd);
	*reader = watch.reader;
	jail_end_processes(jail);
	fill_result(&watch, &last->result);
	jail_take_down(jail);
	if (!jail->spec->collect.wanted)
		return 0;
	if (collect(jail, lease, err) < 0)
		return -1;
	last->result.collected = 1;
	return 0;
}

void monitor_init(struct monitor *monitor, const struct jail_host *host)
{
	*monitor = (struct monitor){ .host = host, .lease = LEASE_INIT };
}

static int take_lease(struct monitor *monitor, struct err *err)
{
	if (monitor->lease.lock_fd >= 0)
		return 0;
	if (jail_take_lease(monitor->host, &monitor->lease, err) < 0)
		return -1;
	jail_init(&monitor->jail, monitor->host, &monitor->lease);
	return 0;
}

int monitor_prepare(struct monitor *monitor, struct err *err)
{
	return take_lease(monitor, err) < 0 ? -1 : jail_prepare(&monitor->jail, err);
}

int monitor_pid_1(const struct monitor *monitor)
{
	return monitor->lease.lock_fd < 0 ? -1 : monitor->jail.init.pid_fd;
}

void monitor_run(struct monitor *monitor, const struct jail_spec *spec, struct spec_fds *fds)
{
	struct event last = { .kind = EVENT_ENDED };
	struct jail *jail = &monitor->jail;
	struct process reader = PROCESS_INIT;
	struct err err = ERR_INIT;
	int result;

	if (wire_check_fds(fds, &err) < 0 || take_lease(monitor, &err) < 0) {
		err_wrap(&err, "jail '%s'", spec->name);
		tell_launcher(monitor->host);
		tell(fds, &(struct event){ .kind = EVENT_FAILED, .err = err }, NULL);
		monitor_done(monitor);
		return;
	}
	jail_assign(jail, spec, fds);
	result = run_jail(jail, &monitor->lease, &last, &reader, &err);
	if (!jail->is_left) {
		give_gpus_back(monitor->host);
		tell_launcher(monitor->host);
	}
	if (result < 0)
		tell_failure(fds, jail, &err);
	else
		tell(fds, &last, NULL);
	monitor_done(monitor);
	/* One that can not be killed is the account's as long as this process is. */
	process_kill(&reader);
}

void monitor_done(struct monitor *monitor)
{
	if (monitor->lease.lock_fd < 0)
		return;
	jail_take_down(&monitor->jail);
	if (monitor->jail.is_left)
		outstay(monitor->host, &monitor->jail, &monitor->lease);
	else
		clear_note(monitor->host, &monitor->lease);
	jail_let_go(&monitor->jail);
	lease_done(&monitor->lease);
}
