/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/base/err.h"

/*
 * Child processes, each known by a descriptor (pidfd), never by a number that can be reused.
 */
struct process {
	pid_t pid;
	int pid_fd; /* owned; -1: no process */
};

#define PROCESS_INIT ((struct process){ .pid = -1, .pid_fd = -1 })

/**
 * process_expect_children() - for the beginning of a program that waits for children: SIGCHLD may
 * have been ignored by whoever started it, which execve(2) keeps, and children then leave nothing
 * to wait for
 */
void process_expect_children(void);

/**
 * process_fork() - fork with a pidfd
 *
 * Return: 0 in the child, 1 in the parent with *@out set, -1 with @err set. The child has no
 * threads but its own and keeps all descriptors.
 */
int process_fork(struct process *out, struct err *err) must_check;

/**
 * process_wait() - wait until the process has ended, and reap it
 * @deadline: on clock_now(); CLOCK_NEVER waits for as long as it takes
 * @status:   as from waitpid(2)
 *
 * Return: 1 ended and reaped (the process is then PROCESS_INIT), 0 the deadline came first,
 * -1 error.
 */
int process_wait(struct process *process, int64_t deadline, int *status,
		 struct err *err) must_check;

/**
 * process_started() - when a process was started, which with its number names it until the next
 * boot
 *
 * Return: ticks since the boot, 0 where there is no such process, or nothing of it but its status.
 */
uint64_t process_started(pid_t pid);

/**
 * process_kill() - SIGKILL the process and reap it; it is then PROCESS_INIT, also where somebody
 * else has reaped it. Nothing happens if there is none
 */
void process_kill(struct process *process);
