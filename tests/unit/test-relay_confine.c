/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/base/io.h"
#include "sandbox/relay.h"
#include "tests/lib/check.h"

static struct err err;

/* Runs in a relay that keeps one pipe and has 4 connections; its exit code, or 256 + a signal. */
static int in_relay(int (*act)(int fd))
{
	int ends[2], status = 0;
	pid_t parent = getpid(), pid;

	CHECK(pipe(ends) == 0);
	pid = fork();
	if (pid == 0) {
		if (relay_confine(&ends[1], 1, parent, 4, &err) < 0)
			_exit(99);
		_exit(act(ends[1]));
	}
	close(ends[1]);
	CHECK(waitpid(pid, &status, 0) == pid);
	close(ends[0]);
	return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int write_to(int fd)
{
	return write(fd, "x", 1) == 1 ? 0 : 1;
}

static int open_sockets(int fd)
{
	int count = 0;

	(void) fd;
	while (socket(AF_INET, SOCK_STREAM, 0) >= 0)
		count++;
	return errno == EMFILE ? count : 99;
}

static int close_others(int fd)
{
	for (int other = 3; other < 100; other++)
		if (other != fd && (close(other) == 0 || errno != EBADF))
			return 1;
	return 0;
}

static int read_standard(int fd)
{
	char byte;

	(void) fd;
	return recv(STDIN_FILENO, &byte, 1, 0) < 0 && errno == ENOTSOCK &&
			       write(STDERR_FILENO, "x", 1) == 1
		     ? 0
		     : 1;
}

static int open_file(int fd)
{
	(void) fd;
	return open("/dev/null", O_RDONLY) >= 0;
}

static int start_program(int fd)
{
	(void) fd;
	execl("/bin/true", "true", NULL);
	return 1;
}

static int start_process(int fd)
{
	(void) fd;
	return fork() >= 0;
}

static int send_signal(int fd)
{
	(void) fd;
	return kill(getppid(), 0) == 0;
}

static int map_code(int fd)
{
	(void) fd;
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	       MAP_FAILED;
}

static int map_memory(int fd)
{
	(void) fd;
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
			       MAP_FAILED
		     ? 0
		     : 1;
}

static int change_itself(int fd)
{
	(void) fd;
	return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static int read_name(int fd)
{
	char name[64];

	(void) fd;
	return gethostname(name, sizeof(name));
}

TEST(it_keeps_what_it_is_given_and_nothing_else)
{
	fcntl(open("/dev/null", O_RDONLY), F_DUPFD, 90);
	CHECK_INT(in_relay(write_to), 0);
	CHECK_INT(in_relay(close_others), 0);
	CHECK_INT(in_relay(read_standard), 0);
	CHECK_INT(in_relay(map_memory), 0);
}

TEST(it_can_open_no_more_than_its_connections_take)
{
	int count = in_relay(open_sockets);

	CHECK(count >= 8 && count <= 8 + 32);
}

TEST(all_else_ends_it)
{
	static const struct {
		const char *what;
		int (*act)(int fd);
	} rows[] = {
		{ "open a file", open_file },
		{ "execute a program", start_program },
		{ "fork", start_process },
		{ "send a signal", send_signal },
		{ "map memory to be executed", map_code },
		{ "let itself be dumped", change_itself },
		{ "ask for the host's name", read_name },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int code = in_relay(rows[i].act);

		if (code != 256 + SIGSYS)
			check_fail(__FILE__, __LINE__, "it can %s: %d", rows[i].what, code);
	}
}

static int wait_long(int fd)
{
	struct timespec long_time = { .tv_sec = 60 };

	best_effort(write(fd, "x", 1));
	nanosleep(&long_time, NULL);
	return 0;
}

TEST(it_says_of_itself_what_it_is_and_ends_with_its_parent)
{
	char path[64], text[8192];
	int ends[2], relay[2], status;
	pid_t middle, pid = 0;

	CHECK(pipe(ends) == 0 && pipe(relay) == 0);
	middle = fork();
	if (middle == 0) {
		pid_t parent = getpid(), child = fork();

		if (child == 0) {
			if (relay_confine(&ends[1], 1, parent, 4, &err) < 0)
				_exit(99);
			_exit(wait_long(ends[1]));
		}
		best_effort(write(relay[1], &child, sizeof(child)));
		pause();
	}
	close(ends[1]);
	CHECK(read(relay[0], &pid, sizeof(pid)) == sizeof(pid));
	CHECK(read(ends[0], text, 1) == 1);
	snprintf(path, sizeof(path), "/proc/%d/status", (int) pid);
	CHECK_OK(io_read_kernel_file(AT_FDCWD, path, text, sizeof(text), &err));
	CHECK(strstr(text, "Name:\tproctor-relay\n"));
	CHECK(strstr(text, "NoNewPrivs:\t1\n"));
	CHECK(strstr(text, "Seccomp:\t2\n"));
	CHECK(kill(pid, SIGTERM) == 0); /* blocked */
	CHECK_INT(poll(&(struct pollfd){ .fd = ends[0], .events = POLLIN }, 1, 50), 0);
	CHECK(kill(middle, SIGKILL) == 0 && waitpid(middle, &status, 0) == middle);
	/* The pipe ends with its last holder. */
	CHECK_INT(poll(&(struct pollfd){ .fd = ends[0], .events = POLLIN }, 1, 10000), 1);
}

TEST(who_has_no_parent_any_more_does_not_begin)
{
	int ends[2];

	CHECK(pipe(ends) == 0);
	CHECK_INT(relay_confine(&ends[1], 1, getpid(), 4, &err), -1);
	CHECK_STR(err.text, "relay: who has started the relay has gone");
}
