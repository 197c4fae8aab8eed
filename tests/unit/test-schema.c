/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/schema.h"

#include <string.h>

#include "harness/config/types.h"
#include "tests/lib/check.h"

struct inner {
	uint64_t size;
};

struct outer {
	uint64_t pids;
	const char *name;
	struct argv argv;
	struct inner inner;
	int colour;
	const struct yaml_node *list;
};

static const struct name colours[] = {
	{ "red", 0 },
	{ "green", 1 },
	{ "blue", WORD_LATER },
	{ NULL },
};
static const struct collection things = { "a list of things such as [a, b]", NULL };

/* clang-format off */
static const struct field inner_fields[] = {
	{ "size", &type_size, U64_AT(struct inner, size), REQUIRED, KIB, MIB, NULL, "how much" },
};
static const struct schema inner_schema = { "inner", inner_fields, ARRAY_LEN(inner_fields), false };

static const struct field outer_fields[] = {
	{ "name",  &type_name,  TEXT_AT(struct outer, name),  REQUIRED, 2, 8, NULL, "its name" },
	{ "pids",  &type_count, U64_AT(struct outer, pids),   OPTIONAL, 16, 32768, NULL, "processes" },
	{ "argv",  &type_argv,  ARGV_AT(struct outer, argv),  OPTIONAL, 1, 2, NULL, "command" },
	{ "inner", &type_map,   STRUCT_AT(struct outer, inner, struct inner), OPTIONAL, 0, 0, &inner_schema, "more" },
	{ "needs", &type_later, NOWHERE, LATER, 0, 0, NULL, "not now" },
	{ "colour", &type_word, INT_AT(struct outer, colour), OPTIONAL, 0, 0, colours, "`x` or [y]" },
	{ "list",  &type_items, NODE_AT(struct outer, list),  OPTIONAL, 1, 3, &things, "things" },
};
static const struct schema outer_schema = { "the thing", outer_fields, ARRAY_LEN(outer_fields), false };
static const struct schema open_schema = { "the thing", outer_fields, ARRAY_LEN(outer_fields), true };
/* clang-format on */

static int bind(const struct schema *schema, struct arena *arena, const char *text,
		struct outer *outer, struct err *err)
{
	const struct yaml_node *root = yaml_parse(arena, "task.yaml", text, strlen(text), err);

	return root ? schema_bind(schema, root, arena, outer, err) : -1;
}

TEST(keys_fill_their_members_and_absent_ones_leave_the_default)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct outer outer = { .pids = 77 };
	struct err err = ERR_INIT;

	CHECK_OK(bind(&outer_schema, &arena, "inner: {size: 4KiB}\nname: abc\nargv: [x]\n", &outer,
		      &err));
	CHECK_STR(outer.name, "abc");
	CHECK_INT(outer.pids, 77);
	CHECK_INT(outer.inner.size, 4096);
	CHECK_STR(outer.argv.items[0], "x");
}

TEST(a_mistake_is_named_with_file_line_key_and_value)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "name: abc\npids: 9\n", "task.yaml:2: key 'pids': '9' is not within 16..32768" },
		{ "name: abc\npids: 15\n",
		  "task.yaml:2: key 'pids': '15' is not within 16..32768" },
		{ "name: abc\npids: 16\n", "" },
		{ "name: abc\npids: 32768\n", "" },
		{ "name: abc\npids: 32769\n",
		  "task.yaml:2: key 'pids': '32769' is not within 16..32768" },
		{ "name: abc\npidz: 9\n",
		  "task.yaml:2: there is no key 'pidz' here; the nearest is 'pids'" },
		{ "name: abc\nneed: 9\n",
		  "task.yaml:2: there is no key 'need' here; there are name, pids, argv, "
		  "inner, colour, list" },
		{ "name: abc\nneeds: {gpus: 1}\n",
		  "task.yaml:2: key 'needs': 'needs' is not supported "
		  "yet by this version; leave it out" },
		{ "pids: 16\n", "task.yaml:1: the thing lacks the key 'name' (its name)" },
		{ "[a]\n",
		  "task.yaml:1: the thing has to be a mapping of keys such as 'name', not a list" },
		{ "name: abc\ninner: 3\n", "task.yaml:2: key 'inner': inner has to be a mapping of "
					   "keys such as 'size', not '3'" },
		{ "name: abc\ninner: {}\n",
		  "task.yaml:2: key 'inner': inner lacks the key 'size' (how much)" },
		{ "name: abc\ninner:\n  size: 2MiB\n",
		  "task.yaml:3: key 'size': '2MiB' is not within 1KiB..1MiB" },
		{ "name: a\n", "task.yaml:1: key 'name': 'a' is not 2..8 bytes long" },
		{ "name: abcdefghi\n",
		  "task.yaml:1: key 'name': 'abcdefghi' is not 2..8 bytes long" },
		{ "name: abcdefgh\nargv: []\n",
		  "task.yaml:2: key 'argv': 0 items are not within 1..2" },
		{ "name: abc\nargv: [a, b, c]\n",
		  "task.yaml:2: key 'argv': 3 items are not within 1..2" },
		{ "name: abc\nlist: x\n",
		  "task.yaml:2: key 'list': 'x' is not a list of things such as [a, b], with 1..3 "
		  "items" },
		{ "name: abc\nlist: []\n", "task.yaml:2: key 'list': 0 items are not within 1..3" },
		{ "name: abc\ncolour: {}\n",
		  "task.yaml:2: key 'colour': a mapping is not one of: red, green" },
		{ "name: abc\n\"a\\eb\": 1\n",
		  "task.yaml:2: there is no key 'a\\x1bb' here; there are name, pids, argv, "
		  "inner, colour, list" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup(arena_done) struct arena arena = ARENA_INIT;
		struct outer outer = { 0 };
		struct err err = ERR_INIT;

		CHECK_INT(bind(&outer_schema, &arena, cases[i].text, &outer, &err),
			  *cases[i].error ? -1 : 0);
		CHECK_STR(err.text, cases[i].error);
	}
}

TEST(an_open_schema_leaves_other_keys_to_its_owner)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct outer outer = { 0 };
	struct err err = ERR_INIT;

	CHECK_OK(bind(&open_schema, &arena, "name: abc\nother: 1\n", &outer, &err));
	CHECK_STR(outer.name, "abc");
	CHECK_INT(bind(&open_schema, &arena, "name: abc\nneeds: 1\n", &outer, &err), -1);
}

TEST(a_key_table_shows_ranges_and_defaults)
{
	struct outer outer = { .pids = 64 };
	const struct key_table one = { "thing", &outer_schema, &outer };
	const struct key_tables tables = { &one, 1 };
	struct str table = STR_INIT;

	schema_print_markdown(&tables, &table);
	CHECK_STR(table.text, "**thing**\n\n"
			      "| key | value | range | default | meaning |\n"
			      "|---|---|---|---|---|\n"
			      "| `name` | name | 2 to 8 bytes | required | its name |\n"
			      "| `pids` | number | 16 to 32768 | 64 | processes |\n"
			      "| `argv` | argv | 1 to 2 items | none | command |\n"
			      "| `inner` | mapping |  | see its keys | more |\n"
			      "| `needs` |  |  | not yet | not now |\n"
			      "| `colour` | word | red, green | red | `x` or [y] |\n"
			      "| `list` | list | 1 to 3 items | none | things |\n");
	str_clear(&table);
	schema_print_manual(&tables, &table);
	CHECK_STR(table.text, "## thing\n"
			      "\n*name* name, 2 to 8 bytes (required)\n\tits name\n"
			      "\n*pids* number, 16 to 32768 (64)\n\tprocesses\n"
			      "\n*argv* argv, 1 to 2 items (none)\n\tcommand\n"
			      "\n*inner* mapping (see its keys)\n\tmore\n"
			      "\n*needs* (not yet)\n\tnot now\n"
			      "\n*colour* word, red, green (red)\n\tx or \\[y\\]\n"
			      "\n*list* list, 1 to 3 items (none)\n\tthings\n");
	str_done(&table);
}

static const char *word_at(const void *list, size_t i)
{
	return ((const char *const *) list)[i];
}

TEST(the_nearest_text_is_found)
{
	static const char *const words[] = { "memory", NULL, "pids", "wall" };

	CHECK_STR(schema_nearest("memroy", 4, word_at, words), "memory");
	CHECK_STR(schema_nearest("wal", 4, word_at, words), "wall");
	CHECK_STR(schema_nearest("pods", 4, word_at, words), "pids");
	CHECK(!schema_nearest("x", 0, word_at, words));
}
