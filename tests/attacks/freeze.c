/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Workspaces that are hostile to whoever collects them. What the collector makes of one is the
 * drill's to see: these say READY when it is laid out, and HELD, since nothing stopped them.
 */
#include "tests/attacks/attack.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { STAY_MS = 5000 };

static void must(long result, const char *what)
{
	if (result < 0)
		broken("%s: %s", what, strerror(errno));
}

static int make(const char *path, mode_t mode, const char *text)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	must(fd, path);
	must(write(fd, text, strlen(text)), path);
	must(fchmod(fd, mode), path);
	return fd;
}

static void laid_out(const char *what)
{
	held("left %s", what);
}

static void link_out(const struct scene *scene)
{
	must(symlink(below(scene->outside, "answers.json"), "link"), "link");
	must(symlink(below(scene->bait, "root-only"), "link-root"), "link");
	laid_out("a link to a file of the host");
}

static void link_folder(const struct scene *scene)
{
	must(symlink(scene->outside, "folder"), "link");
	laid_out("a link to a folder of the host");
}

static void link_up(const struct scene *scene)
{
	char target[512];

	must(mkdir("below", 0700), "mkdir");
	snprintf(target, sizeof(target), "../../../../../..%s/answers.json", scene->outside);
	must(symlink(target, "below/link"), "link");
	laid_out("a link that goes up first");
}

static void pipe_without_writer(const struct scene *scene)
{
	(void) scene;
	must(mkfifo("fifo", 0666), "mkfifo");
	laid_out("a pipe that nobody writes");
}

static void socket_file(const struct scene *scene)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void) scene;
	must(bind(fd, (const struct sockaddr *) &address, sizeof(address)), "bind");
	laid_out("a socket");
}

static void setuid_file(const struct scene *scene)
{
	(void) scene;
	make("setuid", 06755, "#!/bin/sh\nid\n");
	laid_out("a set-user-id file");
}

static void sparse(const struct scene *scene)
{
	(void) scene;
	must(ftruncate(make("sparse", 0644, ""), (off_t) TIB), "ftruncate");
	laid_out("a terabyte of nothing");
}

static void chain(const char *name, int depth)
{
	must(mkdir("deep", 0700), "mkdir");
	must(chdir("deep"), "chdir");
	for (int i = 0; i < depth; i++) {
		must(mkdir(name, 0700), "mkdir");
		must(chdir(name), "chdir");
	}
	make("end", 0644, "end\n");
}

static void deep(const struct scene *scene)
{
	(void) scene;
	chain("d", 400);
	laid_out("folders 400 deep");
}

static void long_path(const struct scene *scene)
{
	char name[201];

	(void) scene;
	memset(name, 'n', 200);
	name[200] = '\0';
	chain(name, 30);
	laid_out("a path of 6,000 bytes");
}

static void names(const struct scene *scene)
{
	static const char *const hostile[] = {
		"-rf",    "..hidden", "new\nline", "end\033[2Jscreen", "right\xe2\x80\xaeleft",
		"a b\tc", "$(id)",    "\xff\xfe",  "x;y|z&",           "\xc2\x9b-1m",
		"`id`",   "CON",
	};

	(void) scene;
	for (size_t i = 0; i < ARRAY_LEN(hostile); i++)
		make(hostile[i], 0644, "name\n");
	laid_out("names that are commands elsewhere");
}

static void no_rights(const struct scene *scene)
{
	(void) scene;
	make("closed", 0, "closed\n");
	must(mkdir("dark", 0700), "mkdir");
	make("dark/inside", 0600, "inside\n");
	must(chmod("dark", 0), "chmod");
	laid_out("what nobody may read");
}

static void extended(const struct scene *scene)
{
	/* Revision 2 of a file's capabilities, CAP_SETUID, at once. */
	static const unsigned char capability[20] = { 1, 0, 0, 2, 0x80 };
	char value[4096];
	int fd = make("attributes", 0644, "attributes\n");

	(void) scene;
	memset(value, 'v', sizeof(value));
	/* Older kernels keep none of these on a tmpfs. */
	best_effort(syscall(SYS_fsetxattr, fd, "user.drill", value, sizeof(value), 0));
	best_effort(syscall(SYS_fsetxattr, fd, "security.capability", capability,
			    sizeof(capability), 0));
	laid_out("attributes beside a file");
}

/* -- writers that go on -- */

/* Behind the main process: deaf, in a session of its own. */
static bool goes_on(void)
{
	ignore_signals(); /* before: the end of a session tells those in it */
	if (fork() != 0) {
		sleep_ms(100);
		return false;
	}
	setsid();
	return true;
}

static bool is_time_left(const struct timespec *begun)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - begun->tv_sec) * 1000 < STAY_MS;
}

/* What is a file at one look is a link to a secret at the next. */
static void swap_link(const struct scene *scene)
{
	struct timespec begun;

	make("swapped", 0644, "harmless\n");
	must(symlink(below(scene->bait, "root-only"), "other"), "link");
	clock_gettime(CLOCK_MONOTONIC, &begun);
	if (!goes_on())
		laid_out("a file that is a link every other moment");
	while (is_time_left(&begun))
		best_effort(syscall(SYS_renameat2, AT_FDCWD, "swapped", AT_FDCWD, "other",
				    2 /* RENAME_EXCHANGE */));
	_exit(0);
}

static void swap_folder(const struct scene *scene)
{
	struct timespec begun;

	must(mkdir("swapped", 0700), "mkdir");
	make("swapped/answers.json", 0644, "harmless\n");
	must(symlink(scene->outside, "other"), "link");
	clock_gettime(CLOCK_MONOTONIC, &begun);
	if (!goes_on())
		laid_out("a folder that is a link every other moment");
	while (is_time_left(&begun))
		best_effort(syscall(SYS_renameat2, AT_FDCWD, "swapped", AT_FDCWD, "other",
				    2 /* RENAME_EXCHANGE */));
	_exit(0);
}

/* Five bytes at a time: a file of any other length was cut while it was written. */
static void late_write(const struct scene *scene)
{
	int fd = make("written", 0644, ""), count = 0;
	struct timespec begun;

	(void) scene;
	clock_gettime(CLOCK_MONOTONIC, &begun);
	if (!goes_on())
		laid_out("a daemon that goes on writing");
	while (is_time_left(&begun)) {
		char text[16];

		snprintf(text, sizeof(text), "%04d\n", count++ % 10000);
		if (write(fd, text, 5) < 0 || lseek(fd, 0, SEEK_CUR) > 100000)
			must(lseek(fd, 0, SEEK_SET), "seek");
	}
	_exit(0);
}

/* No process holds it, and it can be written to: a descriptor and a mapping, in sockets that hold
 * each other. */
static void parked(const struct scene *scene)
{
	int fd = make("parked", 0644, "parked\n"), pair[2], sent[3];
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(sent))];
	} control = { .header = { CMSG_LEN(sizeof(sent)), SOL_SOCKET, SCM_RIGHTS } };
	char byte = 'p';
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };

	(void) scene;
	must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), "make a pair of sockets");
	sent[0] = fd;
	sent[1] = pair[0];
	sent[2] = pair[1];
	memcpy(CMSG_DATA(&control.header), sent, sizeof(sent));
	must(sendmsg(pair[0], &message, 0), "park a descriptor");
	if (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED)
		broken("map a file: %s", strerror(errno));
	laid_out("a writable descriptor that nobody holds");
}

/* clang-format off */
const struct attack attacks_on_the_freeze[] = {
	{ "freeze-link",        link_out },
	{ "freeze-link-folder", link_folder },
	{ "freeze-link-up",     link_up },
	{ "freeze-fifo",        pipe_without_writer },
	{ "freeze-socket",      socket_file },
	{ "freeze-setuid",      setuid_file },
	{ "freeze-sparse",      sparse },
	{ "freeze-deep",        deep },
	{ "freeze-long-path",   long_path },
	{ "freeze-names",       names },
	{ "freeze-no-rights",   no_rights },
	{ "freeze-attributes",  extended },
	{ "freeze-swap-link",   swap_link },
	{ "freeze-swap-folder", swap_folder },
	{ "freeze-late-write",  late_write },
	{ "freeze-parked",      parked },
	{ NULL,                 NULL },
};
/* clang-format on */
