/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/edges.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "harness/config/services.h"
#include "harness/config/types.h"
#include "tests/lib/check.h"

static void text_done(struct str *text)
{
	str_done(text);
}

/* --- trying a document --- */

static int try(const struct edge *edge, const struct edit *edits, size_t count, int *line,
	       struct str *text, struct err *err)
{
	*err = ERR_INIT;
	str_clear(text);
	*line = documents_write(edge->root, edits, count, text);
	return edge->format->check(EDGES_FILE, text->text, text->len, err);
}

void edges_accept_edits(const struct edge *edge, const struct edit *edits, size_t count)
{
	cleanup(text_done) struct str text = STR_INIT;
	struct err err;
	int line;

	if (try(edge, edits, count, &line, &text, &err) < 0)
		check_fail(__FILE__, __LINE__, "%s: '%.80s' is refused: %s", edge->path,
			   edits->value, err.text);
}

void edges_accept(const struct edge *edge, const char *value)
{
	const struct edit edit = { .at = edge->node, .value = value };

	edges_accept_edits(edge, &edit, 1);
}

/* The message names file and line, and holds all of @wants, up to a NULL. */
void edges_refuse_edit(const struct edge *edge, const struct edit *edit, const char *const *wants)
{
	cleanup(text_done) struct str text = STR_INIT;
	struct err err;
	char where[64];
	int line;

	if (try(edge, edit, 1, &line, &text, &err) == 0)
		check_fail(__FILE__, __LINE__, "%s: '%.80s' is accepted", edge->path,
			   edit->value ? edit->value : edit->more);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK(strlen(err.text) + 1 < sizeof(err.text)); /* nothing is cut off */
	snprintf(where, sizeof(where), EDGES_FILE ":%d: ", line);
	if (strncmp(err.text, where, strlen(where)) != 0)
		check_fail(__FILE__, __LINE__, "%s: not in '%s': %s", edge->path, where, err.text);
	for (; *wants; wants++)
		if (!strstr(err.text, *wants))
			check_fail(__FILE__, __LINE__, "%s: '%s' is not in: %s", edge->path, *wants,
				   err.text);
}

/* @shown: how the message shows the value; @allowed: the range, or the words that are possible */
void edges_refuse(const struct edge *edge, const char *value, const char *shown,
		  const char *allowed)
{
	const struct edit edit = { .at = edge->node, .value = value };
	const char *const wants[] = {
		arena_printf(edge->arena, "key '%s': ", edge->field->key),
		shown,
		allowed,
		NULL,
	};

	edges_refuse_edit(edge, &edit, wants);
}

/* A plain text, which is shown as it is. */
void edges_refuse_text(const struct edge *edge, const char *value, const char *allowed)
{
	edges_refuse(edge, arena_printf(edge->arena, "'%s'", value),
		     arena_printf(edge->arena, "'%.50s", value), allowed);
}

/* --- values --- */

static const char *repeat(struct arena *arena, char letter, size_t count)
{
	char *text = arena_alloc(arena, count + 1, 1);

	memset(text, letter, count);
	return text;
}

static const char *print_number(const struct edge *edge, uint64_t number)
{
	cleanup(text_done) struct str text = STR_INIT;

	edge->field->type->print(edge->field, &number, &text);
	return arena_copy(edge->arena, text.text, text.len);
}

/* Neither of these is a number, whatever the unit. */
static const char *const no_numbers[] = {
	"",
	"-1",
	"+1",
	" 1",
	"1 ",
	"0x10",
	"0o17",
	"010",
	"1e3",
	"1_000",
	"1,5",
	".inf",
	".nan",
	"nan",
	"NaN",
	"inf",
	"~",
	"null",
	"true",
	"twelve",
	"1.5.0",
	"--1",
	"\xef\xbc\x91",
	"18446744073709551616",
	"36893488147419103232000000000000000000000000000000000000000000000000000",
};
static const struct {
	const struct schema_type *type;
	const char *forms[12];
} no_numbers_of[] = {
	/* The long ones are in range for who forgets what does not fit 64 bits. */
	{ &type_count, { "1.0", "1.", "1K", "1KiB", "1s", "18446744073709551617" } },
	{ &type_size,
	  { "1", "-1KiB", "+1KiB", "0x10KiB", "1e3KiB", "1.5KiB", "1 KiB", "1KB", "1kib", "KiB",
	    "18446744073709551617MiB", "17179869185GiB" } },
	{ &type_duration,
	  { "1", "-1s", "+1s", "0x10s", "1.5s", "1 s", "1d", "1us", "1h30m", "s",
	    "18446744073709551626s", "144115188075855873h" } },
	{ &type_milli,
	  { "1.", ".5", "1.2345", "-0.5", "1.5.", "1s", "18446744073709551617",
	    "2305843009213693953" } },
};

void edges_try_number(const struct edge *edge)
{
	const struct field *field = edge->field;
	const char *range =
		arena_printf(edge->arena, "within %s..%s", print_number(edge, field->min),
			     print_number(edge, field->max));
	bool is_known = false;

	CHECK(field->max > 0 && field->max < UINT64_MAX);
	edges_accept(edge, print_number(edge, field->min));
	edges_accept(edge, print_number(edge, field->max));
	if (field->min > 0)
		edges_refuse_text(edge, print_number(edge, field->min - 1), range);
	edges_refuse_text(edge, print_number(edge, field->max + 1), range);
	for (size_t i = 0; i < ARRAY_LEN(no_numbers); i++)
		edges_refuse_text(edge, no_numbers[i], range);
	for (size_t i = 0; i < ARRAY_LEN(no_numbers_of); i++) {
		const char *const *form = no_numbers_of[i].forms;

		if (no_numbers_of[i].type != field->type)
			continue;
		is_known = true;
		for (size_t k = 0; k < ARRAY_LEN(no_numbers_of[i].forms) && form[k]; k++)
			edges_refuse_text(edge, form[k], range);
	}
	CHECK(is_known);
	edges_refuse(edge, "[1]", "a list", range);
	edges_refuse(edge, "{a: 1}", "a mapping", range);
}

/* What has a form of its own, and a length that the form says. */
static const struct form {
	const struct schema_type *type;
	size_t most; /* bytes */
	char letter; /* one that may stand anywhere */
	const char *allowed;
	const char *good[4], *bad[12];
	const char *prefix; /* of the longest */
} forms[] = {
	{ &type_name,
	  63,
	  'a',
	  "a name of lower case letters, digits and single hyphens, at most 63",
	  { "a", "1", "a-1" },
	  { "", "A", "a_b", "-a", "a-", "a--b", "a/b", "..", "a b", "\xc3\xa4", "1.5" } },
	{ &type_image,
	  31,
	  'a',
	  "an image's name: 1 to 31 letters, digits, '-', '_' and '.', or host",
	  { "a", "A-1", "1_b.c", "host" },
	  { "", ".a", "-a", "_a", "a/b", "..", "a b", "/a", "\xc3\xa4", "a:b" } },
	{ &type_symbol,
	  63,
	  'a',
	  "the name of a C function, at most 63 bytes",
	  { "_", "a1", "A" },
	  { "", "1a", "a-b", "a b", "a.b", "\xc3\xa4" } },
	{ &type_location,
	  PATH_MAX - 1,
	  'a',
	  "of at most 4095 bytes",
	  { "/", "../a", "a//b", "a b" },
	  { "" } },
	{ &type_endpoint,
	  106,
	  'a',
	  RELAY_ENDPOINT_FORMS,
	  { "127.0.0.1:1", "127.255.0.1:65535", "[::1]:80", "unix:/a" },
	  { "", "80", "localhost:80", "192.0.2.1:80", "127.0.0.1:0", "127.0.0.1:65536", "unix:a",
	    "unix:", "[::]:80", "http://127.0.0.1:80" },
	  "unix:/" },
};

static const struct form *find_form(const struct schema_type *type)
{
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (forms[i].type == type)
			return &forms[i];
	return NULL;
}

bool edges_try_form(const struct edge *edge)
{
	const struct form *form = find_form(edge->field->type);
	const char *prefix = form && form->prefix ? form->prefix : "";

	if (!form)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(form->good) && form->good[i]; i++)
		edges_accept(edge, arena_printf(edge->arena, "'%s'", form->good[i]));
	edges_accept(edge, arena_printf(edge->arena, "'%s%s'", prefix,
					repeat(edge->arena, form->letter, form->most)));
	edges_refuse_text(edge,
			  arena_printf(edge->arena, "%s%s", prefix,
				       repeat(edge->arena, form->letter, form->most + 1)),
			  form->allowed);
	for (size_t i = 0; i < ARRAY_LEN(form->bad) && form->bad[i]; i++)
		edges_refuse_text(edge, form->bad[i], form->allowed);
	edges_refuse(edge, "[a]", "a list", form->allowed);
	edges_refuse(edge, "{a: b}", "a mapping", form->allowed);
	return true;
}

/* The document's own text, made @len bytes long by what does not change its meaning. */
static const char *stretch(const struct edge *edge, size_t len)
{
	const char *text = edge->node->text, *open = strchr(text, '(');
	size_t own = strlen(text), before = open ? (size_t) (open - text) + 1 : own;

	if (len < own)
		return arena_printf(edge->arena, "'%.*s'", (int) len, text);
	return arena_printf(edge->arena, "'%.*s%s%s'", (int) before, text,
			    repeat(edge->arena, ' ', len - own), text + before);
}

void edges_try_length(const struct edge *edge, bool has_least)
{
	const struct field *field = edge->field;
	const char *range =
		arena_printf(edge->arena, "%llu..%llu bytes", (unsigned long long) field->min,
			     (unsigned long long) field->max);

	CHECK_INT(field->min, 1);
	if (has_least)
		edges_accept(edge, stretch(edge, field->min));
	edges_accept(edge, stretch(edge, field->max));
	edges_refuse(edge, stretch(edge, field->max + 1),
		     arena_printf(edge->arena, "'%.1s", edge->node->text), range);
	edges_refuse(edge, "''", "''", range);
	edges_refuse(edge, "[a]", "a list", range);
	edges_refuse(edge, "{a: b}", "a mapping", range);
}

/* What stands in a list of texts. */
void edges_try_texts(const struct edge *edge)
{
	const bool are_paths = edge->field->type == &type_paths;

	edges_refuse(edge, "['']", "''", "is not a");
	edges_refuse(edge, "[[a]]", "a list", "is not a");
	edges_refuse(edge, "[{a: b}]", "a mapping", "is not a");
	if (edge->field->type == &type_argv)
		return;
	edges_refuse(edge, "[a, a]", "'a'", "is listed twice");
	edges_refuse(edge, arena_printf(edge->arena, "[%s]", repeat(edge->arena, 'a', PATH_MAX)),
		     "'aaaa", are_paths ? "a relative path" : "of at most 4095 bytes");
	if (!are_paths)
		return;
	edges_refuse(edge, "[/a]", "'/a'", "a relative path of plain names, without . or ..");
	edges_refuse(edge, "[a/../b]", "'a/../b'",
		     "a relative path of plain names, without . or ..");
	edges_refuse(edge, "[a//b]", "'a//b'", "a relative path of plain names, without . or ..");
}

void edges_try_map(const struct edge *edge)
{
	const struct schema *schema = edge->field->details;
	const char *keys =
		arena_printf(edge->arena, "a mapping of keys such as '%s'", schema->fields[0].key);

	edges_refuse(edge, "''", "not ''", keys);
	edges_refuse_text(edge, "text", keys);
	edges_refuse(edge, "[a]", "not a list", keys);
}

/* --- the key itself --- */

void edges_try_twice(const struct edge *edge)
{
	const struct edit edit = {
		.at = edge->node,
		.more = arena_printf(edge->arena, "%s: x", edge->field->key),
	};
	const char *const wants[] = {
		arena_printf(edge->arena, "key '%s' is given twice", edge->field->key),
		"the first is in line ",
		NULL,
	};

	edges_refuse_edit(edge, &edit, wants);
}

void edges_try_absent(const struct edge *edge)
{
	const struct edit edit = { .at = edge->node, .value = "", .is_left_out = true };
	const char *const wants[] = {
		arena_printf(edge->arena, "lacks the key '%s' (%s)", edge->field->key,
			     edge->field->doc),
		NULL,
	};

	edges_refuse_edit(edge, &edit, wants);
}

void edges_try_later(const struct edge *edge)
{
	static const char *const values[] = { "''", "x", "1", "[a]", "{a: b}" };

	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		const struct edit edit = {
			.at = edge->map->first,
			.more = arena_printf(edge->arena, "%s: %s", edge->field->key, values[i]),
		};
		const char *const wants[] = {
			arena_printf(edge->arena, "key '%s': ", edge->field->key),
			"is not supported yet by this version; leave it out",
			NULL,
		};

		edges_refuse_edit(edge, &edit, wants);
	}
}
