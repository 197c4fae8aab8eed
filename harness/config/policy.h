/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "harness/config/services.h"
#include "harness/config/types.h"
#include "sandbox/base/arena.h"

/*
 * A policy: what the jails of a run may use at most, by role, which limits the operator does
 * without where a host can not enforce them, and how often an attempt that we have spoilt is tried
 * again
 *
 * The defaults are those of policies/default.yaml; a test holds the two together. A task's own
 * limits can only be tighter. A policy is one file, or a chain of them, each of which extends the
 * next; policy_origin() says which of them a value is from.
 */
struct policy_tmpfs {
	uint64_t size, inodes;
};

struct policy_variable {
	const char *name, *value;
};

/* In the order of their first mention; no name twice. */
struct policy_environment {
	const struct policy_variable *items;
	size_t count;
};

struct policy_role {
	uint64_t wall_ms;  /* wall clock of the whole jail */
	uint64_t cpu_ms;   /* CPU time of all its processes */
	uint64_t idle_ms;  /* without output and all but no CPU time; 0: for as long as it likes */
	uint64_t grace_ms; /* from SIGTERM to the end */
	uint64_t memory;   /* bytes, what the three tmpfs hold included */
	uint64_t pids;     /* processes and threads */
	uint64_t cpus_milli; /* thousandths of a CPU */
	uint64_t output;     /* bytes on stdout and stderr together */
	uint64_t nofile;     /* descriptors of one process */
	/* Limits of one process; 0: as the host has it. Bytes, and queued signals. */
	uint64_t stack, memlock, file_size, msgqueue, sigpending;
	uint64_t syscalls; /* bits 1 << enum policy_syscalls */
	uint64_t gpus;     /* for this jail alone; any that are free */
	struct policy_tmpfs workspace, tmp, shm;
	struct policy_tmpfs changes; /* what may be changed in the image; size 0: nothing */
	struct policy_environment environment; /* beside, and over, that of the jail */
	int on_full;                           /* enum policy_on_full */
	const char *image; /* its root: a name of the host's site.conf, or POLICY_IMAGE_HOST */
	const char
		*content; /* the SHA-256 that this has to have; NULL: any. No key, see images.h */
};

/* Of the host's files a listed set is the root. */
#define POLICY_IMAGE_HOST "host"

/* What happens when one of the three tmpfs is full. */
enum policy_on_full {
	ON_FULL_REPORT, /* the record says so */
	ON_FULL_END,    /* and the jail ends */
};

/* Lists of system calls beside those of every jail. */
enum policy_syscalls {
	SYSCALLS_PROFILER,
};

/* Limits that a policy may do without; struct policy.accept holds a bit for each. */
enum policy_accept {
	ACCEPT_MEMORY,
	ACCEPT_SWAP,
	ACCEPT_PIDS,
	ACCEPT_CPUS,
	ACCEPT_LANDLOCK,
};

enum { POLICY_GPUS_MAX = 8 };
enum { POLICY_CHAIN_MAX = 8, POLICY_VARIABLES_MAX = 64, POLICY_VALUE_MAX = 4096 };

struct policy {
	struct arena arena;
	uint64_t schema;
	const char *name;
	const char *extends;                             /* what the file says; NULL: nothing */
	const struct yaml_node *files[POLICY_CHAIN_MAX]; /* the file itself first */
	size_t file_count;                               /* 0: policy_default() */
	struct policy_role agent, build, worker;
	struct policy_role evaluator; /* where a benchmark's own harness checks and times */
	struct services services;     /* the agent's alone */
	uint64_t accept;              /* bits 1 << enum policy_accept */
	uint64_t retries;             /* of an attempt that ended INFRA, each a new attempt */
};

/* Memory that a jail needs beside what its tmpfs hold, and what one inode of a tmpfs costs. */
#define POLICY_WORKING_MEMORY (64 * MIB)
#define POLICY_INODE_MEMORY   (2 * KIB)

enum { POLICY_FILE_MAX = 64 * 1024, POLICY_RETRIES_MAX = 10 };

/**
 * policy_default() - the policy that holds where none is named
 */
struct policy policy_default(void);

/**
 * policy_shipped() - the text of a policy that came with proctor, as it was built in
 * @len: receives its length
 *
 * Return: NULL if there is none of this name.
 */
const char *policy_shipped(const char *name, size_t *len);

/**
 * policy_shipped_names() - append the names of all of them, with commas between
 */
void policy_shipped_names(struct str *out);

/**
 * policy_default_text() - policies/default.yaml as it was built in
 */
const char *policy_default_text(size_t *len);

/**
 * policy_bind() - read trees into a policy: the defaults, then each file from the last of the chain
 * to the first
 * @policy: policy_default() with arena, files and file_count set; after a failure some of it is
 *          filled
 *
 * A policy whose tmpfs could fill a jail's memory is refused: a full disk must never be able to
 * end a jail as out of memory.
 */
int policy_bind(struct policy *policy, struct err *err) must_check;

/**
 * policy_check_keys() - policy_parse() of a text that is dropped, and what it extends not looked at
 */
int policy_check_keys(const char *file, const char *text, size_t len, struct err *err) must_check;

/**
 * policy_parse() - read the text of a policy; what it leaves out is as in policy_default()
 * @file: what messages call it
 * @out:  untouched on failure; the caller ends it with policy_done()
 *
 * It may extend policies that came with proctor, and no file: it is in no folder. These four are in
 * policy_chain.c.
 */
int policy_parse(const char *file, const char *text, size_t len, struct policy *out,
		 struct err *err) must_check;

/**
 * policy_parse_in() - policy_parse() of a file that may extend others
 * @folder_fd: the folder that the file is in
 *
 * What is extended is opened with the rights of this process, relative to the folder of the file
 * that says so, and has to be a regular file. A chain of more than POLICY_CHAIN_MAX, or one that
 * comes back to where it was, is an ERR_INPUT error.
 */
int policy_parse_in(int folder_fd, const char *file, const char *text, size_t len,
		    struct policy *out, struct err *err) must_check;

/**
 * policy_load() - policy_parse() of a file beneath a folder
 */
int policy_load(int folder_fd, const char *path, struct policy *out, struct err *err) must_check;

/**
 * policy_origin() - which file of the chain a value is from
 * @key:  "agent.tmp.size"
 * @line: receives the line of the key; untouched without a file
 *
 * Return: the file, as messages call it; NULL: it is built in.
 */
const char *policy_origin(const struct policy *policy, const char *key, int *line);

/**
 * policy_print() - append the policy as one file that says all of it and extends nothing
 *
 * Two policies with the same values give the same bytes, and policy_parse() of them the values.
 */
void policy_print(const struct policy *policy, struct str *out);

/**
 * policy_accepts() - does the policy do without this limit?
 */
bool policy_accepts(const struct policy *policy, enum policy_accept limit);

/**
 * policy_done() - free everything; the policy is policy_default() again
 */
void policy_done(struct policy *policy);

/* The keys of the format; for the key tables and tests. */
extern const struct schema policy_schema;
extern const struct key_tables policy_keys;
