/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/types.h"

#include <string.h>

#include "tests/lib/check.h"

TEST(numbers_sizes_durations_and_decimals_are_read_exactly)
{
	static const struct {
		int (*parse)(const char *, uint64_t *);
		const char *text;
		uint64_t value;
	} good[] = {
		{ types_parse_count, "0", 0 },
		{ types_parse_count, "18446744073709551615", UINT64_MAX },
		{ types_parse_size, "0", 0 },
		{ types_parse_size, "1B", 1 },
		{ types_parse_size, "4KiB", 4096 },
		{ types_parse_size, "2GiB", 2 * GIB },
		{ types_parse_size, "16777215TiB", 16777215 * TIB },
		{ types_parse_duration, "0", 0 },
		{ types_parse_duration, "500ms", 500 },
		{ types_parse_duration, "300s", 300000 },
		{ types_parse_duration, "2m", 120000 },
		{ types_parse_duration, "1h", 3600000 },
		{ types_parse_milli, "2", 2000 },
		{ types_parse_milli, "1.5", 1500 },
		{ types_parse_milli, "0.05", 50 },
		{ types_parse_milli, "0.125", 125 },
	};

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		uint64_t value = 42;

		if (good[i].parse(good[i].text, &value) < 0 || value != good[i].value)
			check_fail(__FILE__, __LINE__, "'%s' is read as %llu", good[i].text,
				   (unsigned long long) value);
	}
}

TEST(what_is_not_quite_a_number_is_refused_and_changes_nothing)
{
	static const struct {
		int (*parse)(const char *, uint64_t *);
		const char *text;
	} bad[] = {
		{ types_parse_count, "" },         { types_parse_count, "-1" },
		{ types_parse_count, "+1" },       { types_parse_count, " 1" },
		{ types_parse_count, "1 " },       { types_parse_count, "1.0" },
		{ types_parse_count, "0x10" },     { types_parse_count, "18446744073709551616" },
		{ types_parse_count, "~" },        { types_parse_size, "4" },
		{ types_parse_count, "010" },      { types_parse_count, "00" },
		{ types_parse_size, "04KiB" },     { types_parse_duration, "00" },
		{ types_parse_milli, "01.5" },     { types_parse_milli, "00.5" },
		{ types_parse_size, "4KB" },       { types_parse_size, "4kib" },
		{ types_parse_size, "KiB" },       { types_parse_size, "4 KiB" },
		{ types_parse_size, "1.5GiB" },    { types_parse_size, "16777216TiB" },
		{ types_parse_duration, "300" },   { types_parse_duration, "2min" },
		{ types_parse_duration, "1h30m" }, { types_parse_duration, "1us" },
		{ types_parse_milli, "1." },       { types_parse_milli, ".5" },
		{ types_parse_milli, "1.2345" },   { types_parse_milli, "-1" },
		{ types_parse_milli, "1e3" },      { types_parse_milli, "18446744073709551615" },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		uint64_t value = 42;

		if (bad[i].parse(bad[i].text, &value) == 0 || value != 42)
			check_fail(__FILE__, __LINE__, "'%s' is read as %llu", bad[i].text,
				   (unsigned long long) value);
	}
}

TEST(real_numbers_are_plain_decimals)
{
	static const char *const bad[] = { "",   "x",  "0x1p3", "inf", "nan",  "1e999", " 1", "1 ",
					   "+1", ".5", "--1",   "1,5", "-inf", "1e",    "-" };
	double value = 42;

	CHECK(types_parse_number("-2.5e-3", &value) == 0 && value == -2.5e-3);
	CHECK(types_parse_number("7", &value) == 0 && value == 7);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (types_parse_number(bad[i], &value) == 0)
			check_fail(__FILE__, __LINE__, "'%s' is read as %g", bad[i], value);
	CHECK(value == 7);
}

TEST(names_and_symbols_keep_to_their_alphabets)
{
	char long_name[65];

	memset(long_name, 'a', 64);
	long_name[64] = '\0';
	CHECK(types_is_identifier("row_softmax2") && types_is_identifier("_x"));
	CHECK(!types_is_identifier("") && !types_is_identifier("2x") &&
	      !types_is_identifier("a-b"));
	CHECK(!types_is_identifier("a b") && !types_is_identifier("\xc3\xa4"));
	CHECK(!types_is_identifier(long_name) && types_is_identifier(long_name + 1));
	CHECK(types_is_name("row-softmax2") && types_is_name("a") && types_is_name("4x4"));
	CHECK(!types_is_name("") && !types_is_name("-a") && !types_is_name("a-"));
	CHECK(!types_is_name("a--b") && !types_is_name("A") && !types_is_name("a_b"));
	CHECK(!types_is_name("a/b") && !types_is_name(".."));
	CHECK(!types_is_name(long_name) && types_is_name(long_name + 1));
}

/* One of each type that a schema row can have. */
struct all {
	uint64_t count, size, duration, milli, words;
	bool is_set;
	int word;
	const char *text, *name, *symbol, *path, *location;
	struct argv argv, paths, locations;
	const struct yaml_node *expr;
};

enum { RED, GREEN };
static const struct name colours[] = {
	{ "red", RED },
	{ "green", GREEN },
	{ "blue", WORD_LATER },
	{ NULL },
};

/* clang-format off */
static const struct field all_fields[] = {
	{ "count",    &type_count,    U64_AT(struct all, count),    OPTIONAL, 1, 9, NULL, "" },
	{ "size",     &type_size,     U64_AT(struct all, size),     OPTIONAL, KIB, MIB, NULL, "" },
	{ "duration", &type_duration, U64_AT(struct all, duration), OPTIONAL, 1, 1000, NULL, "" },
	{ "milli",    &type_milli,    U64_AT(struct all, milli),    OPTIONAL, 50, 8000, NULL, "" },
	{ "bool",     &type_bool,     BOOL_AT(struct all, is_set),  OPTIONAL, 0, 0, NULL, "" },
	{ "word",     &type_word,     INT_AT(struct all, word),     OPTIONAL, 0, 0, colours, "" },
	{ "words",    &type_words,    U64_AT(struct all, words),    OPTIONAL, 0, 0, colours, "" },
	{ "text",     &type_text,     TEXT_AT(struct all, text),    OPTIONAL, 1, 5, NULL, "" },
	{ "name",     &type_name,     TEXT_AT(struct all, name),    OPTIONAL, 0, 0, NULL, "" },
	{ "symbol",   &type_symbol,   TEXT_AT(struct all, symbol),  OPTIONAL, 0, 0, NULL, "" },
	{ "path",     &type_path,     TEXT_AT(struct all, path),    OPTIONAL, 0, 0, NULL, "" },
	{ "location", &type_location, TEXT_AT(struct all, location), OPTIONAL, 0, 0, NULL, "" },
	{ "locations", &type_locations, ARGV_AT(struct all, locations), OPTIONAL, 1, 3, NULL, "" },
	{ "expr",     &type_expr,     NODE_AT(struct all, expr),    OPTIONAL, 1, 9, NULL, "" },
	{ "argv",     &type_argv,     ARGV_AT(struct all, argv),    OPTIONAL, 1, 3, NULL, "" },
	{ "paths",    &type_paths,    ARGV_AT(struct all, paths),   OPTIONAL, 1, 3, NULL, "" },
};
/* clang-format on */
static const struct schema all_schema = { "all", all_fields, ARRAY_LEN(all_fields), false };

static int bind_all(struct arena *arena, const char *text, struct all *all, struct err *err)
{
	const struct yaml_node *root = yaml_parse(arena, "x.yaml", text, strlen(text), err);

	return root ? schema_bind(&all_schema, root, arena, all, err) : -1;
}

TEST(every_type_reads_what_it_prints)
{
	static const struct {
		const char *key, *text;
	} cases[] = {
		{ "count", "9" },
		{ "size", "1KiB" },
		{ "size", "1025B" },
		{ "size", "1MiB" },
		{ "duration", "999ms" },
		{ "duration", "1s" },
		{ "milli", "0.05" },
		{ "milli", "8" },
		{ "bool", "true" },
		{ "bool", "false" },
		{ "word", "green" },
		{ "words", "[red, green]" },
		{ "words", "[]" },
		{ "text", "a b" },
		{ "name", "a-b" },
		{ "symbol", "f_1" },
		{ "path", "src/a.c" },
		{ "location", "../a/./b" },
		{ "locations", "[/a, ../b]" },
		{ "argv", "[cc, -O2, a.c]" },
		{ "paths", "[a.c, b/c.h]" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup(arena_done) struct arena arena = ARENA_INIT;
		const struct field *field = schema_find(&all_schema, cases[i].key);
		struct all all = { 0 };
		struct err err = ERR_INIT;
		struct str shown = STR_INIT;

		CHECK_OK(bind_all(&arena,
				  arena_printf(&arena, "%s: %s\n", cases[i].key, cases[i].text),
				  &all, &err));
		field->type->print(field, (const char *) &all + field->at.offset, &shown);
		CHECK_STR(shown.text, cases[i].text);
		str_done(&shown);
	}
}

TEST(a_value_of_the_wrong_type_is_named_with_what_is_expected)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "count: x\n",
		  "x.yaml:1: key 'count': 'x' is not a whole number such as 16, within 1..9" },
		{ "count:\n",
		  "x.yaml:1: key 'count': '' is not a whole number such as 16, within 1..9" },
		{ "count: [1]\n",
		  "x.yaml:1: key 'count': a list is not a whole number such as 16, within 1..9" },
		{ "count: {}\n", "x.yaml:1: key 'count': a mapping is not a whole number such as "
				 "16, within 1..9" },
		{ "size: 512\n", "x.yaml:1: key 'size': '512' is not a size such as 4KiB, 512MiB "
				 "or 2GiB, within 1KiB..1MiB" },
		{ "duration: 10\n",
		  "x.yaml:1: key 'duration': '10' is not a duration such as 500ms, "
		  "300s, 2m or 1h, within 1ms..1s" },
		{ "milli: 1.2345\n", "x.yaml:1: key 'milli': '1.2345' is not a number such as 2 or "
				     "1.5 (three decimals at most), within 0.05..8" },
		{ "bool: yes\n", "x.yaml:1: key 'bool': 'yes' is not true or false" },
		{ "word: pink\n", "x.yaml:1: key 'word': 'pink' is not one of: red, green" },
		{ "word: blue\n",
		  "x.yaml:1: key 'word': 'blue' is not supported yet by this version, "
		  "which has: red, green" },
		{ "words: red\n",
		  "x.yaml:1: key 'words': 'red' is not a list of words out of: red, green" },
		{ "words: [red, red]\n", "x.yaml:1: key 'words': 'red' is listed twice" },
		{ "words: [blue]\n", "x.yaml:1: key 'words': 'blue' is not supported yet by this "
				     "version, which has: red, green" },
		{ "text: ''\n", "x.yaml:1: key 'text': '' is not a text with at least one "
				"character, with 1..5 bytes" },
		{ "name: A\n",
		  "x.yaml:1: key 'name': 'A' is not a name of lower case letters, digits "
		  "and single hyphens, at most 63" },
		{ "symbol: a-b\n", "x.yaml:1: key 'symbol': 'a-b' is not a symbol: the name of a C "
				   "function, at most 63 bytes" },
		{ "path: ../a\n", "x.yaml:1: key 'path': '../a' is not a relative path of plain "
				  "names, without . or .." },
		{ "path: /etc/passwd\n",
		  "x.yaml:1: key 'path': '/etc/passwd' is not a relative path "
		  "of plain names, without . or .." },
		{ "location: ''\n",
		  "x.yaml:1: key 'location': '' is not a path, relative to this file's folder or "
		  "absolute, of at most 4095 bytes" },
		{ "locations: [a, a]\n", "x.yaml:1: key 'locations': 'a' is listed twice" },
		{ "locations: a\n",
		  "x.yaml:1: key 'locations': 'a' is not a list of paths such as [../tasks/a, "
		  "/srv/tasks/b], with 1..3 items" },
		{ "expr: [a]\n",
		  "x.yaml:1: key 'expr': a list is not an expression such as 2*B, with 1..9 "
		  "bytes" },
		{ "expr: 1+2+3+4+56\n",
		  "x.yaml:1: key 'expr': '1+2+3+4+56' is not 1..9 bytes long" },
		{ "argv: cc a.c\n", "x.yaml:1: key 'argv': 'cc a.c' is not a list of texts such as "
				    "[cc, -O2, a.c], with 1..3 items" },
		{ "argv: ['', a]\n",
		  "x.yaml:1: key 'argv': '' is not a text with at least one character" },
		{ "argv: [cc, [a]]\n",
		  "x.yaml:1: key 'argv': a list is not a text with at least one character" },
		{ "paths: [a.c,\n  a.c]\n", "x.yaml:2: key 'paths': 'a.c' is listed twice" },
		{ "paths: [a.c, b/]\n",
		  "x.yaml:1: key 'paths': 'b/' is not a relative path of plain "
		  "names, without . or .." },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup(arena_done) struct arena arena = ARENA_INIT;
		struct all all = { 0 };
		struct err err = ERR_INIT;

		CHECK_INT(bind_all(&arena, cases[i].text, &all, &err), -1);
		CHECK_STR(err.text, cases[i].error);
		CHECK_INT(err.kind, ERR_INPUT);
	}
}

TEST(an_argv_ends_with_null)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct all all = { 0 };
	struct err err = ERR_INIT;

	CHECK_OK(bind_all(&arena, "argv: [cc, '']\n", &all, &err));
	CHECK_INT(all.argv.count, 2);
	CHECK_STR(all.argv.items[1], "");
	CHECK(!all.argv.items[2]);
}
