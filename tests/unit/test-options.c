/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/console/options.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/check.h"

struct object {
	bool flag;
	const char *text;
	struct texts texts;
	uint64_t count, size, time, milli;
	int fd;
	int after; /* nothing is written behind a member */
};

#define AT(member) offsetof(struct object, member)

/* clang-format off */
static const struct option_row rows[] = {
	{ "flag",    NULL,     OPTION_FLAG,     AT(flag),  0, 0, "a flag" },
	{ "text",    "FILE",   OPTION_TEXT,     AT(text),  0, 0, "a text" },
	{ "texts",   "WHAT",   OPTION_TEXTS,    AT(texts), 0, 0, "texts" },
	{ "count",   "COUNT",  OPTION_COUNT,    AT(count), 2, 9, "a count" },
	{ "size",    "SIZE",   OPTION_SIZE,     AT(size),  KIB, MIB, "a size" },
	{ "time",    "TIME",   OPTION_DURATION, AT(time),  1, 2000, "a time" },
	{ "milli",   "NUMBER", OPTION_MILLI,    AT(milli), 10, 1500, "thousandths" },
	{ "fd",      "[=FD]",  OPTION_FD,       AT(fd),    0, 0, "a descriptor" },
};
/* clang-format on */

static const struct option_table table = {
	.usage = "proctor thing [OPTION]… WORD…",
	.about = "About it.",
	.rows = rows,
	.count = ARRAY_LEN(rows),
};

static struct object object;
static struct err err;
static int rest;

/* Parses the words of a line, which a single blank parts; "" is a word as well. */
static int parse(const char *line)
{
	static char *argv[128];
	static char text[4096];
	char *at = text;
	int argc = 1;

	snprintf(text, sizeof(text), "%s", line);
	argv[0] = text + sizeof(text) - 1;
	while (at && line[0])
		argv[argc++] = strsep(&at, " ");
	object = (struct object){ .fd = -1, .after = 77 };
	err = (struct err) ERR_INIT;
	rest = -1;
	return options_parse(&table, argc, argv, &object, &rest, &err);
}

static void check_refused(const char *line, const char *text)
{
	CHECK_INT(parse(line), -1);
	CHECK_STR(err.text, text);
	CHECK_INT(err.kind, ERR_USAGE);
	CHECK_INT(rest, -1);
}

TEST(every_kind_is_read_and_goes_where_its_row_says)
{
	CHECK_OK(
		parse("--flag --text a --texts b --texts c --count 2 --size 1MiB --time 2s --milli "
		      "1.5 --fd=0 word"));
	CHECK(object.flag);
	CHECK_STR(object.text, "a");
	CHECK_INT(object.texts.count, 2);
	CHECK_STR(object.texts.items[0], "b");
	CHECK_STR(object.texts.items[1], "c");
	CHECK_INT(object.count, 2);
	CHECK_INT(object.size, MIB);
	CHECK_INT(object.time, 2000);
	CHECK_INT(object.milli, 1500);
	CHECK_INT(object.fd, 0);
	CHECK_INT(object.after, 77);
	CHECK_INT(rest, 17);
}

TEST(what_is_not_said_is_left_as_it_was)
{
	CHECK_OK(parse(""));
	CHECK_INT(rest, 1);
	CHECK(!object.flag && !object.text && object.texts.count == 0 && object.count == 0);
	CHECK_INT(object.fd, -1);
}

TEST(a_value_stands_behind_an_equals_sign_or_a_blank)
{
	CHECK_OK(parse("--text=a=b --count=3"));
	CHECK_STR(object.text, "a=b");
	CHECK_INT(object.count, 3);
	CHECK_OK(parse("--text= x"));
	CHECK_STR(object.text, "");
	CHECK_INT(rest, 2);
	/* A value that looks like an option is one all the same. */
	CHECK_OK(parse("--text --flag"));
	CHECK_STR(object.text, "--flag");
	CHECK(!object.flag);
}

TEST(options_end_at_the_first_word_and_at_two_dashes)
{
	CHECK_OK(parse("--flag -- --text a"));
	CHECK_INT(rest, 3);
	CHECK(!object.text);
	CHECK_OK(parse("word --flag"));
	CHECK_INT(rest, 1);
	CHECK(!object.flag);
	CHECK_INT(parse("-x --flag"), -1); /* no command is called that */
	CHECK_OK(parse("--"));
	CHECK_INT(rest, 2);
}

TEST(help_wins_over_what_stands_behind_it)
{
	CHECK_INT(parse("--help --nonsense"), 1);
	CHECK_INT(parse("--flag --help"), 1);
	CHECK_OK(parse("-- --help"));
	check_refused("--help=yes", "there is no option '--help=yes'; see proctor thing --help");
}

TEST(an_option_that_there_is_not_is_named_as_it_was_written)
{
	check_refused("--flags", "there is no option '--flags'; see proctor thing --help");
	check_refused("--fla", "there is no option '--fla'; see proctor thing --help");
	check_refused("--texts2=x", "there is no option '--texts2=x'; see proctor thing --help");
	check_refused("--=x", "there is no option '--=x'; see proctor thing --help");
	check_refused("---flag", "there is no option '---flag'; see proctor thing --help");
}

TEST(a_value_too_many_and_one_too_few_are_told)
{
	check_refused("--flag=yes", "option --flag takes no value");
	check_refused("--text", "option --text lacks its FILE");
	check_refused("--flag --time", "option --time lacks its TIME");
}

TEST(what_is_there_twice_is_refused_unless_it_may_be)
{
	check_refused("--count 3 --count 3", "option --count is there twice");
	check_refused("--text=a --flag --text b", "option --text is there twice");
	check_refused("--flag --flag", "option --flag is there twice");
	check_refused("--fd=1 --fd", "option --fd is there twice");
	CHECK_OK(parse("--texts=a --flag --texts=a -- --flag"));
	CHECK_INT(object.texts.count, 2);
}

TEST(numbers_hold_at_both_edges_and_not_beyond)
{
	CHECK_OK(parse("--count 9 --size 1024B --time 1ms --milli 0.01"));
	CHECK_INT(object.count, 9);
	CHECK_INT(object.size, 1024);
	CHECK_INT(object.time, 1);
	CHECK_INT(object.milli, 10);
	check_refused("--count 1", "option --count: '1' is not within 2..9");
	check_refused("--count 10", "option --count: '10' is not within 2..9");
	check_refused("--size 1023B", "option --size: '1023B' is not within 1KiB..1MiB");
	check_refused("--size 2MiB", "option --size: '2MiB' is not within 1KiB..1MiB");
	check_refused("--time 0s", "option --time: '0s' is not within 1ms..2s");
	check_refused("--milli 1.501", "option --milli: '1.501' is not within 0.01..1.5");
}

TEST(what_is_no_number_is_told_with_an_example)
{
	check_refused("--count x",
		      "option --count: 'x' is not a whole number such as 64, within 2..9");
	check_refused("--count -3",
		      "option --count: '-3' is not a whole number such as 64, within 2..9");
	check_refused("--count=",
		      "option --count: '' is not a whole number such as 64, within 2..9");
	check_refused("--count 99999999999999999999", "option --count: '99999999999999999999' is "
						      "not a whole number such as 64, within 2..9");
	check_refused("--size 64mb",
		      "option --size: '64mb' is not a size such as 64MiB, within 1KiB..1MiB");
	check_refused("--time 5",
		      "option --time: '5' is not a time such as 500ms, 2s or 5m, within 1ms..2s");
	check_refused("--milli 1,5",
		      "option --milli: '1,5' is not a number such as 1.5, within 0.01..1.5");
}

TEST(a_descriptor_has_to_be_open)
{
	CHECK_OK(parse("--fd word"));
	CHECK_INT(object.fd, 1);
	CHECK_INT(rest, 2);
	check_refused("--fd=789", "option --fd: descriptor 789 is not open");
	check_refused("--fd=x", "option --fd: 'x' is no descriptor");
	check_refused("--fd=-1", "option --fd: '-1' is no descriptor");
	check_refused("--fd=4294967296", "option --fd: '4294967296' is no descriptor");
	close(1);
	CHECK_INT(parse("--fd"), -1);
	CHECK_STR(err.text, "option --fd: descriptor 1 is not open");
}

TEST(only_so_many_texts_are_taken)
{
	char line[4096] = "";
	size_t used = 0;

	for (int i = 0; i < TEXTS_MAX; i++)
		used += (size_t) snprintf(line + used, sizeof(line) - used, "%s--texts=t",
					  i ? " " : "");
	CHECK_OK(parse(line));
	CHECK_INT(object.texts.count, TEXTS_MAX);
	snprintf(line + used, sizeof(line) - used, " --texts=t");
	check_refused(line, "option --texts: more than 64");
	CHECK_INT(object.count, 0); /* what stands behind the list */
}

TEST(help_has_a_line_for_each_row)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	options_print_help(&table, out);
	fclose(out);
	CHECK_STR(text, "usage: proctor thing [OPTION]… WORD…\n\nAbout it.\n\n"
			"  --flag                     a flag\n"
			"  --text FILE                a text\n"
			"  --texts WHAT               texts\n"
			"  --count COUNT              a count\n"
			"  --size SIZE                a size\n"
			"  --time TIME                a time\n"
			"  --milli NUMBER             thousandths\n"
			"  --fd[=FD]                  a descriptor\n"
			"  --help                     print this and end\n");
	free(text);
}
