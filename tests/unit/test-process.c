/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "tests/lib/check.h"

static struct process start(void (*act)(void))
{
	struct process child = PROCESS_INIT;
	struct err err = ERR_INIT;
	int forked = process_fork(&child, &err);

	CHECK_OK(forked);
	if (forked == 0) {
		act();
		_exit(0);
	}
	return child;
}

static void exit_3(void)
{
	_exit(3);
}

static void sleep_long(void)
{
	sleep(60);
}

static void die(void)
{
	kill(getpid(), SIGKILL);
}

TEST(whoever_started_us_with_children_ignored_takes_none_from_us)
{
	struct process child;
	struct err err = ERR_INIT;
	int status = 0;

	signal(SIGCHLD, SIG_IGN);
	process_expect_children();
	child = start(exit_3);
	CHECK_INT(process_wait(&child, CLOCK_NEVER, &status, &err), 1);
	CHECK_INT(WEXITSTATUS(status), 3);
}

TEST(a_process_is_waited_for_and_reaped_once)
{
	struct process child = start(exit_3);
	struct err err = ERR_INIT;
	pid_t pid = child.pid;
	int pid_fd = child.pid_fd, status = 0;

	CHECK_INT(fcntl(pid_fd, F_GETFD), FD_CLOEXEC);
	CHECK_INT(process_wait(&child, CLOCK_NEVER, &status, &err), 1);
	CHECK(WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 3);
	CHECK_INT(child.pid, -1);
	CHECK_INT(child.pid_fd, -1);
	CHECK(fcntl(pid_fd, F_GETFD) < 0);
	CHECK(waitpid(pid, NULL, 0) < 0);
}

TEST(a_signal_shows_in_the_status)
{
	struct process child = start(die);
	struct err err = ERR_INIT;
	int status = 0;

	CHECK_INT(process_wait(&child, clock_after_ms(20000), &status, &err), 1);
	CHECK(WIFSIGNALED(status));
	CHECK_INT(WTERMSIG(status), SIGKILL);
}

TEST(a_deadline_that_comes_first_leaves_the_process_running)
{
	struct process child = start(sleep_long);
	struct err err = ERR_INIT;
	int64_t deadline = clock_after_ms(20);
	int status = 0;

	CHECK_INT(process_wait(&child, deadline, &status, &err), 0);
	CHECK(clock_now() >= deadline);
	CHECK_INT(process_wait(&child, 0, &status, &err), 0);
	CHECK_INT(kill(child.pid, 0), 0);
	process_kill(&child);
	CHECK_INT(child.pid_fd, -1);
}

TEST(what_was_never_started_is_not_waited_for)
{
	struct process process = PROCESS_INIT;
	struct err err = ERR_INIT;
	int status;

	CHECK_INT(process_wait(&process, CLOCK_NEVER, &status, &err), -1);
	CHECK_STR(err.text, "wait for a process that there is not");
}

TEST(a_process_that_has_ended_is_found_even_after_the_deadline)
{
	struct process child = start(exit_3);
	struct err err = ERR_INIT;
	siginfo_t info;
	int status = 0;

	CHECK(waitid(P_PID, (id_t) child.pid, &info, WEXITED | WNOWAIT) == 0);
	CHECK_INT(process_wait(&child, 0, &status, &err), 1);
	CHECK_INT(WEXITSTATUS(status), 3);
}

static void do_nothing(int signal)
{
	(void) signal;
}

TEST(a_signal_does_not_cut_the_wait_short)
{
	const struct sigaction act = { .sa_handler = do_nothing };
	struct process child = start(sleep_long);
	struct err err = ERR_INIT;
	int64_t deadline = clock_after_ms(60);
	int status = 0;

	CHECK(sigaction(SIGALRM, &act, NULL) == 0);
	ualarm(5000, 5000);
	CHECK_INT(process_wait(&child, deadline, &status, &err), 0);
	CHECK(clock_now() >= deadline);
	process_kill(&child);
}

TEST(killing_reaps_and_killing_nothing_does_nothing)
{
	struct process child = start(sleep_long), none = PROCESS_INIT;
	pid_t pid = child.pid;

	process_kill(&child);
	CHECK(waitpid(pid, NULL, WNOHANG) < 0);
	CHECK_INT(errno, ECHILD);
	process_kill(&child);
	process_kill(&none);
}

TEST(killing_lets_go_of_a_process_that_was_reaped_elsewhere)
{
	struct process child = start(exit_3);
	int pid_fd = child.pid_fd;

	CHECK(waitpid(child.pid, NULL, 0) == child.pid);
	process_kill(&child);
	CHECK_INT(child.pid_fd, -1);
	CHECK_INT(child.pid, -1);
	CHECK(fcntl(pid_fd, F_GETFD) < 0);
}

TEST(waiting_for_a_process_that_was_reaped_elsewhere_is_an_error)
{
	struct process child = start(exit_3);
	struct err err = ERR_INIT;
	int status = 0;

	CHECK(waitpid(child.pid, NULL, 0) == child.pid);
	CHECK_INT(process_wait(&child, CLOCK_NEVER, &status, &err), -1);
	CHECK_INT(err.sys, ECHILD);
	process_kill(&child);
}

TEST(a_process_is_known_by_its_number_and_its_start)
{
	struct process child = start(sleep_long);
	const uint64_t started = process_started(child.pid);
	siginfo_t info;

	CHECK(started > 0 && started >= process_started(getpid()));
	CHECK(started == process_started(child.pid));
	/* Nothing of it but its status. */
	CHECK(kill(child.pid, SIGKILL) == 0);
	CHECK(waitid(P_PID, (id_t) child.pid, &info, WEXITED | WNOWAIT) == 0);
	CHECK(process_started(child.pid) == 0);
	process_kill(&child);
	CHECK(process_started(-1) == 0 && process_started(0) == 0);
}

TEST(a_name_is_no_field_of_its_status)
{
	const uint64_t started = process_started(getpid());

	CHECK(prctl(PR_SET_NAME, ") Z 1 (", 0, 0, 0) == 0);
	CHECK(started > 0 && process_started(getpid()) == started);
}

/* What a jail's filter does. */
static void forbid_clone3(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_LEN(code), code };

	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
	CHECK(syscall(SYS_clone3, NULL, 0) < 0 && errno == ENOSYS);
}

TEST(where_clone3_is_not_known_a_process_has_a_pidfd_all_the_same)
{
	struct err err = ERR_INIT;
	struct process child;
	int status = 0;

	forbid_clone3();
	child = start(exit_3);
	CHECK(child.pid_fd >= 0);
	CHECK_INT(fcntl(child.pid_fd, F_GETFD), FD_CLOEXEC);
	CHECK_INT(process_wait(&child, clock_after_ms(5000), &status, &err), 1);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	child = start(sleep_long);
	process_kill(&child);
	CHECK(waitpid(-1, NULL, WNOHANG) < 0);
}
