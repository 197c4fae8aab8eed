/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pytext.h"

#include <string.h>

#include "tests/lib/check.h"

static void decode(const char *bytes, size_t len, const char *text, const char *error)
{
	cleanup(str_done) struct str out = STR_INIT;
	struct err err = ERR_INIT;

	CHECK_INT(pytext_decode(&out, bytes, len, &err), error == NULL ? 0 : -1);
	CHECK_STR(out.text, text);
	CHECK_STR(err.text, error == NULL ? "" : error);
}

TEST(all_ends_of_lines_become_one)
{
	decode("a\r\nb\rc\n\r\r\n", 9, "a\nb\nc\n\n\n", NULL);
	decode("", 0, "", NULL);
	decode("gr\xc3\xb6\xc3\x9f"
	       "er \xf0\x9f\x98\x80",
	       13, "größer 😀", NULL);
}

TEST(what_is_not_utf8_is_refused_in_the_words_of_python)
{
	decode("ab\xff", 3, "",
	       "'utf-8' codec can't decode byte 0xff in position 2: invalid start byte");
	decode("\xc3", 1, "",
	       "'utf-8' codec can't decode byte 0xc3 in position 0: unexpected end of data");
	decode("x\xe2\x82", 3, "",
	       "'utf-8' codec can't decode bytes in position 1-2: unexpected end of data");
	decode("\xe2\x82z", 3, "",
	       "'utf-8' codec can't decode bytes in position 0-1: invalid continuation byte");
	decode("\xed\xa0\x80", 3, "",
	       "'utf-8' codec can't decode byte 0xed in position 0: invalid continuation byte");
	decode("\xc0\x80", 2, "",
	       "'utf-8' codec can't decode byte 0xc0 in position 0: invalid start byte");
	decode("\xf4\x90\x80\x80", 4, "",
	       "'utf-8' codec can't decode byte 0xf4 in position 0: invalid continuation byte");
}

TEST(code_points_survive_being_written_and_read)
{
	static const uint32_t codes[] = { 0,      0x7f,   0x80,    0x7ff,   0x800,
					  0xd800, 0xffff, 0x10000, 0x10ffff };

	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		cleanup(str_done) struct str text = STR_INIT;
		uint32_t code;

		pytext_add_code(&text, codes[i]);
		CHECK_INT(pytext_next(text.text, text.len, &code), text.len);
		CHECK_INT(code, codes[i]);
		CHECK_INT(pytext_count(text.text, text.len), 1);
	}
	CHECK_INT(pytext_next("", 0, &(uint32_t){ 0 }), 0);
}

TEST(letters_digits_and_spaces_are_those_of_unicode)
{
	CHECK(pytext_is_word('_') && pytext_is_word('z') && pytext_is_word(0xe9));
	CHECK(pytext_is_word(0x663) && pytext_is_word(0x4e00));
	CHECK(!pytext_is_word('-') && !pytext_is_word(0x2192) && !pytext_is_word(0xd7));
	CHECK(pytext_is_space(0x1c) && pytext_is_space(0xa0) && pytext_is_space(0x3000));
	CHECK(!pytext_is_space(0x200b) && !pytext_is_space('x'));
	CHECK_INT(pytext_digit('7'), 7);
	CHECK_INT(pytext_digit(0x665), 5);
	CHECK_INT(pytext_digit(0xb2), -1);
}

TEST(json_texts_are_ascii)
{
	cleanup(str_done) struct str out = STR_INIT;

	pytext_add_json(&out, "a\"\\\n\x7f/\0é\xf0\x9f\x98\x80", 13);
	CHECK_STR(out.text, "\"a\\\"\\\\\\n\\u007f/\\u0000\\u00e9\\ud83d\\ude00\"");
}

TEST(padding_counts_code_points)
{
	cleanup(str_done) struct str out = STR_INIT;

	pytext_add_padded(&out, "é", 2, 3);
	pytext_add_padded(&out, "long", 4, 3);
	CHECK_STR(out.text, "é  long");
}
