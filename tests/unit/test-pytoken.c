/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pytoken.h"

#include <string.h>

#include "sandbox/base/str.h"
#include "tests/lib/check.h"

static struct str shown = { .text = str_empty };

/*
 * The tokens with a blank between them, a line's end as '$', f-strings as f'; or why there are
 * none. `>` is before the first token of an indented line.
 */
static const char *tokens(const char *text)
{
	struct pytoken_scan scan;
	struct pytoken token;

	str_clear(&shown);
	pytoken_init(&scan, text, strlen(text), 0, 1);
	while (true) {
		if (pytoken_next(&scan, &token) < 0) {
			str_clear(&shown);
			str_addf(&shown, "%zu: %s", scan.why_line, scan.why);
			return shown.text;
		}
		if (token.kind == PYTOKEN_END)
			return shown.text;
		if (token.is_first && token.is_inside)
			str_addf(&shown, "> ");
		if (token.kind == PYTOKEN_LINE)
			str_addf(&shown, "$ ");
		else
			str_addf(&shown, "%.*s ", (int) (token.to - token.from), text + token.from);
	}
}

TEST(names_numbers_signs_and_strings_are_tokens)
{
	CHECK_STR(tokens("x1 = 0x1F + 1.5 # c\n"), "x1 = 0x1F + 1.5 $ ");
	CHECK_STR(tokens("a.b(c)[d]"), "a . b ( c ) [ d ] $ ");
	CHECK_STR(tokens("\xc3\xa4 = \xff"), "\xc3\xa4 = \xff $ ");
	CHECK_STR(tokens(""), "");
	CHECK_STR(tokens("\xef\xbb\xbfx"), "x $ ");
	CHECK_STR(tokens(" \t# only\n\n\f\n"), "");
}

TEST(every_prefix_of_a_string_is_a_part_of_it)
{
	CHECK_STR(tokens("r'a' R\"b\" b'c' BR'd' rB'e' u'f'"),
		  "r'a' R\"b\" b'c' BR'd' rB'e' u'f' $ ");
	CHECK_STR(tokens("if'x'"), "if 'x' $ ");
	CHECK_STR(tokens("ur'x'"), "ur 'x' $ ");
	CHECK_STR(tokens("''x''"), "'' x '' $ ");
	CHECK_STR(tokens("'''a'b''c\n'''"), "'''a'b''c\n''' $ ");
	CHECK_STR(tokens("'a\\'b' r'a\\'b' 'a\\\nb'"), "'a\\'b' r'a\\'b' 'a\\\nb' $ ");
	CHECK_STR(tokens("'#' # '"), "'#' $ ");
}

TEST(logical_lines_end_where_nothing_is_open)
{
	CHECK_STR(tokens("f(\n# )\n1,\n)\ny"), "f ( 1 , ) $ y $ ");
	CHECK_STR(tokens("a = \\\n  1\nb"), "a = 1 $ b $ ");
	CHECK_STR(tokens("a\r\nb\rc\n"), "a $ b $ c $ ");
	CHECK_STR(tokens("a; b # \\\nc"), "a ; b $ c $ ");
	CHECK_STR(tokens("a # c\rb"), "a $ b $ ");
	CHECK_STR(tokens("a #"), "a $ ");
}

TEST(a_line_is_indented_unless_a_form_feed_takes_that_back)
{
	CHECK_STR(tokens("a\n b\n\tc\n  \fd\n\f e\n"), "a $ > b $ > c $ d $ > e $ ");
	CHECK_STR(tokens("a\n  # c\nb"), "a $ b $ ");
	CHECK_STR(tokens("a\n  \nb"), "a $ b $ ");
}

TEST(fields_of_f_strings_have_tokens_of_their_own)
{
	CHECK_STR(tokens("f'a{b}c' d"), "f' b } d $ ");
	CHECK_STR(tokens("f'{{a}}' d"), "f' d $ ");
	CHECK_STR(tokens("f'{a!r:>{w}}' d"), "f' a ! r : w } d $ ");
	CHECK_STR(tokens("f'{a[\"b\"]:{c}}'"), "f' a [ \"b\" ] : c } $ ");
	CHECK_STR(tokens("f'{a['b']}' d"), "f' a [ 'b' ] } d $ ");
	CHECK_STR(tokens("f'{\na # }\n}' d"), "f' a } d $ ");
	CHECK_STR(tokens("f'''\n{f\"{x}\"}\n''' d"), "f''' f\" x } } d $ ");
	CHECK_STR(tokens("f'\\{a}' rf'\\{b}' d"), "f' a } rf' b } d $ ");
	CHECK_STR(tokens("f'\\N{DASH}' rf'\\N{b}' d"), "f' rf' b } d $ ");
	CHECK_STR(tokens("f'{ {1: 2}[1] }' d"), "f' { 1 : 2 } [ 1 ] } d $ ");
	CHECK_STR(tokens("t'{a}' Rb'{b}'"), "t' a } Rb'{b}' $ ");
	/* A file of Python 3.12 that looks like code behind a string to older ones. */
	CHECK_STR(tokens("f\"\"\"{ \"\"\"\nb = 1\n\"\"\" }\"\"\""),
		  "f\"\"\" \"\"\"\nb = 1\n\"\"\" } $ ");
}

TEST(what_is_not_closed_is_named_with_its_line)
{
	CHECK_STR(tokens("a\n'b\n"), "2: a string is not closed on its line");
	CHECK_STR(tokens("'''b\n"), "1: a string is not closed");
	CHECK_STR(tokens("'b\\"), "1: a string is not closed");
	CHECK_STR(tokens("a\nf(\n[\n"), "3: a bracket is not closed");
	CHECK_STR(tokens("f'{a"), "1: a bracket is not closed");
	CHECK_STR(tokens("f'a\n'"), "1: an f-string is not closed on its line");
	CHECK_STR(tokens("f'''a\n"), "1: an f-string is not closed");
	CHECK_STR(tokens("f'{a:'"), "1: a field of an f-string is not closed");
	CHECK_STR(tokens("f'''{a:\n}'''"), "1: an f-string is not closed on its line");
	CHECK_STR(tokens("f'\\N{a"), "1: a character's name in an f-string is not closed");
}

TEST(what_closes_or_continues_nothing_ends_the_scan)
{
	CHECK_STR(tokens("a\n)"), "2: a bracket closes what is not open");
	CHECK_STR(tokens("(]"), "1: a bracket closes what is not open");
	CHECK_STR(tokens("f'}'"), "1: '}' closes nothing in an f-string");
	CHECK_STR(tokens("a \\ b"), "1: a backslash continues no line");
	CHECK_STR(tokens("a\nb \\\n"), "2: a backslash continues no line");
	CHECK_STR(tokens("a\n\\\nb"), "2: a statement begins with a continued line");
	CHECK_STR(tokens("def f():\n  \\\nb"), "2: a statement begins with a continued line");
}

TEST(a_scan_that_has_failed_fails_again)
{
	struct pytoken_scan scan;
	struct pytoken token;

	pytoken_init(&scan, ")a", 2, 0, 1);
	CHECK_INT(pytoken_next(&scan, &token), -1);
	CHECK_INT(pytoken_next(&scan, &token), -1);
	pytoken_init(&scan, "\0", 1, 0, 1);
	CHECK_INT(pytoken_next(&scan, &token), -1);
	CHECK_STR(scan.why, "there is a zero byte");
}

TEST(two_hundred_brackets_may_be_open)
{
	char text[PYTOKEN_NESTS_MAX * 2 + 2];

	memset(text, '(', PYTOKEN_NESTS_MAX);
	memset(text + PYTOKEN_NESTS_MAX, ')', PYTOKEN_NESTS_MAX);
	text[PYTOKEN_NESTS_MAX * 2] = '\0';
	CHECK(strstr(tokens(text), ") $ "));
	memset(text, '(', PYTOKEN_NESTS_MAX + 1);
	CHECK_STR(tokens(text), "1: too much is open at once");
}
