/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pysource.h"

#include <string.h>

#include "sandbox/base/mem.h"
#include "sandbox/base/str.h"
#include "tests/lib/check.h"

static struct str shown = { .text = str_empty };
static struct err err;

static const char *show(const char *text, size_t len)
{
	static const char *const kinds[] = { "other", "def", "async", "class" };
	cleanup(pysource_done) struct pysource source = PYSOURCE_INIT;

	str_clear(&shown);
	err = ERR_INIT;
	if (pysource_split("a.py", text, len, &source, &err) < 0)
		return err.text;
	for (size_t i = 0; i < source.count; i++) {
		const struct pysource_block *block = &source.blocks[i];

		for (size_t j = 0; j < block->decorators; j++) {
			const char *name = source.decorators[block->first_decorator + j];

			str_addf(&shown, "@%s ", name ? name : "?");
		}
		str_addf(&shown, "%s", kinds[block->kind]);
		if (block->name)
			str_addf(&shown, " %s", block->name);
		str_addf(&shown, " %zu-%zu", block->line, block->last_line);
		str_addf(&shown, " [%.*s]\n", (int) (block->to - block->from), text + block->from);
	}
	return shown.text;
}

static const char *blocks(const char *text)
{
	return show(text, strlen(text));
}

TEST(each_statement_is_a_block_with_its_decorators_and_body)
{
	CHECK_STR(blocks("import a\n\n# b\n@c\n# d\n@e.f(1)\ndef g(\n):\n  h\n\n  i # j\n# k\nl"),
		  "other 1-1 [import a\n]\n"
		  "@c @e.f def g 4-11 [@c\n# d\n@e.f(1)\ndef g(\n):\n  h\n\n  i # j\n]\n"
		  "other 13-13 [l]\n");
	CHECK_STR(blocks("async def a(): pass\nclass B: pass\nasync with c: d\n"),
		  "async a 1-1 [async def a(): pass\n]\nclass B 2-2 [class B: pass\n]\n"
		  "other 3-3 [async with c: d\n]\n");
	CHECK_STR(blocks("a; b; def_ = 1\n"), "other 1-1 [a; b; def_ = 1\n]\n");
	CHECK_STR(blocks("# nothing\n"), "");
	CHECK_STR(show(NULL, 0), "");
}

TEST(branches_belong_to_the_statement_that_they_go_on_with)
{
	CHECK_STR(blocks("if a:\n  b\nelif c:\n  d\nelse: e\nf\n"),
		  "other 1-5 [if a:\n  b\nelif c:\n  d\nelse: e\n]\nother 6-6 [f\n]\n");
	CHECK_STR(blocks("try:\n  def a(): 1\nexcept b:\n  c\n# d\nfinally:\n  e\n"),
		  "other 1-7 [try:\n  def a(): 1\nexcept b:\n  c\n# d\nfinally:\n  e\n]\n");
	CHECK_STR(blocks("elsewhere = 1\n"), "other 1-1 [elsewhere = 1\n]\n");
}

TEST(decorators_are_dotted_names_called_or_not)
{
	CHECK_STR(blocks("@ a . b # c\n@d.e(f, (g))\n@h[1]\n@(i)\n@j()()\n@k().l\n@m.\n@\xc3\xa4\n"
			 "def n(): pass\n"),
		  "@a.b @d.e @? @? @? @? @? @? def n 1-9 [@ a . b # c\n@d.e(f, (g))\n@h[1]\n"
		  "@(i)\n@j()()\n@k().l\n@m.\n@\xc3\xa4\ndef n(): pass\n]\n");
	CHECK_STR(blocks("@a(\n  b,\n  'x\\\n')\nclass C: pass"),
		  "@a class C 1-5 [@a(\n  b,\n  'x\\\n')\nclass C: pass]\n");
}

TEST(strings_and_brackets_hide_what_looks_like_statements)
{
	CHECK_STR(blocks("a = '''\ndef b(): pass\n'''\nc = [\ndef_,\n]\nd = \\\ne\n"),
		  "other 1-3 [a = '''\ndef b(): pass\n'''\n]\nother 4-6 [c = [\ndef_,\n]\n]\n"
		  "other 7-8 [d = \\\ne\n]\n");
	CHECK_STR(blocks("def a():\n  '''\nb = 1\n'''\n"),
		  "def a 1-4 [def a():\n  '''\nb = 1\n'''\n]\n");
}

TEST(all_line_breaks_and_form_feeds_count_as_python_counts_them)
{
	CHECK_STR(blocks("a\r\ndef b():\r\n\tc\r\n"),
		  "other 1-1 [a\r\n]\ndef b 2-3 [def b():\r\n\tc\r\n]\n");
	CHECK_STR(blocks("a # b\rdef c(): 1\r"), "other 1-1 [a # b\r]\ndef c 2-2 [def c(): 1\r]\n");
	CHECK_STR(blocks("\fa\n \fb\n"), "other 1-1 [\fa\n]\nother 2-2 [ \fb\n]\n");
	CHECK_STR(blocks("\xef\xbb\xbfx\n"), "other 1-1 [x\n]\n");
	CHECK_STR(blocks("\xff = 1\n"), "other 1-1 [\xff = 1\n]\n");
}

TEST(a_file_that_can_not_be_cut_is_an_error_with_its_line)
{
	CHECK_STR(blocks("a\n'b\n"), "a.py:2: a string is not closed on its line");
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_STR(blocks("f(\n"), "a.py:1: a bracket is not closed");
	CHECK_STR(show("a\r\nb\r'\0'\n", 10), "a.py:3: there is a zero byte");
	CHECK_STR(blocks("a\n@b\n"), "a.py:2: a decorator is in front of no function or class");
	CHECK_STR(blocks("@b\nc\n"), "a.py:2: a decorator is in front of no function or class");
	CHECK_STR(blocks("@b\n  c\n"), "a.py:2: the line belongs to no statement");
	CHECK_STR(blocks("  c\n"), "a.py:1: the line belongs to no statement");
	CHECK_STR(blocks("else: c\n"), "a.py:1: the line belongs to no statement");
	CHECK_STR(blocks("def a(): b\nelse: c\n"), "a.py:2: the line belongs to no statement");
}

static void check_filled(size_t size, const char *piece, const char *want)
{
	char *text = mem_alloc(size + 1, 1);

	for (size_t i = 0; i < size; i++)
		text[i] = piece[i % strlen(piece)];
	if (want)
		CHECK_STR(show(text, size), want);
	else
		CHECK(strncmp(show(text, size), "a.py", 4) != 0);
	mem_free(&text);
}

TEST(more_than_the_limits_is_an_error)
{
	check_filled(PYSOURCE_BYTES_MAX, "#", NULL);
	check_filled(PYSOURCE_BYTES_MAX + 1, "#", "a.py:1: the file has more than 4 MiB");
	check_filled((size_t) PYSOURCE_BLOCKS_MAX * 2, "a\n", NULL);
	check_filled((size_t) PYSOURCE_BLOCKS_MAX * 2 + 2, "a\n",
		     "a.py:65537: there are more than 65536 statements");
	check_filled((size_t) PYSOURCE_BLOCKS_MAX * 3 + 3, "@a\n",
		     "a.py:1: there are more than 65536 decorators");
}

TEST(a_failure_leaves_nothing_behind)
{
	struct pysource source = PYSOURCE_INIT;

	CHECK_INT(pysource_split("a.py", "a\n(", 3, &source, &err), -1);
	CHECK(!source.bytes && !source.blocks);
	pysource_done(&source);
}

static bool is_ascii(const char *text)
{
	return pysource_is_ascii(text, strlen(text));
}

TEST(an_encoding_that_is_not_ascii_is_seen)
{
	CHECK(is_ascii("") && is_ascii("a\n") && is_ascii("# -*- coding: utf-8 -*-\n"));
	CHECK(is_ascii("#!/usr/bin/python\n# vim: set fileencoding=Latin_1 :\n"));
	CHECK(!is_ascii("# coding: utf-7\n"));
	CHECK(!is_ascii("\xef\xbb\xbf \t# x coding=unicode_escape"));
	CHECK(!is_ascii("#a\r# coding: utf-16\n"));
	CHECK(!is_ascii("\r\n# coding: a-name-that-is-longer-than-all\n"));
	/* Python does not look there. */
	CHECK(is_ascii("a\n# coding: utf-7\n") && is_ascii("#\n#\n# coding: utf-7\n"));
	CHECK(is_ascii("a = 1 # coding: utf-7\n") && is_ascii("# coding utf-7\n# coding:\n"));
}
