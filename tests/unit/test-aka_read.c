/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_read.h"

#include <string.h>

#include "sandbox/base/str.h"
#include "tests/lib/check.h"

static struct arena arena;
static struct err err;

static const struct yaml_node *root(const char *text)
{
	const struct yaml_node *node = yaml_parse(&arena, "f", text, strlen(text), &err);

	CHECK(node);
	return node;
}

TEST(absent_and_null_leave_the_default)
{
	const struct yaml_node *map = root("a: null\nb: ~\n");
	const char *text = "default";
	struct argv list = { NULL, 7 };
	uint64_t seconds = 5;
	size_t word = 3;

	CHECK_OK(aka_read_text(map, "a", &text, &err));
	CHECK_OK(aka_read_path(map, "c", &text, &err));
	CHECK_OK(aka_read_texts(map, "b", &arena, &list, &err));
	CHECK_OK(aka_read_seconds(map, "a", &seconds, &err));
	CHECK_OK(aka_read_word(map, "a", (const char *const[]){ "x", NULL }, &word, &err));
	CHECK_STR(text, "default");
	CHECK_INT(list.count, 7);
	CHECK_INT(seconds, 5);
	CHECK_INT(word, 3);
	CHECK(aka_read_needed(map, "a", &text, &err) < 0);
	CHECK_STR(err.text, "f:1: key 'a': it has to be a text that is not empty");
	CHECK(aka_read_needed(map, "c", &text, &err) < 0);
	CHECK_STR(err.text, "f:1: the key 'c' is missing");
}

TEST(what_is_no_text_is_told_as_what_it_is)
{
	const struct yaml_node *map = root("a: 1\nb: 1.5\nc: yes\nd: 2026-01-01\ne: {}\nf: []\n");
	static const char *const kinds[] = { "a number", "a number",  "a truth value",
					     "a date",   "a mapping", "a list" };
	const char *key[] = { "a", "b", "c", "d", "e", "f" }, *text = NULL;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		CHECK_STR(aka_read_kind(yaml_find(map, key[i])), kinds[i]);
		CHECK(aka_read_text(map, key[i], &text, &err) < 0);
		CHECK(strstr(err.text, kinds[i]));
		CHECK(!text);
	}
}

TEST(lists_have_an_end)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct argv list = { NULL, 0 };
	const struct yaml_node *node;

	str_addf(&text, "a:\n");
	for (size_t i = 0; i < aka_limits.items; i++)
		str_addf(&text, "- x\n");
	CHECK_OK(aka_read_texts(root(text.text), "a", &arena, &list, &err));
	CHECK_INT(list.count, aka_limits.items);
	CHECK(!list.items[list.count]);
	str_addf(&text, "- x\n");
	CHECK(aka_read_texts(root(text.text), "a", &arena, &list, &err) < 0);
	CHECK_STR(err.text, "f:2: key 'a': it has more than 256 items");
	CHECK(aka_read_list(root("a: b\n"), "a", &node, &err) < 0);
	CHECK_STR(err.text, "f:1: key 'a': 'b' is a plain text; write a list: - b");
}

TEST(texts_have_an_end)
{
	cleanup(str_done) struct str text = STR_INIT;
	const char *out = NULL;

	str_addf(&text, "a: ");
	for (size_t i = 0; i <= aka_limits.text; i++)
		str_addf(&text, "x");
	CHECK(aka_read_text(root(text.text), "a", &out, &err) < 0);
	CHECK(strstr(err.text, "is longer than 16384 bytes"));
}

TEST(an_absolute_path_has_no_slash_at_its_end)
{
	const struct yaml_node *map = root("a: /opt/x//\nb: opt\nc: /\nd: /a/../b\ne: '/a\\b'\n");
	const char *bad[] = { "b", "c", "d", "e" }, *path = NULL;

	CHECK_OK(aka_read_absolute(map, "a", &arena, &path, &err));
	CHECK_STR(path, "/opt/x");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		CHECK(aka_read_absolute(map, bad[i], &arena, &path, &err) < 0);
		CHECK(strstr(err.text, "is not an absolute path without . and .."));
	}
	CHECK(aka_read_absolute(map, "f", &arena, &path, &err) < 0);
	CHECK_STR(path, "/opt/x");
}
