/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "sandbox/base/arena.h"
#include "sandbox/cgroup.h"
#include "sandbox/gpu.h"
#include "sandbox/seccomp.h"
#include "sandbox/site.h"
#include "sandbox/spec.h"

/*
 * What a spec becomes on this host, before there is a jail: each mount, node, limit, call and rule
 * with what enforces it
 *
 * Nothing here knows anything by itself: every list comes out of the tables that the mechanisms
 * work by, so that what is told and what is done can not part. Needs no privilege and changes
 * nothing. A test compares a description with the inside of a real jail.
 */

/* What of a host decides how limits are enforced. */
struct describe_host {
	uint32_t v1;      /* controllers that have a v1 hierarchy */
	uint32_t unified; /* controllers that the v2 hierarchy has */
	struct cgroup_layout layout;
	char mems[64]; /* memory nodes of our group in the v1 cpuset hierarchy */
	bool has_swap;
	int landlock_abi;
	char masks[PLAN_MASKS_MAX][256]; /* folders that the launcher covers */
	struct site site;                /* what its administrator permits */
	struct gpus gpus;
	struct {
		uint32_t count; /* 0: something is wrong with its driver or its nodes */
		struct gpu_node list[GPU_NODES_MAX];
	} nodes[GPU_MAX]; /* of each of these */
};

/* A row of the file tree; those whose kind is "folder", "link" or "text" are no mounts. */
struct described_entry {
	const char *path, *kind;
	const char *source;     /* the host's path, what a link leads to; NULL: none */
	const char *type;       /* of file system; NULL: that of the source, or no mount */
	const char *attributes; /* "ro,nosuid,nodev"; NULL: no mount */
	const char *options;    /* "size=1048576,mode=0700"; NULL: none */
	bool is_there;          /* false: optional, and this host has no such thing */
};

/* A node of /dev, a link in it, or a device without a node that may be opened. */
struct described_device {
	const char *name;   /* "null"; NULL: no node of ours */
	const char *link;   /* where it leads; NULL: a node */
	const char *number; /* "c 1:3", "c 136:*" */
	const char *access; /* "rw" */
	uint32_t mode;
};

struct described_limit {
	const char *name, *value, *unit;
	const char *by;   /* "cgroup v1", "rlimit", "tmpfs", "monitor", "collector" */
	const char *file; /* the kernel's file, call or option that enforces it */
	bool holds;       /* false: this host has nothing that enforces it */
};

struct described_rule {
	const char *path;
	const char *rights; /* "execute read_file" */
};

/* All texts and arrays belong to the arena. */
struct jail_description {
	const struct described_entry *tree;
	const struct described_device *devices;
	const struct described_limit *limits;
	const struct seccomp_call *calls;
	const struct seccomp_rule *call_rules;
	const struct described_rule *landlock;
	const char *const *scopes;     /* of Landlock */
	const char *const *securebits; /* set and locked */
	size_t tree_count, device_count, limit_count, call_count, call_rule_count, landlock_count,
		scope_count, securebit_count;
	enum seccomp_profile profile;
	bool refusals_are_counted;                    /* calls that are refused are told by name */
	uint32_t inside_id;                           /* uid and gid of the payload inside */
	uint32_t range_base, range_count, range_size; /* of host ids: one range is the jail's */
};

/**
 * describe_look() - look at this host
 * @site:  its site.conf; need not be there
 * @masks: folders that the launcher will cover, a NULL behind the last
 * @arena: owns the paths of @out
 */
int describe_look(const char *site, const char *const *masks, struct arena *arena,
		  struct describe_host *out, struct err *err) must_check;

/**
 * describe_jail() - what the payload of a checked spec will find
 *
 * Return: 0, or -1 with the launcher's own error where the site does not permit such a jail.
 */
int describe_jail(const struct jail_spec *spec, const struct describe_host *host,
		  struct arena *arena, struct jail_description *out, struct err *err) must_check;
