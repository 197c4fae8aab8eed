/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pyjson.h"

#include <math.h>
#include <string.h>

#include "tests/lib/check.h"

static void reads(const char *text, const char *shown)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(str_done) struct str out = STR_INIT;
	struct err err = ERR_INIT;
	struct pyjson json;

	CHECK_OK(pyjson_parse(&json, &arena, text, strlen(text), &err));
	pyvalue_add_str(&out, json.root);
	CHECK_STR(out.text, shown);
}

static void is_refused(const char *text, const char *why)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct pyjson json;

	CHECK_INT(pyjson_parse(&json, &arena, text, strlen(text), &err), -1);
	CHECK(!json.is_too_large);
	CHECK_STR(err.text, why);
}

TEST(what_python_reads_is_read)
{
	reads(" [NaN, -Infinity, 1e400, 1E2, -0, -0.0, 0.5]\r\n",
	      "[nan, -inf, inf, 100.0, 0, -0.0, 0.5]");
	reads("{\"a\": 1, \"b\": 2, \"a\": 3}", "{'a': 3, 'b': 2}");
	reads("123456789012345678901234567890", "123456789012345678901234567890");
	reads("\"\\u00e9\\ud83d\\ude00\\/\\b\"", "é😀/\b");
	reads("[[],{}]", "[[], {}]");
}

TEST(what_python_refuses_is_refused)
{
	is_refused("", "no value at byte 0");
	is_refused("nan", "no value at byte 0");
	is_refused("[1,]", "no value at byte 3");
	is_refused("[1 2]", "neither ',' nor ']' at byte 3");
	is_refused("{\"a\":1,}", "no name of a member at byte 7");
	is_refused("{\"a\" 1}", "no ':' at byte 5");
	is_refused("01", "more after the value at byte 1");
	is_refused("1.", "more after the value at byte 1");
	is_refused("-", "no value at byte 0");
	is_refused("\"a", "a text without its end at byte 2");
	is_refused("\"a\nb\"", "a control character in a text at byte 2");
	is_refused("\"\\x\"", "no escape of JSON at byte 2");
	is_refused("\"\\u12g4\"", "no four digits of a \\u escape at byte 3");
	is_refused("\xef\xbb\xbf{}", "no value at byte 0");
	is_refused("\"\xff\"",
		   "'utf-8' codec can't decode byte 0xff in position 1: invalid start byte");
}

TEST(a_zero_byte_does_not_end_the_text)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct pyjson json;

	CHECK_INT(pyjson_parse(&json, &arena, "1\0", 2, &err), -1);
	CHECK_STR(err.text, "more after the value at byte 1");
}

TEST(what_a_stricter_reader_would_refuse_is_noted)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct pyjson json;

	CHECK_OK(pyjson_parse(&json, &arena, "{\"a\":1,\"a\":1}", 13, &err));
	CHECK(json.has_repeated_key && !json.has_non_finite);
	CHECK_OK(pyjson_parse(&json, &arena, "[NaN]", 5, &err));
	CHECK(!json.has_repeated_key && json.has_non_finite);
}

/* Deep, long, wide: each limit at its edge. */
TEST(every_size_has_a_limit)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	struct err err = ERR_INIT;
	struct pyjson json;

	for (int i = 0; i < PYJSON_DEPTH_MAX; i++)
		str_add(&text, "[", 1);
	for (int i = 0; i < PYJSON_DEPTH_MAX; i++)
		str_add(&text, "]", 1);
	CHECK_OK(pyjson_parse(&json, &arena, text.text, text.len, &err));
	text.text[PYJSON_DEPTH_MAX] = '[';
	CHECK_INT(pyjson_parse(&json, &arena, text.text, text.len, &err), -1);
	CHECK(json.is_too_large);

	str_clear(&text);
	str_add(&text, "[0", 2);
	for (int i = 2; i < PYJSON_VALUES_MAX; i++)
		str_add(&text, ",0", 2);
	str_add(&text, "]", 1);
	CHECK_OK(pyjson_parse(&json, &arena, text.text, text.len, &err));
	text.text[text.len - 1] = ',';
	str_add(&text, "0]", 2);
	CHECK_INT(pyjson_parse(&json, &arena, text.text, text.len, &err), -1);
	CHECK(json.is_too_large);

	str_clear(&text);
	for (int i = 0; i < PYJSON_MEMBERS_MAX; i++)
		str_addf(&text, "%c\"%d\":0", i == 0 ? '{' : ',', i);
	str_add(&text, "}", 1);
	CHECK_OK(pyjson_parse(&json, &arena, text.text, text.len, &err));
	text.text[text.len - 1] = ',';
	str_add(&text, "\"x\":0}", 6);
	CHECK_INT(pyjson_parse(&json, &arena, text.text, text.len, &err), -1);
	CHECK(json.is_too_large);
}

TEST(whole_numbers_end_where_those_of_python_do)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	struct err err = ERR_INIT;
	struct pyjson json;

	for (int i = 0; i < 4300; i++)
		str_add(&text, "7", 1);
	CHECK_OK(pyjson_parse(&json, &arena, text.text, text.len, &err));
	str_add(&text, "7", 1);
	CHECK_INT(pyjson_parse(&json, &arena, text.text, text.len, &err), -1);
	CHECK(!json.is_too_large);
}
