/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/drill/testimony.h"

#include <string.h>

#include "tests/lib/check.h"

static struct testimony testimony;

static void hear(const char *text)
{
	testimony_hear(&testimony, text, strlen(text));
}

TEST(a_word_is_kept_with_its_text)
{
	hear("HELD open: Permission denied\n");
	CHECK(testimony.spoke);
	CHECK_INT(testimony.seen, DRILL_HELD);
	CHECK_STR(testimony.text, "open: Permission denied");
}

TEST(nothing_is_said_before_a_line_is_whole)
{
	hear("GOT a sec");
	CHECK(!testimony.spoke);
	hear("ret\nREA");
	CHECK_STR(testimony.text, "a secret");
	CHECK(!testimony.ready);
	hear("DY\n");
	CHECK(testimony.ready);
}

TEST(got_outweighs_whatever_else_is_said_and_the_first_of_it_is_kept)
{
	hear("HELD one\nGOT two\nBROKEN three\nNA four\nGOT five\nHELD six\n");
	CHECK_INT(testimony.seen, DRILL_GOT);
	CHECK_STR(testimony.text, "two");
}

TEST(what_is_broken_or_can_not_be_tried_has_not_held)
{
	hear("HELD one\nNA two\n");
	CHECK_INT(testimony.seen, DRILL_NOT_HERE);
	hear("BROKEN three\n");
	CHECK_INT(testimony.seen, DRILL_BROKEN);
	hear("HELD four\n");
	CHECK_INT(testimony.seen, DRILL_BROKEN);
}

TEST(a_line_that_is_no_word_is_broken)
{
	hear("{\"ending\":\"exited\"}\n");
	CHECK_INT(testimony.seen, DRILL_BROKEN);
}

TEST(a_line_without_end_takes_no_more_room)
{
	for (int i = 0; i < 100; i++)
		hear("HELD 0123456789012345678901234567890123456789");
	hear("\n");
	CHECK_INT(testimony.seen, DRILL_HELD);
	CHECK_INT(strlen(testimony.text), TESTIMONY_TEXT_MAX - 1);
}

TEST(the_drill_has_a_word_of_its_own)
{
	testimony_say(&testimony, DRILL_HELD, "ended: oom");
	CHECK_STR(testimony.text, "ended: oom");
	testimony_say(&testimony, DRILL_GOT, "a process of it is still there");
	CHECK_INT(testimony.seen, DRILL_GOT);
}
