/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/config/types.h"
#include "harness/config/yaml.h"

/*
 * Values of a config.yaml, by key. A key that is absent and one that is null are the same, and
 * leave the default. All errors are ERR_INPUT, with file, line, key and value.
 */

/* The most that a config.yaml may have; more is an error that names the limit. */
struct aka_limits {
	size_t items;    /* of a list */
	size_t text;     /* bytes of a text that is no prompt */
	uint64_t wall_s; /* of a command */
};
extern const struct aka_limits aka_limits;

/**
 * aka_read_text() - a text; a number, a date, true and false are none
 */
int aka_read_text(const struct yaml_node *map, const char *key, const char **out,
		  struct err *err) must_check;

/**
 * aka_read_needed() - the same, which has to be there and not blank
 */
int aka_read_needed(const struct yaml_node *map, const char *key, const char **out,
		    struct err *err) must_check;

/**
 * aka_read_path() - a relative path without "." and ".."
 */
int aka_read_path(const struct yaml_node *map, const char *key, const char **out,
		  struct err *err) must_check;

/**
 * aka_read_absolute() - an absolute path without "." and "..", which has to be there
 * @arena: holds @out: without slashes at its end
 */
int aka_read_absolute(const struct yaml_node *map, const char *key, struct arena *arena,
		      const char **out, struct err *err) must_check;

/**
 * aka_read_texts() - a list of texts, or one text in place of a list of one
 */
int aka_read_texts(const struct yaml_node *map, const char *key, struct arena *arena,
		   struct argv *out, struct err *err) must_check;

/**
 * aka_read_paths() - the same, of relative paths
 */
int aka_read_paths(const struct yaml_node *map, const char *key, struct arena *arena,
		   struct argv *out, struct err *err) must_check;

/**
 * aka_read_seconds() - a number of seconds, or a text of digits, as int() takes them
 */
int aka_read_seconds(const struct yaml_node *map, const char *key, uint64_t *out,
		     struct err *err) must_check;

/**
 * aka_read_item() - one item of a list as a text
 */
int aka_read_item(const struct yaml_node *item, const char **out, struct err *err) must_check;

/**
 * aka_read_list() - the list at @key, of at most as many items as the limit
 * @out: receives NULL if there is none
 */
int aka_read_list(const struct yaml_node *map, const char *key, const struct yaml_node **out,
		  struct err *err) must_check;

/**
 * aka_read_word() - which of @words (a NULL behind the last) the text at @key is
 */
int aka_read_word(const struct yaml_node *map, const char *key, const char *const *words,
		  size_t *out, struct err *err) must_check;

/**
 * aka_read_kind() - "a text", "null", "a number"…, what @node is, for messages
 */
const char *aka_read_kind(const struct yaml_node *node);
