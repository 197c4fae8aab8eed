/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/note.h"

#include <string.h>

#include "tests/lib/check.h"

static struct note_marks marks;

static bool parse(const char *text)
{
	marks = (struct note_marks){ MARK_INFRA, MARK_INFRA };
	return note_parse(text, strlen(text), &marks);
}

TEST(marks_stand_behind_a_keyword_at_the_head_of_a_line)
{
	static const struct {
		const char *text;
		enum mark_kind seen, unseen;
	} notes[] = {
		{ "# n\n\nExpected: WRONG. The rest.\n", MARK_WRONG, MARK_NONE },
		{ "Expected: WRONG, at the second call, VALID\n", MARK_WRONG, MARK_NONE },
		{ "Expected: seen VALID and FAST, unseen WRONG.", MARK_VALID, MARK_WRONG },
		{ "Expected: seen VALID and FAST,\nunseen VALID and FAST.\n", MARK_VALID,
		  MARK_VALID },
		{ "Expected: unseen WRONG", MARK_NONE, MARK_WRONG },
		{ "Expected: RESOURCE; not VALID", MARK_RESOURCE, MARK_NONE },
		{ "x\nExpected:\n\tVIOLATION\n", MARK_VIOLATION, MARK_NONE },
		{ "Expected: unseen VALID, seen WRONG", MARK_WRONG, MARK_VALID },
	};

	for (size_t i = 0; i < ARRAY_LEN(notes); i++) {
		if (!parse(notes[i].text))
			check_fail(__FILE__, __LINE__, "no marks in '%s'", notes[i].text);
		CHECK_INT(marks.seen, notes[i].seen);
		CHECK_INT(marks.unseen, notes[i].unseen);
	}
}

TEST(a_note_without_marks_says_so_and_leaves_them_alone)
{
	static const char *const texts[] = {
		"",
		"It is WRONG.",
		" Expected: WRONG",
		"Expected:",
		"Expected: the worst. WRONG",
		"Expected: INFRA",
		"Expected: wrong",
		"Expected: averyveryverylongword WRONG",
		"xExpected: WRONG",
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		if (parse(texts[i]))
			check_fail(__FILE__, __LINE__, "marks in '%s'", texts[i]);
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
