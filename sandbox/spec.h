/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/base/err.h"
#include "sandbox/base/names.h"
#include "sandbox/cgroup.h"
#include "sandbox/net.h"
#include "sandbox/plan.h"
#include "sandbox/rlimits.h"
#include "sandbox/seccomp.h"
#include "sandbox/stream.h"

/*
 * What one jail is to be
 *
 * One slice for each mechanism, flat and free of pointers, so that a spec crosses a socket as it
 * is and is checked as a whole before anything is done with it. The client (proctor) writes it;
 * the launcher believes nothing in it that spec_check() has not passed, and adds what clients may
 * not choose: uid range, masks, device nodes, filter.
 */
enum {
	SPEC_STRINGS_MAX = 48 * 1024, /* all arguments and environment strings */
	SPEC_TREES_MAX = 4,           /* streams to unpack before the payload starts */
	SPEC_PASS_MAX = 8,            /* descriptors that the payload gets as 3, 4, … */
	SPEC_DEVICES_MAX = 8,         /* devices beside those that every jail has */
	SPEC_GPUS_MAX = 8,
	/*
	 * What an inode of a tmpfs costs the jail in kernel memory: 0.95 KiB with a short
	 * name, 1.47 with a name of 255 bytes that is a link.
	 */
	SPEC_INODE_MEMORY = 2048,
};

struct command_slice {
	uint32_t argc, envc;
	uint32_t length;                /* bytes used of strings */
	char folder[128];               /* working folder inside, absolute */
	char strings[SPEC_STRINGS_MAX]; /* argc + envc strings, a zero byte after each */
};

struct tree_slice {
	char path[64]; /* a tmpfs of the plan, or a folder below one that the tree itself makes */
	struct stream_limits limits;
};

struct time_slice {
	uint64_t wall_ms;  /* from the payload's start; never 0 */
	uint64_t cpu_ms;   /* CPU time of all processes of the jail; 0: no limit */
	uint64_t idle_ms;  /* without output and with less than 1 ms of CPU time a second; 0: any */
	uint64_t grace_ms; /* from SIGTERM to the end of every process */
};

/* What a client can do without, as bits: the limits of a cgroup, and this. */
enum {
	SPEC_LIMIT_LANDLOCK = CGROUP_LIMITS,
	SPEC_LIMITS,
};

/* The limits as a policy writes them. */
extern const struct name spec_limit_names[];

struct collect_slice {
	uint32_t wanted; /* 1: when the payload has ended, its workspace is collected */
	uint32_t tmpfs;  /* index into plan.tmpfs */
	char folder[64]; /* below that tmpfs, relative; "" for all of it */
	uint64_t wall_ms;
	struct stream_limits limits;
};

/* A device by the name that the host's site.conf gives it; never a path or a number. */
struct device_name {
	char name[32]; /* letters, digits, '-', '_', '.' */
};

/* The GPU that means any one that is free. */
#define SPEC_ANY_GPU "any"

/* The descriptors that come with a spec, in this order; absent ones are not sent. */
enum spec_fd {
	SPEC_FD_CONTROL, /* always: the jail's own socket, the monitor's end */
	SPEC_FD_STDOUT,  /* always */
	SPEC_FD_STDERR,  /* always */
	SPEC_FD_PROGRAM, /* the payload is this program, not the first argument */
	SPEC_FD_COLLECT, /* where the archive of the workspace goes */
	SPEC_FD_TREES,   /* tree_count streams */
	SPEC_FD_PASS = SPEC_FD_TREES + SPEC_TREES_MAX,
	SPEC_FD_COUNT = SPEC_FD_PASS + SPEC_PASS_MAX,
};

struct jail_spec {
	char name[64]; /* for messages and as host name: letters, digits, '-' */
	struct command_slice command;
	struct plan_slice plan;
	struct cgroup_limits cgroup;
	struct rlimit_slice rlimits;
	struct time_slice time;
	struct collect_slice collect;
	struct net_slice net; /* the client gets a socket for each */
	uint32_t tree_count;
	uint32_t pass_count;
	uint32_t has_program;     /* 1: SPEC_FD_PROGRAM comes along */
	uint32_t freezable;       /* 1: the client gets the means to freeze and thaw the jail, whose
				     system calls then are those of a worker */
	uint32_t ends_on_full;    /* 1: a tmpfs that is full ends the jail */
	uint32_t accept_landlock; /* 1: a kernel without Landlock will do */
	uint32_t device_count;
	uint32_t extra_calls; /* lists of calls beside the usual: SECCOMP_BIT() of each */
	struct tree_slice trees[SPEC_TREES_MAX];
	struct device_name devices[SPEC_DEVICES_MAX];
	/* Each for this jail alone. By the name of site.conf; where there is no such file, by its
	   place in the host's list, its node or its address: see gpu_pick(). */
	uint32_t gpu_count;
	struct device_name gpus[SPEC_GPUS_MAX]; /* these may have ':' as well */
};

/**
 * spec_init() - a spec with the defaults of a jail: host root, /work, /tmp and /dev/shm, an
 * empty command and the limits that spec.c lists
 */
void spec_init(struct jail_spec *spec, const char *name);

/**
 * spec_add_arg() - append an argument; arguments come before environment strings
 *
 * Return: 0, or -1 with an ERR_INPUT error if all strings together are too long.
 */
int spec_add_arg(struct jail_spec *spec, const char *arg, struct err *err) must_check;

/**
 * spec_add_env() - append "NAME=value"; as spec_add_arg()
 */
int spec_add_env(struct jail_spec *spec, const char *entry, struct err *err) must_check;

/**
 * spec_add_tmpfs() - one more tmpfs for the payload
 *
 * Return: its index in plan.tmpfs. There must be room: the caller knows what it adds.
 */
uint32_t spec_add_tmpfs(struct jail_spec *spec, const char *path, uint64_t bytes, uint64_t inodes);

/**
 * spec_add_gpu() - one more GPU for the jail
 * @name: SPEC_ANY_GPU, or which
 */
int spec_add_gpu(struct jail_spec *spec, const char *name, struct err *err) must_check;

/**
 * spec_strings() - pointers to the argument and environment strings of a checked spec
 * @argv: room for argc + 1
 * @envp: room for envc + 1
 */
void spec_strings(const struct jail_spec *spec, const char **argv, const char **envp);

/**
 * spec_fd_wanted() - does a descriptor of this role come with the spec?
 */
bool spec_fd_wanted(const struct jail_spec *spec, enum spec_fd role);

/**
 * spec_check() - refuse a spec that contradicts itself or oversteps a limit of the format; no I/O
 *
 * Among them: memory covers every tmpfs filled to the brim (bytes, and 2 KiB an inode) and 16 MiB
 * to work with, so that a full disk can never become a memory kill.
 *
 * Return: 0, or -1 with an ERR_INPUT error that names the field and the value.
 */
int spec_check(const struct jail_spec *spec, struct err *err) must_check;
