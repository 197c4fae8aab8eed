/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/config/schema.h"

/*
 * A struct written as the file that would fill it: the way back of schema_bind()
 */

/**
 * schema_write() - append every key that has a value, in the order of the rows, mappings indented
 *
 * Rows of later versions, and values that have no form of their own (HOLDS_NODE), are left out. The
 * types' print functions say how a value stands there.
 */
void schema_write(const struct schema *schema, const void *object, struct str *out);

/* One value of two objects. */
struct schema_pair {
	const char *key; /* "agent.tmp.size" */
	const struct field *field;
	const void *members[2];
};

/**
 * schema_each() - call @visit for each value that two objects of a schema have, mappings entered
 */
void schema_each(const struct schema *schema, const void *one, const void *other,
		 void (*visit)(void *user, const struct schema_pair *pair), void *user);
