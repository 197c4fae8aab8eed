/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/syscalls.h"
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
	return cgroup_make(jail->host->cgroups, jail->leaf, &jail->cgroup, err);
}

static int set_limits(struct jail *jail, struct err *err)
{
	if (cgroup_limit(&jail->cgroup, &jail->limits, err) < 0)
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

/* Before it starts a client has nothing to say but that it wants the end. */
static bool is_wanted(const void *context)
{
	const struct jail *jail = context;
	struct pollfd client = { .fd = jail->fds->fd[SPEC_FD_CONTROL],
				 .events = POLLIN | POLLRDHUP };

	return poll(&client, 1, 0) <= 0 && ties_broken(&jail->host->ties) == TIE_NONE;
}

static int take_image(struct jail *jail, struct err *err)
{
	const struct jail_host *host = jail->host;
	const struct plan_slice *plan = &jail->spec->plan;
	const struct image_wish wish = { is_wanted, jail };

	if (jail->payload != BRIEF_EXECUTE || plan->root != PLAN_ROOT_IMAGE)
		return 0;
	if (!host->image)
		return err_set(err, ERR_SYS, "an image that is not listed came this far");
	if (image_take(host->shelf_fd, host->state_fd, host->image, &wish, &jail->image, err) < 0)
		return -1;
	if (plan->content[0] != '\0' && strcmp(plan->content, jail->image.digest) != 0)
		return err_set(
			err, ERR_HOST,
			"'%s', '%s' is another one than was asked for: its SHA-256 is %s, and "
			"should be %s: put that one back",
			plan->image, host->image->path,
			jail->image.digest[0] ? jail->image.digest : "not known, of a folder",
			plan->content);
	for (size_t i = 0; i < plan->tmpfs_count; i++)
		if (strcmp(plan->tmpfs[i].path, "/") == 0 &&
		    image_map(jail->image.mount_fd, jail->ids.base, IDS_PAYLOAD, err) < 0)
			return err_wrap(err, "'%s'", plan->image);
	return 0;
}

static void drop_image(struct jail *jail)
{
	image_done(&jail->image);
}

/* Before anything of it can use them. */
static int note_gpus(struct jail *jail, struct err *err)
{
	const struct gpu_seat *gpus = jail->host->gpus;

	return gpus ? gpu_seat_note(gpus, jail->init.pid, err) : 0;
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

/* The descriptors that go with the brief, and the brief itself first; all are borrowed. */
_Static_assert(1 + BRIEF_JOINS_MAX + 4 + SPEC_FD_COUNT <= MESSAGE_MAX_FDS, "one message does");

static int32_t hand(struct message_fds *handover, int fd)
{
	handover->fd[handover->count] = fd;
	return BRIEF_FD + (int32_t) handover->count++;
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

static void write_brief(const struct jail *jail, const int *joins, size_t join_count,
			struct brief *brief, struct message_fds *handover)
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
	brief->image_fd = jail->image.mount_fd >= 0 ? hand(handover, jail->image.mount_fd) : -1;
	brief->denied_fd = jail->denied_fd >= 0 ? hand(handover, jail->denied_fd) : -1;
	brief->refused = *jail->host->refused;
	seccomp_filter(jail_profile(jail->spec),
		       jail->payload == BRIEF_EXECUTE ? jail_extra_calls(jail->spec) : 0,
		       &brief->filter);
	for (int role = 0; role < SPEC_FD_COUNT; role++) {
		bool wanted = jail->payload == BRIEF_COLLECT
				    ? role == SPEC_FD_COLLECT
				    : role != SPEC_FD_CONTROL && role != SPEC_FD_COLLECT;

		brief->fd[role] = -1;
		if (wanted && jail->fds->fd[role] >= 0)
			brief->fd[role] = hand(handover, jail->fds->fd[role]);
	}
}

/* In the clone: becomes pid 1, with the monitor's socket and nothing else of ours. */
static int become_init(int socket_fd, int image_fd, struct err *err)
{
	enum { ASIDE = BRIEF_MONITOR_FD + 1 };
	static char *const no_strings[] = { NULL };
	/* One of them may be where the socket goes. */
	int image = fcntl(image_fd, F_DUPFD_CLOEXEC, ASIDE);
	int moved = fcntl(socket_fd, F_DUPFD_CLOEXEC, ASIDE);

	if (image < 0 || moved < 0 || dup2(moved, BRIEF_MONITOR_FD) < 0)
		return err_sys(err, "place the descriptors of pid 1");
	if (close_range(3, BRIEF_MONITOR_FD - 1, 0) < 0 ||
	    close_range(ASIDE, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		return err_sys(err, "close the other descriptors");
	execveat(image, "", no_strings, no_strings, AT_EMPTY_PATH);
	return err_sys(err, "execute pid 1");
}

no_return static void run_init(int socket_fd, int image_fd)
{
	struct report report = { .kind = REPORT_FAILED };
	struct err ignored = ERR_INIT;

	best_effort(become_init(socket_fd, image_fd, &report.err));
	/* The monitor sees the socket close if not even this arrives. */
	best_effort(report_send(socket_fd, &report, NULL, &ignored));
	_exit(1);
}

static int start_init(struct jail *jail, struct err *err)
{
	auto_fd theirs = -1;
	char mounts[64];
	int pair[2];
	pid_t pid;

	if (message_pair(pair, err) < 0)
		return -1;
	jail->report_fd = pair[0];
	theirs = pair[1];
	pid = namespaces_clone_host(cgroup_clone_fd(&jail->cgroup), jail->host->client,
				    &jail->init.pid_fd, err);
	if (pid == 0)
		run_init(theirs, jail->host->image_fd);
	if (pid < 0)
		return -1;
	jail->init.pid = pid;
	snprintf(mounts, sizeof(mounts), "/proc/%d/ns/mnt", (int) pid);
	/* Where there is no /proc of ours pid 1 waits for itself. */
	jail->mounts_fd = open(mounts, O_RDONLY | O_CLOEXEC);
	return 0;
}

static int send_brief(struct jail *jail, struct err *err)
{
	cleanup(mem_free) struct brief *brief = mem_alloc(1, sizeof(*brief));
	cleanup(message_fds_done) struct message_fds joins = MESSAGE_FDS_INIT;
	struct message_fds handover = MESSAGE_FDS_INIT;
	auto_fd brief_fd = -1;
	int count = cgroup_join_fds(&jail->cgroup, joins.fd, err);

	if (count < 0)
		return -1;
	joins.count = (size_t) count;
	hand(&handover, -1); /* the brief, which is not written yet */
	write_brief(jail, joins.fd, joins.count, brief, &handover);
	if (jail_make_landlock(&brief->spec.plan, &brief->landlock, err) < 0)
		return -1;
	brief_fd = io_memfd("proctor-brief", brief, sizeof(*brief), err);
	if (brief_fd < 0)
		return -1;
	handover.fd[0] = brief_fd;
	if (message_send(jail->report_fd, "b", 1, &handover, err) == 0 || err->sys == EPIPE)
		return 0; /* why it has gone is what wait_for_start() finds out */
	return err_wrap(err, "tell pid 1 what it is for");
}

/*
 * Ends every process of the jail and waits until the kernel says that none is left. May be called
 * again. It notifies of that at most once in 10 ms, and the group got its first process less than
 * that ago where the payload was short: so the end of pid 1, with whom all of its namespace end, is
 * a reason to look as well.
 */
void jail_end_processes(struct jail *jail)
{
	struct err err = ERR_INIT;
	auto_fd populated_fd = cgroup_populated_fd(&jail->cgroup, &err);
	struct pollfd ended[] = {
		{ .fd = populated_fd, .events = POLLPRI },
		{ .fd = jail->init.pid_fd, .events = POLLIN },
	};
	int64_t deadline = clock_after_ms(EMPTY_MS);
	int status;

	while (populated_fd >= 0 && cgroup_is_populated(populated_fd) && clock_now() < deadline) {
		/* Again and again: a fork may have slipped past the last kill on old kernels. */
		best_effort(cgroup_kill(&jail->cgroup, &err));
		poll(ended, ARRAY_LEN(ended), AGAIN_MS);
		if (ended[1].revents)
			ended[1].fd = -1;
	}
	if (jail->init.pid_fd >= 0) {
		/* Who owns the groups above may have moved it elsewhere, and stopped it there; with
		   pid 1 the others end. */
		sys_pidfd_send_signal(jail->init.pid_fd, SIGKILL);
		best_effort(process_wait(&jail->init, deadline, &status, &err));
	}
	fd_close(&jail->init.pid_fd);
	fd_close(&jail->report_fd);
	fd_close(&jail->payload_fd);
}

/*
 * What the kernel kills at the limit of memory says nothing: that is all of it, or on v1 any one
 * process. Then @err, which holds what else is known, says so instead. Return: -1.
 */
static int blame_memory(const struct jail *jail, struct err *err)
{
	struct cgroup_usage usage = { 0 };
	struct err ignored = ERR_INIT;

	best_effort(cgroup_usage(&jail->cgroup, &usage, &ignored));
	if (usage.oom_kills == 0)
		return -1;
	*err = ERR_INIT;
	return err_set(err, ERR_HOST,
		       "more than %llu MiB of memory were used, and the kernel killed it%s",
		       (unsigned long long) (jail->limits.memory / MIB),
		       jail->payload != BRIEF_COLLECT
			       ? ""
			       : "; an archive in a tmpfs is memory: have it written to a disk");
}

/* Behind the pidfd come a clone of each tmpfs, and the services' sockets. */
static int sort_started(struct jail *jail, struct err *err)
{
	struct message_fds *got = &jail->tmpfs;
	size_t services = jail->payload == BRIEF_EXECUTE ? jail->spec->net.count : 0;

	if (got->count < 1 + services)
		return err_set(err, ERR_SYS, "pid 1 forgot a descriptor");
	jail->payload_fd = fd_take(&got->fd[0]);
	for (size_t i = 0; i < services; i++)
		jail->services.fd[i] = fd_take(&got->fd[got->count - services + i]);
	jail->services.count = services;
	got->count -= services;
	return 0;
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
	if (got > 0 && jail->start.kind == REPORT_STARTED)
		return sort_started(jail, err);
	if (got == 0)
		err_set(err, ERR_SYS, "pid 1 died before it said a word");
	else
		*err = jail->start.err;
	return blame_memory(jail, err);
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
	{ "cgroup",   make_cgroup,    drop_cgroup },
	{ "devices",  make_devices,   drop_devices },
	{ "pid 1",    start_init,     jail_end_processes },
	/* From here on it is somebody's: the steps above need no spec. */
	{ "landlock", check_landlock, NULL },
	{ "limits",   set_limits,     NULL },
	{ "GPUs",     note_gpus,      NULL },
	{ "image",    take_image,     drop_image },
	{ "denied",   make_denied,    drop_denied },
	{ "brief",    send_brief,     NULL },
	{ "start",    wait_for_start, NULL },
};

enum { STEPS_PREPARED = 3 };

/* clang-format on */

void jail_take_down(struct jail *jail)
{
	while (jail->built > 0) {
		const struct step *step = &steps[--jail->built];

		if (step->undo)
			step->undo(jail);
	}
}

void jail_let_go(struct jail *jail)
{
	message_fds_done(&jail->tmpfs);
	fd_close(&jail->mounts_fd);
}

static int apply(struct jail *jail, size_t count, struct err *err)
{
	for (; jail->built < count; jail->built++) {
		if (steps[jail->built].apply(jail, err) < 0) {
			err_wrap(err, "jail '%s': %s", jail->spec ? jail->spec->name : jail->leaf,
				 steps[jail->built].name);
			/* A step that failed half way has what its undo puts right. */
			if (steps[jail->built].undo)
				steps[jail->built].undo(jail);
			jail_take_down(jail);
			return -1;
		}
	}
	return 0;
}

int jail_prepare(struct jail *jail, struct err *err)
{
	return apply(jail, STEPS_PREPARED, err);
}

int jail_build(struct jail *jail, struct err *err)
{
	return apply(jail, ARRAY_LEN(steps), err);
}

void jail_init(struct jail *jail, const struct jail_host *host, const struct lease *lease)
{
	*jail = (struct jail){
		.host = host,
		.payload = BRIEF_EXECUTE,
		.ids = { .base = host->range_base + lease->number * IDS_RANGE },
		.cgroup = CGROUP_INIT,
		.init = PROCESS_INIT,
		.report_fd = -1,
		.payload_fd = -1,
		.given_fd = -1,
		.devices_fd = -1,
		.image = IMAGE_INIT,
		.denied_fd = -1,
		.mounts_fd = -1,
	};
	jail_name_leaf(lease->number, jail->leaf, sizeof(jail->leaf));
}

void jail_assign(struct jail *jail, const struct jail_spec *spec, struct spec_fds *fds)
{
	jail->spec = spec;
	jail->fds = fds;
	jail->limits = spec->cgroup;
}
