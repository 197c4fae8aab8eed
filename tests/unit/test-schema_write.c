/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/schema_write.h"

#include <string.h>

#include "harness/config/types.h"
#include "tests/lib/check.h"

struct inner {
	uint64_t size;
};

struct outer {
	const char *name;
	struct inner inner;
	uint64_t bits;
	const struct yaml_node *node;
};

/* clang-format off */
static const struct name words[] = { { "a", 0 }, { "b", 1 }, { NULL } };
static const struct field inner_fields[] = {
	{ "size", &type_size, U64_AT(struct inner, size), OPTIONAL, 0, TIB, NULL, "" },
};
static const struct schema inner_schema = { "inner", inner_fields, ARRAY_LEN(inner_fields), false };
static const struct field outer_fields[] = {
	{ "name",  &type_name,  TEXT_AT(struct outer, name), OPTIONAL, 0, 0, NULL, "" },
	{ "inner", &type_map,   STRUCT_AT(struct outer, inner, struct inner), OPTIONAL, 0, 0, &inner_schema, "" },
	{ "later", &type_later, NOWHERE, LATER, 0, 0, NULL, "" },
	{ "bits",  &type_words, U64_AT(struct outer, bits), OPTIONAL, 0, 0, words, "" },
	{ "expr",  &type_expr,  NODE_AT(struct outer, node), OPTIONAL, 0, 0, NULL, "" },
};
static const struct schema outer_schema = { "outer", outer_fields, ARRAY_LEN(outer_fields), false };
/* clang-format on */

TEST(what_is_written_can_be_read_again)
{
	cleanup(str_done) struct str text = STR_INIT;
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	const struct outer object = { .name = "x", .inner = { 4096 }, .bits = 3 };
	struct outer again = { .name = NULL };
	struct err err = ERR_INIT;

	schema_write(&outer_schema, &object, &text);
	CHECK_STR(text.text, "name: x\ninner:\n  size: 4KiB\nbits: [a, b]\n");
	CHECK_OK(schema_bind(&outer_schema, yaml_parse(&arena, "f", text.text, text.len, &err),
			     &arena, &again, &err));
	CHECK_STR(again.name, "x");
	CHECK_INT(again.inner.size, 4096);
	CHECK_INT(again.bits, 3);
}

TEST(a_text_that_is_not_there_is_left_out)
{
	cleanup(str_done) struct str text = STR_INIT;

	schema_write(&outer_schema, &(struct outer){ .name = NULL }, &text);
	CHECK_STR(text.text, "inner:\n  size: 0\nbits: []\n");
}

static void note(void *user, const struct schema_pair *pair)
{
	str_addf(user, "%s ", pair->key);
	CHECK((pair->members[0] == pair->members[1]) == false);
}

TEST(each_value_of_two_objects_is_visited_with_its_whole_key)
{
	cleanup(str_done) struct str keys = STR_INIT;
	const struct outer one = { .bits = 1 }, two = { .bits = 2 };

	schema_each(&outer_schema, &one, &two, note, &keys);
	CHECK_STR(keys.text, "name inner.size bits expr ");
}
