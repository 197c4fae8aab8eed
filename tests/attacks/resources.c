/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Using more than there is: each attack passes its limit by a little, and says so. Attacks with all
 * their might are in limits.c.
 */
#include "tests/attacks/attack.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK = 1 << 20 };

/* Children that sleep until we end. */
static void processes(const struct scene *scene)
{
	int hold[2];
	long count = 0;

	if (pipe(hold) < 0)
		broken("make a pipe: %s", strerror(errno));
	for (; count < scene->pids + 32; count++) {
		pid_t pid = fork();
		char byte;

		if (pid < 0)
			held("fork: %s, with %ld children", strerror(errno), count);
		if (pid == 0) {
			close(hold[1]);
			best_effort(read(hold[0], &byte, 1));
			_exit(0);
		}
	}
	got("has %ld children, with %ld processes allowed", count, scene->pids);
}

static void *sleep_on(void *hold)
{
	char byte;

	best_effort(read(*(const int *) hold, &byte, 1));
	return NULL;
}

static void threads(const struct scene *scene)
{
	static int hold[2];
	pthread_attr_t attributes;
	long count = 0;

	if (pipe(hold) < 0)
		broken("make a pipe: %s", strerror(errno));
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	for (; count < scene->pids + 32; count++) {
		pthread_t thread;
		int result = pthread_create(&thread, &attributes, sleep_on, &hold[0]);

		if (result != 0)
			held("start a thread: %s, with %ld", strerror(result), count);
	}
	got("has %ld threads, with %ld allowed", count, scene->pids);
}

static void take_chunk(int flags, int fd, off_t at)
{
	char *chunk = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, flags, fd, at);

	if (chunk == MAP_FAILED)
		held_by("mmap");
	memset(chunk, 'x', CHUNK);
	if (flags & MAP_SHARED)
		munmap(chunk, CHUNK);
}

static long over(long limit)
{
	return limit + limit / 4;
}

static void memory(const struct scene *scene)
{
	long taken = 0;

	for (; taken < over(scene->memory); taken += CHUNK)
		take_chunk(MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	got("has %ld MiB, with %ld allowed", taken / CHUNK, scene->memory / CHUNK);
}

/* In many processes, none of which has much. */
static void memory_together(const struct scene *scene)
{
	enum { MANY = 16 };
	int done[2], hold[2];

	if (pipe(done) < 0 || pipe(hold) < 0)
		broken("make a pipe: %s", strerror(errno));
	for (int i = 0; i < MANY; i++) {
		char byte = 'd';

		if (fork() != 0)
			continue;
		close(hold[1]);
		for (long taken = 0; taken < over(scene->memory) / MANY; taken += CHUNK)
			take_chunk(MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		best_effort(write(done[1], &byte, 1));
		best_effort(read(hold[0], &byte, 1));
		_exit(0);
	}
	close(done[1]);
	for (int i = 0; i < MANY; i++) {
		char byte;

		if (read(done[0], &byte, 1) != 1)
			held("some of the processes were killed");
	}
	/* One that is done may have been killed for the next: all of them at one time is what
	 * counts. */
	sleep_ms(50);
	if (waitpid(-1, NULL, WNOHANG) != 0)
		held("some of the processes were killed");
	got("%d processes have %ld MiB, with %ld allowed", (int) MANY, over(scene->memory) / CHUNK,
	    scene->memory / CHUNK);
}

/* What no process maps any more is still there. */
static void memory_unmapped(const struct scene *scene)
{
	int fd = memfd_create("drill", MFD_CLOEXEC);
	long taken = 0;

	for (; taken < over(scene->memory); taken += CHUNK) {
		if (ftruncate(fd, taken + CHUNK) < 0)
			held_by("ftruncate");
		take_chunk(MAP_SHARED, fd, taken);
	}
	got("has %ld MiB in a file without a name", taken / CHUNK);
}

/* In pipes, which no process has in its memory. */
static void memory_in_pipes(const struct scene *scene)
{
	static char block[65536];
	long taken = 0;

	while (taken < over(scene->memory)) {
		int ends[2];
		ssize_t put;

		if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) < 0)
			held("pipe: %s, with %ld MiB", strerror(errno), taken / CHUNK);
		best_effort(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20));
		while ((put = write(ends[1], block, sizeof(block))) > 0)
			taken += put;
	}
	got("has %ld MiB in pipes", taken / CHUNK);
}

static void fill(const char *folder, long limit)
{
	static char block[65536];
	int fd = open(below(folder, "big"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	long written = 0;

	if (fd < 0)
		broken("make a file in %s: %s", folder, strerror(errno));
	while (written < limit + CHUNK) {
		ssize_t put = write(fd, block, sizeof(block));

		if (put < 0)
			held("write in %s: %s, with %ld MiB", folder, strerror(errno),
			     written / CHUNK);
		written += put;
	}
	got("wrote %ld MiB in %s, with %ld allowed", written / CHUNK, folder, limit / CHUNK);
}

static void disk(const struct scene *scene)
{
	fill(".", scene->work);
}

static void inodes(const struct scene *scene)
{
	long count = 0;

	best_effort(mkdir("many", 0700));
	for (; count < scene->inodes + 64; count++) {
		char path[64];
		int fd;

		snprintf(path, sizeof(path), "many/%ld", count);
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0)
			held("make a file: %s, with %ld", strerror(errno), count);
		close(fd);
	}
	got("made %ld files, with %ld allowed", count, scene->inodes);
}

/* Far more than a reader takes at one turn. */
static void output(const struct scene *scene)
{
	const long goal = scene->output * 4 + 256L * CHUNK;

	static char block[4096];
	long written = 0;

	memset(block, 'y', sizeof(block));
	for (size_t at = 79; at < sizeof(block); at += 80)
		block[at] = '\n';
	while (written < goal) {
		ssize_t put = write(written % 8192 == 0 ? STDOUT_FILENO : STDERR_FILENO, block,
				    sizeof(block));

		if (put < 0)
			held_by("write");
		written += put;
	}
	got("printed %ld KiB, with %ld allowed", written / 1024, scene->output / 1024);
}

static void open_files(const struct scene *scene)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	long count = 0;

	best_effort(setrlimit(RLIMIT_NOFILE, &all));
	if (scene->bare) {
		const struct rlimit more = { (rlim_t) scene->files + 256,
					     (rlim_t) scene->files + 256 };

		best_effort(setrlimit(RLIMIT_NOFILE, &more));
	}
	for (; count < scene->files + 64; count++)
		if (dup(0) < 0)
			held("dup: %s, with %ld", strerror(errno), count);
	got("has %ld descriptors, with %ld allowed", count, scene->files);
}

/* -- what the kernel counts for a user: root's would be used up as well -- */

/* While these are held, the drill asks a process of root's for one more. */
static void inotify(const struct scene *scene)
{
	long count = 0;

	(void) scene;
	while (count < 100000 && inotify_init1(IN_CLOEXEC) >= 0)
		count++;
	say_ready();
	sleep_ms(1500);
	held("has %ld of them", count);
}

static void queued_signals(const struct scene *scene)
{
	union sigval value = { .sival_int = 0 };
	sigset_t set;
	long count = 0;

	(void) scene;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	while (count < 1000000 && sigqueue(getpid(), SIGRTMIN, value) == 0)
		count++;
	say_ready();
	sleep_ms(1500);
	held("has %ld of them waiting", count);
}

/* Descriptors in messages that nobody takes count for a user as well. */
static void parked_descriptors(const struct scene *scene)
{
	int pair[2];
	long count = 0;

	(void) scene;
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
		broken("make a pair of sockets: %s", strerror(errno));
	for (; count < 100000; count++) {
		union {
			struct cmsghdr header;
			char room[CMSG_SPACE(sizeof(int))];
		} control = { .header = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
		char byte = 'p';
		struct iovec part = { &byte, 1 };
		struct msghdr message = { .msg_iov = &part,
					  .msg_iovlen = 1,
					  .msg_control = &control,
					  .msg_controllen = sizeof(control) };

		memcpy(CMSG_DATA(&control.header), &(int){ 0 }, sizeof(int));
		if (sendmsg(pair[0], &message, 0) < 0) {
			close(pair[0]);
			close(pair[1]);
			if (errno == ETOOMANYREFS)
				break;
			if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
				       pair) < 0)
				break;
		}
	}
	say_ready();
	sleep_ms(500);
	held("parked %ld descriptors", count);
}

static void huge_pages(const struct scene *scene)
{
	char *page;

	if (scene->huge == 0)
		not_here("the host keeps no huge pages");
	page = mmap(NULL, 2 * CHUNK, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (page == MAP_FAILED)
		held_by("mmap");
	page[0] = 1;
	got("has a huge page of the host's few");
}

/* clang-format off */
const struct attack attacks_on_resources[] = {
	{ "res-processes",       processes },
	{ "res-threads",         threads },
	{ "res-memory",          memory },
	{ "res-memory-together", memory_together },
	{ "res-memory-unmapped", memory_unmapped },
	{ "res-memory-pipes",    memory_in_pipes },
	{ "res-disk",            disk },
	{ "res-inodes",          inodes },
	{ "res-output",          output },
	{ "res-open-files",      open_files },
	{ "res-inotify",         inotify },
	{ "res-signals",         queued_signals },
	{ "res-parked",          parked_descriptors },
	{ "res-huge-pages",      huge_pages },
	{ NULL,                  NULL },
};
/* clang-format on */
