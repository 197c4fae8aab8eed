/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/aka/aka_task.h"
#include "harness/aka/aka_tree.h"
#include "harness/config/types.h"

/*
 * Which tasks of a tree are meant, and which of those a GPU can run
 *
 * A selector is "all", a task, a folder with tasks below it, or one of these with patterns: in a
 * name * ? [abc] [!abc], and ** for any number of folders. One that matches nothing is an error,
 * and so is none at all.
 */

/**
 * aka_select_check() - can @selector match anything
 *
 * Return: 0, or -1 with an ERR_INPUT error that says what is wrong with it.
 */
int aka_select_check(const char *selector, struct err *err) must_check;

/**
 * aka_select() - the entries of a tree that selectors mean, each once, in the tree's order
 * @arena: holds @out
 */
int aka_select(const struct aka_tree *tree, const struct argv *selectors, struct arena *arena,
	       struct aka_entry **out, size_t *count, struct err *err) must_check;

/**
 * aka_select_names() - the entries of a tree that @names name, without patterns
 * @absent: receives those that the tree does not have, in the order of @names
 */
void aka_select_names(const struct aka_tree *tree, const struct argv *names, struct arena *arena,
		      struct aka_entry **out, size_t *count, struct argv *absent);

/**
 * aka_select_dropped() - why a task does not run on a GPU
 * @arch:  "gfx942"; NULL: it is not known, and what needs a certain one is dropped
 * @arena: holds the reason
 *
 * Return: NULL: it runs.
 */
const char *aka_select_dropped(const struct aka_task *task, const char *arch,
			       struct arena *arena) must_check;
