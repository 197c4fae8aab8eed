/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox/base/err.h"

/*
 * The system call filter
 *
 * An allow-list from policies/syscalls: what no list names answers ENOSYS, as on an older kernel,
 * so that libraries fall back; what refused.list names answers EPERM, and is asked about at a
 * listener first where a jail has one (not a worker's); a call by the 32-bit or x32
 * table ends the process. Some arguments are compared too, always as the 32 bits that the kernel
 * looks at, and never memory behind a pointer. The build compiles each filter that there can be
 * (seccomp.c, libseccomp); a launcher has them as bytes (seccomp_filters.c), and a jail installs
 * these (seccomp_install.c): neither needs a library.
 */
enum seccomp_profile {
	SECCOMP_PROFILE_PLAIN,  /* base, channels, files, process */
	SECCOMP_PROFILE_WORKER, /* without channels: no sockets, no System V or POSIX queues */
	SECCOMP_PROFILES,
};

/* Lists that a jail may have beside those of its profile; sets of them are bits. */
enum seccomp_extra {
	SECCOMP_EXTRA_GPU,      /* what GPU runtimes use beyond the rest */
	SECCOMP_EXTRA_PROFILER, /* what refused.list names, and a profiler needs: a weaker wall */
	SECCOMP_EXTRAS,
};

#define SECCOMP_BIT(extra) (UINT32_C(1) << (extra))

#define SECCOMP_PROGRAM_MAX 1024

struct seccomp_program {
	uint32_t count;
	uint64_t instructions[SECCOMP_PROGRAM_MAX]; /* struct sock_filter, as bytes */
};

/**
 * seccomp_filter() - the same as seccomp_compile(), which was called for every set at build time
 * @extras: bits SECCOMP_BIT(enum seccomp_extra); the caller knows that there are no others
 */
void seccomp_filter(enum seccomp_profile profile, uint32_t extras, struct seccomp_program *out);

/**
 * seccomp_compile() - the filter of a profile with some lists more
 * @extras: bits SECCOMP_BIT(enum seccomp_extra); what such a list names is not refused any more
 */
int seccomp_compile(enum seccomp_profile profile, uint32_t extras, struct seccomp_program *out,
		    struct err *err) must_check;

/* A call that a filter knows; every other one answers ENOSYS. */
struct seccomp_call {
	const char *name, *list, *reason; /* as in policies/syscalls/LIST.list */
	int32_t number;                   /* negative: this machine has no such call */
	bool is_refused;
};

/**
 * seccomp_calls() - what a filter allows and refuses, in the order of the lists
 * @out: room for @room; NULL: they are only counted
 *
 * Out of the table that seccomp_compile() compiles.
 */
size_t seccomp_calls(enum seccomp_profile profile, uint32_t extras, struct seccomp_call *out,
		     size_t room);

/* A look at arguments, before the lists: of one call's, the first that holds decides. */
struct seccomp_rule {
	const char *call;
	char when[128];   /* "argument 1 is TIOCSTI"; "otherwise" */
	char refused[40]; /* what the first condition compares with, "TIOCSTI"; "": nothing */
	int error;        /* errno; 0: the lists decide */
};

/**
 * seccomp_rules() - the rules of a filter, in their order; as seccomp_calls()
 */
size_t seccomp_rules(enum seccomp_profile profile, uint32_t extras, struct seccomp_rule *out,
		     size_t room);

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
