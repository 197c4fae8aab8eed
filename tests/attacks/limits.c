/* SPDX-License-Identifier: Apache-2.0 */

/*
 * limits WHAT [NUMBER]: goes for one limit of a jail with all its might
 *
 * Run as the payload of a jail by tests/e2e/40-limits.sh, which looks at how the jail ended and
 * that nothing is left. What ends by itself ends with 0 when it has met the limit, and with 1 if it
 * never did.
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK = 1 << 20 };

static void ignore_signals(void)
{
	for (int number = 1; number < 32; number++)
		if (number != SIGKILL && number != SIGSTOP && number != SIGCHLD)
			signal(number, SIG_IGN);
}

/* Forks without end, each child as well, in sessions of their own, deaf to every signal. */
static int bomb(long number)
{
	(void) number;
	ignore_signals();
	for (;;) {
		pid_t pid = fork();

		if (pid == 0)
			setsid();
		else if (pid < 0)
			sched_yield();
	}
	return 1;
}

/* Forks until it may not, and ends; the children stay, asleep. */
static int forks(long number)
{
	(void) number;
	for (int i = 0; i < 1000000; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			setsid();
			ignore_signals();
			for (;;)
				pause();
		}
		if (pid < 0)
			return errno == EAGAIN ? 0 : 1;
	}
	return 1;
}

/* Takes memory without end. */
static int eat(long number)
{
	(void) number;
	for (;;) {
		char *chunk = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0);

		if (chunk != MAP_FAILED)
			memset(chunk, 'x', CHUNK);
	}
	return 1;
}

/* A child takes it; its parent, which is not to blame, ends well the moment that the child dies. */
static int eat_in_child(long number)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		return eat(number);
	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) ? 0 : 1;
}

/* Many take it together, and each of them little. */
static int eat_together(long number)
{
	for (long i = 0; i < number; i++) {
		if (fork() != 0)
			continue;
		for (int chunks = 0; chunks < 32; chunks++) {
			char *chunk = malloc(CHUNK);

			if (chunk)
				memset(chunk, 'x', CHUNK);
		}
		for (;;)
			pause();
	}
	while (wait(NULL) > 0 || errno == EINTR)
		;
	return 0;
}

/* Locks shared memory as well: what no process maps any more is still charged. */
static int eat_shared(long number)
{
	(void) number;
	for (;;) {
		int fd = memfd_create("x", 0);
		char *chunk = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (fd < 0 || ftruncate(fd, CHUNK) < 0 || chunk == MAP_FAILED)
			pause();
		memset(chunk, 'x', CHUNK);
		munmap(chunk, CHUNK);
	}
	return 1;
}

/* So many empty files. */
static int files(long number)
{
	char name[32];

	for (long i = 0; i < number; i++) {
		int fd;

		snprintf(name, sizeof(name), "f%ld", i);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0)
			return errno == ENOSPC ? 0 : 1;
		close(fd);
	}
	return 1;
}

/* Fills the disk; in a file without a name the disk is free again the moment that we end. */
static int fill_disk(int flags)
{
	static const char block[65536];
	int fd = open(".", flags | O_RDWR | O_CLOEXEC, 0600);
	size_t size = sizeof(block);

	if (fd < 0)
		return 1;
	while (size > 0)
		if (write(fd, block, size) <= 0)
			size /= 2;
	return errno == ENOSPC ? 0 : 1;
}

/* @number: milliseconds that it is held full */
static int disk(long number)
{
	int result = fill_disk(O_TMPFILE);

	usleep((useconds_t) number * 1000);
	return result;
}

/* Writes to both descriptors without end. */
static int flood(long number)
{
	static char block[4096];
	int fd = fork() == 0 ? STDERR_FILENO : STDOUT_FILENO;

	(void) number;
	memset(block, 'y', sizeof(block) - 1);
	block[sizeof(block) - 1] = '\n';
	for (;;)
		if (write(fd, block, sizeof(block)) < 0 && errno == EPIPE)
			return 0;
}

/* Everything that a tracer does to pid 1, and then it is gone; 0 if all of it was refused. */
static int trace(long number)
{
	char byte;
	struct iovec ours = { &byte, 1 }, theirs = { &byte, 1 };
	int refused = 1, status;
	pid_t pid = fork();

	(void) number;
	refused &= ptrace(PTRACE_SEIZE, 1, 0, 0) < 0;
	refused &= ptrace(PTRACE_ATTACH, 1, 0, 0) < 0;
	refused &= process_vm_readv(1, &ours, 1, &theirs, 1, 0) < 0;
	refused &= open("/proc/1/mem", O_RDWR | O_CLOEXEC) < 0;
	if (pid == 0) {
		refused &= ptrace(PTRACE_TRACEME, 0, 0, 0) < 0;
		refused &= ptrace(PTRACE_SEIZE, getppid(), 0, 0) < 0;
		raise(SIGSTOP); /* a tracee that nobody lets go on */
	}
	if (pid > 0 && (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status)))
		return 1;
	return refused ? 0 : 1;
}

/* So many processes that make refused calls without end, for pid 1 to answer. */
static int refuse(long number)
{
	ignore_signals();
	for (long i = 1; i < number; i++)
		if (fork() == 0)
			break;
	for (;;)
		ptrace(PTRACE_TRACEME, 0, 0, 0);
	return 1;
}

/* The same behind the back of a command that ends. */
static int refuse_and_end(long number)
{
	if (fork() == 0)
		return refuse(number);
	usleep(100 * 1000);
	return 7;
}

/* The same beside orphans without end, which pid 1 has to bury as well: 0 if it did. */
static int refuse_and_leave(long number)
{
	long buried = 0;

	if (fork() == 0)
		return refuse(number);
	for (int tries = 0; tries < 100000 && buried < 2000; tries++) {
		pid_t pid = fork();

		if (pid == 0) {
			if (fork() == 0)
				usleep(1000);
			_exit(0);
		}
		if (pid > 0 && waitpid(pid, NULL, 0) == pid)
			buried++;
		else
			usleep(100);
	}
	return buried == 2000 ? 0 : 1;
}

/* Does nothing, deaf to every signal. */
static int stay(long number)
{
	(void) number;
	ignore_signals();
	if (fork() == 0)
		setsid();
	for (;;)
		pause();
	return 1;
}

/* clang-format off */
static const struct {
	const char *name;
	int (*run)(long number);
} modes[] = {
	{ "bomb",         bomb },
	{ "forks",        forks },
	{ "eat",          eat },
	{ "eat-in-child", eat_in_child },
	{ "eat-together", eat_together },
	{ "eat-shared",   eat_shared },
	{ "files",        files },
	{ "disk",         disk },
	{ "flood",        flood },
	{ "trace",        trace },
	{ "refuse",       refuse },
	{ "refuse-and-end", refuse_and_end },
	{ "refuse-and-leave", refuse_and_leave },
	{ "stay",         stay },
};
/* clang-format on */

int main(int argc, char **argv)
{
	long number = argc > 2 ? strtol(argv[2], NULL, 10) : 0;

	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(argv[1], modes[i].name) == 0)
			return modes[i].run(number);
	fprintf(stderr, "limits: there is no such attack\n");
	return 2;
}
