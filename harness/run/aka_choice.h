/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/aka/aka_select.h"
#include "harness/aka/aka_task.h"
#include "harness/run/run.h"

/*
 * The tasks of AgentKernelArena that a run was told, and which of them it can run
 */
#define AKA_CHOICE_ABSENT "the set has it, and this tree does not"

struct aka_choice {
	struct aka_tree tree;
	struct aka_entry *entries; /* in the caller's arena */
	size_t count;
	struct argv absent; /* of the set, and not in this checkout */
};

#define AKA_CHOICE_INIT ((struct aka_choice){ .tree = AKA_TREE_INIT })

/**
 * aka_choice_make() - find them in the checkout
 * @arena: holds names
 * @out:   AKA_CHOICE_INIT; aka_choice_done() closes the tree
 *
 * A selector without a task is ERR_INPUT; what a set has and the checkout does not is listed.
 */
int aka_choice_make(const struct run_aka *aka, struct arena *arena, struct aka_choice *out,
		    struct err *err) must_check;

/**
 * aka_choice_load() - one of the entries
 */
int aka_choice_load(const struct aka_choice *choice, size_t index, struct aka_task *out,
		    struct err *err) must_check;

/**
 * aka_choice_why_dropped() - why a run leaves a task out; NULL: it is run
 * @arena: holds the reason
 */
const char *aka_choice_why_dropped(const struct aka_task *task, const char *arch,
				   struct arena *arena) must_check;

/**
 * aka_choice_done() - close the tree
 */
void aka_choice_done(struct aka_choice *choice);
