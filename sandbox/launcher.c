/* SPDX-License-Identifier: Apache-2.0 */

/*
 * proctor-launcher: the only part of proctor that keeps root
 *
 *	proctor-launcher --socket=FD [--site=FILE] [--prefix=DIR]…
 *	proctor-launcher --listen [--socket=PATH] [--site=FILE] [--prefix=DIR]…
 *
 * Either a private child of proctor: requests come over the inherited socket, and when that closes
 * the launcher waits for its monitors and ends. Or a service, for the members of a group: its
 *socket is systemd's, or one of its own. serve.c has what both do. It parses site.conf and reads no
 *byte that an agent wrote. It prints nothing but why a service can not start: errors go to the
 *client as events.
 */

#include "sandbox/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/message.h"
#include "sandbox/base/process.h"
#include "sandbox/base/syscalls.h"
#include "sandbox/caps.h"
#include "sandbox/seccomp.h"
#include "sandbox/serve.h"

/* The program of pid 1, see init-image.S. */
extern const unsigned char init_image[], init_image_end[];

struct launcher {
	struct cgroup_host cgroups;
	struct denied_calls refused;
	struct device_slice devices;
	struct site site;
	struct server server;
};

struct launcher_options {
	bool listen, help;
	const char *socket; /* a number, or with --listen a path; NULL: systemd's */
	const char *site;
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

/* Before there is a monitor: all of them share what is mounted there. */
static int open_shelf(struct launcher *launcher, struct err *err)
{
	struct jail_host *host = &launcher->server.host;

	if (launcher->site.source_count == 0)
		return 0;
	host->shelf_fd = image_open_shelf(LAUNCHER_STATE, err);
	return host->shelf_fd < 0 ? err_wrap(err, "images") : 0;
}

/* A service for others is an administrator's decision: without his file there is none. */
static int load_site(struct launcher *launcher, const struct launcher_options *options,
		     struct err *err)
{
	int got = site_load(options->site, &launcher->site, err);

	if (got == 0 && options->listen)
		return err_set(err, ERR_HOST,
			       "there is no '%s', so nobody but root may have jails: copy "
			       "site.conf.example there, see proctor-site.conf(5)",
			       options->site);
	launcher->server.site = &launcher->site;
	launcher->server.host.range_base = (uint32_t) launcher->site.uid_base;
	launcher->server.host.range_count = (uint32_t) launcher->site.uid_ranges;
	return got < 0 ? -1 : 0;
}

/* Where we are before we may have to move, and what that allows. */
static int find_cgroups(struct launcher *launcher, struct err *err)
{
	struct server *server = &launcher->server;

	if (cgroup_groups_of(getpid(), &server->groups, err) < 0 ||
	    cgroup_host_open(&launcher->cgroups, err) < 0)
		return -1;
	return cgroup_bounds_read(&server->groups, &launcher->cgroups, &server->own, err);
}

static int prepare_host(struct launcher *launcher, struct err *err)
{
	struct jail_host *host = &launcher->server.host;

	devices_base(&launcher->devices);
	host->devices_fd = devices_load(&launcher->devices, err);
	if (host->devices_fd < 0)
		return -1;
	host->image_fd =
		io_memfd("proctor-init", init_image, (size_t) (init_image_end - init_image), err);
	if (host->image_fd < 0)
		return -1;
	host->cgroups = &launcher->cgroups;
	launcher->refused.count = seccomp_refused(launcher->refused.number, DENIED_MAX);
	host->refused = &launcher->refused;
	host->devices = &launcher->devices;
	return 0;
}

/* Monitors inherit the writing end. */
static int open_over(struct server *server, struct err *err)
{
	int pair[2];

	if (message_pair(pair, err) < 0)
		return -1;
	server->over_fd = pair[0];
	server->host.over_fd = pair[1];
	return 0;
}

static int prepare(struct launcher *launcher, const struct launcher_options *options,
		   struct err *err)
{
	struct server *server = &launcher->server;

	if (geteuid() != 0)
		return err_set(err, ERR_HOST, "proctor's launcher needs root: use sudo");
	if (caps_require(LAUNCHER_NEEDS, err) < 0 || load_site(launcher, options, err) < 0)
		return -1;
	server->host.state_fd = lease_open_folder(LAUNCHER_STATE, err);
	if (server->host.state_fd < 0)
		return -1;
	if (leave_mounts(err) < 0 || open_shelf(launcher, err) < 0 ||
	    find_cgroups(launcher, err) < 0 || prepare_host(launcher, err) < 0)
		return -1;
	server->self_fd = sys_pidfd_open(getpid(), 0);
	if (server->self_fd < 0)
		return err_sys(err, "watch ourselves");
	if (open_over(server, err) < 0)
		return -1;
	jail_reap(&server->host);
	return 0;
}

/* A private launcher ends with its socket; SIGTERM is how a service is told to. */
static int watch_signals(struct server *server, bool is_service, struct err *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (is_service)
		sigaddset(&set, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return err_sys(err, "block signals");
	server->signals_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (server->signals_fd < 0)
		return err_sys(err, "make a signalfd");
	return 0;
}

/* Nothing of the terminal or the client's files is left; a service keeps its log. */
static int detach(bool is_service, struct err *err)
{
	auto_fd null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return err_sys(err, "open '/dev/null'");
	for (int fd = 0; fd <= (is_service ? 1 : 2); fd++)
		if (dup2(null, fd) < 0)
			return err_sys(err, "redirect descriptor %d", fd);
	/* A leader of its own group already has what setsid() would give. */
	setsid();
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_sys(err, "forbid core dumps and tracing");
	return 0;
}

static const char usage[] =
	"usage: proctor-launcher --listen [--socket=PATH] [--site=FILE] [--prefix=FOLDER]…\n"
	"Serves the members of a group with jails, see proctor-launcher(8). Without --listen it "
	"is\n"
	"started by proctor.\n";

static int parse(struct launcher *launcher, struct launcher_options *out, int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "listen", no_argument, NULL, 'l' },
		{ "prefix", required_argument, NULL, 'p' },
		{ "site", required_argument, NULL, 'c' },
		{ "socket", required_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};
	struct jail_host *host = &launcher->server.host;
	size_t masks = 0;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'h':
			out->help = true;
			return 0;
		case 'l':
			out->listen = true;
			break;
		case 'c':
			out->site = optarg;
			break;
		case 's':
			out->socket = optarg;
			break;
		case 'p':
			if (masks == PLAN_MASKS_MAX)
				return -1;
			snprintf(host->masks[masks], sizeof(host->masks[masks]), "%s", optarg);
			masks++;
			break;
		default:
			return -1;
		}
	}
	return optind == argc && (out->listen || out->socket) ? 0 : -1;
}

static int serve_privately(struct launcher *launcher, const struct launcher_options *options)
{
	const int socket_fd = (int) strtol(options->socket, NULL, 10);
	struct event hello = { .kind = EVENT_READY };
	struct err err = ERR_INIT;

	if (socket_fd < 3 || fcntl(socket_fd, F_SETFD, FD_CLOEXEC) < 0)
		return 2;
	if (detach(false, &err) < 0 || watch_signals(&launcher->server, false, &err) < 0 ||
	    prepare(launcher, options, &err) < 0 ||
	    serve_add_private(&launcher->server, socket_fd, &err) < 0) {
		hello.kind = EVENT_FAILED;
		hello.err = err;
	}
	if (wire_tell(socket_fd, &hello, NULL, &err) < 0 || hello.kind != EVENT_READY)
		return err_exit_code(&err);
	serve_run(&launcher->server);
	return 0;
}

/* Each client has three descriptors here. */
static void raise_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

static int open_listener(struct launcher *launcher, const struct launcher_options *options,
			 struct err *err)
{
	struct listener *listener = &launcher->server.listener;

	if (options->socket)
		return listen_on(options->socket, launcher->site.group, listener, err);
	return listen_inherited(getenv("LISTEN_PID"), getenv("LISTEN_FDS"), listener, err);
}

static int serve_all(struct launcher *launcher, const struct launcher_options *options)
{
	struct err err = ERR_INIT;

	raise_files();
	if (detach(true, &err) < 0 || watch_signals(&launcher->server, true, &err) < 0 ||
	    prepare(launcher, options, &err) < 0 || open_listener(launcher, options, &err) < 0) {
		fprintf(stderr, "proctor-launcher: %s\n", err.text);
		return err_exit_code(&err);
	}
	serve_run(&launcher->server);
	listen_done(&launcher->server.listener);
	return 0;
}

int main(int argc, char **argv)
{
	struct launcher_options options = { .site = SITE_FILE };
	cleanup(mem_free) struct launcher *launcher = mem_alloc(1, sizeof(*launcher));
	int code;

	launcher->cgroups = CGROUP_HOST_INIT;
	launcher->server.listener = LISTENER_INIT;
	launcher->server.spare = SPARE_INIT;
	launcher->server.host.ties = TIES_INIT;
	launcher->server.signals_fd = launcher->server.self_fd = -1;
	launcher->server.over_fd = launcher->server.host.over_fd = -1;
	launcher->server.host.shelf_fd = -1;
	process_expect_children();
	signal(SIGXFSZ, SIG_IGN); /* a limit of the caller's is an error with a name */
	if (parse(launcher, &options, argc, argv) < 0) {
		fputs(usage, stderr);
		return 2;
	}
	if (options.help)
		return fputs(usage, stdout) < 0;
	code = options.listen ? serve_all(launcher, &options) : serve_privately(launcher, &options);
	cgroup_host_done(&launcher->cgroups);
	return code;
}
