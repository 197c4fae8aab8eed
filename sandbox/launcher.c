/* SPDX-License-Identifier: Apache-2.0 */

/*
 * proctor-launcher: the only part of proctor that keeps root
 *
 *	proctor-launcher --socket=FD [--prefix=DIR]…
 *
 * A private child of proctor: requests come over the inherited socket, and when that closes the
 * launcher waits for its monitors and ends. It parses no configuration and reads no byte that an
 * agent wrote; it checks each request as a whole, forks a monitor for it and goes back to the
 * socket. Behind a monitor that was killed it clears up. It prints nothing: errors go to the client
 * as events.
 */

#include "sandbox/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/process.h"
#include "sandbox/caps.h"
#include "sandbox/monitor.h"
#include "sandbox/seccomp.h"

/* The program of pid 1, see init-image.S. */
extern const unsigned char init_image[], init_image_end[];

struct launcher {
	int socket_fd;
	int children_fd; /* a signalfd: readable when a child has ended */
	struct cgroup_host cgroups;
	struct seccomp_program filter, worker_filter;
	struct denied_calls refused;
	struct device_slice devices;
	struct jail_host host;
};

/*
 * A mount namespace of our own: what we attach is not seen on the host, while what the host
 * unmounts later is let go here too.
 */
static int leave_mounts(struct err *err)
{
	if (unshare(CLONE_NEWNS) < 0)
		return err_host(err, "make a mount namespace: proctor needs root");
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return err_sys(err, "detach from the host's mounts");
	return 0;
}

static int prepare(struct launcher *launcher, struct err *err)
{
	struct jail_host *host = &launcher->host;

	if (geteuid() != 0)
		return err_set(err, ERR_HOST, "proctor's launcher needs root: use sudo");
	if (caps_require(LAUNCHER_NEEDS, err) < 0)
		return -1;
	host->state_fd = lease_open_folder(LAUNCHER_STATE, err);
	if (host->state_fd < 0)
		return -1;
	if (leave_mounts(err) < 0 || cgroup_host_open(&launcher->cgroups, err) < 0 ||
	    seccomp_compile(SECCOMP_PROFILE_PLAIN, 0, &launcher->filter, err) < 0 ||
	    seccomp_compile(SECCOMP_PROFILE_WORKER, 0, &launcher->worker_filter, err) < 0)
		return -1;
	devices_base(&launcher->devices);
	host->devices_fd = devices_load(&launcher->devices, err);
	if (host->devices_fd < 0)
		return -1;
	host->image_fd =
		io_memfd("proctor-init", init_image, (size_t) (init_image_end - init_image), err);
	if (host->image_fd < 0)
		return -1;
	host->cgroups = &launcher->cgroups;
	host->filter = &launcher->filter;
	host->worker_filter = &launcher->worker_filter;
	launcher->refused.count = seccomp_refused(launcher->refused.number, DENIED_MAX);
	host->refused = &launcher->refused;
	host->devices = &launcher->devices;
	host->range_base = LAUNCHER_RANGE_BASE;
	host->range_count = LAUNCHER_RANGE_COUNT;
	jail_reap(host);
	return 0;
}

/* One request: a monitor takes it over. What was wrong with it goes to the client. */
static int serve_one(struct launcher *launcher, struct jail_spec *spec)
{
	cleanup(spec_fds_done) struct spec_fds fds;
	struct event refusal = { .kind = EVENT_FAILED };
	struct process monitor = PROCESS_INIT;
	struct err ignored = ERR_INIT;
	int got = wire_receive(launcher->socket_fd, spec, &fds, &refusal.err);

	if (got == 0)
		return 0;
	if (got > 0) {
		int child = process_fork(&monitor, &refusal.err);

		if (child == 0) {
			close(launcher->socket_fd);
			monitor_run(&launcher->host, spec, &fds);
			_exit(0);
		}
		fd_close(&monitor.pid_fd);
		if (child > 0)
			return 1;
	}
	/* Nonsense without a socket: nobody can be told, and nobody else may suffer from it. */
	if (fds.fd[SPEC_FD_CONTROL] < 0)
		return 1;
	/* If the client has gone meanwhile, the next receive sees it. */
	best_effort(wire_tell(fds.fd[SPEC_FD_CONTROL], &refusal, NULL, &ignored));
	return 1;
}

/* In a process of its own: what resists takes seconds, and requests do not wait. */
static void reap_jails(struct launcher *launcher)
{
	struct process reaper = PROCESS_INIT;
	struct err ignored = ERR_INIT;

	if (process_fork(&reaper, &ignored) == 0) {
		close(launcher->socket_fd);
		jail_reap(&launcher->host);
		_exit(0);
	}
	fd_close(&reaper.pid_fd);
}

/* A monitor that ends by itself leaves nothing; behind one that was killed others clear up. */
static void on_children(struct launcher *launcher)
{
	struct signalfd_siginfo info;
	bool killed = false;
	int status;

	while (read(launcher->children_fd, &info, sizeof(info)) > 0)
		;
	while (waitpid(-1, &status, WNOHANG) > 0)
		killed |= WIFSIGNALED(status);
	if (killed)
		reap_jails(launcher);
}

static void serve(struct launcher *launcher)
{
	cleanup(mem_free) struct jail_spec *spec = mem_alloc(1, sizeof(*spec));
	struct pollfd ready[] = {
		{ .fd = launcher->socket_fd, .events = POLLIN },
		{ .fd = launcher->children_fd, .events = POLLIN },
	};
	int more = 1;

	while (more > 0) {
		if (poll(ready, ARRAY_LEN(ready), -1) < 0)
			continue;
		if (ready[1].revents)
			on_children(launcher);
		if (ready[0].revents)
			more = serve_one(launcher, spec);
	}
	/* Each monitor ends by itself: its client has gone. */
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	jail_reap(&launcher->host);
	cgroup_host_done(&launcher->cgroups);
}

static int watch_children(struct launcher *launcher, struct err *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return err_sys(err, "block SIGCHLD");
	launcher->children_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (launcher->children_fd < 0)
		return err_sys(err, "make a signalfd");
	return 0;
}

/* Nothing of the terminal or the client's files is left to a launcher or its children. */
static int detach(struct err *err)
{
	auto_fd null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return err_sys(err, "open '/dev/null'");
	for (int fd = 0; fd <= 2; fd++)
		if (dup2(null, fd) < 0)
			return err_sys(err, "redirect descriptor %d", fd);
	/* A leader of its own group already has what setsid() would give. */
	setsid();
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_sys(err, "forbid core dumps and tracing");
	return 0;
}

static int parse(struct launcher *launcher, int argc, char **argv)
{
	static const struct option options[] = {
		{ "socket", required_argument, NULL, 's' },
		{ "prefix", required_argument, NULL, 'p' },
		{ NULL, 0, NULL, 0 },
	};
	size_t masks = 0;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		char *end;

		switch (option) {
		case 's':
			launcher->socket_fd = (int) strtol(optarg, &end, 10);
			break;
		case 'p':
			if (masks == PLAN_MASKS_MAX)
				return -1;
			snprintf(launcher->host.masks[masks], sizeof(launcher->host.masks[masks]),
				 "%s", optarg);
			masks++;
			break;
		default:
			return -1;
		}
	}
	return launcher->socket_fd >= 3 && optind == argc ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct launcher launcher = { .socket_fd = -1, .children_fd = -1 };
	struct event hello = { .kind = EVENT_READY };
	struct err err = ERR_INIT;

	if (parse(&launcher, argc, argv) < 0) {
		fprintf(stderr, "proctor-launcher is started by proctor, see proctor(1)\n");
		return 2;
	}
	if (fcntl(launcher.socket_fd, F_SETFD, FD_CLOEXEC) < 0)
		return 2;
	process_expect_children();
	if (detach(&err) < 0 || watch_children(&launcher, &err) < 0 ||
	    prepare(&launcher, &err) < 0) {
		hello.kind = EVENT_FAILED;
		hello.err = err;
	}
	if (wire_tell(launcher.socket_fd, &hello, NULL, &err) < 0 || hello.kind != EVENT_READY)
		return err_exit_code(&err);
	serve(&launcher);
	return 0;
}
