/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/types.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/base/path.h"

struct unit {
	const char *text;
	uint64_t factor;
};

/* The largest first: printing takes the first that divides. */
static const struct unit sizes[] = {
	{ "TiB", TIB }, { "GiB", GIB }, { "MiB", MIB }, { "KiB", KIB }, { "B", 1 },
};
static const struct unit durations[] = {
	{ "h", 3600000 },
	{ "m", 60000 },
	{ "s", 1000 },
	{ "ms", 1 },
};

static int parse_digits(const char *text, const char **end, uint64_t *out)
{
	uint64_t value = 0;
	const char *at = text;

	for (; isdigit((unsigned char) *at); at++)
		if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
		    __builtin_add_overflow(value, (uint64_t) (*at - '0'), &value))
			return -1;
	if (at == text)
		return -1;
	*end = at;
	*out = value;
	return 0;
}

static int parse_units(const char *text, const struct unit *units, size_t count, uint64_t *out)
{
	const char *end;
	uint64_t value;

	if (parse_digits(text, &end, &value) < 0)
		return -1;
	if (value == 0 && *end == '\0') {
		*out = 0;
		return 0;
	}
	for (size_t i = 0; i < count; i++)
		if (strcmp(end, units[i].text) == 0)
			return __builtin_mul_overflow(value, units[i].factor, out) ? -1 : 0;
	return -1;
}

int types_parse_count(const char *text, uint64_t *out)
{
	const char *end;
	uint64_t value;

	if (parse_digits(text, &end, &value) < 0 || *end != '\0')
		return -1;
	*out = value;
	return 0;
}

int types_parse_size(const char *text, uint64_t *out)
{
	uint64_t value;

	if (parse_units(text, sizes, ARRAY_LEN(sizes), &value) < 0)
		return -1;
	*out = value;
	return 0;
}

int types_parse_duration(const char *text, uint64_t *out)
{
	uint64_t value;

	if (parse_units(text, durations, ARRAY_LEN(durations), &value) < 0)
		return -1;
	*out = value;
	return 0;
}

int types_parse_milli(const char *text, uint64_t *out)
{
	uint64_t value, thousandths = 0, scale = 100;
	const char *at;

	if (parse_digits(text, &at, &value) < 0)
		return -1;
	if (*at == '.') {
		if (!isdigit((unsigned char) *++at))
			return -1;
		for (; isdigit((unsigned char) *at) && scale > 0; at++, scale /= 10)
			thousandths += (uint64_t) (*at - '0') * scale;
	}
	if (*at != '\0' || __builtin_mul_overflow(value, UINT64_C(1000), &value) ||
	    __builtin_add_overflow(value, thousandths, &value))
		return -1;
	*out = value;
	return 0;
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

static int expected(const struct yaml_node *node, const char *what, struct err *err)
{
	char room[YAML_SHOWN];

	if (node->kind != YAML_TEXT)
		return yaml_err(node, err, "a %s is not %s",
				node->kind == YAML_MAP ? "mapping" : "list", what);
	return yaml_err(node, err, "'%s' is not %s", yaml_shown(node->text, room), what);
}

static int parse_u64(const struct yaml_node *node, int (*parse)(const char *, uint64_t *),
		     const char *what, void *member, struct err *err)
{
	if (node->kind != YAML_TEXT || parse(node->text, member) < 0)
		return expected(node, what, err);
	return 0;
}

/* A parse function of the form that struct schema_type wants, for a type held in a uint64_t. */
#define PARSE_U64(name_, parse_, what_)                                           \
	static int name_(const struct field *field, const struct yaml_node *node, \
			 struct arena *arena, void *member, struct err *err)      \
	{                                                                         \
		(void) field;                                                     \
		(void) arena;                                                     \
		return parse_u64(node, parse_, what_, member, err);               \
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

static void print_units(uint64_t value, const struct unit *units, struct str *out)
{
	if (value == 0) {
		str_addf(out, "0");
		return;
	}
	while (value % units->factor != 0)
		units++;
	str_addf(out, "%" PRIu64 "%s", value / units->factor, units->text);
}

static void print_size(const struct field *field, const void *member, struct str *out)
{
	(void) field;
	print_units(*(const uint64_t *) member, sizes, out);
}

static void print_duration(const struct field *field, const void *member, struct str *out)
{
	(void) field;
	print_units(*(const uint64_t *) member, durations, out);
}

static void print_milli(const struct field *field, const void *member, struct str *out)
{
	uint64_t value = *(const uint64_t *) member;

	(void) field;
	str_addf(out, "%" PRIu64, value / 1000);
	if (value % 1000 == 0)
		return;
	str_addf(out, ".%03" PRIu64, value % 1000);
	while (out->text[out->len - 1] == '0')
		out->text[--out->len] = '\0';
}

static int parse_bool(const struct field *field, const struct yaml_node *node, struct arena *arena,
		      void *member, struct err *err)
{
	(void) field;
	(void) arena;
	if (node->kind != YAML_TEXT ||
	    (strcmp(node->text, "true") != 0 && strcmp(node->text, "false") != 0))
		return expected(node, "true or false", err);
	*(bool *) member = node->text[0] == 't';
	return 0;
}

static void print_bool(const struct field *field, const void *member, struct str *out)
{
	(void) field;
	str_addf(out, *(const bool *) member ? "true" : "false");
}

static void list_words(const struct name *table, struct str *out)
{
	for (const struct name *name = table; name->text; name++)
		if (name->value != WORD_LATER)
			str_addf(out, "%s%s", out->len > 0 ? ", " : "", name->text);
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

	if (node->kind != YAML_TEXT)
		return expected(node, "a word", err);
	list_words(table, &words);
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

static int parse_words(const struct field *field, const struct yaml_node *node, struct arena *arena,
		       void *member, struct err *err)
{
	uint64_t bits = 0;

	(void) arena;
	if (node->kind != YAML_LIST)
		return expected(node, "a list of words such as [a, b]", err);
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

static int parse_text_that(const struct yaml_node *node, bool (*is_good)(const char *),
			   const char *what, void *member, struct err *err)
{
	if (node->kind != YAML_TEXT || !is_good(node->text))
		return expected(node, what, err);
	*(const char **) member = node->text;
	return 0;
}

/* The same for a type held in a const char *. */
#define PARSE_TEXT(name_, is_good_, what_)                                        \
	static int name_(const struct field *field, const struct yaml_node *node, \
			 struct arena *arena, void *member, struct err *err)      \
	{                                                                         \
		(void) field;                                                     \
		(void) arena;                                                     \
		return parse_text_that(node, is_good_, what_, member, err);       \
	}

PARSE_TEXT(parse_text, is_any, "a text with at least one character")
PARSE_TEXT(parse_name, types_is_name,
	   "a name of lower case letters, digits and single hyphens, at most 63")
PARSE_TEXT(parse_symbol, types_is_identifier,
	   "a symbol: the name of a C function, at most 63 bytes")
PARSE_TEXT(parse_path, path_is_relative, "a relative path of plain names, without . or ..")

static void print_text(const struct field *field, const void *member, struct str *out)
{
	const char *text = *(const char *const *) member;

	(void) field;
	if (text)
		str_addf(out, "%s", text);
}

static int parse_list(const struct yaml_node *node, bool are_paths, struct arena *arena,
		      struct argv *out, struct err *err)
{
	const char *what = are_paths ? "a relative path of plain names, without . or .." : "a text";
	const char **items;
	size_t count = 0;

	if (node->kind != YAML_LIST)
		return expected(node,
				are_paths ? "a list of paths such as [a.c, lib/b.h]"
					  : "a list of texts such as [cc, -O2, a.c]",
				err);
	items = arena_alloc(arena, node->count + 1, sizeof(*items));
	for (const struct yaml_node *item = node->first; item; item = item->next) {
		char room[YAML_SHOWN];

		if (item->kind != YAML_TEXT || (are_paths && !path_is_relative(item->text)) ||
		    (count == 0 && *item->text == '\0'))
			return expected(item, what, err);
		for (size_t i = 0; are_paths && i < count; i++)
			if (strcmp(items[i], item->text) == 0)
				return yaml_err(item, err, "'%s' is listed twice",
						yaml_shown(item->text, room));
		items[count++] = item->text;
	}
	out->items = items;
	out->count = count;
	return 0;
}

static int parse_argv(const struct field *field, const struct yaml_node *node, struct arena *arena,
		      void *member, struct err *err)
{
	(void) field;
	return parse_list(node, false, arena, member, err);
}

static int parse_paths(const struct field *field, const struct yaml_node *node, struct arena *arena,
		       void *member, struct err *err)
{
	(void) field;
	return parse_list(node, true, arena, member, err);
}

static void print_list(const struct field *field, const void *member, struct str *out)
{
	const struct argv *argv = member;

	(void) field;
	for (size_t i = 0; i < argv->count; i++)
		str_addf(out, "%s%s%s", i == 0 ? "[" : ", ", argv->items[i],
			 i + 1 == argv->count ? "]" : "");
}

/* clang-format off */
const struct schema_type type_count    = { "number",   HOLDS_U64,  parse_count,    print_count };
const struct schema_type type_size     = { "size",     HOLDS_U64,  parse_size,     print_size };
const struct schema_type type_duration = { "duration", HOLDS_U64,  parse_duration, print_duration };
const struct schema_type type_milli    = { "decimal",  HOLDS_U64,  parse_milli,    print_milli };
const struct schema_type type_bool     = { "boolean",  HOLDS_BOOL, parse_bool,     print_bool };
const struct schema_type type_word     = { "word",     HOLDS_INT,  parse_word,     print_word };
const struct schema_type type_words    = { "words",    HOLDS_U64,  parse_words,    print_words };
const struct schema_type type_text     = { "text",     HOLDS_TEXT, parse_text,     print_text };
const struct schema_type type_name     = { "name",     HOLDS_TEXT, parse_name,     print_text };
const struct schema_type type_symbol   = { "symbol",   HOLDS_TEXT, parse_symbol,   print_text };
const struct schema_type type_path     = { "path",     HOLDS_TEXT, parse_path,     print_text };
const struct schema_type type_argv     = { "argv",     HOLDS_ARGV, parse_argv,     print_list };
const struct schema_type type_paths    = { "paths",    HOLDS_ARGV, parse_paths,    print_list };
/* clang-format on */
