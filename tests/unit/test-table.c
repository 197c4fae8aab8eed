/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/console/table.h"

#include <math.h>
#include <string.h>

#include "tests/lib/check.h"

static const struct table_column columns[] = {
	{ "name", "NAME", TABLE_LEFT },
	{ "count", "COUNT", TABLE_RIGHT },
	{ "why", "WHY", TABLE_LEFT },
};

static void make(struct table *table)
{
	table_init(table, columns, ARRAY_LEN(columns));
	table_text(table, "a");
	table_int(table, 12345678);
	table_text(table, NULL);
	table_text(table, "k\xc3\xa4se");
	table_tone(table, TABLE_GOOD);
	table_int(table, -1);
	table_text(table, "because it is long");
}

static const char *printed(const struct table *table, bool color, size_t width, struct str *out)
{
	str_clear(out);
	table_print(table, &(struct table_style){ .has_color = color, .width = width }, out);
	return out->text;
}

TEST(columns_are_aligned_also_with_text_that_is_not_ascii)
{
	cleanup(table_done) struct table table = TABLE_INIT;
	cleanup(str_done) struct str out = STR_INIT;

	make(&table);
	CHECK_STR(printed(&table, false, 0, &out), "NAME     COUNT  WHY\n"
						   "a     12345678  -\n"
						   "k\xc3\xa4se        -1  because it is long\n");
}

TEST(the_last_column_is_cut_to_the_terminal)
{
	cleanup(table_done) struct table table = TABLE_INIT;
	cleanup(str_done) struct str out = STR_INIT;

	make(&table);
	CHECK(strstr(printed(&table, false, 30, &out), "  because it is\xe2\x80\xa6\n"));
	CHECK(strstr(printed(&table, false, 34, &out), "  because it is long\n"));
	/* A terminal that is too narrow for the rest still gets eight columns of it. */
	CHECK(strstr(printed(&table, false, 3, &out), "  because\xe2\x80\xa6\n"));
}

TEST(colour_is_put_around_the_text_and_changes_no_alignment)
{
	cleanup(table_done) struct table table = TABLE_INIT;
	cleanup(str_done) struct str out = STR_INIT;

	make(&table);
	CHECK(!strchr(printed(&table, false, 0, &out), '\033'));
	CHECK(strstr(printed(&table, true, 0, &out),
		     "\033[32mk\xc3\xa4se\033[0m        -1  because"));
}

TEST(what_an_outsider_wrote_can_not_reach_the_terminal)
{
	cleanup(table_done) struct table table = TABLE_INIT;
	cleanup(str_done) struct str out = STR_INIT;

	table_init(&table, columns, 1);
	table_bytes(&table, "\033[2Jx\n\xff\xe2\x80\xae", 10);
	CHECK_STR(printed(&table, false, 0, &out), "NAME\n\\x1b[2Jx\\x0a\\xff\\xe2\\x80\\xae\n");
}

TEST(the_same_rows_are_given_as_json)
{
	cleanup(table_done) struct table table = TABLE_INIT;
	cleanup(str_done) struct str out = STR_INIT;
	struct json_writer json;

	make(&table);
	json_writer_init(&json, &out);
	table_put(&table, &json, NULL);
	CHECK_STR(out.text, "[{\"name\":\"a\",\"count\":12345678,\"why\":null},"
			    "{\"name\":\"k\xc3\xa4se\",\"count\":-1,\"why\":\"because it is "
			    "long\"}]");
}

TEST(an_empty_table_is_its_titles)
{
	cleanup(table_done) struct table table = TABLE_INIT;
	cleanup(str_done) struct str out = STR_INIT;
	struct json_writer json;

	table_init(&table, columns, ARRAY_LEN(columns));
	CHECK_STR(printed(&table, false, 0, &out), "NAME  COUNT  WHY\n");
	str_clear(&out);
	json_writer_init(&json, &out);
	table_put(&table, &json, NULL);
	CHECK_STR(out.text, "[]");
}

TEST(numbers_that_are_none_are_a_dash_and_null)
{
	cleanup(table_done) struct table table = TABLE_INIT;
	cleanup(str_done) struct str out = STR_INIT;
	struct json_writer json;

	table_init(&table, columns, 1);
	table_double(&table, 1.256, 2);
	table_double(&table, NAN, 2);
	table_interval(&table, 1.5, -INFINITY, 1.75);
	table_interval(&table, NAN, 1, 2);
	table_duration(&table, -1);
	table_duration(&table, 65 * NS_PER_S);
	CHECK_STR(printed(&table, false, 0, &out), "NAME\n1.26\n-\n1.50 [?, 1.75]\n-\n-\n1:05\n");
	str_clear(&out);
	json_writer_init(&json, &out);
	table_put(&table, &json, NULL);
	CHECK_STR(out.text, "[{\"name\":1.256},{\"name\":null},{\"name\":[1.5,null,1.75]},"
			    "{\"name\":null},{\"name\":null},{\"name\":65000000000}]");
}

TEST(durations_are_for_people)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0.00 s" },
		{ 349 * NS_PER_MS, "0.35 s" },
		{ 9499 * NS_PER_MS, "9.50 s" },
		{ 9500 * NS_PER_MS, "10 s" },
		{ 59499 * NS_PER_MS, "59 s" },
		{ 59500 * NS_PER_MS, "1:00" },
		{ 3599 * NS_PER_S, "59:59" },
		{ 3600 * NS_PER_S, "1:00:00" },
		{ 100 * 3600 * NS_PER_S + 61 * NS_PER_S, "100:01:01" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup(str_done) struct str out = STR_INIT;

		table_add_duration(&out, cases[i].ns);
		CHECK_STR(out.text, cases[i].text);
	}
}

TEST(widths_are_those_of_a_terminal)
{
	static const char e_acute[] = "e\xcc\x81";                   /* e and a combining accent */
	static const char ideographs[] = "\xe6\xbc\xa2\xe5\xad\x97"; /* two, each of two columns */

	CHECK_INT(table_text_width("abc", 3), 3);
	CHECK_INT(table_text_width(e_acute, strlen(e_acute)), 1);
	CHECK_INT(table_text_width(ideographs, strlen(ideographs)), 4);
	CHECK_INT(table_text_width("\xf0\x9f\x98\x80", 4), 2);
	CHECK_INT(table_text_width("", 0), 0);
}

TEST(a_cut_never_splits_a_character)
{
	static const char text[] = "\xe6\xbc\xa2\xe5\xad\x97x";

	for (size_t width = 1; width < 7; width++) {
		static const char *const want[] = { "\xe2\x80\xa6",
						    "\xe2\x80\xa6",
						    "\xe6\xbc\xa2\xe2\x80\xa6",
						    "\xe6\xbc\xa2\xe2\x80\xa6",
						    text,
						    text };
		cleanup(str_done) struct str cut = STR_INIT;

		str_add(&cut, text, strlen(text));
		table_cut(&cut, width);
		CHECK_STR(cut.text, want[width - 1]);
	}
}

TEST(some_columns_can_be_shown_in_another_order)
{
	static const char *const keys[] = { "count", "nothing", "name" };
	cleanup(table_done) struct table table = TABLE_INIT;
	cleanup(str_done) struct str out = STR_INIT;

	make(&table);
	table_print_some(&table, keys, ARRAY_LEN(keys), &(struct table_style){ .width = 0 }, &out);
	CHECK_STR(out.text, "   COUNT  NAME\n"
			    "12345678  a\n"
			    "      -1  k\xc3\xa4se\n");
}

TEST(shares_are_shown_in_percent_and_told_as_they_are)
{
	static const struct table_column shares[] = { { "share", "SHARE", TABLE_RIGHT } };
	cleanup(table_done) struct table table = TABLE_INIT;
	cleanup(str_done) struct str out = STR_INIT;
	struct json_writer json;

	table_init(&table, shares, 1);
	table_share(&table, 0.755);
	table_share(&table, 1);
	table_share(&table, NAN);
	CHECK_STR(printed(&table, false, 0, &out), "SHARE\n 76 %\n100 %\n    -\n");
	str_clear(&out);
	json_writer_init(&json, &out);
	table_put(&table, &json, NULL);
	CHECK_STR(out.text, "[{\"share\":0.755},{\"share\":1.0},{\"share\":null}]");
}

TEST(a_number_that_nobody_measured_does_not_fill_the_screen)
{
	static const struct table_column kinds[] = {
		{ "speedup", "SPEEDUP", TABLE_LEFT, true },
		{ "score", "SCORE", TABLE_RIGHT },
		{ "wall_ns", "TIME", TABLE_RIGHT },
	};
	cleanup(table_done) struct table table = TABLE_INIT;
	cleanup(str_done) struct str out = STR_INIT;

	table_init(&table, kinds, 3);
	table_interval(&table, exp(705), -1e300, 999999.994);
	table_double(&table, -1e6, 1);
	table_duration(&table, INT64_MAX);
	CHECK_STR(printed(&table, false, 0, &out),
		  "SPEEDUP                          SCORE           TIME\n"
		  "1.51e+306 [-1e+300, 999999.99]  -1e+06  2562047:47:17\n");
}

TEST(in_csv_a_text_is_no_formula_of_a_spreadsheet)
{
	static const struct table_column kinds[] = { { "a", "A", TABLE_LEFT } };
	cleanup(table_done) struct table table = TABLE_INIT;
	cleanup(str_done) struct str out = STR_INIT;

	table_init(&table, kinds, 1);
	table_text(&table, "=cmd|' /C calc'!A0");
	table_text(&table, "+1");
	table_text(&table, "-x");
	table_text(&table, "@SUM(\"a\")");
	table_text(&table, "\t=1");
	table_text(&table, "\r=1");
	table_text(&table, "a=1");
	table_text(&table, "");
	table_int(&table, -7);
	table_double(&table, -0.5, 1);
	table_add_csv(&table, &out);
	CHECK_STR(out.text, "a\n'=cmd|' /C calc'!A0\n'+1\n'-x\n\"'@SUM(\"\"a\"\")\"\n"
			    "\\x09=1\n\\x0d=1\na=1\n\n-7\n-0.5\n");
}

TEST(as_csv_each_kind_of_cell_has_its_fields)
{
	static const struct table_column kinds[] = {
		{ "text", "TEXT", TABLE_LEFT },
		{ "speedup", "SPEEDUP", TABLE_LEFT, true },
		{ "wall_ns", "TIME", TABLE_RIGHT },
	};
	cleanup(table_done) struct table table = TABLE_INIT;
	cleanup(str_done) struct str out = STR_INIT;

	table_init(&table, kinds, 3);
	table_text(&table, "a, \"b\"");
	table_interval(&table, 1.5, 1.25, INFINITY);
	table_duration(&table, 1500000000);
	table_text(&table, "line\nbreak");
	table_interval(&table, NAN, 0, 0);
	table_duration(&table, -1);
	table_text(&table, NULL);
	table_double(&table, 0.1, 2);
	table_int(&table, -7);
	table_add_csv(&table, &out);
	CHECK_STR(out.text, "text,speedup,speedup_low,speedup_high,wall_ns\n"
			    "\"a, \"\"b\"\"\",1.5,1.25,,1500000000\n"
			    "line\\x0abreak,,,,\n"
			    ",0.1,,,-7\n");
}
