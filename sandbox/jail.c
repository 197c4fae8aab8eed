/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/mounts.h"
#include "sandbox/namespaces.h"

/* A jail that is not built by then never will be; unpacking large trees is part of it. */
#define START_MS (120 * 1000)

/* From cgroup.kill to an empty cgroup: only a process stuck in the kernel takes so long. */
#define EMPTY_MS (20 * 1000)

/* How long a kill is given before it is repeated. */
#define AGAIN_MS 100

static int make_cgroup(struct jail *jail, struct err *err)
{
	/* What the payload's jail could not remove; jail_take_lease() has seen to it before that.
	 */
	if (jail->payload == BRIEF_COLLECT && cgroup_reap(jail->host->cgroups, jail->leaf, err) < 0)
		return -1;
	if (cgroup_create(jail->host->cgroups, jail->leaf, &jail->limits, &jail->cgroup, err) < 0)
		return -1;
	jail->without |= jail->cgroup.without;
	return 0;
}

static void drop_cgroup(struct jail *jail)
{
	struct err err = ERR_INIT;

	/* What can not be removed now is reaped by the next taker of the lease. */
	if (cgroup_remove(&jail->cgroup, &err) < 0)
		jail->is_left = true;
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

/* Not in a worker's jail, which is frozen between two calls, and not for our own collector. */
static int make_denied(struct jail *jail, struct err *err)
{
	if (jail->payload != BRIEF_EXECUTE || jail->spec->freezable)
		return 0;
	jail->denied_fd = denied_create(err);
	if (jail->denied_fd < 0)
		return -1;
	jail->denied = denied_map(jail->denied_fd, false, err);
	return jail->denied ? 0 : -1;
}

static void drop_denied(struct jail *jail)
{
	fd_close(&jail->denied_fd);
	denied_unmap(jail->denied);
	jail->denied = NULL;
}

/* The descriptors that pid 1 gets, from BRIEF_MONITOR_FD upwards; sources are borrowed. */
struct handover {
	size_t count;
	int source[2 + BRIEF_JOINS_MAX + 3 + SPEC_FD_COUNT];
};

static int32_t hand(struct handover *handover, int fd)
{
	handover->source[handover->count] = fd;
	return BRIEF_MONITOR_FD + (int32_t) handover->count++;
}

int jail_make_landlock(const struct plan_slice *plan, struct landlock_slice *out, struct err *err)
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

static int check_landlock(struct jail *jail, struct err *err)
{
	if (jail->payload != BRIEF_EXECUTE || landlock_abi() > 0)
		return 0;
	if (!jail->spec->accept_landlock)
		return err_set(err, ERR_HOST,
			       "this kernel has no Landlock, the second wall around the jail's "
			       "files: boot one that has CONFIG_SECURITY_LANDLOCK with 'landlock' "
			       "among the modules of lsm=, or accept to do without: 'landlock' in "
			       "the policy's accept, or proctor jail --accept landlock");
	jail->without |= CGROUP_BIT(SPEC_LIMIT_LANDLOCK);
	return 0;
}

enum seccomp_profile jail_profile(const struct jail_spec *spec)
{
	return spec->freezable ? SECCOMP_PROFILE_WORKER : SECCOMP_PROFILE_PLAIN;
}

uint32_t jail_extra_calls(const struct jail_spec *spec)
{
	return spec->extra_calls | (spec->gpu_count > 0 ? SECCOMP_BIT(SECCOMP_EXTRA_GPU) : 0);
}

/* Most jails have one of the two that are compiled already. */
static int choose_filter(const struct jail *jail, struct seccomp_program *out, struct err *err)
{
	const uint32_t extras = jail_extra_calls(jail->spec);

	if (extras != 0 && jail->payload == BRIEF_EXECUTE)
		return seccomp_compile(jail_profile(jail->spec), extras, out, err);
	*out = jail->spec->freezable ? *jail->host->worker_filter : *jail->host->filter;
	return 0;
}

static void write_brief(const struct jail *jail, const int *joins, size_t join_count,
			struct brief *brief, struct handover *handover)
{
	brief->payload = jail->payload;
	brief->ids = jail->ids;
	brief->spec = *jail->spec;
	memcpy(brief->spec.plan.masks, jail->host->masks, sizeof(brief->spec.plan.masks));
	brief->spec.plan.extras = jail->host->extras;
	for (size_t i = 0; i < join_count; i++)
		brief->join_fd[i] = hand(handover, joins[i]);
	brief->join_count = (uint32_t) join_count;
	brief->given_fd = jail->given_fd >= 0 ? hand(handover, jail->given_fd) : -1;
	brief->devices_fd = jail->devices_fd >= 0 ? hand(handover, jail->devices_fd) : -1;
	brief->denied_fd = jail->denied_fd >= 0 ? hand(handover, jail->denied_fd) : -1;
	brief->refused = *jail->host->refused;
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
	if (jail_make_landlock(&brief->spec.plan, &brief->landlock, err) < 0 ||
	    choose_filter(jail, &brief->filter, err) < 0)
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
void jail_end_processes(struct jail *jail)
{
	struct err err = ERR_INIT;
	auto_fd populated_fd = cgroup_populated_fd(&jail->cgroup, &err);
	struct pollfd events = { .fd = populated_fd, .events = POLLPRI };
	int64_t deadline = clock_after_ms(EMPTY_MS);
	int status;

	while (populated_fd >= 0 && cgroup_is_populated(populated_fd) && clock_now() < deadline) {
		/* Again and again: a fork may have slipped past the last kill on old kernels. */
		best_effort(cgroup_kill(&jail->cgroup, &err));
		poll(&events, 1, AGAIN_MS);
	}
	if (jail->init.pid_fd >= 0)
		best_effort(process_wait(&jail->init, deadline, &status, &err));
	fd_close(&jail->init.pid_fd);
	fd_close(&jail->report_fd);
	fd_close(&jail->payload_fd);
}

/* Why pid 1 has gone without a word. */
static int init_lost(const struct jail *jail, struct err *err)
{
	struct cgroup_usage usage = { 0 };
	struct err ignored = ERR_INIT;

	best_effort(cgroup_usage(&jail->cgroup, &usage, &ignored));
	if (usage.oom_kills == 0)
		return err_set(err, ERR_SYS, "pid 1 died before it said a word");
	return err_set(err, ERR_HOST,
		       "more than %llu MiB of memory were used, and the kernel killed it%s",
		       (unsigned long long) (jail->limits.memory / MIB),
		       jail->payload != BRIEF_COLLECT
			       ? ""
			       : "; an archive in a tmpfs is memory: have it written to a disk");
}

static int wait_for_start(struct jail *jail, struct err *err)
{
	struct pollfd ready[] = {
		{ .fd = jail->report_fd, .events = POLLIN },
		{ .fd = jail->fds->fd[SPEC_FD_CONTROL], .events = POLLIN | POLLRDHUP },
		{ .fd = jail->host->ties.fd, .events = POLLIN },
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
		if (ready[1].revents & (POLLRDHUP | POLLHUP | POLLERR))
			return err_set(err, ERR_SYS, "the client has gone");
		if (ready[2].revents && ties_broken(&jail->host->ties) != TIE_NONE)
			return err_set(err, ERR_SYS, "what the jail was tied to has ended");
		if (!ready[0].revents && clock_now() >= deadline)
			return err_set(err, ERR_INPUT, "it was not ready after %llu ms",
				       (unsigned long long) limit);
		/* A wish for the end waits until there is something to end. */
		ready[1].events = POLLRDHUP;
	}
	got = report_receive(jail->report_fd, &jail->start, &jail->tmpfs, err);
	if (got < 0)
		return -1;
	if (got == 0)
		return init_lost(jail, err);
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
	{ "landlock", check_landlock, NULL },
	{ "cgroup",   make_cgroup,    drop_cgroup },
	{ "devices",  make_devices,   drop_devices },
	{ "denied",   make_denied,    drop_denied },
	{ "pid 1",    start_init,     jail_end_processes },
	{ "start",    wait_for_start, NULL },
};

/* clang-format on */

void jail_take_down(struct jail *jail)
{
	while (jail->built > 0) {
		const struct step *step = &steps[--jail->built];

		if (step->undo)
			step->undo(jail);
	}
}

int jail_build(struct jail *jail, struct err *err)
{
	for (; jail->built < ARRAY_LEN(steps); jail->built++) {
		if (steps[jail->built].apply(jail, err) < 0) {
			err_wrap(err, "jail '%s': %s", jail->spec->name, steps[jail->built].name);
			/* A step that failed half way has what its undo puts right. */
			if (steps[jail->built].undo)
				steps[jail->built].undo(jail);
			jail_take_down(jail);
			return -1;
		}
	}
	return 0;
}

void jail_init(struct jail *jail, const struct jail_host *host, const struct jail_spec *spec,
	       struct spec_fds *fds, const struct lease *lease)
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
		.denied_fd = -1,
	};
	jail_name_leaf(lease->number, jail->leaf, sizeof(jail->leaf));
}
