/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "sandbox/base/arena.h"
#include "sandbox/base/err.h"

/*
 * Tasks below a folder: every folder with a task.yaml, down to CATALOG_DEPTH folders deep. What
 * lies in a task is no other task. Symbolic links and names with a point in front are passed over.
 */
enum { CATALOG_DEPTH = 4, CATALOG_NAMES_MAX = 10000 };

/* Who is told of each task. */
struct catalog_visitor {
	/**
	 * @folder_fd: the task's folder, borrowed; -1: a folder that can not be read, and @why
	 * @path:      for messages: the path that was given, and what is below it
	 *
	 * Return: 0 to go on, -1 with @err set to end the walk with that error.
	 */
	int (*visit)(void *user, int folder_fd, const char *path, const struct err *why,
		     struct err *err);
	void *user;
};

/**
 * catalog_walk() - visit each task below a folder, in the order of the names
 * @folder_fd: the folder, itself a task perhaps
 * @path:      what it is called in messages
 */
int catalog_walk(int folder_fd, const char *path, const struct catalog_visitor *visitor,
		 struct err *err) must_check;

/**
 * catalog_names() - the names of the folders in a folder, sorted
 * @arena: holds them
 * @count: receives how many there are
 *
 * Return: the names; NULL with an ERR_INPUT error where the folder can not be read or has more
 * than CATALOG_NAMES_MAX entries.
 */
const char **catalog_names(int folder_fd, struct arena *arena, size_t *count,
			   struct err *err) must_check;
