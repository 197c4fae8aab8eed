/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pyvalue.h"

#include <string.h>

#include "harness/aka/pyjson.h"
#include "tests/lib/check.h"

static const struct pyvalue *value(struct arena *arena, const char *text)
{
	struct err err = ERR_INIT;
	struct pyjson json;

	CHECK_OK(pyjson_parse(&json, arena, text, strlen(text), &err));
	return json.root;
}

static bool is_equal(const char *a, const char *b)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	const struct pyvalue *left = value(&arena, a), *right = value(&arena, b);

	CHECK_INT(pyvalue_is_equal(left, right), pyvalue_is_equal(right, left));
	return pyvalue_is_equal(left, right);
}

static bool is_alike(const char *a, const char *b)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	const struct pyvalue *left = value(&arena, a), *right = value(&arena, b);

	CHECK_INT(pyvalue_is_alike(left, right), pyvalue_is_alike(right, left));
	return pyvalue_is_alike(left, right);
}

TEST(numbers_are_equal_by_value_whatever_they_are)
{
	CHECK(is_equal("1", "1.0") && is_equal("1", "true") && is_equal("0", "false"));
	CHECK(is_equal("-0", "0.0") && is_equal("-0.0", "0"));
	CHECK(is_equal("10000000000000000000000", "1e22"));
	CHECK(!is_equal("100000000000000000000000", "1e23"));
	CHECK(!is_equal("1", "\"1\"") && !is_equal("1", "1.5") && !is_equal("0", "null"));
	CHECK(!is_equal("1", "Infinity") && is_equal("Infinity", "1e999"));
}

TEST(nan_equals_itself_inside_of_others_alone)
{
	CHECK(!is_equal("NaN", "NaN") && !is_alike("NaN", "NaN"));
	CHECK(is_equal("[NaN]", "[NaN]") && is_alike("{\"a\":NaN}", "{\"a\":NaN}"));
}

TEST(dictionaries_have_no_order_and_lists_have)
{
	CHECK(is_equal("{\"a\":1,\"b\":[2]}", "{\"b\":[2.0],\"a\":true}"));
	CHECK(!is_equal("[1,2]", "[2,1]") && !is_equal("[1]", "[1,2]"));
	CHECK(!is_equal("{\"a\":1}", "{\"a\":1,\"b\":1}") && !is_equal("{\"a\":1}", "{\"b\":1}"));
}

TEST(a_frozen_dictionary_is_the_sorted_list_of_its_members)
{
	CHECK(is_alike("{\"b\":1,\"a\":[2]}", "[[\"a\",[2]],[\"b\",1]]"));
	CHECK(!is_alike("{\"b\":1,\"a\":2}", "[[\"b\",1],[\"a\",2]]"));
	CHECK(!is_alike("{\"a\":1,\"b\":2}", "[[\"a\",1],[\"a\",1]]"));
	CHECK(!is_alike("{\"a\":1}", "[[\"a\",2]]") && !is_alike("{\"a\":1}", "[1]"));
	CHECK(is_alike("{}", "[]") && !is_equal("{}", "[]"));
}

TEST(what_is_empty_or_zero_is_false)
{
	static const char *const all_false[] = { "null", "false", "0", "-0.0", "\"\"", "[]", "{}" };
	static const char *const all_true[] = { "true", "2", "NaN", "\"0\"", "[0]", "{\"\":0}" };
	cleanup(arena_done) struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < ARRAY_LEN(all_false); i++)
		CHECK(!pyvalue_is_true(value(&arena, all_false[i])));
	for (size_t i = 0; i < ARRAY_LEN(all_true); i++)
		CHECK(pyvalue_is_true(value(&arena, all_true[i])));
	CHECK(!pyvalue_is_true(NULL));
}

TEST(values_are_shown_as_python_shows_them)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(str_done) struct str out = STR_INIT;

	pyvalue_add_str(
		&out,
		value(&arena, "[null,true,1,1.5,\"a'b\",\"\\\"\",\"\\n\\u0001\",{\"k\":[]}]"));
	CHECK_STR(out.text, "[None, True, 1, 1.5, \"a'b\", '\"', '\\n\\x01', {'k': []}]");
	str_clear(&out);
	pyvalue_add_str(&out, value(&arena, "\"a'b\""));
	CHECK_STR(out.text, "a'b");
}

TEST(a_member_that_is_set_again_keeps_its_place)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(str_done) struct str out = STR_INIT;
	struct pyvalue *dict = pyvalue_new(&arena, PYVALUE_DICT);

	CHECK(pyvalue_set(&arena, dict, pyvalue_new_text(&arena, "a", 1),
			  pyvalue_new_int(&arena, 1)));
	CHECK(pyvalue_set(&arena, dict, pyvalue_new_text(&arena, "b", 1),
			  pyvalue_new_int(&arena, 2)));
	CHECK(!pyvalue_set(&arena, dict, pyvalue_new_text(&arena, "a", 1),
			   pyvalue_new_bool(&arena, true)));
	pyvalue_add_str(&out, dict);
	CHECK_STR(out.text, "{'a': True, 'b': 2}");
	CHECK(pyvalue_member(dict, "c") == NULL && pyvalue_member(NULL, "a") == NULL);
}
