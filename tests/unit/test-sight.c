/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/doctor/sight.h"

#include <string.h>

#include "tests/lib/check.h"
#include "tests/lib/hosts.h"

TEST(what_is_said_stands_side_by_side_and_the_last_verdict_counts)
{
	cleanup(sight_done) struct doctor_sight sight = DOCTOR_SIGHT_INIT;

	sight_add(&sight, "one");
	CHECK_INT(sight.verdict, DOCTOR_UNKNOWN);
	sight_say(&sight, DOCTOR_OK, "%d", 2);
	sight_say(&sight, DOCTOR_MISSING, "three");
	CHECK_INT(sight.verdict, DOCTOR_MISSING);
	CHECK_STR(sight.found.text, "one; 2; three");
}

TEST(a_file_is_read_whole_without_the_white_space_at_its_end)
{
	cleanup(str_done) struct str text = STR_INIT;

	hosts_put("file", "two\nlines \n\n");
	CHECK(sight_read(check_folder(), "file", &text));
	CHECK_STR(text.text, "two\nlines");
	CHECK(!sight_read(check_folder(), "none", &text));
	CHECK_STR(text.text, "");
	CHECK(!sight_read(-1, "file", &text));
	CHECK(!sight_read(check_folder(), ".", &text));
}

TEST(a_number_is_a_number)
{
	uint64_t number = 7;

	hosts_put("good", "42\n");
	hosts_put("bad", "42 or so\n");
	hosts_put("empty", "");
	CHECK(sight_number(check_folder(), "good", &number));
	CHECK_INT(number, 42);
	CHECK(!sight_number(check_folder(), "bad", &number));
	CHECK(!sight_number(check_folder(), "empty", &number));
	CHECK(!sight_number(check_folder(), "none", &number));
	CHECK_INT(number, 42);
}

TEST(lines_come_one_after_the_other)
{
	char text[] = "a\n\nb", *rest = text;

	CHECK_STR(sight_line(&rest), "a");
	CHECK_STR(sight_line(&rest), "");
	CHECK_STR(sight_line(&rest), "b");
	CHECK(!sight_line(&rest));
	CHECK(!sight_line(&rest));
}

TEST(a_word_is_not_a_part_of_another)
{
	CHECK(sight_has_word("cpuset cpu io", "cpu"));
	CHECK(sight_has_word("rw,memory", "memory"));
	CHECK(sight_has_word("io\n", "io"));
	CHECK(!sight_has_word("cpuset cpuacct", "cpu"));
	CHECK(!sight_has_word("", "cpu"));
	CHECK(!sight_has_word(" , ", "cpu"));
}
