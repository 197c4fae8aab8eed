/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "harness/config/types.h"
#include "sandbox/base/arena.h"

/*
 * A policy: what the jails of a run may use at most, by role, which limits the operator does
 * without where a host can not enforce them, and how often an attempt that we have spoilt is tried
 * again
 *
 * The defaults are those of policies/default.yaml; a test holds the two together. A task's own
 * limits can only be tighter.
 */
struct policy_tmpfs {
	uint64_t size, inodes;
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
	struct policy_tmpfs workspace, tmp, shm;
	int on_full; /* enum policy_on_full */
};

/* What happens when one of the three tmpfs is full. */
enum policy_on_full {
	ON_FULL_REPORT, /* the record says so */
	ON_FULL_END,    /* and the jail ends */
};

/* Limits that a policy may do without; struct policy.accept holds a bit for each. */
enum policy_accept {
	ACCEPT_MEMORY,
	ACCEPT_SWAP,
	ACCEPT_PIDS,
	ACCEPT_CPUS,
	ACCEPT_LANDLOCK,
};

struct policy {
	struct arena arena;
	uint64_t schema;
	const char *name;
	struct policy_role agent, build, worker;
	uint64_t accept;  /* bits 1 << enum policy_accept */
	uint64_t retries; /* of an attempt that ended INFRA, each a new attempt */
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
 * policy_default_text() - policies/default.yaml as it was built in
 * @len: receives its length
 */
const char *policy_default_text(size_t *len);

/**
 * policy_parse() - read the text of a policy; what it leaves out is as in policy_default()
 * @file: what messages call it
 * @out:  untouched on failure; the caller ends it with policy_done()
 *
 * A policy whose tmpfs could fill a jail's memory is refused: a full disk must never be able to
 * end a jail as out of memory.
 */
int policy_parse(const char *file, const char *text, size_t len, struct policy *out,
		 struct err *err) must_check;

/**
 * policy_load() - policy_parse() of a file beneath a folder
 */
int policy_load(int folder_fd, const char *path, struct policy *out, struct err *err) must_check;

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
