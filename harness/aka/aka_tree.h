/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "sandbox/base/arena.h"
#include "sandbox/base/err.h"

/*
 * The tasks of a checkout of AgentKernelArena: every folder below tasks/ with a config.yaml, which
 * its path below tasks/ names. Such a folder may lie in another one. In the order of the names,
 * where the original has that of the file system. Symbolic links and names with a point in front
 * are passed over.
 */
enum { AKA_DEPTH_MAX = 12, AKA_TASKS_MAX = 10000 };

/* A task, or a folder that can not be looked into. */
struct aka_entry {
	const char *name;
	const char *why; /* it can not be looked into; NULL: it is a task */
};

struct aka_tree {
	struct arena arena; /* holds the entries */
	int fd;             /* the folder tasks/, owned; -1: none */
	const struct aka_entry *entries;
	size_t count;
};

#define AKA_TREE_INIT ((struct aka_tree){ .fd = -1 })

/**
 * aka_tree_open() - find the tasks
 * @folder_fd: the checkout's folder, borrowed
 * @path:      what it is called in messages
 * @out:       aka_tree_done() frees it; untouched on failure
 *
 * Return: 0, or -1 with an ERR_INPUT error: there is no tasks/, or there are more than
 * AKA_TASKS_MAX, or one lies deeper than AKA_DEPTH_MAX folders.
 */
int aka_tree_open(int folder_fd, const char *path, struct aka_tree *out,
		  struct err *err) must_check;

/**
 * aka_tree_done() - close and free; the tree is AKA_TREE_INIT again
 */
void aka_tree_done(struct aka_tree *tree);
