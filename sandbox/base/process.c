/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/syscalls.h"

/* The filter of a jail knows no clone3(2), whose flags it can not see. */
static pid_t fork_with_pidfd(int *pid_fd)
{
	const struct clone_args args = {
		.flags = CLONE_PIDFD,
		.pidfd = (uint64_t) (uintptr_t) pid_fd,
		.exit_signal = SIGCHLD,
	};
	pid_t pid = sys_clone3(&args);

	return pid < 0 && errno == ENOSYS ? sys_clone_pidfd(pid_fd) : pid;
}

void process_expect_children(void)
{
	signal(SIGCHLD, SIG_DFL);
}

int process_fork(struct process *out, struct err *err)
{
	int pid_fd = -1;
	pid_t pid = fork_with_pidfd(&pid_fd);

	if (pid < 0)
		return err_sys(err, "start a process");
	if (pid == 0)
		return 0;
	*out = (struct process){ .pid = pid, .pid_fd = pid_fd };
	return 1;
}

static int reap(struct process *process, int *status, struct err *err)
{
	pid_t got;

	do
		got = waitpid(process->pid, status, 0);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_sys(err, "reap process %d", (int) process->pid);
	fd_close(&process->pid_fd);
	*process = PROCESS_INIT;
	return 1;
}

int process_wait(struct process *process, int64_t deadline, int *status, struct err *err)
{
	struct pollfd ready = { .fd = process->pid_fd, .events = POLLIN };

	if (process->pid_fd < 0) /* poll() would wait for nothing, and for ever */
		return err_set(err, ERR_SYS, "wait for a process that there is not");
	for (;;) {
		int count = poll(&ready, 1, clock_poll_ms(deadline));

		if (count < 0 && errno != EINTR)
			return err_sys(err, "wait for process %d", (int) process->pid);
		if (count > 0)
			return reap(process, status, err);
		if (count == 0 && clock_now() >= deadline)
			return 0;
	}
}

uint64_t process_started(pid_t pid)
{
	struct err ignored = ERR_INIT;
	char path[32], text[1024];
	unsigned long long ticks;
	const char *rest;
	char state;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
	if (pid <= 0 || io_read_kernel_file(AT_FDCWD, path, text, sizeof(text), &ignored) < 0)
		return 0;
	/* Behind its name, which may hold anything; fields 3 and 22 of proc(5). */
	rest = strrchr(text, ')');
	if (!rest ||
	    sscanf(rest + 1,
		   " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		   "%llu",
		   &state, &ticks) != 2 ||
	    state == 'Z' || state == 'X')
		return 0;
	return ticks;
}

void process_kill(struct process *process)
{
	struct err err = ERR_INIT;
	int status;

	if (process->pid_fd < 0)
		return;
	sys_pidfd_send_signal(process->pid_fd, SIGKILL);
	/* The process is ours and dying: there is nothing to do about a failure. */
	best_effort(reap(process, &status, &err));
	fd_close(&process->pid_fd);
	*process = PROCESS_INIT;
}
