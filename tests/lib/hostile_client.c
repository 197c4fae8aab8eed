/* SPDX-License-Identifier: Apache-2.0 */

/*
 * hostile-client SOCKET ATTACK [ARGUMENT]…: what a member of the launcher's group may try over the
 * wire, by the real protocol, for e2e/44-service
 *
 * Prints what came of it, a line each: "granted", "ended ENDING", "refused: TEXT", "busy",
 * "closed".
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/message.h"
#include "sandbox/wire.h"
#include "tests/lib/lingering.h"

enum { PATIENCE_MS = 20 * 1000, MAGIC = 0x70726f63 };

static struct wire_request request;
static struct spec_fds fds;
static int launcher_fd;
static struct err err;

no_return static void die(const char *what)
{
	printf("broken: %s: %s\n", what, errno ? strerror(errno) : err.text);
	exit(9);
}

/* How far an attack goes before it is one. */
enum manners { SPEAKS, WAITS, GREETS };

static void open_connection(const char *path, enum manners manners)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct event event;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	launcher_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (connect(launcher_fd, (struct sockaddr *) &address, sizeof(address)) < 0)
		die("connect");
	if (manners == GREETS && wire_hello(launcher_fd, &err) < 0) {
		printf("refused: %s\n", err.text);
		exit(0);
	}
	if (manners == WAITS &&
	    (wire_next(launcher_fd, &event, NULL, &err) < 0 || event.kind != EVENT_READY))
		die("welcome");
}

/* Says what comes next on a socket. Return: does more follow? */
static bool listen_to(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	struct event event;

	if (poll(&ready, 1, PATIENCE_MS) <= 0) {
		printf("silence\n");
		return false;
	}
	if (wire_next(fd, &event, NULL, &err) < 0) {
		printf("nonsense\n");
		return false;
	}
	switch ((enum event_kind) event.kind) {
	case EVENT_READY:
	case EVENT_STARTED:
		printf("granted\n");
		return event.kind == EVENT_STARTED;
	case EVENT_BUSY:
		printf("busy\n");
		break;
	case EVENT_FAILED:
	case EVENT_NOT_FOUND:
	case EVENT_NOT_EXECUTABLE:
		printf("refused: %s\n", event.err.text);
		break;
	case EVENT_ENDED:
		printf("ended %s\n", names_text(ending_names, (int) event.result.ending));
		break;
	case EVENT_LOST:
		printf("closed\n");
		break;
	}
	return false;
}

static void listen_to_the_end(int fd)
{
	while (listen_to(fd))
		fflush(stdout);
	fflush(stdout);
}

/* A good request for `sh -c SCRIPT`, to be made a bad one. */
static void prepare(const char *script)
{
	struct jail_spec *spec = &request.spec;

	request.head = (struct wire_head){ MAGIC, WIRE_VERSION, REQUEST_JAIL, 0 };
	spec_init(spec, "attack");
	spec->time.wall_ms = PATIENCE_MS;
	spec->time.grace_ms = 0;
	spec->plan.tmpfs[0].bytes = spec->plan.tmpfs[1].bytes = spec->plan.tmpfs[2].bytes = MIB;
	spec->plan.tmpfs[0].inodes = spec->plan.tmpfs[1].inodes = spec->plan.tmpfs[2].inodes = 64;
	spec->cgroup.memory = 64 * MIB;
	spec->cgroup.pids = 16;
	if (spec_add_arg(spec, "/bin/sh", &err) < 0 || spec_add_arg(spec, "-c", &err) < 0 ||
	    spec_add_arg(spec, script, &err) < 0 ||
	    spec_add_env(spec, "PATH=/usr/bin:/bin", &err) < 0)
		die("prepare");
	spec_fds_init(&fds);
	fds.fd[SPEC_FD_STDOUT] = fds.fd[SPEC_FD_STDERR] = open("/dev/null", O_WRONLY | O_CLOEXEC);
}

/* Sends it as it is, whatever our own side would say. Return: our end of the jail's socket. */
static int send_request(size_t len, int control, size_t extra_fds)
{
	struct message_fds sent = MESSAGE_FDS_INIT;
	int pair[2] = { -1, -1 };

	if (control < 0) {
		if (message_pair(pair, &err) < 0)
			die("pair");
		control = pair[1];
	}
	sent.fd[sent.count++] = control;
	for (int role = SPEC_FD_CONTROL + 1; role < SPEC_FD_COUNT; role++)
		if (fds.fd[role] >= 0)
			sent.fd[sent.count++] = fds.fd[role];
	for (size_t i = 0; i < extra_fds && sent.count < MESSAGE_MAX_FDS; i++)
		sent.fd[sent.count++] = fds.fd[SPEC_FD_STDOUT];
	if (message_send(launcher_fd, &request, len, &sent, &err) < 0)
		die("send");
	close(control);
	return pair[0];
}

static void try_request(void)
{
	listen_to_the_end(send_request(sizeof(request), -1, 0));
}

/* More descriptors than one of our messages has room for. */
static void send_many(size_t count)
{
	static union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int) * 253)];
	} control;
	struct iovec data = { .iov_base = &request, .iov_len = sizeof(request) };
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = CMSG_SPACE(sizeof(int) * count) };
	int all[253], pair[2];

	if (message_pair(pair, &err) < 0)
		die("pair");
	for (size_t i = 0; i < count; i++)
		all[i] = i == 0 ? pair[1] : fds.fd[SPEC_FD_STDOUT];
	control.head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
					 .cmsg_type = SCM_RIGHTS,
					 .cmsg_len = CMSG_LEN(sizeof(int) * count) };
	memcpy(CMSG_DATA(&control.head), all, sizeof(int) * count);
	if (sendmsg(launcher_fd, &message, MSG_NOSIGNAL) < 0)
		die("sendmsg");
	close(pair[1]);
	listen_to_the_end(pair[0]);
}

/* --- the attacks --- */

/* ROLE PATH: a descriptor that names something, and is no right to read it */
static void path_as(char **args)
{
	int fd = args[0] && args[1] ? open(args[1], O_PATH | O_CLOEXEC) : -1;

	if (fd < 0)
		die("open");
	prepare("cat /work/* <&3; ls -l /proc/self/fd");
	if (strcmp(args[0], "program") == 0) {
		request.spec.has_program = 1;
		fds.fd[SPEC_FD_PROGRAM] = fd;
	} else if (strcmp(args[0], "tree") == 0) {
		request.spec.tree_count = 1;
		snprintf(request.spec.trees[0].path, sizeof(request.spec.trees[0].path), "/work");
		request.spec.trees[0].limits = STREAM_LIMITS_DEFAULT;
		fds.fd[SPEC_FD_TREES] = fd;
	} else if (strcmp(args[0], "pass") == 0) {
		request.spec.pass_count = 1;
		fds.fd[SPEC_FD_PASS] = fd;
	} else if (strcmp(args[0], "archive") == 0) {
		request.spec.collect.wanted = 1;
		request.spec.collect.wall_ms = 1000;
		request.spec.collect.limits = STREAM_LIMITS_DEFAULT;
		fds.fd[SPEC_FD_COLLECT] = fd;
	} else {
		fds.fd[SPEC_FD_STDOUT] = fd;
	}
	try_request();
}

/* PATH: a file that is open to be read only, as the place of an archive */
static void archive_into(char **args)
{
	prepare("echo mine >/work/file");
	request.spec.collect.wanted = 1;
	request.spec.collect.wall_ms = 1000;
	request.spec.collect.limits = STREAM_LIMITS_DEFAULT;
	fds.fd[SPEC_FD_COLLECT] = args[0] ? open(args[0], O_RDONLY | O_CLOEXEC) : -1;
	if (fds.fd[SPEC_FD_COLLECT] < 0)
		die("open");
	try_request();
}

static void packets(char **args)
{
	static char big[sizeof(struct wire_request) + 100];
	static const uint32_t magic = MAGIC;
	const struct {
		const void *bytes;
		size_t len;
	} rows[] = { { "x", 1 },
		     { &magic, sizeof(magic) },
		     { &request, sizeof(request.head) },
		     { &request, sizeof(request) - 1 },
		     { big, sizeof(big) },
		     { big, sizeof(request) } };

	(void) args;
	prepare("true");
	memcpy(big, &request, sizeof(request));
	memset(big, 0xff, 64);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (message_send(launcher_fd, rows[i].bytes, rows[i].len, NULL, &err) < 0)
			die("send");
		listen_to(launcher_fd);
	}
	listen_to_the_end(send_request(sizeof(request) / 2, -1, 0));
	listen_to_the_end(send_request(1, -1, 0));
	request.head.version = 1;
	try_request();
	request.head.version = WIRE_VERSION;
	request.head.kind = 99;
	try_request();
	prepare("true");
	memset(&request.spec, 0xa5, sizeof(request.spec));
	try_request();
}

static void descriptors(char **args)
{
	int pipes[2], stream[2];

	(void) args;
	prepare("true");
	listen_to_the_end(send_request(sizeof(request), -1, 1));
	listen_to_the_end(send_request(sizeof(request), -1, 20));
	send_many(60);
	send_many(253);
	fds.fd[SPEC_FD_STDERR] = -1;
	try_request();
	prepare("true");
	/* Something else as the jail's socket: nobody can be told, and nobody is the worse for it.
	 */
	if (pipe(pipes) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, stream) < 0)
		die("pipe");
	send_request(sizeof(request), pipes[1], 0);
	send_request(sizeof(request), stream[1], 0);
	send_request(sizeof(request), dup(launcher_fd), 0);
	if (message_send(launcher_fd, &request, sizeof(request), NULL, &err) < 0)
		die("send");
	listen_to(launcher_fd);
}

/* NAME…: devices that are asked for */
static void device(char **args)
{
	prepare("exit 7");
	for (int i = 0; args[i] && i < SPEC_DEVICES_MAX; i++) {
		snprintf(request.spec.devices[i].name, sizeof(request.spec.devices[i].name), "%s",
			 args[i]);
		request.spec.device_count++;
	}
	try_request();
}

/* WHAT: a limit over the site's, or a path that leads elsewhere */
static void spec_with(char **args)
{
	struct jail_spec *spec = &request.spec;
	const char *what = args[0] ? args[0] : "";

	prepare("exit 7");
	if (strcmp(what, "memory") == 0)
		spec->cgroup.memory = 512 * GIB;
	else if (strcmp(what, "memory-none") == 0)
		spec->cgroup.memory = 0;
	else if (strcmp(what, "pids") == 0)
		spec->cgroup.pids = 100000;
	else if (strcmp(what, "cpus") == 0)
		spec->cgroup.cpu_milli = 900000;
	else if (strcmp(what, "wall") == 0)
		spec->time.wall_ms = UINT64_C(6) * 24 * 3600 * 1000;
	else if (strcmp(what, "bytes") == 0)
		spec->plan.tmpfs[0].bytes = 3 * GIB, spec->cgroup.memory = 4 * GIB;
	else if (strcmp(what, "inodes") == 0)
		spec->plan.tmpfs[0].inodes = 600000, spec->cgroup.memory = 2 * GIB;
	else if (strcmp(what, "accept") == 0)
		spec->cgroup.accept = 0xffff;
	else if (strcmp(what, "cpu-list") == 0)
		snprintf(spec->cgroup.cpus, sizeof(spec->cgroup.cpus), "0-4000");
	else if (strcmp(what, "root") == 0)
		spec->plan.root = PLAN_ROOT_EMPTY;
	else if (strcmp(what, "mask") == 0)
		snprintf(spec->plan.masks[0], sizeof(spec->plan.masks[0]), "/etc");
	else if (strcmp(what, "extra") == 0)
		spec->plan.extras.count = 1, snprintf(spec->plan.extras.rows, 8, "f/root");
	else if (strcmp(what, "gpu") == 0)
		spec->gpu_count = 1, snprintf(spec->gpus[0].name, 8, "0");
	else if (strcmp(what, "gpu-path") == 0)
		spec->gpu_count = 1, snprintf(spec->gpus[0].name, 16, "/dev/kfd");
	else if (strcmp(what, "name") == 0)
		snprintf(spec->name, sizeof(spec->name), "../../x");
	else if (strcmp(what, "tmpfs") == 0)
		snprintf(spec->plan.tmpfs[0].path, sizeof(spec->plan.tmpfs[0].path), "/../etc");
	else if (strcmp(what, "folder") == 0)
		snprintf(spec->command.folder, sizeof(spec->command.folder), "/work/../../root");
	else if (strcmp(what, "tree") == 0) {
		spec->tree_count = 1;
		snprintf(spec->trees[0].path, sizeof(spec->trees[0].path), "/work/../etc");
		spec->trees[0].limits = STREAM_LIMITS_DEFAULT;
		fds.fd[SPEC_FD_TREES] = memfd_create("tree", MFD_CLOEXEC);
	} else if (strcmp(what, "collect") == 0) {
		spec->collect.wanted = 1;
		spec->collect.wall_ms = 1000;
		spec->collect.limits = STREAM_LIMITS_DEFAULT;
		snprintf(spec->collect.folder, sizeof(spec->collect.folder), "../../etc");
		fds.fd[SPEC_FD_COLLECT] = memfd_create("archive", MFD_CLOEXEC);
	}
	try_request();
}

/* COUNT: jails that are held at one time; with "wait" as well until somebody ends us */
static void hold(char **args)
{
	int count = args[0] ? atoi(args[0]) : 1;
	static int held[256];

	prepare("exec sleep 30");
	for (int i = 0; i < count && i < (int) ARRAY_LEN(held); i++) {
		held[i] = send_request(sizeof(request), -1, 0);
		listen_to(held[i]);
		fflush(stdout);
	}
	if (args[0] && args[1])
		listen_to_the_end(held[0]);
}

/* A client that is dead, of which an accomplice keeps everything. */
static void orphan(char **args)
{
	pid_t parent = getpid();
	int jail;

	(void) args;
	prepare("exec sleep 30");
	jail = send_request(sizeof(request), -1, 0);
	listen_to(jail);
	fflush(stdout);
	if (wire_timing(launcher_fd, TIMING_ASK_ALONE, &err) < 0)
		die("timing");
	if (fork() > 0)
		raise(SIGKILL);
	while (kill(parent, 0) == 0 && getppid() == parent)
		poll(NULL, 0, 1);
	listen_to_the_end(jail);
	/* And what it asks for in the dead one's name. */
	if (message_send(launcher_fd, &request, sizeof(request.head), NULL, &err) < 0)
		printf("closed\n");
	else
		listen_to(launcher_fd);
}

/* A connection of one process, over which another introduces itself. */
static void stranger(char **args)
{
	int status;

	(void) args;
	if (fork() == 0) {
		printf("%s%s\n", wire_hello(launcher_fd, &err) < 0 ? "refused: " : "granted",
		       err.text);
		fflush(stdout);
		_exit(0);
	}
	wait(&status);
}

/* Greets without having been spoken to; with a service that is stopped meanwhile. */
static void early(char **args)
{
	(void) args;
	request.head = (struct wire_head){ MAGIC, WIRE_VERSION, REQUEST_HELLO, sizeof(request) };
	if (message_send(launcher_fd, &request.head, sizeof(request.head), NULL, &err) < 0)
		die("send");
	printf("sent\n");
	fflush(stdout);
	listen_to(launcher_fd);
}

/* Asks without having greeted. */
static void rude(char **args)
{
	(void) args;
	prepare("true");
	try_request();
	if (wire_timing(launcher_fd, TIMING_ASK_ALONE, &err) < 0)
		printf("refused: %s\n", err.text);
}

/*
 * Keeps the monitor's end of the jail's socket, and fills it so that whoever waits for room there
 * waits for ever: the jail has half a second all the same.
 */
static void stuffed(char **args)
{
	struct message_fds sent = MESSAGE_FDS_INIT;
	int64_t begun = clock_now();
	struct pollfd payload;
	struct event event;
	struct started_fds started;
	int pair[2];

	(void) args;
	prepare("exec sleep 30");
	request.spec.time.wall_ms = 500;
	if (message_pair(pair, &err) < 0)
		die("pair");
	sent.fd[sent.count++] = pair[1];
	sent.fd[sent.count++] = fds.fd[SPEC_FD_STDOUT];
	sent.fd[sent.count++] = fds.fd[SPEC_FD_STDERR];
	if (message_send(launcher_fd, &request, sizeof(request), &sent, &err) < 0 ||
	    wire_next(pair[0], &event, &started, &err) < 0 || event.kind != EVENT_STARTED)
		die("start");
	fcntl(pair[1], F_SETFL, fcntl(pair[1], F_GETFL) & ~O_NONBLOCK);
	while (message_try_send(pair[1], &event, sizeof(event), NULL, &err) == 0)
		;
	payload = (struct pollfd){ .fd = started.pid_fd, .events = POLLIN };
	printf("%s\n", poll(&payload, 1, PATIENCE_MS) > 0 && clock_now() - begun < 15 * NS_PER_S
			       ? "ended in time"
			       : "it goes on");
}

/* COUNT connections at one time. */
static void crowd(char **args)
{
	static int all[200];
	int count = args[0] ? atoi(args[0]) : 1, granted = 1;
	struct sockaddr_un address;
	socklen_t len = sizeof(address);

	if (getpeername(launcher_fd, (struct sockaddr *) &address, &len) < 0)
		die("getpeername");
	for (int i = 0; i < count && i < (int) ARRAY_LEN(all); i++) {
		all[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		if (connect(all[i], (struct sockaddr *) &address, len) < 0)
			die("connect");
		if (wire_hello(all[i], &err) == 0)
			granted++;
	}
	printf("%d granted; %s\n", granted, err.text);
}

/* WHAT…: questions about the timing lease; "wait": until somebody ends us */
static void timing(char **args)
{
	static const struct name asks[] = {
		{ "turn", TIMING_ASK_TURN },   { "shared", TIMING_ASK_SHARED },
		{ "alone", TIMING_ASK_ALONE }, { "leave-turn", TIMING_LEAVE_TURN },
		{ "leave", TIMING_LEAVE },     { NULL, 0 },
	};

	for (int i = 0; args[i]; i++) {
		int ask, got;

		if (strcmp(args[i], "wait") == 0) {
			fflush(stdout);
			pause();
		} else if (strcmp(args[i], "sleep") == 0) {
			poll(NULL, 0, 1500);
		} else if (names_find(asks, args[i], &ask) == 0) {
			got = wire_timing(launcher_fd, (enum timing_ask) ask, &err);
			printf("%s: %s\n", args[i],
			       got < 0 ? err.text : (got > 0 ? "granted" : "busy"));
		}
	}
}

/* With "wait" until somebody ends us: descriptors that nobody receives before it closes them. */
static void linger_unread(char **args)
{
	(void) args;
	lingering_send(launcher_fd, true);
	printf("sent\n");
	fflush(stdout);
	if (args[0])
		pause();
}

/* Descriptors that a request without sense has no use for. */
static void linger_unused(char **args)
{
	(void) args;
	lingering_send(launcher_fd, false);
	printf("sent\n");
	fflush(stdout);
	pause();
}

/* And those of a wish, which has none: the jail has a second all the same. */
static void linger_wish(char **args)
{
	struct started_fds started;
	struct pollfd payload;
	struct event event;
	int jail;

	(void) args;
	prepare("exec sleep 30");
	request.spec.time.wall_ms = 1000;
	jail = send_request(sizeof(request), -1, 0);
	if (wire_next(jail, &event, &started, &err) < 0 || event.kind != EVENT_STARTED)
		die("start");
	lingering_send(jail, false);
	payload = (struct pollfd){ .fd = started.pid_fd, .events = POLLIN };
	printf("%s\n", poll(&payload, 1, PATIENCE_MS) > 0 ? "ended in time" : "it goes on");
}

/* Nothing but the greeting. */
static void greet(char **args)
{
	(void) args;
	printf("granted\n");
}

static const struct {
	const char *name;
	enum manners manners;
	void (*run)(char **args);
} attacks[] = {
	{ "archive-into", GREETS, archive_into },
	{ "crowd", GREETS, crowd },
	{ "descriptors", GREETS, descriptors },
	{ "device", GREETS, device },
	{ "early", SPEAKS, early },
	{ "greet", GREETS, greet },
	{ "hold", GREETS, hold },
	{ "linger-unread", SPEAKS, linger_unread },
	{ "linger-unused", GREETS, linger_unused },
	{ "linger-wish", GREETS, linger_wish },
	{ "orphan", GREETS, orphan },
	{ "packets", GREETS, packets },
	{ "path-as", GREETS, path_as },
	{ "rude", WAITS, rude },
	{ "spec", GREETS, spec_with },
	{ "stranger", SPEAKS, stranger },
	{ "stuffed", GREETS, stuffed },
	{ "timing", GREETS, timing },
};

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; argc >= 3 && i < ARRAY_LEN(attacks); i++) {
		if (strcmp(argv[2], attacks[i].name) != 0)
			continue;
		open_connection(argv[1], attacks[i].manners);
		errno = 0;
		attacks[i].run(argv + 3);
		return 0;
	}
	fprintf(stderr, "usage: hostile-client SOCKET ATTACK [ARGUMENT]…\n");
	return 2;
}
