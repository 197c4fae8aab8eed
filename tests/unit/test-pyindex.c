/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pyindex.h"

#include <string.h>

#include "tests/lib/check.h"

static struct pysource source, other;
static struct pyindex made;
static struct err err;

static void make(const char *text, const char *other_text)
{
	CHECK_OK(pysource_split("a.py", text, strlen(text), &source, &err));
	CHECK_OK(pysource_split("b.py", other_text, strlen(other_text), &other, &err));
	pyindex_make(&source, &made);
}

static void done(void)
{
	pyindex_done(&made);
	pysource_done(&source);
	pysource_done(&other);
}

TEST(the_last_definition_of_a_name_counts)
{
	make("def b(): 1\nclass c: 2\ndef a(): 3\nb = 4\nasync def b(): 5\nd = 6\n", "");
	CHECK(pyindex_find(&made, "b") == &source.blocks[4]);
	CHECK(pyindex_find(&made, "c") == &source.blocks[1]);
	CHECK(pyindex_find(&made, "a") == &source.blocks[2]);
	CHECK(!pyindex_find(&made, "d") && !pyindex_find(&made, ""));
	CHECK(pyindex_is_last(&made, &source.blocks[4]));
	CHECK(!pyindex_is_last(&made, &source.blocks[0]));
	CHECK(!pyindex_is_last(&made, &source.blocks[3]));
	done();
}

TEST(a_block_is_found_by_its_text_but_for_the_line_break)
{
	make("x = 1\ndef a(): 3\ny = 2", "def a(): 3\r\ny = 2\nx = 12\nx = 1");
	CHECK(pyindex_has_text(&made, &other, &other.blocks[0]));
	CHECK(pyindex_has_text(&made, &other, &other.blocks[1]));
	CHECK(!pyindex_has_text(&made, &other, &other.blocks[2]));
	CHECK(pyindex_has_text(&made, &other, &other.blocks[3]));
	done();
}

TEST(an_empty_file_has_nothing)
{
	make("", "a");
	CHECK(!pyindex_find(&made, "a"));
	CHECK(!pyindex_has_text(&made, &other, &other.blocks[0]));
	done();
}
