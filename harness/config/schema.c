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

static int keep(const struct field *field, const struct yaml_node *node, enum yaml_kind kind,
		void *member, struct err *err)
{
	const struct collection *collection = field->details;

	if (node->kind != kind)
		return schema_expected(field, node, collection->example, err);
	*(const struct yaml_node **) member = node;
	return 0;
}

static int parse_items(const struct field *field, const struct yaml_node *node, struct arena *arena,
		       void *member, struct err *err)
{
	(void) arena;
	return keep(field, node, YAML_LIST, member, err);
}

static int parse_entries(const struct field *field, const struct yaml_node *node,
			 struct arena *arena, void *member, struct err *err)
{
	(void) arena;
	return keep(field, node, YAML_MAP, member, err);
}

static int parse_later(const struct field *field, const struct yaml_node *node, struct arena *arena,
		       void *member, struct err *err)
{
	(void) arena;
	(void) member;
	return yaml_err(node, err, "'%s' is not supported yet by this version; leave it out",
			field->key);
}

/* clang-format off */
const struct schema_type type_map     = { "mapping", HOLDS_STRUCT,  parse_map,     NULL, NULL };
const struct schema_type type_items   = { "list",    HOLDS_NODE,    parse_items,   NULL, "items" };
const struct schema_type type_entries = { "entries", HOLDS_NODE,    parse_entries, NULL, "entries" };
const struct schema_type type_later   = { "",        HOLDS_NOTHING, parse_later,   NULL, NULL };
/* clang-format on */

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

/* The mapping that has this key, where somebody wrote it into the wrong one; NULL: none near. */
static const struct schema *find_owner(const struct schema *schema, const char *key)
{
	if (schema->wider && schema_find(schema->wider, key))
		return schema->wider;
	for (size_t i = 0; i < schema->count; i++) {
		const struct field *field = &schema->fields[i];

		if (field->type == &type_map && schema_find(field->details, key))
			return field->details;
	}
	return NULL;
}

static void add_keys(const struct schema *schema, struct str *out)
{
	const char *before = "there are ";

	for (size_t i = 0; i < schema->count; i++) {
		if (!key_at(schema, i))
			continue;
		str_addf(out, "%s%s", before, schema->fields[i].key);
		before = ", ";
	}
}

static int unknown_key(const struct schema *schema, const struct yaml_node *node, struct err *err)
{
	const char *nearest = schema_nearest(node->key, schema->count, key_at, schema);
	const struct schema *owner = find_owner(schema, node->key);
	cleanup(str_done) struct str hint = STR_INIT;
	char room[YAML_SHOWN];

	if (owner)
		str_addf(&hint, "%s has it", owner->name);
	else if (nearest && 2 * distance(node->key, nearest) <= strlen(node->key))
		str_addf(&hint, "the nearest is '%s'", nearest);
	else
		add_keys(schema, &hint);
	return err_set(err, ERR_INPUT, "%s:%d: there is no key '%s' here; %s", node->file,
		       node->key_line, yaml_shown(node->key, room), hint.text);
}

void schema_add_words(const struct name *table, struct str *out)
{
	const char *before = "";

	for (const struct name *name = table; name->text; name++) {
		if (name->value == WORD_LATER)
			continue;
		str_addf(out, "%s%s", before, name->text);
		before = ", ";
	}
}

/* "16..32768", "1..64 items" */
static void add_range(const struct field *field, const char *to, struct str *out)
{
	if (field->type->unit) {
		str_addf(out, "%" PRIu64 "%s%" PRIu64 " %s", field->min, to, field->max,
			 field->type->unit);
		return;
	}
	field->type->print(field, &field->min, out);
	str_addf(out, "%s", to);
	field->type->print(field, &field->max, out);
}

int schema_expected(const struct field *field, const struct yaml_node *node, const char *what,
		    struct err *err)
{
	cleanup(done) struct str range = STR_INIT;
	char room[YAML_SHOWN];

	if (field && field->max > 0) {
		str_addf(&range, "%s", field->type->unit ? ", with " : ", within ");
		add_range(field, "..", &range);
	}
	if (node->kind == YAML_TEXT)
		return yaml_err(node, err, "'%s' is not %s%s", yaml_shown(node->text, room), what,
				range.text);
	return yaml_err(node, err, "a %s is not %s%s", node->kind == YAML_MAP ? "mapping" : "list",
			what, range.text);
}

static int not_within(const struct field *field, const struct yaml_node *node, struct err *err)
{
	cleanup(done) struct str range = STR_INIT;
	char room[YAML_SHOWN];

	add_range(field, "..", &range);
	if (node->kind != YAML_TEXT)
		return yaml_err(node, err, "%zu %s are not within %" PRIu64 "..%" PRIu64,
				node->count, field->type->unit, field->min, field->max);
	return yaml_err(node, err,
			field->type->unit ? "'%s' is not %s long" : "'%s' is not within %s",
			yaml_shown(node->text, room), range.text);
}

static bool is_within(const struct field *field, const struct yaml_node *node, const void *member)
{
	uint64_t value;

	if (field->max == 0)
		return true;
	if (field->type->holds == HOLDS_U64)
		value = *(const uint64_t *) member;
	else
		value = node->kind == YAML_TEXT ? strlen(node->text) : node->count;
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
	char room[YAML_SHOWN];

	if (map->kind == YAML_TEXT)
		return yaml_err(map, err, "%s has to be a mapping of keys such as '%s', not '%s'",
				schema->name, schema->fields[0].key, yaml_shown(map->text, room));
	if (map->kind == YAML_LIST)
		return yaml_err(map, err, "%s has to be a mapping of keys such as '%s', not a list",
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
	bool has_words = field->type->holds == HOLDS_INT ||
			 (field->type->holds == HOLDS_U64 && field->details);

	if (has_words)
		schema_add_words(field->details, out);
	else if (field->max > 0)
		add_range(field, " to ", out);
}

static void print_optional(const struct field *field, const void *member, struct str *out)
{
	size_t before = out->len;
	uint64_t number;

	if (field->type == &type_map) {
		str_addf(out, "see its keys");
		return;
	}
	if (field->type->holds == HOLDS_U64) {
		number = *(const uint64_t *) member;
		/* A number that can not be written stands for none. */
		if (number >= field->min && (field->max == 0 || number <= field->max))
			field->type->print(field, member, out);
	} else if (field->type->print) {
		field->type->print(field, member, out);
	}
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

void schema_print_markdown(const struct key_tables *tables, struct str *out)
{
	for (size_t i = 0; i < tables->count; i++) {
		const struct key_table *table = &tables->items[i];

		str_addf(out,
			 "%s**%s**\n\n"
			 "| key | value | range | default | meaning |\n|---|---|---|---|---|\n",
			 i == 0 ? "" : "\n", table->title);
		for (size_t k = 0; k < table->schema->count; k++) {
			const struct field *field = &table->schema->fields[k];

			str_addf(out, "| `%s` | %s | ", field->key, field->type->name);
			print_range(field, out);
			str_addf(out, " | ");
			print_default(field, table->defaults, out);
			str_addf(out, " | %s |\n", field->doc);
		}
	}
}

/* Characters that scdoc takes for markup; our own texts have backquotes around what is typed. */
static void add_escaped(const char *text, struct str *out)
{
	for (; *text; text++) {
		if (*text == '`')
			continue;
		if (strchr("\\*_[]|<>#~", *text))
			str_addf(out, "\\");
		str_add(out, text, 1);
	}
}

/* "*wall* duration, 1s to 168h (30m)" and the meaning below it. */
static void print_entry(const struct field *field, const void *defaults, struct str *out)
{
	cleanup(done) struct str facts = STR_INIT, range = STR_INIT, preset = STR_INIT;

	str_addf(&facts, "%s", field->type->name);
	print_range(field, &range);
	str_addf(&facts, "%s%s", range.len > 0 ? ", " : "", range.text);
	print_default(field, defaults, &preset);
	if (preset.len > 0)
		str_addf(&facts, "%s(%s)", facts.len > 0 ? " " : "", preset.text);
	str_addf(out, "\n*%s* ", field->key);
	add_escaped(facts.text, out);
	str_addf(out, "\n\t");
	add_escaped(field->doc, out);
	str_addf(out, "\n");
}

void schema_print_manual(const struct key_tables *tables, struct str *out)
{
	for (size_t i = 0; i < tables->count; i++) {
		const struct key_table *table = &tables->items[i];

		str_addf(out, "%s## ", i == 0 ? "" : "\n");
		add_escaped(table->title, out);
		str_addf(out, "\n");
		for (size_t k = 0; k < table->schema->count; k++)
			print_entry(&table->schema->fields[k], table->defaults, out);
	}
}
