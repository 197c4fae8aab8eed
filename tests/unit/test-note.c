/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/note.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"

static struct note_marks marks;
static struct err err;

static int parse(const char *text)
{
	marks = (struct note_marks){ MARK_INFRA, MARK_INFRA };
	err = (struct err) ERR_INIT;
	return note_parse(text, strlen(text), &marks, &err);
}

TEST(marks_stand_behind_a_keyword_at_the_head_of_a_paragraph)
{
	static const struct {
		const char *text;
		enum mark_kind seen, unseen;
	} notes[] = {
		{ "# n\n\nExpected: WRONG. The rest.\n", MARK_WRONG, MARK_NONE },
		{ "Expected: seen VALID and FAST, unseen WRONG.", MARK_VALID, MARK_WRONG },
		{ "Expected: seen VALID and FAST,\nunseen VALID and FAST.\n", MARK_VALID,
		  MARK_VALID },
		{ "Expected: unseen WRONG", MARK_NONE, MARK_WRONG },
		{ "Expected: RESOURCE; not VALID", MARK_RESOURCE, MARK_NONE },
		{ "x\n \t\nExpected:\n\tVIOLATION\n", MARK_VIOLATION, MARK_NONE },
		{ "Expected: unseen VALID, seen WRONG\n\nAs it was.", MARK_WRONG, MARK_VALID },
		{ "Expected: WRONG . As it was.", MARK_WRONG, MARK_NONE },
	};

	for (size_t i = 0; i < ARRAY_LEN(notes); i++) {
		CHECK_OK(parse(notes[i].text));
		CHECK_INT(marks.seen, notes[i].seen);
		CHECK_INT(marks.unseen, notes[i].unseen);
	}
}

TEST(a_note_without_the_keyword_says_nothing)
{
	static const char *const texts[] = { "", "It is WRONG.", "As expected: it is slow.",
					     "Nobody expected it." };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		CHECK_OK(parse(texts[i]));
		CHECK_INT(marks.seen, MARK_NONE);
		CHECK_INT(marks.unseen, MARK_NONE);
	}
}

TEST(what_can_not_be_read_is_named_with_its_line)
{
	static const char place[] = "'Expected:' has to stand at the head of a paragraph of its "
				    "own: after an empty line, in this spelling, nothing before it";
	static const char words[] =
		"is none of VALID, WRONG, VIOLATION, RESOURCE, AMBG, FAST, SLOW, SAME, seen, "
		"unseen, and; prose stands behind a full stop";
	static const struct {
		const char *text;
		int line;
		const char *word, *why;
	} notes[] = {
		{ "Expected: seen VALD, unseen WRONG.", 1, "'VALD' ", words },
		{ "x\n\nExpected: seen VALID,\nunsen WRONG.", 4, "'unsen' ", words },
		{ "Expected: WRONG, at the second call", 1, "'at' ", words },
		{ "Expected: WRONG\nas it was", 2, "'as' ", words },
		{ "Expected: INFRA", 1, "'INFRA' ", words },
		{ "Expected: SUSPECT", 1, "'SUSPECT' ", words },
		{ "Expected: wrong", 1, "'wrong' ", words },
		{ "Expected: averyveryveryveryverylongword WRONG", 1, "'averyveryveryveryverylo' ",
		  words },
		{ "Expected: \1", 1, "'\\x01' ", words },
		{ "Expected:", 1, "", "'Expected:' is followed by no mark, such as VALID" },
		{ "Expected:\n\nWRONG", 1, "",
		  "'Expected:' is followed by no mark, such as VALID" },
		{ "Expected: FAST.", 1, "", "'Expected:' is followed by no mark, such as VALID" },
		{ "Expected: VALID WRONG", 1, "", "there are two marks for the seen cases" },
		{ "Expected: unseen VALID, unseen VALID", 1, "",
		  "there are two marks for the unseen cases" },
		{ "Expected: WRONG.\n\nExpected: VALID.", 3, "",
		  "there is an 'Expected:' before this one" },
		{ "It is fast.\nExpected: WRONG", 2, "", place },
		{ "It is fast. Expected: WRONG", 1, "", place },
		{ "x\n\n Expected: WRONG", 3, "", place },
		{ "- expected: WRONG", 1, "", place },
		{ "**Expected:** WRONG", 1, "", place },
		{ "EXPECTED: WRONG", 1, "", place },
	};
	char wanted[64];

	for (size_t i = 0; i < ARRAY_LEN(notes); i++) {
		snprintf(wanted, sizeof(wanted), "NOTE.md:%d: %s", notes[i].line, notes[i].word);
		CHECK_INT(parse(notes[i].text), -1);
		CHECK_INT(err.kind, ERR_INPUT);
		if (strncmp(err.text, wanted, strlen(wanted)) != 0 ||
		    !strstr(err.text, notes[i].why))
			check_fail(__FILE__, __LINE__, "'%s' of '%s'", err.text, notes[i].text);
		CHECK_INT(marks.seen, MARK_INFRA);
	}
}

TEST(what_a_note_says_has_to_hold_and_no_more)
{
	const struct note_marks wrong = { MARK_WRONG, MARK_NONE };
	const struct note_marks seen_only = { MARK_VALID, MARK_WRONG };

	CHECK(note_holds(&wrong, "cheat-x", MARK_WRONG, MARK_WRONG));
	CHECK(note_holds(&wrong, "cheat-x", MARK_WRONG, MARK_VALID));
	CHECK(!note_holds(&wrong, "cheat-x", MARK_RESOURCE, MARK_WRONG));
	CHECK(note_holds(&seen_only, "cheat-x", MARK_VALID, MARK_WRONG));
	CHECK(!note_holds(&seen_only, "cheat-x", MARK_VALID, MARK_VALID));
}

TEST(names_say_what_notes_do_not)
{
	const struct note_marks honest = note_default("honest-x"), cheat = note_default("cheat-x");
	const struct note_marks other = note_default("once");

	CHECK(note_holds(&honest, "honest-x", MARK_VALID, MARK_VALID));
	CHECK(!note_holds(&honest, "honest-x", MARK_VALID, MARK_WRONG));
	CHECK(!note_holds(&cheat, "cheat-x", MARK_VALID, MARK_VALID));
	CHECK(note_holds(&cheat, "cheat-x", MARK_VALID, MARK_WRONG));
	CHECK(note_holds(&cheat, "cheat-x", MARK_WRONG, MARK_VALID));
	CHECK(note_holds(&other, "once", MARK_WRONG, MARK_WRONG));
}
