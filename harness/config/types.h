/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "harness/config/schema.h"
#include "sandbox/base/names.h"

/*
 * The types of configuration values: how each is written, and how it is written back
 *
 * The plain functions read a text and say what they expected instead; the schema_type objects
 * below put them to use in the rows of a schema.
 */

/* A list of texts with a NULL behind the last, as execve() wants it; lives in the arena. */
struct argv {
	const char *const *items;
	uint64_t count;
};

/**
 * types_parse_count() - a whole number in decimal digits, without leading zeros
 *
 * Return: 0, or -1 if the text is none or does not fit; @out is then untouched. The other
 * functions here do the same.
 */
int types_parse_count(const char *text, uint64_t *out) must_check;

/**
 * types_parse_size() - bytes: digits and B, KiB, MiB, GiB or TiB; a bare number is refused,
 * except 0
 */
int types_parse_size(const char *text, uint64_t *out) must_check;

/**
 * types_parse_duration() - milliseconds: digits and ms, s, m or h; a bare number is refused,
 * except 0
 */
int types_parse_duration(const char *text, uint64_t *out) must_check;

/**
 * types_parse_milli() - thousandths: "2", "1.5", "0.250"
 */
int types_parse_milli(const char *text, uint64_t *out) must_check;

/**
 * types_parse_number() - a finite decimal number such as -1, 0.5 or 2e-2; no other spelling that
 * strtod() knows (hexadecimal, infinity, nan, white space)
 */
int types_parse_number(const char *text, double *out) must_check;

/**
 * types_is_identifier() - is @text a name of C: a letter or _, then letters, digits and _, at
 * most 63 bytes
 */
bool types_is_identifier(const char *text);

/**
 * types_is_name() - is @text a name of a task or policy: lower case letters, digits and single
 * hyphens between them, at most 63 bytes
 */
bool types_is_name(const char *text);

/* Members: uint64_t */
extern const struct schema_type type_count, type_size, type_duration, type_milli;
/* Member: bool; written true or false */
extern const struct schema_type type_bool;
/**
 * types_find_word() - the value that @node names in @table (struct name)
 *
 * Errors list the words that are possible.
 */
int types_find_word(const struct name *table, const struct yaml_node *node, int *out,
		    struct err *err) must_check;

/* Member: int; one name of the table in the row's details (struct name) */
extern const struct schema_type type_word;
/* Member: uint64_t with a bit 1 << value for each name of the list; table in the details */
extern const struct schema_type type_words;
/* Members: const char * */
extern const struct schema_type type_text, type_name, type_symbol, type_path, type_image;
/* Member: const char *; a path that may lead anywhere: absolute, or relative to the file's folder
 */
extern const struct schema_type type_location;
/* Member: const struct yaml_node *, a text that is compiled later */
extern const struct schema_type type_expr;
/* Member: struct argv; any texts, the first not empty */
extern const struct schema_type type_argv;
/* Members: struct argv; relative paths, and paths that may lead anywhere; none twice */
extern const struct schema_type type_paths, type_locations;
