/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/config/yaml.h"
#include "sandbox/base/str.h"

/*
 * YAML documents for tests: a tree that was read is written again, each key on a line of its own,
 * with some of its values changed
 */
struct edit {
	const struct yaml_node *at; /* in a mapping */
	const char *value;          /* in the place of its own, on one line; NULL: its own */
	const char *more;           /* one line behind it, "key: value"; NULL: none */
	bool is_left_out;           /* the key too */
};

/**
 * documents_write() - append the document to @out
 *
 * Return: the line, from 1, of the first edit: of its value, of what is put behind it, or of the
 * mapping that it is left out of.
 */
int documents_write(const struct yaml_node *root, const struct edit *edits, size_t count,
		    struct str *out);
