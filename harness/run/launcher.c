/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/wire.h"

/* Jails are killed at once when their client goes; a stuck kernel should not hold us forever. */
#define LEAVE_MS (30 * 1000)

const char *const launcher_prefixes[] = { PROCTOR_LIBEXECDIR, PROCTOR_DATADIR, NULL };

int launcher_open_program(const char *folder, const char *name, struct err *err)
{
	const char *const folders[] = { folder, PROCTOR_LIBEXECDIR };
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		int fd;

		if (!folders[i])
			continue;
		snprintf(path, sizeof(path), "%s/%s", folders[i], name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			return fd;
	}
	if (!folder)
		return err_host(err, "open '%s', which is not in '%s'", name, PROCTOR_LIBEXECDIR);
	return err_host(err, "open '%s', which is neither in '%s' nor in '%s'", name, folder,
			PROCTOR_LIBEXECDIR);
}

no_return static void execute(int program_fd, int socket_fd)
{
	static char *const no_environment[] = { NULL };
	char name[] = "proctor-launcher", socket[32];
	char prefixes[ARRAY_LEN(launcher_prefixes) - 1][PATH_MAX];
	char *argv[2 + ARRAY_LEN(launcher_prefixes)] = { name, socket };

	for (size_t i = 0; launcher_prefixes[i]; i++) {
		snprintf(prefixes[i], sizeof(prefixes[i]), "--prefix=%s", launcher_prefixes[i]);
		argv[2 + i] = prefixes[i];
	}
	snprintf(socket, sizeof(socket), "--socket=%d", socket_fd);
	if (fcntl(socket_fd, F_SETFD, 0) == 0)
		execveat(program_fd, "", argv, no_environment, AT_EMPTY_PATH);
	_exit(127);
}

static int wait_until_ready(const struct launcher *launcher, struct err *err)
{
	struct event hello;

	if (wire_next(launcher->socket_fd, &hello, NULL, err) < 0)
		return -1;
	if (hello.kind == EVENT_READY)
		return 0;
	*err = hello.err;
	return err_wrap(err, "launcher");
}

int launcher_start(const char *folder, struct launcher *out, struct err *err)
{
	cleanup(launcher_done) struct launcher made = LAUNCHER_INIT;
	auto_fd program = launcher_open_program(folder, "proctor-launcher", err);
	auto_fd theirs = -1;
	int pair[2], child;

	if (program < 0 || message_pair(pair, err) < 0)
		return -1;
	made.socket_fd = pair[0];
	theirs = pair[1];
	child = process_fork(&made.process, err);
	if (child == 0)
		execute(program, theirs);
	if (child < 0)
		return -1;
	fd_close(&theirs);
	if (wait_until_ready(&made, err) < 0)
		return -1;
	*out = take(made, LAUNCHER_INIT);
	return 0;
}

/* Who may use the socket, as its file says; a group without a name by its number. */
static void name_group(const char *path, char *out, size_t room)
{
	const struct group *group;
	struct stat info;

	snprintf(out, room, "%s", "proctor");
	if (stat(path, &info) < 0)
		return;
	group = getgrgid(info.st_gid);
	if (group)
		snprintf(out, room, "%s", group->gr_name);
	else
		snprintf(out, room, "%u", info.st_gid);
}

/* What a failed connect(2) means, and for whom. */
static int explain(const char *path, struct err *err)
{
	const int why = errno;
	char group[64];

	if (why == ENOENT) {
		err_set(err, ERR_HOST,
			"proctor's launcher needs root: use sudo; or the service of a shared node, "
			"which is not there: its administrator starts it by `systemctl enable "
			"--now "
			"proctor-launcher.socket`, and it listens at '%s'",
			path);
	} else if (why == EACCES || why == EPERM) {
		name_group(path, group, sizeof(group));
		err_set(err, ERR_HOST,
			"this account may not use proctor's launcher: the administrator can add it "
			"to the group of '%s' (usermod -aG %s NAME), which takes a new login; or "
			"use sudo",
			path, group);
	} else if (why == ECONNREFUSED) {
		err_set(err, ERR_HOST,
			"nobody serves '%s': its administrator starts the service by `systemctl "
			"restart proctor-launcher.socket`",
			path);
	} else {
		return err_host(err, "connect to proctor's launcher at '%s'", path);
	}
	err->sys = why;
	return -1;
}

/* Whoever else listens there could read what we send, and make up what comes back. */
static int check_server(int fd, const char *path, struct err *err)
{
	socklen_t len = sizeof(struct ucred);
	struct ucred server;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &server, &len) < 0)
		return err_sys(err, "ask who serves '%s'", path);
	if (server.uid != 0)
		return err_set(err, ERR_HOST,
			       "'%s' is served by account %u, not by root: that is not proctor's "
			       "launcher",
			       path, server.uid);
	return 0;
}

int launcher_connect(const char *path, struct launcher *out, struct err *err)
{
	cleanup(launcher_done) struct launcher made = LAUNCHER_INIT;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *named = path ? path : LAUNCHER_SOCKET;

	if (strlen(named) >= sizeof(address.sun_path))
		return err_set(err, ERR_HOST, "PROCTOR_SOCKET: the path '%s' is too long", named);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", named);
	made.is_service = true;
	made.socket_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (made.socket_fd < 0)
		return err_sys(err, "make a socket");
	if (connect(made.socket_fd, (const struct sockaddr *) &address, sizeof(address)) < 0)
		return explain(named, err);
	if (check_server(made.socket_fd, named, err) < 0)
		return -1;
	if (wire_hello(made.socket_fd, err) < 0) {
		err->kind = ERR_HOST;
		return err_wrap(err, "launcher at '%s'", named);
	}
	*out = take(made, LAUNCHER_INIT);
	return 0;
}

int launcher_open(const char *folder, const char *path, struct launcher *out, struct err *err)
{
	return geteuid() == 0 ? launcher_start(folder, out, err) : launcher_connect(path, out, err);
}

struct pollfd launcher_poll(const struct launcher *launcher)
{
	if (launcher->is_service)
		return (struct pollfd){ .fd = launcher->socket_fd, .events = POLLRDHUP };
	return (struct pollfd){ .fd = launcher->process.pid_fd, .events = POLLIN };
}

void launcher_done(struct launcher *launcher)
{
	struct err err = ERR_INIT;
	int status;

	fd_close(&launcher->socket_fd);
	/*
	 * We are not root any more and could not kill it; it ends by itself. If it does not, what
	 * it left is reaped by the next one.
	 */
	if (launcher->process.pid_fd >= 0)
		best_effort(
			process_wait(&launcher->process, clock_after_ms(LEAVE_MS), &status, &err));
	fd_close(&launcher->process.pid_fd);
	*launcher = LAUNCHER_INIT;
}
