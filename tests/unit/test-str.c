/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/str.h"

#include <string.h>

#include "sandbox/base/mem.h"
#include "tests/lib/check.h"

TEST(a_new_string_is_empty_and_not_null)
{
	struct str str = STR_INIT;

	CHECK_STR(str.text, "");
	str_clear(&str);
	str_add(&str, "", 0);
	str_addf(&str, "%s", "");
	CHECK_STR(str.text, "");
	CHECK_INT(str.room, 0);
	str_done(&str);
	str_done(&str);
	CHECK_STR(str.text, "");
}

TEST(what_is_added_follows_what_was_there)
{
	cleanup(str_done) struct str str = STR_INIT;

	for (int i = 0; i < 1000; i++)
		str_addf(&str, "%03d", i);
	str_add(&str, "\0x", 2);
	CHECK_INT(str.len, 3002);
	CHECK(memcmp(str.text + 2997, "999\0x", 6) == 0);
	str_clear(&str);
	CHECK_STR(str.text, "");
	str_addf(&str, "again");
	CHECK_STR(str.text, "again");
}

TEST(a_string_stops_at_its_limit_and_says_so)
{
	cleanup(str_done) struct str str = STR_INIT;
	cleanup(mem_free) char *block = mem_alloc(MIB, 1);

	memset(block, 'x', MIB);
	for (int i = 0; i < 70; i++)
		str_add(&str, block, MIB);
	CHECK(str.truncated);
	CHECK_INT(str.len, 63 * MIB);
	CHECK_INT(str.text[str.len], 0);
	CHECK_INT(str.room, STR_MAX);
	str_clear(&str);
	CHECK(!str.truncated);
	str_add(&str, "y", 1);
	CHECK_STR(str.text, "y");
}

TEST(nothing_is_added_behind_a_gap)
{
	cleanup(str_done) struct str str = STR_INIT;
	cleanup(mem_free) char *block = mem_alloc(STR_MAX, 1);

	str_addf(&str, "start");
	str_add(&str, block, STR_MAX);
	CHECK(str.truncated);
	str_addf(&str, "tail");
	CHECK_STR(str.text, "start");
}

struct escape {
	const char *bytes, *json, *shown;
};

static const struct escape escapes[] = {
	{ "plain", "plain", "plain" },
	{ "a\"b\\c/", "a\\\"b\\\\c/", "a\"b\\x5cc/" },
	{ "\n\t\x1b[0m\x7f", "\\u000a\\u0009\\u001b[0m\\u007f", "\\x0a\\x09\\x1b[0m\\x7f" },
	{ "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
	  "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80" },
	/* a byte alone, a sequence cut off, a continuation alone */
	{ "\xff|\xc3|\xa4", "\\u00ff|\\u00c3|\\u00a4", "\\xff|\\xc3|\\xa4" },
	{ "\xe2\x82", "\\u00e2\\u0082", "\\xe2\\x82" },
	{ "\xf0\x9f\x98", "\\u00f0\\u009f\\u0098", "\\xf0\\x9f\\x98" },
	/* overlong: two, three and four bytes */
	{ "\xc0\xaf", "\\u00c0\\u00af", "\\xc0\\xaf" },
	{ "\xe0\x80\xaf", "\\u00e0\\u0080\\u00af", "\\xe0\\x80\\xaf" },
	{ "\xf0\x80\x80\xaf", "\\u00f0\\u0080\\u0080\\u00af", "\\xf0\\x80\\x80\\xaf" },
	/* a surrogate, above U+10FFFF */
	{ "\xed\xa0\x80", "\\u00ed\\u00a0\\u0080", "\\xed\\xa0\\x80" },
	{ "\xf4\x90\x80\x80", "\\u00f4\\u0090\\u0080\\u0080", "\\xf4\\x90\\x80\\x80" },
	{ "\xf5\x80\x80\x80", "\\u00f5\\u0080\\u0080\\u0080", "\\xf5\\x80\\x80\\x80" },
	/* C1 control, right-to-left override, isolate, Arabic letter mark, line separator */
	{ "\xc2\x9b", "\\u009b", "\\xc2\\x9b" },
	{ "\xe2\x80\xae", "\\u202e", "\\xe2\\x80\\xae" },
	{ "\xe2\x81\xa6", "\\u2066", "\\xe2\\x81\\xa6" },
	{ "\xd8\x9c", "\\u061c", "\\xd8\\x9c" },
	{ "\xe2\x80\xa8", "\\u2028", "\\xe2\\x80\\xa8" },
	/* the last before and the first after a gap */
	{ "\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80" },
	{ "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" },
};

TEST(any_bytes_make_valid_json)
{
	for (size_t i = 0; i < ARRAY_LEN(escapes); i++) {
		cleanup(str_done) struct str got = STR_INIT, want = STR_INIT;

		str_add_json(&got, escapes[i].bytes, strlen(escapes[i].bytes));
		str_addf(&want, "\"%s\"", escapes[i].json);
		CHECK_STR(got.text, want.text);
	}
}

TEST(any_bytes_can_be_shown_on_a_terminal)
{
	for (size_t i = 0; i < ARRAY_LEN(escapes); i++) {
		cleanup(str_done) struct str got = STR_INIT;

		str_add_shown(&got, escapes[i].bytes, strlen(escapes[i].bytes));
		CHECK_STR(got.text, escapes[i].shown);
	}
}

TEST(a_zero_byte_is_escaped_and_ends_nothing)
{
	cleanup(str_done) struct str str = STR_INIT;

	str_add_json(&str, "a\0b", 3);
	str_add_shown(&str, "a\0b", 3);
	str_add_json(&str, "", 0);
	CHECK_STR(str.text, "\"a\\u0000b\"a\\x00b\"\"");
}

TEST(no_byte_leads_to_output_that_is_not_printable)
{
	for (int first = 0; first < 256; first++) {
		for (int second = 0; second < 256; second++) {
			cleanup(str_done) struct str str = STR_INIT;
			const uint8_t bytes[] = { (uint8_t) first, (uint8_t) second };

			str_add_shown(&str, bytes, sizeof(bytes));
			for (size_t i = 0; i < str.len; i++)
				CHECK((uint8_t) str.text[i] >= 0x20 && str.text[i] != 0x7f);
		}
	}
}
