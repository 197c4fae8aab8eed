/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "sandbox/base/err.h"

/*
 * The system call filter
 *
 * An allow-list from policies/syscalls: what no list names answers ENOSYS, as on an older kernel,
 * so that libraries fall back; what refused.list names answers EPERM, and is asked about at a
 * listener first where a jail has one (not a worker's); a call by the 32-bit or x32
 * table ends the process. Some arguments are compared too, always as the 32 bits that the kernel
 * looks at, and never memory behind a pointer. The launcher compiles each profile once
 * (seccomp.c, libseccomp); a jail installs the bytes (seccomp_install.c, which needs no library).
 */
enum seccomp_profile {
	SECCOMP_PROFILE_PLAIN,  /* base, channels, files, process */
	SECCOMP_PROFILE_WORKER, /* without channels: no sockets, no System V or POSIX queues */
	SECCOMP_PROFILE_GPU,    /* and gpu */
	SECCOMP_PROFILES,
};

#define SECCOMP_PROGRAM_MAX 1024

struct seccomp_program {
	uint32_t count;
	uint64_t instructions[SECCOMP_PROGRAM_MAX]; /* struct sock_filter, as bytes */
};

/**
 * seccomp_compile() - the filter of a profile
 */
int seccomp_compile(enum seccomp_profile profile, struct seccomp_program *out,
		    struct err *err) must_check;

/**
 * seccomp_refused() - the numbers of the calls of refused.list, in its order
 * @out:  negative where this machine has no such call
 * @room: at least as many as the list has; a test holds it
 *
 * Return: how many there are.
 */
uint32_t seccomp_refused(int32_t *out, uint32_t room);

/**
 * seccomp_install() - put this process under the filter, for ever
 * @listener_fd: receives the descriptor at which refused calls wait for an answer, owned by the
 *               caller, close-on-exec; -1 where whoever started us listens already, since a
 *               process has one listener. NULL: there is to be none. Without one they answer EPERM
 *
 * Needs no_new_privs, or CAP_SYS_ADMIN in the process's user namespace. The last thing that a
 * process does before execve: the filter refuses most of what setting up a jail takes.
 */
int seccomp_install(const struct seccomp_program *program, int *listener_fd,
		    struct err *err) must_check;
