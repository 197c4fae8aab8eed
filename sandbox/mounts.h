/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/base/err.h"
#include "sandbox/base/str.h"
#include "sandbox/plan.h"

/*
 * Mounts: performs a plan
 *
 * Runs as real root in a mount namespace of its own, before the jail's user namespace exists:
 * every mount then belongs to the host's user namespace, and no capability that a process of the
 * jail could ever hold lets it unmount, remount or move one. Nothing newer than Linux 6.1 is
 * needed: trees are attached first and filled afterwards.
 */
struct mounts {
	uint32_t owner; /* host uid and gid of the payload */
	int given_fd;   /* for PLAN_GIVEN: a detached mount; borrowed, -1 for none */
	int devices_fd; /* for PLAN_DEVICES, from mounts_new_devices(); borrowed */
	int image_fd;   /* for PLAN_IMAGE: a detached mount of its files; borrowed, -1 for none */

	int collected; /* the tmpfs whose files are read when the payload has ended; -1: none */

	/*
	 * Owned: each tmpfs of the plan, in its order, as a path only; of the one that is collected
	 * a read-only clone.
	 */
	size_t tmpfs_count;
	int tmpfs_fd[PLAN_TMPFS_MAX];

	int root_fd;    /* owned: the new root while it is built */
	int masks_fd;   /* owned: what masks are clones of */
	int stage_fd;   /* owned: with an image, what its root is made of */
	int changes_fd; /* owned: the tmpfs with the changes of an image; -1: it has none
			 */
};

#define MOUNTS_INIT                         \
	((struct mounts){ .given_fd = -1,   \
			  .devices_fd = -1, \
			  .collected = -1,  \
			  .root_fd = -1,    \
			  .masks_fd = -1,   \
			  .image_fd = -1,   \
			  .stage_fd = -1,   \
			  .changes_fd = -1 })

/**
 * mounts_perform() - build the tree of @plan and make it the root of this namespace
 *
 * Afterwards nothing of the host's tree is reachable but what the plan names, the root is
 * read-only and the working folder is "/". After a failure the namespace is half built: the
 * caller must exit.
 */
int mounts_perform(struct mounts *mounts, const struct plan *plan, struct err *err) must_check;

/**
 * mounts_new_devices() - a detached, read-only tmpfs to become a jail's /dev
 * @make_nodes: makes the device nodes in it; mounts know nothing of devices
 *
 * Made from outside: the jail's own control group allows no mknod to anybody.
 *
 * Return: the mount's descriptor, owned by the caller, or -1.
 */
int mounts_new_devices(int (*make_nodes)(int dev_fd, const void *devices, struct err *err),
		       const void *devices, struct err *err) must_check;

/* -- what a row of a plan becomes: mounts_form.c, tables without system calls -- */

/* A file system option, or a link: NULL ends a list. */
struct mount_option {
	const char *key, *value;
};

struct mount_form {
	const char *type;                   /* of file system; NULL: that of what is bound */
	uint64_t attributes;                /* MOUNT_ATTR_… */
	const struct mount_option *options; /* NULL: none, or those of mounts_tmpfs_options() */
};

/**
 * mounts_form() - what mounts_perform() makes of a kind of row; NULL for a kind that is no mount
 */
const struct mount_form *mounts_form(enum plan_kind kind);

/* The root itself, and what is linked in /dev. */
extern const struct mount_form mounts_root_form;
extern const struct mount_option mounts_device_links[];

/* The options of one tmpfs, and the room that they stand in. */
struct mounts_tmpfs {
	struct mount_option options[6];
	char size[32], inodes[32], owner[16];
};

/**
 * mounts_tmpfs_options() - the options of a tmpfs of the payload
 * @owner: host uid and gid of the payload
 * @out:   its options point into itself
 */
void mounts_tmpfs_options(const struct tmpfs_slice *tmpfs, uint32_t owner,
			  struct mounts_tmpfs *out);

/**
 * mounts_add_attributes() - append "ro,nosuid,nodev" of MOUNT_ATTR_… to an empty @out
 */
void mounts_add_attributes(uint64_t attributes, struct str *out);

/**
 * mounts_done() - close the descriptors; what is mounted stays
 */
void mounts_done(struct mounts *mounts);
