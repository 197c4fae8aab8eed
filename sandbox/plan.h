/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox/base/err.h"

/*
 * The plan of a jail's file tree
 *
 * An ordered list of what is put where; plan_make() computes it from the slice below and does
 * nothing, so that a plan can be tested and printed without privilege. mounts.c performs it.
 * Every row's parent folder is made by an earlier row or by the row itself.
 */

/* One tmpfs that the payload can write to, capped in bytes and inodes. */
struct tmpfs_slice {
	char path[64];  /* in the jail, absolute: "/work" */
	uint64_t bytes; /* a multiple of the page size */
	uint64_t inodes;
	uint32_t shared;   /* 1: mode 1777 as /tmp; 0: mode 0700, the payload's own */
	uint32_t reserved; /* 0 */
};

enum { PLAN_CONTENT_SIZE = 68 }; /* of the digest, with the zero byte and what aligns the rest */
enum { PLAN_TMPFS_MAX = 6, PLAN_MASKS_MAX = 4, PLAN_EXTRAS_MAX = 96, PLAN_EXTRAS_BYTES = 8192 };

/*
 * What this jail's tree has beside everyone's: folders of the host that its administrator lists,
 * and what belongs to its GPUs. One byte of enum plan_extra, the absolute path, a zero byte; and so
 * on.
 */
struct plan_extras {
	uint32_t count, length;
	uint32_t has_nvidia; /* 1: the jail has a GPU of NVIDIA's, and sees what its driver says */
	char rows[PLAN_EXTRAS_BYTES];
};

enum plan_extra {
	PLAN_EXTRA_FOLDER = 'f',          /* a folder of the host's, read-only, at the same place */
	PLAN_EXTRA_FOLDER_IF_THERE = 'i', /* the same, where the host has it */
	PLAN_EXTRA_LINK = 'l',            /* a link as the host has it */
	PLAN_EXTRA_HIDE = 'h',            /* covered, if it is there */
};

enum plan_root {
	PLAN_ROOT_HOST,  /* the listed set of the host's paths, read-only */
	PLAN_ROOT_EMPTY, /* nothing: the payload is our own code (collect) */
	PLAN_ROOT_IMAGE, /* the files of an image; a tmpfs at "/" takes what is changed in them */
};

/* What a jail_spec says about the tree. */
struct plan_slice {
	uint32_t root;  /* enum plan_root */
	char image[32]; /* for PLAN_ROOT_IMAGE: the name that the site gives it; else "" */
	/* The SHA-256 that the image's file has to have, in hexadecimal; "": any, and a folder's.
	 */
	char content[PLAN_CONTENT_SIZE];
	uint32_t tmpfs_count;
	struct tmpfs_slice tmpfs[PLAN_TMPFS_MAX];
	/* These two are the launcher's. */
	char masks[PLAN_MASKS_MAX][256]; /* host folders that stay empty inside; "" for none */
	struct plan_extras extras;
};

enum plan_kind {
	PLAN_FOLDER,    /* an empty folder of the root */
	PLAN_LINK,      /* a symbolic link to `source` */
	PLAN_TEXT,      /* a file that holds `source` */
	PLAN_AS_HOST,   /* what the host has at `source`: the same link, or a bind of the folder */
	PLAN_BIND,      /* the host's `source`, read-only */
	PLAN_TMPFS,     /* a tmpfs for the payload, see `tmpfs` */
	PLAN_PROC,      /* procfs of the jail's pid namespace */
	PLAN_DEVICES,   /* a small tmpfs with the device nodes */
	PLAN_TERMINALS, /* a devpts instance of its own */
	PLAN_GIVEN,     /* a mount that the monitor holds (a frozen workspace) */
	PLAN_MASK,      /* covered: an empty read-only folder, or an empty file */
	PLAN_READ_ONLY, /* what is there, made read-only */
	PLAN_IMAGE,     /* the root: first of all rows. Changes go to `tmpfs`; NULL: it has none */
	PLAN_COVER,     /* a file, covered by one that holds `source` */
};

struct plan_row {
	enum plan_kind kind;
	const char *target; /* in the jail, without the leading slash */
	const char *source;
	bool optional; /* skipped where the host (or procfs) has no such thing */
	const struct tmpfs_slice *tmpfs;
};

enum { PLAN_ROWS_MAX = 96 + PLAN_EXTRAS_MAX };

struct plan {
	size_t count;
	struct plan_row rows[PLAN_ROWS_MAX];
};

/**
 * plan_check() - refuse a slice that makes no sense or would open a wall
 *
 * Return: 0, or -1 with an ERR_INPUT error that names the value.
 */
int plan_check(const struct plan_slice *slice, struct err *err) must_check;

/**
 * plan_is_image_name() - can an image have this name? 1 to 31 letters, digits, '-', '_' and '.',
 * the first a letter or a digit
 */
bool plan_is_image_name(const char *name);

/**
 * plan_make() - the ordered list for a slice that plan_check() has passed
 * @out: its rows borrow from @slice
 */
void plan_make(const struct plan_slice *slice, struct plan *out);

/**
 * plan_add_extra() - append a row; one that is there already is not added again
 * @path: below /, without the leading slash
 *
 * What is no plain path, or a row too many, is an ERR_HOST error.
 */
int plan_add_extra(struct plan_extras *extras, enum plan_extra kind, const char *path,
		   struct err *err) must_check;

/**
 * plan_kind_text() - the name of a kind, for printing
 */
const char *plan_kind_text(enum plan_kind kind);
