/* SPDX-License-Identifier: Apache-2.0 */

/*
 * proctor-init: pid 1 of a jail
 *
 * Theory of operation
 *
 * The monitor clones this program, which is static and comes from a sealed memfd, into new mount,
 * pid, network, IPC and UTS namespaces. It is real root there and builds the jail by the table
 * below; then it starts the payload in a user namespace of its own (enter.c), becomes another id
 * of the jail's range without any capability, reaps, and refuses and counts the calls of the
 * payload that are named in refused.list: in small portions, after everything else.
 *
 * The jail lives as long as this process. It ends when the payload has ended, and when the socket
 * to the monitor closes: a parent-death signal would not survive the change of user.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/brief.h"
#include "sandbox/caps.h"
#include "sandbox/enter.h"
#include "sandbox/handshake.h"
#include "sandbox/mounts.h"
#include "sandbox/net.h"
#include "sandbox/reset.h"

struct init {
	const struct brief *brief;
	struct mounts mounts;
	int listener_fd; /* where refused calls wait; -1: none do */
	uint32_t service_count;
	int service_fd[NET_SERVICES_MAX];
	struct denied_page *denied;
};

static int reset(struct init *init, struct err *err)
{
	(void) init;
	return reset_context(0, err);
}

/*
 * v1 cgroups have no CLONE_INTO_CGROUP. Writing 0 to `tasks` moves only the writer and skips the
 * lock that makes a write of a pid to cgroup.procs cost 5 to 9 ms.
 */
static int join_groups(struct init *init, struct err *err)
{
	for (uint32_t i = 0; i < init->brief->join_count; i++) {
		if (write(init->brief->join_fd[i], "0", 1) != 1)
			return err_sys(err, "join cgroup %u", i);
		close(init->brief->join_fd[i]);
	}
	return 0;
}

/* After joining: what the process is in now becomes the root that the jail sees. */
static int hide_groups(struct init *init, struct err *err)
{
	(void) init;
	if (unshare(CLONE_NEWCGROUP) < 0)
		return err_sys(err, "unshare");
	return 0;
}

static int bring_up_loopback(struct init *init, struct err *err)
{
	(void) init;
	return net_loopback_up(err);
}

/* Our own collector has nobody to talk to. */
static int open_services(struct init *init, struct err *err)
{
	const struct net_slice *net = &init->brief->spec.net;

	if (init->brief->payload == BRIEF_COLLECT)
		return 0;
	if (net_listen(net, init->service_fd, err) < 0)
		return -1;
	init->service_count = net->count;
	return 0;
}

static int set_host_name(struct init *init, struct err *err)
{
	const char *name = init->brief->spec.name;

	if (sethostname(name, strlen(name)) < 0)
		return err_sys(err, "set '%s'", name);
	return 0;
}

static int build_tree(struct init *init, struct err *err)
{
	const struct brief *brief = init->brief;
	struct plan_slice slice = brief->spec.plan;
	struct plan plan;

	if (brief->payload == BRIEF_COLLECT) {
		slice.root = PLAN_ROOT_EMPTY;
		slice.image[0] = '\0';
		slice.tmpfs_count = 0;
	}
	plan_make(&slice, &plan);
	init->mounts.owner = ids_host(&brief->ids, IDS_PAYLOAD);
	init->mounts.given_fd = brief->given_fd;
	init->mounts.devices_fd = brief->devices_fd;
	init->mounts.image_fd = brief->image_fd;
	if (brief->payload == BRIEF_EXECUTE && brief->spec.collect.wanted)
		init->mounts.collected = (int) brief->spec.collect.tmpfs;
	return mounts_perform(&init->mounts, &plan, err);
}

/* clang-format off */

/* In order: a step may rely on those above it and on nothing else. */
static const struct {
	const char *name;
	int (*apply)(struct init *init, struct err *err);
} steps[] = {
	{ "context",          reset },
	{ "cgroups",          join_groups },
	{ "cgroup namespace", hide_groups },
	{ "loopback",         bring_up_loopback },
	{ "services",         open_services },
	{ "host name",        set_host_name },
	{ "file tree",        build_tree },
};

/* clang-format on */

static int build(struct init *init, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(steps); i++)
		if (steps[i].apply(init, err) < 0)
			return err_wrap(err, "%s", steps[i].name);
	return 0;
}

/* From here on this process needs to wait and to write a few bytes. */
static int become_keeper(const struct brief *brief, struct err *err)
{
	if (caps_bound(0, err) < 0 || ids_become(&brief->ids, IDS_KEEPER, 1, err) < 0 ||
	    caps_limit(0, err) < 0 || caps_no_new_privs(err) < 0)
		return -1;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_sys(err, "forbid core dumps and tracing");
	return 0;
}

static int tell_started(struct init *init, int pid_fd, const struct report *report, struct err *err)
{
	struct message_fds fds = MESSAGE_FDS_INIT;

	if (report->kind == REPORT_STARTED) {
		fds.fd[fds.count++] = pid_fd;
		for (size_t i = 0; i < init->mounts.tmpfs_count; i++)
			fds.fd[fds.count++] = init->mounts.tmpfs_fd[i];
		for (uint32_t i = 0; i < init->service_count; i++)
			fds.fd[fds.count++] = init->service_fd[i];
	}
	return report_send(BRIEF_MONITOR_FD, report, &fds, err);
}

/*
 * Reaps until the payload is gone; children that outlive their parents are reaped on the way.
 * Return: 1 with its status, 0 if it still runs.
 */
static int reap(pid_t payload, int *status)
{
	int child_status;
	pid_t pid;

	while ((pid = waitpid(-1, &child_status, WNOHANG)) > 0) {
		if (pid == payload) {
			*status = child_status;
			return 1;
		}
	}
	return 0;
}

static int wait_for_end(const struct init *init, pid_t payload, int *status, struct err *err)
{
	struct pollfd ready[] = {
		{ .fd = -1, .events = POLLIN },
		{ .fd = BRIEF_MONITOR_FD, .events = POLLIN },
		{ .fd = init->listener_fd, .events = POLLIN },
	};
	auto_fd children = -1;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return err_sys(err, "block SIGCHLD");
	children = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (children < 0)
		return err_sys(err, "make a signalfd");
	ready[0].fd = children;
	for (;;) {
		struct signalfd_siginfo info;

		if (reap(payload, status))
			return 0;
		if (poll(ready, ARRAY_LEN(ready), -1) < 0 && errno != EINTR)
			return err_sys(err, "wait for children");
		/* The monitor never writes here: whatever happens means that it has gone. */
		if (ready[1].revents)
			_exit(0);
		while (read(children, &info, sizeof(info)) > 0)
			;
		if (ready[2].revents &&
		    denied_answer(init->listener_fd, &init->brief->refused, init->denied) < 0)
			ready[2].fd = -1;
	}
}

/* Before it gives its rights up; the page lives as long as it does. */
static int map_denied(struct init *init, struct err *err)
{
	if (init->brief->denied_fd < 0)
		return 0;
	init->denied = denied_map(init->brief->denied_fd, true, err);
	close(init->brief->denied_fd);
	return init->denied ? 0 : -1;
}

static int run(struct init *init, struct err *err)
{
	struct report report;
	int pid_fd = -1;
	pid_t payload;

	if (build(init, err) < 0 || map_denied(init, err) < 0)
		return -1;
	payload = enter_start(init->brief, &pid_fd, &init->listener_fd, &report, err);
	if (payload < 0)
		return err_wrap(err, "payload");
	if (become_keeper(init->brief, err) < 0)
		return err_wrap(err, "pid 1");
	if (tell_started(init, pid_fd, &report, err) < 0)
		return -1;
	mounts_done(&init->mounts);
	/* From here on they are the client's alone: what it closes is closed. */
	while (init->service_count > 0)
		close(init->service_fd[--init->service_count]);
	close(pid_fd);
	if (report.kind != REPORT_STARTED)
		return 0;
	for (int i = 0; i < SPEC_FD_COUNT; i++)
		if (init->brief->fd[i] >= 0)
			close(init->brief->fd[i]);
	report.kind = REPORT_ENDED;
	if (wait_for_end(init, payload, &report.status, err) < 0)
		return -1;
	return report_send(BRIEF_MONITOR_FD, &report, NULL, err);
}

/* Where they are received they are below all the places that they go to. */
static int place(const struct message_fds *fds, struct err *err)
{
	for (size_t i = 0; i < fds->count; i++)
		if (dup3(fds->fd[i], BRIEF_FD + (int) i, O_CLOEXEC) < 0)
			return err_sys(err, "place descriptor %zu of the brief", i);
	return 0;
}

/* It waits for as long as it takes: what ends it before is the end of the monitor. */
static const struct brief *receive_brief(struct err *err)
{
	cleanup(message_fds_done) struct message_fds fds = MESSAGE_FDS_INIT;
	const void *brief;
	char byte;
	ssize_t got;

	/* No descriptor but those passed outlives an execve, and this one came by one. */
	if (fcntl(BRIEF_MONITOR_FD, F_SETFD, FD_CLOEXEC) < 0) {
		err_sys(err, "keep the monitor's socket from the payload");
		return NULL;
	}
	got = message_receive(BRIEF_MONITOR_FD, &byte, sizeof(byte), &fds, err);
	if (got == 0)
		_exit(0);
	if (got < 0 || place(&fds, err) < 0)
		return NULL;
	brief = mmap(NULL, sizeof(struct brief), PROT_READ, MAP_PRIVATE, BRIEF_FD, 0);
	if (brief == MAP_FAILED) {
		err_sys(err, "map the brief");
		return NULL;
	}
	close(BRIEF_FD);
	return brief;
}

int main(void)
{
	struct err err = ERR_INIT, ignored = ERR_INIT;
	struct init init = { .mounts = MOUNTS_INIT, .listener_fd = -1 };

	prctl(PR_SET_NAME, "proctor-init", 0, 0, 0); /* a program from a memfd has none */

	init.brief = receive_brief(&err);
	if (init.brief && run(&init, &err) == 0)
		return 0;
	/* Without a monitor there is nobody to tell, and the jail ends either way. */
	best_effort(report_send(BRIEF_MONITOR_FD,
				&(struct report){ .kind = REPORT_FAILED, .err = err }, NULL,
				&ignored));
	return 1;
}
