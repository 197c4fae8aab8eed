/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void done(struct str *str)
{
	str_done(str);
}

static int parse_map(const struct field *field, const struct yaml_node *node, struct arena *arena,
		     void *member, struct err *err)
{
	return schema_bind(field->details, node, arena, member, err);
}

static int parse_node(const struct field *field, const struct yaml_node *node, struct arena *arena,
		      void *member, struct err *err)
{
	(void) field;
	(void) arena;
	(void) err;
	*(const struct yaml_node **) member = node;
	return 0;
}

static int parse_later(const struct field *field, const struct yaml_node *node, struct arena *arena,
		       void *member, struct err *err)
{
	(void) arena;
	(void) member;
	return yaml_err(node, err, "'%s' is not supported yet by this version; leave it out",
			field->key);
}

const struct schema_type type_map = { "mapping", HOLDS_STRUCT, parse_map, NULL };
const struct schema_type type_node = { "see below", HOLDS_NODE, parse_node, NULL };
const struct schema_type type_later = { "", HOLDS_NOTHING, parse_later, NULL };

const struct field *schema_find(const struct schema *schema, const char *key)
{
	for (size_t i = 0; i < schema->count; i++)
		if (strcmp(schema->fields[i].key, key) == 0)
			return &schema->fields[i];
	return NULL;
}

/* Levenshtein's distance in one row; texts are cut, which costs nothing where typing slips. */
static unsigned int distance(const char *a, const char *b)
{
	enum { CUT = 40 };
	unsigned int row[CUT + 1];
	size_t a_len = strnlen(a, CUT), b_len = strnlen(b, CUT);

	for (size_t j = 0; j <= b_len; j++)
		row[j] = (unsigned int) j;
	for (size_t i = 1; i <= a_len; i++) {
		unsigned int corner = row[0];

		row[0] = (unsigned int) i;
		for (size_t j = 1; j <= b_len; j++) {
			unsigned int change = corner + (a[i - 1] != b[j - 1]);

			corner = row[j];
			row[j] = MIN_OF(change, MIN_OF(row[j], row[j - 1]) + 1);
		}
	}
	return row[b_len];
}

const char *schema_nearest(const char *text, size_t count,
			   const char *(*candidate)(const void *list, size_t i), const void *list)
{
	const char *best = NULL;
	unsigned int least = 0;

	for (size_t i = 0; i < count; i++) {
		const char *other = candidate(list, i);

		if (other && (!best || distance(text, other) < least)) {
			best = other;
			least = distance(text, other);
		}
	}
	return best;
}

static const char *key_at(const void *list, size_t i)
{
	const struct schema *schema = list;

	return schema->fields[i].need == LATER ? NULL : schema->fields[i].key;
}

static int unknown_key(const struct schema *schema, const struct yaml_node *node, struct err *err)
{
	const char *nearest = schema_nearest(node->key, schema->count, key_at, schema);
	char room[YAML_SHOWN];

	return err_set(err, ERR_INPUT, "%s:%d: there is no key '%s' here; the nearest is '%s'",
		       node->file, node->key_line, yaml_shown(node->key, room),
		       nearest ? nearest : "(none)");
}

static int not_within(const struct field *field, const struct yaml_node *node, struct err *err)
{
	cleanup(done) struct str min = STR_INIT, max = STR_INIT;
	char room[YAML_SHOWN];

	if (field->type->holds == HOLDS_U64) {
		field->type->print(field, &field->min, &min);
		field->type->print(field, &field->max, &max);
		return yaml_err(node, err, "'%s' is not within %s..%s",
				yaml_shown(node->text, room), min.text, max.text);
	}
	if (node->kind == YAML_LIST)
		return yaml_err(node, err, "%zu items are not within %" PRIu64 "..%" PRIu64,
				node->count, field->min, field->max);
	return yaml_err(node, err, "'%s' is not %" PRIu64 "..%" PRIu64 " bytes long",
			yaml_shown(node->text, room), field->min, field->max);
}

static bool is_within(const struct field *field, const struct yaml_node *node, const void *member)
{
	uint64_t value;

	if (field->max == 0)
		return true;
	if (field->type->holds == HOLDS_U64)
		value = *(const uint64_t *) member;
	else
		value = node->kind == YAML_LIST ? node->count : node->text ? strlen(node->text) : 0;
	return value >= field->min && value <= field->max;
}

static int bind_field(const struct field *field, const struct yaml_node *node, struct arena *arena,
		      void *object, struct err *err)
{
	void *member = (char *) object + field->at.offset;

	if (field->type->parse(field, node, arena, member, err) < 0)
		return -1;
	if (!is_within(field, node, member))
		return not_within(field, node, err);
	return 0;
}

int schema_bind(const struct schema *schema, const struct yaml_node *map, struct arena *arena,
		void *object, struct err *err)
{
	if (map->kind != YAML_MAP)
		return yaml_err(map, err, "%s has to be a mapping of keys such as '%s'",
				schema->name, schema->fields[0].key);
	for (const struct yaml_node *node = map->first; node; node = node->next) {
		const struct field *field = schema_find(schema, node->key);

		if (!field && schema->open)
			continue;
		if (!field)
			return unknown_key(schema, node, err);
		if (bind_field(field, node, arena, object, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < schema->count; i++)
		if (schema->fields[i].need == REQUIRED && !yaml_find(map, schema->fields[i].key))
			return yaml_err(map, err, "%s lacks the key '%s' (%s)", schema->name,
					schema->fields[i].key, schema->fields[i].doc);
	return 0;
}

static void print_range(const struct field *field, struct str *out)
{
	if (field->max == 0)
		return;
	if (field->type->holds == HOLDS_U64) {
		field->type->print(field, &field->min, out);
		str_addf(out, " to ");
		field->type->print(field, &field->max, out);
	} else {
		str_addf(out, "%" PRIu64 " to %" PRIu64 " %s", field->min, field->max,
			 field->type->holds == HOLDS_TEXT ? "bytes" : "items");
	}
}

static void print_optional(const struct field *field, const void *member, struct str *out)
{
	size_t before = out->len;

	if (field->type->holds == HOLDS_STRUCT)
		str_addf(out, "see its keys");
	else if (field->type->holds == HOLDS_U64 && field->min > 0 &&
		 *(const uint64_t *) member == 0)
		str_addf(out, "none"); /* a number that can not be written: not given */
	else if (field->type->print)
		field->type->print(field, member, out);
	if (out->len == before)
		str_addf(out, "none");
}

static void print_default(const struct field *field, const void *defaults, struct str *out)
{
	if (field->need == REQUIRED)
		str_addf(out, "required");
	else if (field->need == LATER)
		str_addf(out, "not yet");
	else if (defaults)
		print_optional(field, (const char *) defaults + field->at.offset, out);
}

void schema_print_table(const struct schema *schema, const void *defaults, struct str *out)
{
	str_addf(out, "| key | value | range | default | meaning |\n|---|---|---|---|---|\n");
	for (size_t i = 0; i < schema->count; i++) {
		const struct field *field = &schema->fields[i];

		str_addf(out, "| `%s` | %s | ", field->key, field->type->name);
		print_range(field, out);
		str_addf(out, " | ");
		print_default(field, defaults, out);
		str_addf(out, " | %s |\n", field->doc);
	}
}
