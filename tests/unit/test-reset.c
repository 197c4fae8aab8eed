/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/reset.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "sandbox/base/io.h"
#include "tests/lib/check.h"

static void need_root(void)
{
	if (geteuid() != 0)
		SKIP("needs root");
}

/* Everything that somebody might leave to us, at its worst. */
static void make_a_mess(void)
{
	const struct itimerval soon = { .it_value = { .tv_sec = 1000 } };
	const gid_t groups[] = { 0, 42 };
	sigset_t all;

	sigfillset(&all);
	CHECK(sigprocmask(SIG_SETMASK, &all, NULL) == 0);
	CHECK(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
	CHECK(signal(SIGRTMIN + 3, SIG_IGN) != SIG_ERR);
	CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
	CHECK(setitimer(ITIMER_PROF, &soon, NULL) == 0);
	CHECK(setgroups(2, groups) == 0);
	CHECK(setpriority(PRIO_PROCESS, 0, 7) == 0);
	CHECK(personality(ADDR_NO_RANDOMIZE) >= 0);
	CHECK(prctl(PR_SET_PDEATHSIG, SIGUSR1) == 0);
	CHECK(setenv("SECRET", "1", 1) == 0);
	umask(077);
}

TEST(nothing_of_an_inherited_context_is_left)
{
	struct err err = ERR_INIT;
	struct itimerval timer;
	struct sigaction action;
	int death_signal = -1;
	sigset_t mask;

	need_root();
	make_a_mess();
	CHECK_OK(reset_context(500, &err));

	CHECK_INT(getgroups(0, NULL), 0);
	CHECK_INT(umask(022), 022);
	CHECK(sigprocmask(SIG_SETMASK, NULL, &mask) == 0);
	for (int signal = 1; signal < 32; signal++)
		CHECK(!sigismember(&mask, signal));
	CHECK(sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
	CHECK(sigaction(SIGRTMIN + 3, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
	CHECK(getitimer(ITIMER_REAL, &timer) == 0);
	CHECK_INT(timer.it_value.tv_sec, 0);
	CHECK(getitimer(ITIMER_PROF, &timer) == 0);
	CHECK_INT(timer.it_value.tv_sec, 0);
	CHECK_INT(getpriority(PRIO_PROCESS, 0), 0);
	CHECK_INT(personality(0xffffffff), 0);
	CHECK(prctl(PR_GET_PDEATHSIG, &death_signal) == 0);
	CHECK_INT(death_signal, 0);
	CHECK(!environ || !environ[0]);
	CHECK_INT(getsid(0), getpid());
}

TEST(a_realtime_class_is_left)
{
	const struct sched_param high = { .sched_priority = 1 };
	struct err err = ERR_INIT;

	need_root();
	if (sched_setscheduler(0, SCHED_FIFO, &high) < 0)
		SKIP("no real-time scheduling here: %s", strerror(errno));
	CHECK_OK(reset_context(0, &err));
	CHECK_INT(sched_getscheduler(0), SCHED_OTHER);
}

TEST(the_wish_of_the_oom_killer_is_set)
{
	struct err err = ERR_INIT;
	char text[16];

	need_root();
	CHECK_OK(reset_context(321, &err));
	CHECK_OK(io_read_kernel_file(AT_FDCWD, "/proc/self/oom_score_adj", text, sizeof(text),
				     &err));
	CHECK_STR(text, "321");
}

TEST(the_session_keyring_is_a_new_one)
{
	struct err err = ERR_INIT;
	long before, after;

	need_root();
	before = syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1);
	if (before < 0)
		SKIP("no keyrings here: %s", strerror(errno));
	CHECK_OK(reset_context(0, &err));
	after = syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0);
	CHECK(after > 0 && after != before);
}

TEST(a_second_reset_changes_nothing)
{
	struct err err = ERR_INIT;

	need_root();
	CHECK_OK(reset_context(0, &err));
	CHECK_OK(reset_context(0, &err));
}

TEST(without_privilege_the_failed_step_is_named)
{
	struct err err = ERR_INIT;

	need_root();
	CHECK(setresgid(1000, 1000, 1000) == 0 && setresuid(1000, 1000, 1000) == 0);
	CHECK_INT(reset_context(0, &err), -1);
	CHECK_STR(err.text,
		  "reset the context: drop the supplementary groups: Operation not permitted");
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

TEST(descriptors_are_closed_behind_the_kept_ones)
{
	struct err err = ERR_INIT;

	for (int fd = 3; fd < 20; fd++)
		CHECK(dup2(STDOUT_FILENO, fd) == fd);
	CHECK(dup2(STDOUT_FILENO, 900) == 900);

	CHECK_OK(reset_fds(2, &err));
	for (int fd = 0; fd < 5; fd++)
		CHECK(is_open(fd));
	for (int fd = 5; fd < 20; fd++)
		CHECK(!is_open(fd));
	CHECK(!is_open(900));

	CHECK_OK(reset_fds(0, &err));
	CHECK(is_open(2) && !is_open(3) && !is_open(4));
}

TEST(the_standard_streams_keep_owner_and_mode)
{
	struct err err = ERR_INIT;
	struct stat before, after;

	need_root();
	CHECK(fstat(STDIN_FILENO, &before) == 0);
	CHECK_OK(reset_context(0, &err));
	CHECK_OK(reset_fds(0, &err));
	CHECK(fstat(STDIN_FILENO, &after) == 0);
	CHECK_INT(after.st_uid, before.st_uid);
	CHECK_INT(after.st_mode, before.st_mode);
}
