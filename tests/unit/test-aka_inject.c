/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_inject.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"

static struct str out = STR_INIT;

static enum aka_injected inject(enum aka_marker marker, const char *text, const char *replacement)
{
	const struct aka_injection injection = { .file = "a.py",
						 .marker = marker,
						 .replacement = replacement };

	str_clear(&out);
	return aka_inject(&out, &injection, text, strlen(text));
}

static enum aka_injected replace(const char *text, const char *old_code, const char *replacement)
{
	const struct aka_injection injection = { .file = "a.py",
						 .marker = AKA_MARKER_RAW,
						 .replacement = replacement,
						 .old_code = old_code };

	str_clear(&out);
	return aka_inject(&out, &injection, text, strlen(text));
}

#define CHECK_INJECTED(call, want)               \
	do {                                     \
		CHECK_INT((call), AKA_INJECTED); \
		CHECK_STR(out.text, want);       \
	} while (0)

/* A refusal leaves nothing behind. */
#define CHECK_REFUSED(call, why)        \
	do {                            \
		CHECK_INT((call), why); \
		CHECK_INT(out.len, 0);  \
	} while (0)

TEST(a_list_of_shapes_is_replaced_up_to_its_last_bracket_and_line_end)
{
	CHECK_INJECTED(inject(AKA_MARKER_SHAPES, "a = 1\nTEST_SHAPES = [\n  (1, [2]),\n]\nb = 2\n",
			      "\nTEST_SHAPES = [(3,)]\n\n"),
		       "a = 1\nTEST_SHAPES = [(3,)]\nb = 2\n");
	CHECK_INJECTED(inject(AKA_MARKER_SHAPES, "TEST_SHAPES=[1]  # end", "TEST_SHAPES = [2]"),
		       "TEST_SHAPES = [2]\n  # end");
}

TEST(the_name_may_be_indented_and_white_space_stand_before_the_bracket)
{
	CHECK_INJECTED(inject(AKA_MARKER_SHAPES, "if x:\n\tTEST_SHAPES\n = \xc2\xa0[1]\n",
			      "TEST_SHAPES = [\n    2,\n   \n]"),
		       "if x:\n\tTEST_SHAPES = [\n\t    2,\n   \n\t]\n");
}

TEST(only_a_line_that_begins_with_the_name_counts)
{
	CHECK_REFUSED(inject(AKA_MARKER_SHAPES, "x = TEST_SHAPES = [1]\n", "y"),
		      AKA_INJECT_NO_SHAPES);
	CHECK_REFUSED(inject(AKA_MARKER_SHAPES, "TEST_SHAPES: list = [1]\n", "y"),
		      AKA_INJECT_NO_SHAPES);
	CHECK_REFUSED(inject(AKA_MARKER_SHAPES, "", "y"), AKA_INJECT_NO_SHAPES);
	CHECK_INJECTED(inject(AKA_MARKER_SHAPES, "#TEST_SHAPES = [0]\nTEST_SHAPES = [1]\n", "y"),
		       "#TEST_SHAPES = [0]\ny\n");
}

TEST(brackets_count_in_texts_and_comments_as_well)
{
	CHECK_REFUSED(inject(AKA_MARKER_SHAPES, "TEST_SHAPES = ['[', 1]\n", "y"),
		      AKA_INJECT_OPEN_BRACKET);
	CHECK_INJECTED(inject(AKA_MARKER_SHAPES, "TEST_SHAPES = [1, # ]\n2]\n", "y"), "y\n2]\n");
}

TEST(a_function_is_replaced_up_to_the_next_line_at_its_margin)
{
	CHECK_INJECTED(
		inject(AKA_MARKER_INPUTS,
		       "import torch\ndef get_inputs ():\n    a\n\n  b\ndef other():\n  pass\n",
		       "def get_inputs():\n    return 1\n"),
		"import torch\ndef get_inputs():\n    return 1\ndef other():\n  pass\n");
	CHECK_INJECTED(inject(AKA_MARKER_INPUTS,
			      "class A:\n  def get_inputs(self):\n    a\n  x = 1\n",
			      "def get_inputs(self):\n  b"),
		       "class A:\n  def get_inputs(self):\n    b\n  x = 1\n");
	CHECK_INJECTED(inject(AKA_MARKER_INPUTS, "def get_inputs():\n  a", "b"), "b\n");
}

TEST(blank_lines_and_comments_behind_a_function_go_with_it)
{
	CHECK_INJECTED(inject(AKA_MARKER_INPUTS,
			      "def get_inputs():\n  a\n# of the next\n\ndef other(): pass\n", "b"),
		       "b\ndef other(): pass\n");
}

TEST(another_function_is_none)
{
	CHECK_REFUSED(inject(AKA_MARKER_INPUTS, "def get_inputs_2():\n  a\n", "b"),
		      AKA_INJECT_NO_INPUTS);
	CHECK_REFUSED(inject(AKA_MARKER_INPUTS, "async def get_inputs():\n  a\n", "b"),
		      AKA_INJECT_NO_INPUTS);
	CHECK_REFUSED(inject(AKA_MARKER_INPUTS, "def get_inputs", "b"), AKA_INJECT_NO_INPUTS);
}

TEST(indentation_is_counted_in_characters_of_any_white_space)
{
	/* U+2003 is one character of three bytes: not deeper than two blanks. */
	CHECK_INJECTED(inject(AKA_MARKER_INPUTS,
			      "  def get_inputs():\n\xe2\x80\x83"
			      "a\n",
			      "b"),
		       "  b\n\xe2\x80\x83"
		       "a\n");
}

TEST(a_text_is_replaced_once_and_as_it_is)
{
	CHECK_INJECTED(replace("a b a b", "b", " \n[c]\n"), "a  \n[c]\n a b");
	CHECK_INJECTED(replace("abc", "abc", ""), "");
	CHECK_REFUSED(replace("abc", "d", "e"), AKA_INJECT_NO_OLD_CODE);
	CHECK_REFUSED(replace("", "d", "e"), AKA_INJECT_NO_OLD_CODE);
}

TEST(lines_end_as_in_unix_afterwards_and_that_alone_is_no_change)
{
	CHECK_INJECTED(replace("a\r\nb\rc\n", "a\nb", "x"), "x\nc\n");
	CHECK_REFUSED(replace("a\r\nb\n", "b", "b"), AKA_INJECT_NO_CHANGE);
	CHECK_REFUSED(inject(AKA_MARKER_SHAPES, "TEST_SHAPES = [1]\n", "TEST_SHAPES = [1]"),
		      AKA_INJECT_NO_CHANGE);
}

TEST(all_that_ends_a_line_of_python_ends_one_of_the_replacement)
{
	CHECK_INJECTED(inject(AKA_MARKER_SHAPES, " TEST_SHAPES = []",
			      "a\vb\fc\x1c"
			      "d\x1d"
			      "e\x1e"
			      "f\xc2\x85g\xe2\x80\xa8h\xe2\x80\xa9i\rj\r\nk"),
		       " a\n b\n c\n d\n e\n f\n g\n h\n i\n j\n k\n");
	CHECK_INJECTED(inject(AKA_MARKER_SHAPES, " TEST_SHAPES = []", " \n \xe3\x80\x80"), "\n");
}

TEST(what_is_no_text_or_too_large_is_refused)
{
	const struct aka_injection injection = {
		.file = "a.py", .marker = AKA_MARKER_RAW, .replacement = "xy", .old_code = "x"
	};
	char *large = malloc(AKA_INJECT_FILE_MAX + 1);

	CHECK_REFUSED(replace("x\xff", "x", "y"), AKA_INJECT_NOT_TEXT);
	CHECK_REFUSED(replace("x\xed\xa0\x80", "x", "y"), AKA_INJECT_NOT_TEXT);
	CHECK(large);
	memset(large, 'x', AKA_INJECT_FILE_MAX + 1);
	CHECK_REFUSED(aka_inject(&out, &injection, large, AKA_INJECT_FILE_MAX + 1),
		      AKA_INJECT_TOO_LARGE);
	CHECK_REFUSED(aka_inject(&out, &injection, large, AKA_INJECT_FILE_MAX),
		      AKA_INJECT_TOO_LARGE);
	CHECK_INT(aka_inject(&out, &injection, large, AKA_INJECT_FILE_MAX - 1), AKA_INJECTED);
	CHECK_INT(out.len, AKA_INJECT_FILE_MAX);
	free(large);
}

TEST(each_outcome_has_words)
{
	for (int i = AKA_INJECTED; i <= AKA_INJECT_TOO_LARGE; i++)
		CHECK(*aka_inject_text((enum aka_injected) i));
	CHECK_STR(aka_inject_text(AKA_INJECT_NO_OLD_CODE), "old_code is not in the file");
}
