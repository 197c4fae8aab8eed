/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "sandbox/base/err.h"
#include "sandbox/base/names.h"

/*
 * What came of trying a mechanism on this host
 *
 * proctor-probe tries what a launcher and its jails do, each thing once and by the same code, and
 * sends one record of fixed size for each over a SOCK_SEQPACKET socket. That is all that proctor
 * sees of it: this file has no mechanism in it.
 */
enum trial_kind {
	TRIAL_CAPABILITIES,   /* all that the launcher can not do without */
	TRIAL_LEASES,         /* the folder of the leases, and one of them */
	TRIAL_NAMESPACES,     /* those of stage 1: mount, pid, network, IPC, UTS, cgroup */
	TRIAL_USER_NAMESPACE, /* that of stage 2, with the ids of a leased range */
	TRIAL_CGROUPS,        /* a leaf of our own */
	TRIAL_MEMORY,         /* a leaf with this limit, which is then read back */
	TRIAL_SWAP,
	TRIAL_PIDS,
	TRIAL_CPU,
	TRIAL_CPUSET,
	TRIAL_FREEZE,   /* stop a process of a leaf and let it go on */
	TRIAL_KILL,     /* end every process of a leaf */
	TRIAL_NODES,    /* a /dev that is nowhere mounted, with device nodes */
	TRIAL_DEVICES,  /* the device program allows one of them and refuses another */
	TRIAL_SECCOMP,  /* the filters of jails, one of them at work */
	TRIAL_NOTIFIER, /* a filter that asks another process */
	TRIAL_LANDLOCK, /* a rule at work */
	TRIAL_KINDS,
};

/* The newest ABI of Landlock whose rules we know; a kernel may have more. */
enum { TRIAL_LANDLOCK_KNOWN = 6 };

extern const struct name trial_names[];

enum trial_result {
	TRIAL_WORKS,
	TRIAL_PARTLY, /* it works, and found says what is not as good as it could be */
	TRIAL_FAILS,  /* err says why */
	TRIAL_UNTRIED /* err says why */,
};

struct trial {
	uint32_t kind;   /* enum trial_kind */
	uint32_t result; /* enum trial_result */
	char found[240]; /* what does it, "memory.max": may be empty */
	struct err err;
};

/**
 * trial_send() - send one record
 */
int trial_send(int socket_fd, const struct trial *trial, struct err *err) must_check;

/**
 * trial_receive() - wait for one record
 *
 * Return: 1; 0 if there will be no more; -1 on error. Texts in it always end, kinds exist.
 */
int trial_receive(int socket_fd, struct trial *out, struct err *err) must_check;
