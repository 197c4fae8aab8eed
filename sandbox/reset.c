/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/reset.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "sandbox/base/io.h"

static int reset_groups(struct err *err)
{
	return setgroups(0, NULL) < 0 ? err_sys(err, "drop the supplementary groups") : 0;
}

/*
 * The raw call, and not sigaction(3): glibc refuses the two real-time signals that it keeps for
 * itself, but an ignored one is inherited all the same.
 */
static int reset_signals(struct err *err)
{
	const struct {
		uintptr_t handler;
		unsigned long flags;
		uintptr_t restorer;
		uint64_t mask;
	} fresh = { .handler = (uintptr_t) SIG_DFL };
	const uint64_t none = 0;

	for (int signal = 1; signal <= 64; signal++) {
		if (signal == SIGKILL || signal == SIGSTOP)
			continue;
		if (syscall(SYS_rt_sigaction, signal, &fresh, NULL, sizeof(none)) < 0)
			return err_sys(err, "reset signal %d", signal);
	}
	if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none)) < 0)
		return err_sys(err, "empty the signal mask");
	return 0;
}

static int reset_timers(struct err *err)
{
	static const int timers[] = { ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF };
	const struct itimerval off = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(timers); i++)
		if (setitimer(timers[i], &off, NULL) < 0)
			return err_sys(err, "disarm interval timer %d", timers[i]);
	return 0;
}

static int reset_scheduling(struct err *err)
{
	const struct sched_param plain = { 0 };

	if (sched_setscheduler(0, SCHED_OTHER, &plain) < 0)
		return err_sys(err, "leave the inherited scheduling class");
	if (setpriority(PRIO_PROCESS, 0, 0) < 0)
		return err_sys(err, "set nice to 0");
	return 0;
}

/* A kernel without keyrings has none to inherit. */
static int reset_keyring(struct err *err)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS)
		return err_sys(err, "join a session keyring of its own");
	return 0;
}

/* EPERM: it leads a group already, and then it leads a session or was never in another's. */
static int reset_session(struct err *err)
{
	if (setsid() < 0 && errno != EPERM)
		return err_sys(err, "start a session");
	return 0;
}

static int reset_rest(struct err *err)
{
	umask(022);
	if (personality(PER_LINUX) < 0)
		return err_sys(err, "set the plain personality");
	if (prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0) < 0)
		return err_sys(err, "clear the parent death signal");
	if (clearenv() != 0)
		return err_set(err, ERR_SYS, "empty the environment");
	return 0;
}

/* clang-format off */
static int (*const resets[])(struct err *) = {
	reset_groups, reset_signals, reset_timers, reset_scheduling,
	reset_keyring, reset_session, reset_rest,
};
/* clang-format on */

int reset_context(int oom_score_adj, struct err *err)
{
	struct err ignored = ERR_INIT;
	char text[16];

	for (size_t i = 0; i < ARRAY_LEN(resets); i++)
		if (resets[i](err) < 0)
			return err_wrap(err, "reset the context");

	/* Lowering it takes CAP_SYS_RESOURCE, which is not everywhere; the limits hold without. */
	snprintf(text, sizeof(text), "%d", oom_score_adj);
	best_effort(io_write_kernel_file(AT_FDCWD, "/proc/self/oom_score_adj", text, &ignored));
	return 0;
}

int reset_fds(int keep_from_3, struct err *err)
{
	unsigned int first = 3U + (unsigned int) keep_from_3;

	if (close_range(first, UINT_MAX, 0) < 0)
		return err_sys(err, "close the descriptors from %u on", first);
	return 0;
}
