/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pyyaml_text.h"

#include <string.h>

#include "tests/lib/check.h"

static enum pyyaml_style style(const char *text, size_t len, bool is_key)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(pyyaml_text_done) struct pyyaml_text read;

	pyyaml_text_read(&read, pyvalue_new_text(&arena, text, len));
	return pyyaml_text_style(&read, is_key);
}

static void all_are(enum pyyaml_style wanted, const char *const *texts)
{
	for (; *texts != NULL; texts++)
		if (style(*texts, strlen(*texts), false) != wanted)
			check_fail(__FILE__, __LINE__, "'%s' has another style", *texts);
}

TEST(plain_is_what_means_nothing_else)
{
	static const char *const texts[] = {
		"a",   "a b", "a:b", "a#b", "-x",   "it's",  "1e5",  "1_0x",  "12:99",
		"0o7", "08",  "x,y", "a]",  "1.e5", "+.nan", "Nope", "1.2.3", NULL,
	};

	all_are(PYYAML_PLAIN, texts);
}

TEST(what_would_be_read_as_something_else_is_quoted)
{
	static const char *const texts[] = {
		"",
		"yes",
		"No",
		"true",
		"off",
		"null",
		"~",
		"<<",
		"=",
		"1",
		"-1_0",
		"0x1f",
		"0b11",
		"07",
		"1.5",
		"1.",
		".5",
		"-.inf",
		".NaN",
		"1.5e+3",
		"12:30",
		"1:2.5",
		"2026-06-01",
		"2026-6-1 1:00:00Z",
		"2001-12-14t21:59:43.10-05:00",
		" a",
		"a ",
		"#a",
		"- a",
		"a: b",
		"a #b",
		"a:",
		"-",
		"?",
		"[a",
		"{a",
		"&a",
		"*a",
		"!a",
		"|",
		">",
		"%a",
		"@a",
		"`a`",
		"'a",
		"\"a",
		",a",
		"---",
		"...x",
		"a\nb",
		NULL,
	};

	all_are(PYYAML_SINGLE, texts);
}

TEST(what_single_quotes_can_not_hold_is_in_double_ones)
{
	static const char *const texts[] = { "a\tb", "é", "a \nb", "a\n b", "\x7f", NULL };

	all_are(PYYAML_DOUBLE, texts);
	CHECK_INT(style("a\0b", 3, false), PYYAML_DOUBLE);
}

TEST(a_key_has_one_line_and_something_in_it)
{
	CHECK_INT(style("a\nb", 3, true), PYYAML_DOUBLE);
	CHECK_INT(style("", 0, true), PYYAML_SINGLE);
	CHECK_INT(style("a b", 3, true), PYYAML_PLAIN);
	CHECK(pyyaml_is_break(0x2028) && !pyyaml_is_break('\r'));
}
