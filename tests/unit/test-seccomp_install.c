/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/seccomp.h"
#include "tests/lib/check.h"

/* getppid answers ENOSYS, the rest passes. */
static struct seccomp_program small_program(void)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct seccomp_program program = { .count = ARRAY_LEN(code) };

	memcpy(program.instructions, code, sizeof(code));
	return program;
}

static void live_without_getppid(void)
{
	struct seccomp_program program = small_program();
	struct err err = ERR_INIT;

	CHECK(syscall(SYS_getppid) > 0);
	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK_OK(seccomp_install(&program, NULL, &err));
	CHECK(syscall(SYS_getppid) < 0 && errno == ENOSYS);
	CHECK_INT(prctl(PR_GET_SECCOMP), SECCOMP_MODE_FILTER);
}

/* In a child: the leak check of a sanitizer build could not live like that. */
TEST(the_bytes_of_a_program_are_what_runs)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		live_without_getppid();
		_exit(0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK_INT(status, 0);
}

TEST(a_program_of_no_or_too_many_instructions_is_refused)
{
	struct seccomp_program program = small_program();
	struct err err = ERR_INIT;

	program.count = 0;
	CHECK_INT(seccomp_install(&program, NULL, &err), -1);
	CHECK_STR(err.text, "a system call filter of 0 instructions is malformed");
	program.count = SECCOMP_PROGRAM_MAX + 1;
	CHECK_INT(seccomp_install(&program, NULL, &err), -1);
	CHECK_INT(prctl(PR_GET_SECCOMP), 0);
}

TEST(a_program_that_the_kernel_refuses_is_an_error)
{
	struct seccomp_program program = small_program();
	struct err err = ERR_INIT;

	program.count = 2; /* does not end in a return */
	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK_INT(seccomp_install(&program, NULL, &err), -1);
	CHECK_STR(err.text, "install the system call filter: Invalid argument");
}

/* getppid waits for an answer. */
static struct seccomp_program asking_program(void)
{
	struct seccomp_program program = small_program();
	const struct sock_filter ask = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);

	memcpy(&program.instructions[2], &ask, sizeof(ask));
	return program;
}

static int in_child(void (*live)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		live();
		_exit(0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	return status;
}

static void be_refused_at_once(void)
{
	struct seccomp_program program = asking_program();
	struct err err = ERR_INIT;

	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK_OK(seccomp_install(&program, NULL, &err));
	CHECK(syscall(SYS_getppid) < 0 && errno == EPERM);
}

TEST(without_a_listener_what_would_be_asked_is_refused)
{
	CHECK_INT(in_child(be_refused_at_once), 0);
}

static void be_the_second_to_listen(void)
{
	struct seccomp_program program = asking_program();
	struct err err = ERR_INIT;
	int first = -1, second = 77;

	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK_OK(seccomp_install(&program, &first, &err));
	CHECK(first >= 0);
	CHECK_INT(fcntl(first, F_GETFD), FD_CLOEXEC);
	CHECK_OK(seccomp_install(&program, &second, &err));
	CHECK_INT(second, -1);
	CHECK(syscall(SYS_getppid) < 0 && errno == EPERM); /* the second filter decides */
}

TEST(where_somebody_listens_already_what_would_be_asked_is_refused)
{
	CHECK_INT(in_child(be_the_second_to_listen), 0);
}
