/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/config/format.h"
#include "tests/lib/documents.h"

/*
 * Trying a row of a format: a good document with one value replaced is read, or refused with file,
 * line, key, value, and what is possible
 *
 * Each function ends the test where that does not hold.
 */
/* One edge of one row. */
struct edge {
	const struct format *format;
	const struct yaml_node *root, *map, *node;
	const struct field *field;
	const char *path;
	struct arena *arena;
};

/* What messages call each document. */
#define EDGES_FILE "dir/file.yaml"

/**
 * edges_accept_edits() - the document with these changes is read
 */
void edges_accept_edits(const struct edge *edge, const struct edit *edits, size_t count);

/**
 * edges_accept() - the document with this value is read
 */
void edges_accept(const struct edge *edge, const char *value);

/**
 * edges_refuse_edit() - the document with this change is refused as its author's fault; the message
 * names file and line, and holds all of @wants, up to a NULL
 */
void edges_refuse_edit(const struct edge *edge, const struct edit *edit, const char *const *wants);

/**
 * edges_refuse() - the document with this value is refused, and the message names the key as well
 * @value:   as YAML, on one line
 * @shown:   how the message shows it
 * @allowed: the range, or the words that are possible, as the message has them
 */
void edges_refuse(const struct edge *edge, const char *value, const char *shown,
		  const char *allowed);

/**
 * edges_refuse_text() - edges_refuse() of a text without quotes in it, shown as it is
 */
void edges_refuse_text(const struct edge *edge, const char *value, const char *allowed);

/**
 * edges_try_number() - a number, size, duration or decimal: least, most, one step beyond, and what
 * is none
 */
void edges_try_number(const struct edge *edge);

/**
 * edges_try_form() - a name, symbol, location or endpoint
 *
 * Return: false if the row's type is none of these.
 */
bool edges_try_form(const struct edge *edge);

/**
 * edges_try_length() - a text or expression with a length of its own
 * @has_least: the shortest that the row allows can be read
 */
void edges_try_length(const struct edge *edge, bool has_least);

/**
 * edges_try_texts() - what stands in a list of texts; its count is another matter
 */
void edges_try_texts(const struct edge *edge);

/**
 * edges_try_map() - what is no mapping
 */
void edges_try_map(const struct edge *edge);

/**
 * edges_try_twice() - the key once more behind itself
 */
void edges_try_twice(const struct edge *edge);

/**
 * edges_try_absent() - a required key left out
 */
void edges_try_absent(const struct edge *edge);

/**
 * edges_try_later() - a key that the format has and this version has not, with any value
 */
void edges_try_later(const struct edge *edge);
