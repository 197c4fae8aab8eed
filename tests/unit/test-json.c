/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/evidence/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"

TEST(keys_come_out_compact_and_in_the_order_given)
{
	cleanup(str_done) struct str out = STR_INIT;
	struct json_writer json;

	json_writer_init(&json, &out);
	json_put_object(&json, NULL);
	json_put_text(&json, "z", "last");
	json_put_int(&json, "a", INT64_MIN);
	json_put_array(&json, "list");
	json_put_bool(&json, NULL, true);
	json_put_null(&json, NULL);
	json_put_object(&json, NULL);
	json_put_end(&json);
	json_put_end(&json);
	json_put_text(&json, "none", NULL);
	CHECK(!json_writer_is_whole(&json));
	json_put_end(&json);
	CHECK(json_writer_is_whole(&json));
	CHECK_STR(out.text, "{\"z\":\"last\",\"a\":-9223372036854775808,"
			    "\"list\":[true,null,{}],\"none\":null}");
}

static const char *double_text(double value, struct str *out)
{
	struct json_writer json;

	str_clear(out);
	json_writer_init(&json, out);
	json_put_array(&json, NULL);
	json_put_double(&json, NULL, value);
	json_put_end(&json);
	return out->text;
}

TEST(a_double_is_short_exact_and_never_looks_like_an_integer)
{
	cleanup(str_done) struct str out = STR_INIT;

	CHECK_STR(double_text(0.1, &out), "[0.1]");
	CHECK_STR(double_text(2, &out), "[2.0]");
	CHECK_STR(double_text(1.0 / 3, &out), "[0.3333333333333333]");
	CHECK_STR(double_text(0.1 + 0.2, &out), "[0.30000000000000004]");
	CHECK_STR(double_text(1e300, &out), "[1e+300]");
	CHECK_STR(double_text(-0.0, &out), "[-0.0]");
	CHECK_STR(double_text(NAN, &out), "[null]");
	CHECK_STR(double_text(-INFINITY, &out), "[null]");
}

TEST(any_bytes_can_be_written_and_the_reader_takes_them)
{
	cleanup(str_done) struct str out = STR_INIT;
	cleanup(json_done) struct json json = JSON_INIT;
	struct json_writer writer;
	struct err err = ERR_INIT;
	unsigned char all[256];
	const char *text = NULL;
	size_t len = 0;

	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (unsigned char) i;
	json_writer_init(&writer, &out);
	json_put_object(&writer, NULL);
	json_put_bytes(&writer, "all", all, sizeof(all));
	json_put_end(&writer);
	CHECK_OK(json_parse(&json, out.text, out.len, 4096, &err));
	CHECK_OK(json_get_bytes(json_root(&json), "all", 4096, &text, &len, &err));
	CHECK_INT(len, 128 + 2 * 128); /* each of the upper half has become two bytes of UTF-8 */
	CHECK(memcmp(text, all, 128) == 0);
	CHECK_INT(json_get_text(json_root(&json), "all", 4096, &text, &err), -1);
	CHECK_STR(err.text, "key 'all' holds a zero byte");
}

TEST(a_text_that_is_not_one_strict_object_is_refused)
{
	static const char *const bad[] = {
		"",
		"[]",
		"1",
		"{",
		"{}x",
		"{}{}",
		"{\"a\":1,\"a\":2}",
		"{\"a\":1,}",
		"{a:1}",
		"{'a':1}",
		"{\"a\":01}",
		"{\"a\":9223372036854775808}",
		"{\"a\":1e999}",
		"{\"a\":NaN}",
		"{\"a\":\"\x01\"}",
		"{\"a\":\"\xff\"}",
		"{\"a\":\"\\ud800\"}",
		"{\"a\":\"b}",
	};
	cleanup(json_done) struct json json = JSON_INIT;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = ERR_INIT;

		if (json_parse(&json, bad[i], strlen(bad[i]), 4096, &err) == 0)
			check_fail(__FILE__, __LINE__, "accepted: %s", bad[i]);
		CHECK_INT(err.kind, ERR_INPUT);
		CHECK(err.text[0] != '\0');
		CHECK(!json.root);
	}
}

static int parse_nested(int levels)
{
	cleanup(str_done) struct str text = STR_INIT;
	cleanup(json_done) struct json json = JSON_INIT;
	struct err err = ERR_INIT;

	str_addf(&text, "{\"brackets in a text\":\"[[[[[[[[[[[[[[[[[[[[\\\"[[\",\"a\":");
	for (int i = 1; i < levels; i++)
		str_add(&text, "[", 1);
	for (int i = 1; i < levels; i++)
		str_add(&text, "]", 1);
	str_addf(&text, "}");
	return json_parse(&json, text.text, text.len, text.len, &err);
}

TEST(depth_and_size_have_limits)
{
	cleanup(json_done) struct json json = JSON_INIT;
	struct err err = ERR_INIT;

	CHECK_INT(parse_nested(JSON_DEPTH_MAX), 0);
	CHECK_INT(parse_nested(JSON_DEPTH_MAX + 1), -1);
	CHECK_INT(parse_nested(100000), -1);
	CHECK_INT(json_parse(&json, "{\"a\":1}", 7, 7, &err), 0);
	CHECK_INT(json_parse(&json, "{\"a\":1}", 7, 6, &err), -1);
	CHECK_STR(err.text, "the JSON text is longer than 6 bytes");
}

TEST(nothing_is_converted_on_reading)
{
	static const char text[] = "{\"int\":7,\"real\":7.0,\"text\":\"seven\",\"yes\":true,"
				   "\"list\":[1,2]}";
	cleanup(json_done) struct json json = JSON_INIT;
	struct err err = ERR_INIT;
	const struct json_value *root;
	const char *string = "untouched";
	int64_t number = 0;
	double real = 0;
	bool yes = false;

	CHECK_OK(json_parse(&json, text, strlen(text), sizeof(text), &err));
	root = json_root(&json);
	CHECK_OK(json_get_int(root, "int", 7, 7, &number, &err));
	CHECK_INT(number, 7);
	CHECK_OK(json_get_double(root, "real", &real, &err));
	CHECK(real >= 7 && real <= 7);
	CHECK_OK(json_get_bool(root, "yes", &yes, &err));
	CHECK(yes);
	CHECK_INT(json_count(json_member(root, "list")), 2);
	CHECK(json_item(json_member(root, "list"), 2) == NULL);
	CHECK_INT(json_count(json_member(root, "int")), 0);
	CHECK(json_member(json_member(root, "int"), "x") == NULL);

	CHECK_INT(json_get_int(root, "real", 0, 9, &number, &err), -1);
	CHECK_STR(err.text, "key 'real' is not an integer");
	CHECK_INT(json_get_double(root, "int", &real, &err), -1);
	CHECK_STR(err.text, "key 'int' is not a number with a point");
	CHECK_INT(json_get_int(root, "int", 8, 9, &number, &err), -1);
	CHECK_STR(err.text, "key 'int': 7 is not within 8..9");
	CHECK_INT(json_get_bool(root, "int", &yes, &err), -1);
	CHECK_STR(err.text, "key 'int' is not true or false");
	CHECK_INT(json_get_text(root, "none", 9, &string, &err), -1);
	CHECK_STR(err.text, "key 'none' is missing");
	CHECK_INT(json_get_text(root, "yes", 9, &string, &err), -1);
	CHECK_STR(err.text, "key 'yes' is not a text");
	CHECK_INT(json_get_text(root, "text", 4, &string, &err), -1);
	CHECK_STR(err.text, "key 'text' is longer than 4 bytes");
	CHECK_STR(string, "untouched");
}

TEST(a_digest_is_read_as_it_was_written_and_nothing_else_is_one)
{
	cleanup(str_done) struct str text = STR_INIT;
	cleanup(json_done) struct json json = JSON_INIT;
	const struct digest digest = digest_sha256("abc", 3);
	struct digest read = { .bytes = { 0 } };
	struct json_writer writer;
	struct err err = ERR_INIT;

	json_writer_init(&writer, &text);
	json_put_object(&writer, NULL);
	json_put_digest(&writer, "one", &digest);
	json_put_digest(&writer, "none", NULL);
	json_put_text(&writer, "short", "ba7816bf");
	json_put_end(&writer);
	CHECK_OK(json_parse(&json, text.text, text.len, 1000, &err));
	CHECK_OK(json_get_digest(json_root(&json), "one", &read, &err));
	CHECK(digest_equal(&digest, &read));
	CHECK_INT(json_get_digest(json_root(&json), "none", &read, &err), -1);
	CHECK_INT(json_get_digest(json_root(&json), "short", &read, &err), -1);
	CHECK_STR(err.text, "key 'short' is no SHA-256");
	CHECK_INT(json_get_digest(json_root(&json), "absent", &read, &err), -1);
}
