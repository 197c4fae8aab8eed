/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/types.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/base/path.h"
#include "sandbox/base/units.h"
#include "sandbox/spec.h"

int types_parse_count(const char *text, uint64_t *out)
{
	return units_parse(UNITS_COUNT, text, out);
}

int types_parse_size(const char *text, uint64_t *out)
{
	return units_parse(UNITS_BYTES, text, out);
}

int types_parse_duration(const char *text, uint64_t *out)
{
	return units_parse(UNITS_MS, text, out);
}

int types_parse_milli(const char *text, uint64_t *out)
{
	return units_parse(UNITS_MILLI, text, out);
}

int types_parse_number(const char *text, double *out)
{
	const char *digits = text + (*text == '-');
	double value;
	char *end;

	if (!isdigit((unsigned char) *digits) || strpbrk(text, "xX"))
		return -1;
	value = strtod(text, &end);
	if (*end != '\0' || !isfinite(value))
		return -1;
	*out = value;
	return 0;
}

bool types_is_identifier(const char *text)
{
	size_t len = strlen(text);

	if (len == 0 || len > 63 || isdigit((unsigned char) *text))
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char) *text) && *text != '_')
			return false;
	return true;
}

bool types_is_name(const char *text)
{
	size_t len = strlen(text);

	if (len == 0 || len > 63 || text[0] == '-' || text[len - 1] == '-' || strstr(text, "--"))
		return false;
	for (; *text; text++)
		if (!islower((unsigned char) *text) && !isdigit((unsigned char) *text) &&
		    *text != '-')
			return false;
	return true;
}

static int parse_u64(const struct field *field, const struct yaml_node *node,
		     int (*parse)(const char *, uint64_t *), const char *what, void *member,
		     struct err *err)
{
	if (node->kind != YAML_TEXT || parse(node->text, member) < 0)
		return schema_expected(field, node, what, err);
	return 0;
}

/* A parse function of the form that struct schema_type wants, for a type held in a uint64_t. */
#define PARSE_U64(name_, parse_, what_)                                           \
	static int name_(const struct field *field, const struct yaml_node *node, \
			 struct arena *arena, void *member, struct err *err)      \
	{                                                                         \
		(void) arena;                                                     \
		return parse_u64(field, node, parse_, what_, member, err);        \
	}

PARSE_U64(parse_count, types_parse_count, "a whole number such as 16")
PARSE_U64(parse_size, types_parse_size, "a size such as 4KiB, 512MiB or 2GiB")
PARSE_U64(parse_duration, types_parse_duration, "a duration such as 500ms, 300s, 2m or 1h")
PARSE_U64(parse_milli, types_parse_milli, "a number such as 2 or 1.5 (three decimals at most)")

static void print_count(const struct field *field, const void *member, struct str *out)
{
	(void) field;
	str_addf(out, "%" PRIu64, *(const uint64_t *) member);
}

static void print_size(const struct field *field, const void *member, struct str *out)
{
	(void) field;
	str_addf(out, "%s", units_write(UNITS_BYTES, *(const uint64_t *) member).text);
}

static void print_duration(const struct field *field, const void *member, struct str *out)
{
	(void) field;
	str_addf(out, "%s", units_write(UNITS_MS, *(const uint64_t *) member).text);
}

static void print_milli(const struct field *field, const void *member, struct str *out)
{
	(void) field;
	str_addf(out, "%s", units_write(UNITS_MILLI, *(const uint64_t *) member).text);
}

static int parse_bool(const struct field *field, const struct yaml_node *node, struct arena *arena,
		      void *member, struct err *err)
{
	(void) field;
	(void) arena;
	if (node->kind != YAML_TEXT ||
	    (strcmp(node->text, "true") != 0 && strcmp(node->text, "false") != 0))
		return schema_expected(NULL, node, "true or false", err);
	*(bool *) member = node->text[0] == 't';
	return 0;
}

static void print_bool(const struct field *field, const void *member, struct str *out)
{
	(void) field;
	str_addf(out, *(const bool *) member ? "true" : "false");
}

static void done(struct str *str)
{
	str_done(str);
}

int types_find_word(const struct name *table, const struct yaml_node *node, int *out,
		    struct err *err)
{
	cleanup(done) struct str words = STR_INIT;
	char room[YAML_SHOWN];
	int value = WORD_LATER;

	schema_add_words(table, &words);
	if (node->kind != YAML_TEXT)
		return yaml_err(node, err, "a %s is not one of: %s",
				node->kind == YAML_MAP ? "mapping" : "list", words.text);
	if (names_find(table, node->text, &value) < 0)
		return yaml_err(node, err, "'%s' is not one of: %s", yaml_shown(node->text, room),
				words.text);
	if (value == WORD_LATER)
		return yaml_err(node, err,
				"'%s' is not supported yet by this version, which has: %s",
				yaml_shown(node->text, room), words.text);
	*out = value;
	return 0;
}

static int parse_word(const struct field *field, const struct yaml_node *node, struct arena *arena,
		      void *member, struct err *err)
{
	(void) arena;
	return types_find_word(field->details, node, member, err);
}

static void print_word(const struct field *field, const void *member, struct str *out)
{
	str_addf(out, "%s", names_text(field->details, *(const int *) member));
}

static int not_words(const struct name *table, const struct yaml_node *node, struct err *err)
{
	cleanup(done) struct str words = STR_INIT, what = STR_INIT;

	schema_add_words(table, &words);
	str_addf(&what, "a list of words out of: %s", words.text);
	return schema_expected(NULL, node, what.text, err);
}

static int parse_words(const struct field *field, const struct yaml_node *node, struct arena *arena,
		       void *member, struct err *err)
{
	uint64_t bits = 0;

	(void) arena;
	if (node->kind != YAML_LIST)
		return not_words(field->details, node, err);
	for (const struct yaml_node *item = node->first; item; item = item->next) {
		char room[YAML_SHOWN];
		int value = 0;

		if (types_find_word(field->details, item, &value, err) < 0)
			return -1;
		if (bits & UINT64_C(1) << value)
			return yaml_err(item, err, "'%s' is listed twice",
					yaml_shown(item->text, room));
		bits |= UINT64_C(1) << value;
	}
	*(uint64_t *) member = bits;
	return 0;
}

static void print_words(const struct field *field, const void *member, struct str *out)
{
	const char *before = "";

	str_addf(out, "[");
	for (const struct name *name = field->details; name->text; name++) {
		if (name->value >= 0 && *(const uint64_t *) member & UINT64_C(1) << name->value) {
			str_addf(out, "%s%s", before, name->text);
			before = ", ";
		}
	}
	str_addf(out, "]");
}

static bool is_any(const char *text)
{
	return *text != '\0';
}

static int parse_text_that(const struct field *field, const struct yaml_node *node,
			   bool (*is_good)(const char *), const char *what, void *member,
			   struct err *err)
{
	if (node->kind != YAML_TEXT || !is_good(node->text))
		return schema_expected(field, node, what, err);
	*(const char **) member = node->text;
	return 0;
}

/* The same for a type held in a const char *. */
#define PARSE_TEXT(name_, is_good_, what_)                                         \
	static int name_(const struct field *field, const struct yaml_node *node,  \
			 struct arena *arena, void *member, struct err *err)       \
	{                                                                          \
		(void) arena;                                                      \
		return parse_text_that(field, node, is_good_, what_, member, err); \
	}

PARSE_TEXT(parse_text, is_any, "a text with at least one character")
PARSE_TEXT(parse_name, types_is_name,
	   "a name of lower case letters, digits and single hyphens, at most 63")
PARSE_TEXT(parse_symbol, types_is_identifier,
	   "a symbol: the name of a C function, at most 63 bytes")

PARSE_TEXT(parse_image, plan_is_image_name,
	   "an image's name: 1 to 31 letters, digits, '-', '_' and '.', or host")

static void print_text(const struct field *field, const void *member, struct str *out)
{
	const char *text = *(const char *const *) member;

	(void) field;
	if (text)
		str_addf(out, "%s", text);
}

/* What the items of a list are. */
struct items {
	bool (*is_good)(const char *text);
	bool are_unique;
	const char *item, *list; /* for messages */
};

static int parse_list(const struct field *field, const struct yaml_node *node,
		      const struct items *kind, struct arena *arena, struct argv *out,
		      struct err *err)
{
	const char **items;
	size_t count = 0;

	if (node->kind != YAML_LIST)
		return schema_expected(field, node, kind->list, err);
	items = arena_alloc(arena, node->count + 1, sizeof(*items));
	for (const struct yaml_node *item = node->first; item; item = item->next) {
		char room[YAML_SHOWN];

		if (item->kind != YAML_TEXT || (kind->is_good && !kind->is_good(item->text)) ||
		    (count == 0 && *item->text == '\0'))
			return schema_expected(NULL, item, kind->item, err);
		for (size_t i = 0; kind->are_unique && i < count; i++)
			if (strcmp(items[i], item->text) == 0)
				return yaml_err(item, err, "'%s' is listed twice",
						yaml_shown(item->text, room));
		items[count++] = item->text;
	}
	out->items = items;
	out->count = count;
	return 0;
}

#define A_PATH     "a relative path of plain names, without . or .."
#define A_LOCATION "a path, relative to this file's folder or absolute, of at most 4095 bytes"

static int parse_argv(const struct field *field, const struct yaml_node *node, struct arena *arena,
		      void *member, struct err *err)
{
	static const struct items kind = { NULL, false, "a text with at least one character",
					   "a list of texts such as [cc, -O2, a.c]" };

	return parse_list(field, node, &kind, arena, member, err);
}

static int parse_paths(const struct field *field, const struct yaml_node *node, struct arena *arena,
		       void *member, struct err *err)
{
	static const struct items kind = { path_is_relative, true, A_PATH,
					   "a list of paths such as [a.c, lib/b.h]" };

	return parse_list(field, node, &kind, arena, member, err);
}

static bool is_location(const char *text)
{
	return *text != '\0' && strlen(text) < PATH_MAX;
}

static int parse_locations(const struct field *field, const struct yaml_node *node,
			   struct arena *arena, void *member, struct err *err)
{
	static const struct items kind = { is_location, true, A_LOCATION,
					   "a list of paths such as [../tasks/a, /srv/tasks/b]" };

	return parse_list(field, node, &kind, arena, member, err);
}

PARSE_TEXT(parse_path, path_is_relative, A_PATH)
PARSE_TEXT(parse_location, is_location, A_LOCATION)

static void print_list(const struct field *field, const void *member, struct str *out)
{
	const struct argv *argv = member;

	(void) field;
	for (size_t i = 0; i < argv->count; i++)
		str_addf(out, "%s%s%s", i == 0 ? "[" : ", ", argv->items[i],
			 i + 1 == argv->count ? "]" : "");
}

static int parse_expr(const struct field *field, const struct yaml_node *node, struct arena *arena,
		      void *member, struct err *err)
{
	(void) arena;
	if (node->kind != YAML_TEXT)
		return schema_expected(field, node, "an expression such as 2*B", err);
	*(const struct yaml_node **) member = node;
	return 0;
}

/* clang-format off */
const struct schema_type type_count     = { "number",     HOLDS_U64,  parse_count,     print_count,    NULL };
const struct schema_type type_size      = { "size",       HOLDS_U64,  parse_size,      print_size,     NULL };
const struct schema_type type_duration  = { "duration",   HOLDS_U64,  parse_duration,  print_duration, NULL };
const struct schema_type type_milli     = { "decimal",    HOLDS_U64,  parse_milli,     print_milli,    NULL };
const struct schema_type type_bool      = { "boolean",    HOLDS_BOOL, parse_bool,      print_bool,     NULL };
const struct schema_type type_word      = { "word",       HOLDS_INT,  parse_word,      print_word,     NULL };
const struct schema_type type_words     = { "words",      HOLDS_U64,  parse_words,     print_words,    NULL };
const struct schema_type type_text      = { "text",       HOLDS_TEXT, parse_text,      print_text,     "bytes" };
const struct schema_type type_name      = { "name",       HOLDS_TEXT, parse_name,      print_text,     "bytes" };
const struct schema_type type_symbol    = { "symbol",     HOLDS_TEXT, parse_symbol,    print_text,     "bytes" };
const struct schema_type type_image     = { "image",      HOLDS_TEXT, parse_image,     print_text,     "bytes" };
const struct schema_type type_path      = { "path",       HOLDS_TEXT, parse_path,      print_text,     "bytes" };
const struct schema_type type_location  = { "location",   HOLDS_TEXT, parse_location,  print_text,     "bytes" };
const struct schema_type type_expr      = { "expression", HOLDS_NODE, parse_expr,      NULL,           "bytes" };
const struct schema_type type_argv      = { "argv",       HOLDS_ARGV, parse_argv,      print_list,     "items" };
const struct schema_type type_paths     = { "paths",      HOLDS_ARGV, parse_paths,     print_list,     "items" };
const struct schema_type type_locations = { "locations",  HOLDS_ARGV, parse_locations, print_list,     "items" };
/* clang-format on */
