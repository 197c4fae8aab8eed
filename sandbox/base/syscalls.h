/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <linux/openat2.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * System calls that glibc 2.36 does not wrap. Each behaves as its manual page says: -1 and errno.
 */

static inline int sys_openat2(int dir_fd, const char *path, const struct open_how *how)
{
	return (int) syscall(SYS_openat2, dir_fd, path, how, sizeof(*how));
}

/* clone3(2) without a stack of its own: behaves like fork(). */
static inline pid_t sys_clone3(const struct clone_args *args)
{
	return (pid_t) syscall(SYS_clone3, args, sizeof(*args));
}

/* The older clone(2), as far as it does the same: a pidfd, and SIGCHLD at the end. */
static inline pid_t sys_clone_pidfd(int *pid_fd)
{
	return (pid_t) syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, NULL, pid_fd, NULL, NULL);
}

static inline int sys_pidfd_open(pid_t pid, unsigned int flags)
{
	return (int) syscall(SYS_pidfd_open, pid, flags);
}

static inline int sys_pidfd_send_signal(int pid_fd, int signal)
{
	return (int) syscall(SYS_pidfd_send_signal, pid_fd, signal, NULL, 0);
}

static inline int sys_pivot_root(const char *new_root, const char *put_old)
{
	return (int) syscall(SYS_pivot_root, new_root, put_old);
}
