/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/namespaces.h"

#include <errno.h>
#include <linux/securebits.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sandbox/base/syscalls.h"

/* Real and saved user stay root's, so that there is a way back and @uid may do nothing to us. */
static int take_over(uid_t uid, struct err *err)
{
	if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0) < 0 ||
	    setresuid((uid_t) -1, uid, (uid_t) -1) < 0)
		return err_sys(err, "have namespaces counted for user %u", uid);
	return 0;
}

static int hand_back(struct err *err)
{
	if (setresuid((uid_t) -1, 0, (uid_t) -1) < 0 || prctl(PR_SET_SECUREBITS, 0, 0, 0, 0) < 0)
		return err_sys(err, "become root again");
	return 0;
}

pid_t namespaces_clone_host(int cgroup_fd, uid_t client, int *pid_fd, struct err *err)
{
	struct clone_args args = {
		.flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
			 CLONE_PIDFD | CLONE_INTO_CGROUP,
		.pidfd = (uint64_t) (uintptr_t) pid_fd,
		.exit_signal = SIGCHLD,
		.cgroup = (uint64_t) cgroup_fd,
	};
	struct err back = ERR_INIT;
	pid_t pid;

	if (client != 0 && take_over(client, err) < 0)
		return -1;
	pid = sys_clone3(&args);
	if (pid < 0 && errno == ENOSPC)
		err_host(err,
			 "make the jail's namespaces: user %u has as many as a limit of "
			 "/proc/sys/user allows, or processes that keep those of jails that are "
			 "over: end them",
			 client);
	else if (pid < 0)
		err_host(err, "make the jail's namespaces");
	if (client != 0 && hand_back(&back) < 0) {
		if (pid == 0)
			_exit(1);
		*err = back;
		return -1;
	}
	return pid;
}

pid_t namespaces_clone_user(int *pid_fd, struct err *err)
{
	struct clone_args args = {
		.flags = CLONE_NEWUSER | CLONE_PIDFD,
		.pidfd = (uint64_t) (uintptr_t) pid_fd,
		.exit_signal = SIGCHLD,
	};
	pid_t pid = sys_clone3(&args);

	if (pid < 0 && (errno == ENOSPC || errno == EUSERS))
		return err_host(err, "make a user namespace: user.max_user_namespaces is reached");
	if (pid < 0)
		return err_host(err, "make a user namespace");
	return pid;
}
