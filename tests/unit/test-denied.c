/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/denied.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/handshake.h"
#include "sandbox/seccomp.h"
#include "tests/lib/check.h"

static struct err err;
static const struct denied_calls calls = { 3, { SYS_getppid, -1, SYS_getpgid } };
static struct denied_page page;

/* getppid and getpgid wait for an answer. */
static struct seccomp_program asking_program(void)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpgid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct seccomp_program program = { .count = ARRAY_LEN(code) };

	memcpy(program.instructions, code, sizeof(code));
	return program;
}

/* A child under the filter that calls @live. Return: its pid; @listener is ours. */
static pid_t start_child(void (*live)(void), int *listener)
{
	struct seccomp_program program = asking_program();
	int ends[2], theirs;
	pid_t pid;

	CHECK_OK(message_pair(ends, &err));
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
		CHECK_OK(handshake_ready(ends[1], &err));
		CHECK_OK(seccomp_install(&program, &theirs, &err));
		CHECK_OK(handshake_give(ends[1], theirs, &err));
		close(theirs);
		close(ends[1]);
		live();
		_exit(0);
	}
	close(ends[1]);
	CHECK_OK(handshake_wait(ends[0], listener, &err));
	CHECK(*listener >= 0);
	close(ends[0]);
	return pid;
}

/* Answers until the child is gone, as pid 1 does; its exit status. */
static int answer_all(pid_t pid, int listener)
{
	struct pollfd ready = { .fd = listener, .events = POLLIN };
	int64_t deadline = clock_after_ms(10000);
	int status = -1;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		CHECK(clock_now() < deadline);
		poll(&ready, 1, 10);
		/* The last of them may have gone by now. */
		if (ready.revents & POLLIN)
			best_effort(denied_answer(listener, &calls, &page));
	}
	/* Older kernels say that nobody is left when the last caller is reaped, not when it ends.
	 */
	CHECK_INT(poll(&ready, 1, 10000), 1);
	CHECK_INT(denied_answer(listener, &calls, &page), -1);
	return status;
}

static void try_some(void)
{
	for (int i = 0; i < 200; i++)
		CHECK(syscall(SYS_getppid) < 0 && errno == EPERM);
	CHECK(syscall(SYS_getpgid, 0) < 0 && errno == EPERM);
	CHECK(getpid() > 0);
}

TEST(refused_calls_are_refused_and_counted_by_name)
{
	int listener;
	pid_t pid = start_child(try_some, &listener);

	CHECK_INT(answer_all(pid, listener), 0);
	CHECK_INT(page.tries[0], 200);
	CHECK_INT(page.tries[1], 0);
	CHECK_INT(page.tries[2], 1);
	close(listener);
}

TEST(counters_stay_at_their_end)
{
	int listener;
	pid_t pid;

	page.tries[0] = UINT32_MAX - 100;
	pid = start_child(try_some, &listener);
	CHECK_INT(answer_all(pid, listener), 0);
	CHECK_INT(page.tries[0], UINT32_MAX);
	close(listener);
}

static void flood(void)
{
	for (int i = 0; i < 7; i++)
		if (fork() == 0)
			break;
	for (;;)
		syscall(SYS_getppid);
}

TEST(a_flood_is_answered_in_portions)
{
	int64_t begun = clock_now();
	int listener, status;
	pid_t pid;

	CHECK(setpgid(0, 0) == 0 || getpgrp() == getpid());
	pid = start_child(flood, &listener);
	for (int i = 0; i < 50; i++) {
		uint32_t before = page.tries[0];

		CHECK_OK(denied_answer(listener, &calls, &page));
		CHECK(page.tries[0] - before <= 64);
	}
	CHECK(clock_now() - begun < 20 * NS_PER_S);
	/* All of the group but us. */
	signal(SIGTERM, SIG_IGN);
	CHECK(kill(0, SIGTERM) == 0);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	close(listener);
}

static void wait_for_ever(void)
{
	syscall(SYS_getppid);
}

TEST(a_caller_that_is_killed_while_it_waits_holds_nothing_up)
{
	int listener, status;
	pid_t pid = start_child(wait_for_ever, &listener);
	struct pollfd ready = { .fd = listener, .events = POLLIN };

	CHECK_INT(poll(&ready, 1, 10000), 1);
	CHECK(kill(pid, SIGKILL) == 0);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	/* Nobody is left: no wait, and an end. */
	CHECK_INT(denied_answer(listener, &calls, &page), -1);
	CHECK_INT(page.tries[0], 0);
	close(listener);
}

TEST(where_nobody_waits_there_is_no_wait)
{
	int listener;
	pid_t pid = start_child((void (*)(void)) pause, &listener);
	int64_t begun = clock_now();

	CHECK_OK(denied_answer(listener, &calls, &page));
	CHECK(clock_now() - begun < 5 * NS_PER_S);
	CHECK(kill(pid, SIGKILL) == 0);
	CHECK_INT(answer_all(pid, listener), SIGKILL);
	close(listener);
}

static void wait_and_tell(void)
{
	CHECK(syscall(SYS_getppid) < 0);
	_exit(errno == ENOSYS ? 33 : 34);
}

TEST(a_caller_whose_listener_goes_is_let_go)
{
	int listener, status;
	pid_t pid = start_child(wait_and_tell, &listener);

	close(listener);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(WEXITSTATUS(status), 33);
}

TEST(the_page_is_shared_and_its_size_is_fixed)
{
	auto_fd fd = denied_create(&err);
	struct denied_page *ours, *theirs;

	CHECK(fd >= 0);
	theirs = denied_map(fd, true, &err);
	ours = denied_map(fd, false, &err);
	CHECK(ours && theirs);
	theirs->tries[95] = 7;
	CHECK_INT(ours->tries[95], 7);
	CHECK(ftruncate(fd, 0) < 0 && errno == EPERM);
	CHECK(ftruncate(fd, 1 << 20) < 0 && errno == EPERM);
	CHECK(mprotect(theirs, sizeof(*theirs), PROT_READ) == 0);
	denied_unmap(ours);
	denied_unmap(theirs);
	denied_unmap(NULL);
	CHECK(denied_map(-1, false, &err) == NULL);
	CHECK_STR(err.text, "map the page of refused calls: Bad file descriptor");
}
