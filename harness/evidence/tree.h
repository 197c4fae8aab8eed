/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/base/arena.h"
#include "sandbox/stream.h"

/*
 * Trees made of folders and of other trees
 *
 * A candidate is the pristine tree of a task with the editable files as the agent left them. What
 * is editable is said by paths: "kernel.c" is that file; "src/", with a slash at its end, is all
 * below that folder. Editable paths belong to the frozen tree: what is missing there is missing
 * in the candidate. All others belong to the pristine tree: whatever the agent did to them is
 * listed and has no effect. So no byte of a candidate depends on a file that was not editable.
 */

/**
 * tree_pack() - write the stream of a folder that we trust (a task's workspace, a solution)
 * @root_fd: the folder; may be O_PATH
 * @out_fd:  where the stream goes
 * @counts:  receives what it holds; untouched on failure
 *
 * As collect_tree(), but what a stream can not hold (a symbolic link, a file over the limit) is
 * an ERR_INPUT error that names the first such entry: its author has to know.
 */
int tree_pack(int root_fd, const struct stream_limits *limits, int out_fd,
	      struct stream_counts *counts, struct err *err) must_check;

/**
 * tree_own_limits() - of a stream that we have written ourselves, which is bounded by what it was
 * made of
 */
struct stream_limits tree_own_limits(void);

enum tree_change_kind {
	TREE_CHANGED, /* its content, its executable bit or what it is */
	TREE_ADDED,
	TREE_DELETED,
	TREE_REFUSED, /* it is something that a frozen tree can not hold: as good as deleted */
	TREE_CHANGE_KINDS,
};

/* One difference of the frozen tree to the pristine one. */
struct tree_change {
	enum tree_change_kind kind;
	enum stream_reason reason; /* of TREE_REFUSED */
	bool has_effect;           /* it is editable: the candidate has it so */
	const char *path;          /* in the report's arena; a zero byte ends it */
	size_t path_len;
};

#define TREE_CHANGES_MAX 10000

struct tree_report {
	struct arena arena;
	struct tree_change *changes; /* owned; in the order of paths, the first TREE_CHANGES_MAX */
	size_t count;
	uint64_t effective[TREE_CHANGE_KINDS]; /* how many there were, listed or not, with effect */
	uint64_t ignored[TREE_CHANGE_KINDS];   /* and without */
	struct stream_counts counts;           /* of the candidate */
};

#define TREE_REPORT_INIT ((struct tree_report){ .changes = NULL })

/* "changed", "added" … for reports */
extern const struct name tree_change_names[];

/**
 * tree_report_done() - release a report; it is TREE_REPORT_INIT again
 */
void tree_report_done(struct tree_report *report);

#define TREE_EDITABLE_MAX 256

/* What a candidate is made of. */
struct tree_edit {
	int pristine_fd;             /* the stream of the task's tree, up to the end of that file */
	int frozen_fd;               /* the stream of the tree that the agent left, the same */
	const char *const *editable; /* file names, and folders with "/" at their end */
	size_t editable_count;       /* at most TREE_EDITABLE_MAX */
	struct stream_limits limits; /* of all three streams */
	/* What the pristine tree does not have is taken as well if this says so; NULL: nothing. */
	bool (*adds)(const char *path, size_t path_len);
};

/**
 * tree_merge() - write the stream of a candidate
 * @edit:   what it is made of
 * @out_fd: where the stream goes; the candidate holds no REFUSED entries
 * @out:    receives what the agent did; untouched on failure
 *
 * An invalid stream, an editable path that is no relative path or does not fit the pristine tree
 * ("src" for a folder), and a candidate over the limits are ERR_INPUT errors.
 */
int tree_merge(const struct tree_edit *edit, int out_fd, struct tree_report *out,
	       struct err *err) must_check;
