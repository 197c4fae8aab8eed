/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/aka/aka_read.h"
#include "harness/aka/aka_task.h"

/*
 * Values of the second format, which takes nothing for something else: a key that is there has a
 * value of its type, null is none, and no other key may be there. And the parts of it that only
 * say what lies where: workspace, exports.
 */

/**
 * aka_v2_known() - is @node a mapping that has none but these keys
 * @what: in messages, "an entry point"
 * @keys: a NULL behind the last
 */
int aka_v2_known(const struct yaml_node *node, const char *what, const char *const *keys,
		 struct err *err) must_check;

/**
 * aka_v2_map() - the mapping at @key, with none but @keys
 * @out: receives NULL if it is not there and not @is_needed
 */
int aka_v2_map(const struct yaml_node *map, const char *key, const char *const *keys,
	       bool is_needed, const struct yaml_node **out, struct err *err) must_check;

/**
 * aka_v2_path() - the path at @key, which has to be there
 */
int aka_v2_path(const struct yaml_node *map, const char *key, const char **out,
		struct err *err) must_check;

/**
 * aka_v2_path_item() - a path: relative, no ".", "..", empty name or backslash, no drive
 */
int aka_v2_path_item(const struct yaml_node *node, const char **out, struct err *err) must_check;

/**
 * aka_v2_list() - the list at @key; @out receives NULL if it is not there
 */
int aka_v2_list(const struct yaml_node *map, const char *key, const struct yaml_node **out,
		struct err *err) must_check;

/**
 * aka_v2_texts() - the list of texts at @key: none empty, none twice
 */
int aka_v2_texts(const struct yaml_node *map, const char *key, struct arena *arena,
		 struct argv *out, struct err *err) must_check;

/**
 * aka_v2_paths() - the same of paths
 */
int aka_v2_paths(const struct yaml_node *map, const char *key, struct arena *arena,
		 struct argv *out, struct err *err) must_check;

/**
 * aka_v2_argv() - the argument vector at @key
 */
int aka_v2_argv(const struct yaml_node *map, const char *key, struct arena *arena, struct argv *out,
		struct err *err) must_check;

/**
 * aka_v2_commands() - the list of argument vectors at @key; one that is there has at least one
 */
int aka_v2_commands(const struct yaml_node *map, const char *key, struct arena *arena,
		    struct aka_action *out, struct err *err) must_check;

/**
 * aka_v2_seconds() - a number of seconds at @key
 */
int aka_v2_seconds(const struct yaml_node *map, const char *key, uint64_t *out,
		   struct err *err) must_check;

/**
 * aka_v2_bool() - true or false at @key
 */
int aka_v2_bool(const struct yaml_node *map, const char *key, bool *out,
		struct err *err) must_check;

/**
 * aka_v2_workspace() - what is brought into the workspace, and its commands
 */
int aka_v2_workspace(struct aka_task *task, struct err *err) must_check;

/**
 * aka_v2_exports() - check what only gets carried along: exports, profile, tools
 */
int aka_v2_exports(struct aka_task *task, struct err *err) must_check;
