/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/aka/aka_inject.h"
#include "harness/config/yaml.h"
#include "sandbox/base/arena.h"
#include "sandbox/base/err.h"

/*
 * held_out_shapes.yaml of a task: what is replaced in which of its files, so that a kernel is run
 * on shapes that its agent did not know
 *
 * Keys that AgentKernelArena does not read are passed over here as well. Its own reader finds a
 * missing key, an unknown marker or a file outside of the workspace only in the middle of an
 * evaluation, or not at all; this one before, with the line.
 */
enum { AKA_HELDOUT_INJECTIONS_MAX = 64 };

struct aka_heldout {
	struct arena arena;                       /* holds all that is below */
	const char *task_type;                    /* as written; NULL: not said */
	uint64_t shape_count;                     /* num_original_shapes; 0: not said */
	const struct yaml_node *init_constraints; /* only carried along; NULL: none */
	const struct aka_injection *injections;   /* at least one */
	size_t count;
};

#define AKA_HELDOUT_INIT ((struct aka_heldout){ .task_type = NULL })

/**
 * aka_heldout_parse() - read the text of such a file
 * @file: what messages call it
 * @out:  aka_heldout_done() frees it; untouched on failure
 *
 * Return: 0, or -1 with an ERR_INPUT error that names file, line, key and value.
 */
int aka_heldout_parse(const char *file, const char *text, size_t len, struct aka_heldout *out,
		      struct err *err) must_check;

/**
 * aka_heldout_done() - free it; AKA_HELDOUT_INIT again
 */
void aka_heldout_done(struct aka_heldout *heldout);

/**
 * aka_heldout_changes() - is anything of the file at @path replaced
 */
bool aka_heldout_changes(const struct aka_heldout *heldout, const char *path);

/**
 * aka_heldout_apply() - append what a file becomes by all that is replaced in it, in their order
 *
 * Return: AKA_INJECTED, or the first refusal; nothing has been appended then. One refusal in any
 * file ends the evaluation of the task.
 */
enum aka_injected aka_heldout_apply(struct str *out, const struct aka_heldout *heldout,
				    const char *path, const void *bytes, size_t len) must_check;
