/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/namespaces.h"

#include <errno.h>
#include <sched.h>

#include "sandbox/base/syscalls.h"

pid_t namespaces_clone_host(int cgroup_fd, int *pid_fd, struct err *err)
{
	struct clone_args args = {
		.flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
			 CLONE_PIDFD | CLONE_INTO_CGROUP,
		.pidfd = (uint64_t) (uintptr_t) pid_fd,
		.exit_signal = SIGCHLD,
		.cgroup = (uint64_t) cgroup_fd,
	};
	pid_t pid = sys_clone3(&args);

	if (pid < 0)
		return err_host(err, "make the jail's namespaces");
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
