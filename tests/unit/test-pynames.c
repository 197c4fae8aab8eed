/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pynames.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"

static struct err err;

/* How many of the words of @wanted, with blanks between them, the file uses; all others do not. */
static size_t used(const char *text, const char *wanted)
{
	cleanup(pysource_done) struct pysource source = PYSOURCE_INIT;
	cleanup(pynames_done) struct pynames names = PYNAMES_INIT;
	size_t count = 0;
	char room[128];

	CHECK_OK(pysource_split("a.py", text, strlen(text), &source, &err));
	pynames_read(&source, &names);
	snprintf(room, sizeof(room), "%s", wanted);
	for (char *at = room, *word; (word = strsep(&at, " "));)
		count += pynames_has(&names, word);
	return count;
}

TEST(names_in_code_are_used_bound_or_looked_up)
{
	CHECK_INT(
		used("import a as b\nfrom .c import d\ndef e(f=g): return h.i\n", "a b d e f g h"),
		7);
	CHECK_INT(used("import a as b\nfrom .c import d\nh.i; j . k\n", "c i k x"), 0);
	CHECK_INT(used("f'{a}{b:{c}}'\n", "a b c"), 3);
	CHECK_INT(used("", "a"), 0);
}

TEST(a_string_that_is_a_name_is_used_and_prose_is_not)
{
	CHECK_INT(used("getattr(m, 'a'); x = \"\"\"b\"\"\"; y = rb'c'\n", "a b c"), 3);
	CHECK_INT(used("# a\n'''b c'''\n'd e'; '1f'; ''; '\"g\"'\n", "a b c d e 1f g"), 0);
}
