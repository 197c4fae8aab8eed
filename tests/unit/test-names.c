/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/names.h"

#include "tests/lib/check.h"

static const struct name colours[] = { { "red", 1 }, { "green", 2 }, { NULL, 0 } };

TEST(a_table_prints_and_parses_the_same_names)
{
	int value = 0;

	for (const struct name *row = colours; row->text; row++) {
		CHECK_STR(names_text(colours, row->value), row->text);
		CHECK_INT(names_find(colours, row->text, &value), 0);
		CHECK_INT(value, row->value);
	}
}

TEST(a_value_without_a_name_is_shown_as_a_question_mark)
{
	CHECK_STR(names_text(colours, 0), "?");
	CHECK_STR(names_text(colours, 3), "?");
}

TEST(an_unknown_name_leaves_the_output_alone)
{
	static const char *const unknown[] = { "", "re", "redd", "RED", "?" };
	int value = 77;

	for (size_t i = 0; i < ARRAY_LEN(unknown); i++)
		CHECK_INT(names_find(colours, unknown[i], &value), -1);
	CHECK_INT(value, 77);
}
