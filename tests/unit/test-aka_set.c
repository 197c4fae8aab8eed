/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_set.h"

#include <string.h>

#include "tests/lib/check.h"

static struct arena arena;
static struct argv names;
static struct err err;

static const char *parse(const char *text)
{
	cleanup(str_done) struct str out = STR_INIT;

	if (aka_set_parse("my.list", text, strlen(text), &arena, &names, &err) < 0)
		return err.text;
	for (size_t i = 0; i < names.count; i++)
		str_addf(&out, "%s ", names.items[i]);
	return arena_copy(&arena, out.text, out.len);
}

/* How many names of a shipped set begin so. */
static int count(const char *set, const char *prefix)
{
	size_t len, found = 0;
	const char *text = aka_set_shipped(set, &len);

	CHECK(text);
	CHECK_OK(aka_set_parse(set, text, len, &arena, &names, &err));
	for (size_t i = 0; i < names.count; i++)
		found += strncmp(names.items[i], prefix, strlen(prefix)) == 0;
	return (int) found;
}

TEST(the_papers_set_has_the_papers_numbers)
{
	CHECK_INT(count("paper-196", ""), 196);
	CHECK_INT(count("paper-196", "hip2hip/gpumode/"), 24);
	CHECK_INT(count("paper-196", "triton2triton/vllm/"), 118);
	CHECK_INT(count("paper-196", "triton2triton/rocmbench/"), 30);
	CHECK_INT(count("paper-196", "torch2hip/gpumode/"), 24);
}

TEST(the_curated_set_has_the_numbers_of_its_run_configuration)
{
	CHECK_INT(count("curated-60", ""), 60);
	CHECK_INT(count("curated-60", "hip2hip/gpumode/"), 18);
	CHECK_INT(count("curated-60", "hip2hip/others/"), 2);
	CHECK_INT(count("curated-60", "triton2triton/vllm/"), 10);
	CHECK_INT(count("curated-60", "triton2triton/rocmbench/"), 10);
	CHECK_INT(count("curated-60", "torch2hip/"), 10);
	CHECK_INT(count("curated-60", "instruction2triton/"), 10);
}

TEST(shipped_sets_are_known_by_name_alone)
{
	struct str known = STR_INIT;
	size_t len;

	CHECK(!aka_set_shipped("paper", &len));
	CHECK(!aka_set_shipped("", &len));
	aka_set_names(&known);
	CHECK_STR(known.text, "curated-60, paper-196");
	str_done(&known);
}

TEST(comments_and_blank_lines_do_not_count)
{
	CHECK_STR(parse("# one\n\n a/b \t# why\r\nc/d\n"), "a/b c/d ");
	CHECK_STR(parse("a/b"), "a/b ");
}

TEST(a_set_names_at_least_one_task_and_none_twice)
{
	CHECK_STR(parse(""), "my.list: it names no task");
	CHECK_STR(parse("# a\n"), "my.list: it names no task");
	CHECK_STR(parse("a\nb\na\n"), "my.list:3: 'a' is there twice");
	CHECK_STR(parse("a\n../b\n"),
		  "my.list:2: '../b' is no name of a task, such as hip2hip/gpumode/GELU");
	CHECK(aka_set_parse("my.list", "a\0b", 3, &arena, &names, &err) < 0);
	CHECK_STR(err.text, "my.list: it has a zero byte");
}
