/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/schema_write.h"

#include <stdio.h>

enum { INDENT = 2, KEY_MAX = 128 };

static void write_map(const struct schema *schema, const void *object, int indent, struct str *out)
{
	for (size_t i = 0; i < schema->count; i++) {
		const struct field *field = &schema->fields[i];
		const void *member = (const char *) object + field->at.offset;
		cleanup(str_done) struct str value = STR_INIT;

		if (field->need == LATER)
			continue;
		if (field->type == &type_map) {
			str_addf(out, "%*s%s:\n", indent, "", field->key);
			write_map(field->details, member, indent + INDENT, out);
			continue;
		}
		if (field->type->print)
			field->type->print(field, member, &value);
		if (value.len > 0)
			str_addf(out, "%*s%s: %s\n", indent, "", field->key, value.text);
	}
}

void schema_write(const struct schema *schema, const void *object, struct str *out)
{
	write_map(schema, object, 0, out);
}

struct each {
	void (*visit)(void *user, const struct schema_pair *pair);
	void *user;
};

static void visit_map(const struct each *each, const struct schema *schema, const char *prefix,
		      const void *const objects[2])
{
	char key[KEY_MAX];

	for (size_t i = 0; i < schema->count; i++) {
		const struct field *field = &schema->fields[i];
		const struct schema_pair pair = {
			.key = key,
			.field = field,
			.members = { (const char *) objects[0] + field->at.offset,
				     (const char *) objects[1] + field->at.offset },
		};

		if (field->need == LATER)
			continue;
		snprintf(key, sizeof(key), "%s%s%s", prefix, prefix[0] ? "." : "", field->key);
		if (field->type == &type_map)
			visit_map(each, field->details, key, pair.members);
		else
			each->visit(each->user, &pair);
	}
}

void schema_each(const struct schema *schema, const void *one, const void *other,
		 void (*visit)(void *user, const struct schema_pair *pair), void *user)
{
	const struct each each = { visit, user };
	const void *const objects[] = { one, other };

	visit_map(&each, schema, "", objects);
}
