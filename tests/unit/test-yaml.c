/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/yaml.h"

#include <string.h>

#include "sandbox/base/str.h"
#include "tests/lib/check.h"

static const struct yaml_node *parse(struct arena *arena, const char *text, struct err *err)
{
	*err = ERR_INIT;
	return yaml_parse(arena, "x.yaml", text, strlen(text), err);
}

TEST(a_file_becomes_a_tree_with_lines_and_columns)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	const struct yaml_node *root, *list, *item;

	root = parse(&arena, "# a comment\na: 1\nb:\n  - 'x y'\n  - {c: z}\n", &err);
	CHECK(root);
	CHECK_INT(root->kind, YAML_MAP);
	CHECK_INT(root->count, 2);
	CHECK_STR(yaml_find(root, "a")->text, "1");
	CHECK_INT(yaml_find(root, "a")->line, 2);
	CHECK_INT(yaml_find(root, "a")->column, 4);
	CHECK(!yaml_find(root, "a")->quoted);
	list = yaml_find(root, "b");
	CHECK_INT(list->kind, YAML_LIST);
	CHECK_INT(list->key_line, 3);
	item = list->first;
	CHECK_STR(item->text, "x y");
	CHECK_STR(item->key, "b");
	CHECK(item->quoted);
	CHECK_STR(yaml_find(item->next, "c")->text, "z");
	CHECK_INT(yaml_find(item->next, "c")->line, 5);
	CHECK(!yaml_find(root, "c"));
}

TEST(what_the_format_does_not_have_is_refused_by_name)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "", "x.yaml: the file is empty" },
		{ "# nothing\n", "x.yaml: the file is empty" },
		{ "a: &x 1\n", "x.yaml:1: the anchor 'x' is not allowed; write the value out" },
		{ "a: 1\nb: *x\n", "x.yaml:2: the alias 'x' is not allowed; write the value out" },
		{ "a: !!str 1\n",
		  "x.yaml:1: the tag 'tag:yaml.org,2002:str' is not allowed; write the value out" },
		{ "a: !!map {}\n",
		  "x.yaml:1: the tag 'tag:yaml.org,2002:map' is not allowed; write the value out" },
		{ "a: [&y b]\n", "x.yaml:1: the anchor 'y' is not allowed; write the value out" },
		{ "a: 1\nb: 2\na: 3\n",
		  "x.yaml:3: key 'a' is given twice; the first is in line 1" },
		{ "a: {b: 1,\n b: 2}\n",
		  "x.yaml:2: key 'b' is given twice; the first is in line 1" },
		{ "? [a]\n: 1\n", "x.yaml:1: a key has to be a plain word" },
		{ "a: 1\n---\nb: 1\n",
		  "x.yaml:2: a second document starts here; a file holds one" },
		{ "a: \"x\\0y\"\n", "x.yaml:1: a text may not hold a zero byte" },
		{ "a: [\n",
		  "x.yaml:2: this is not valid YAML: did not find expected node content while "
		  "parsing a flow node" },
		{ "a:\n\t- b\n",
		  "x.yaml:2: this is not valid YAML: found character that cannot start any token "
		  "while scanning for the next token" },
		{ "a: \xff\n", "x.yaml: byte 3: invalid leading UTF-8 octet (the file has to be "
			       "UTF-8 text)" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup(arena_done) struct arena arena = ARENA_INIT;
		struct err err;

		CHECK(!parse(&arena, cases[i].text, &err));
		CHECK_STR(err.text, cases[i].error);
		CHECK_INT(err.kind, ERR_INPUT);
	}
}

static void text_done(struct str *text)
{
	str_done(text);
}

TEST(a_file_as_deep_as_allowed_is_read_and_a_deeper_one_is_not)
{
	for (size_t extra = 0; extra < 2; extra++) {
		cleanup(arena_done) struct arena arena = ARENA_INIT;
		cleanup(text_done) struct str text = STR_INIT;
		struct err err;
		size_t depth = yaml_limits.depth + extra;

		for (size_t i = 0; i < depth; i++)
			str_addf(&text, "[");
		for (size_t i = 0; i < depth; i++)
			str_addf(&text, "]");
		CHECK_INT(parse(&arena, text.text, &err) != NULL, extra == 0);
		if (extra)
			CHECK_STR(err.text, "x.yaml:1: values are nested more than 12 deep");
	}
}

TEST(a_file_with_as_many_values_as_allowed_is_read_and_one_more_is_not)
{
	for (size_t extra = 0; extra < 2; extra++) {
		cleanup(arena_done) struct arena arena = ARENA_INIT;
		cleanup(text_done) struct str text = STR_INIT;
		struct err err;

		/* The list itself is a value too. */
		for (size_t i = 1; i < yaml_limits.nodes + extra; i++)
			str_addf(&text, "- a\n");
		CHECK_INT(parse(&arena, text.text, &err) != NULL, extra == 0);
		if (extra)
			CHECK_STR(err.text, "x.yaml:4096: the file holds more than 4096 values");
	}
}

TEST(a_file_as_large_as_allowed_is_read_and_a_larger_one_is_not)
{
	for (size_t extra = 0; extra < 2; extra++) {
		cleanup(arena_done) struct arena arena = ARENA_INIT;
		cleanup(text_done) struct str text = STR_INIT;
		struct err err;

		str_addf(&text, "a: %*d", (int) (yaml_limits.bytes + extra - 3), 1);
		CHECK_INT(text.len, yaml_limits.bytes + extra);
		CHECK_INT(parse(&arena, text.text, &err) != NULL, extra == 0);
		if (extra)
			CHECK_STR(err.text, "x.yaml: the file is larger than 262144 bytes");
	}
}

TEST(brackets_without_end_are_refused_at_once)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(text_done) struct str text = STR_INIT;
	struct err err;

	for (size_t i = 0; i < yaml_limits.bytes; i++)
		str_addf(&text, "[");
	CHECK(!parse(&arena, text.text, &err));
	CHECK_STR(err.text, "x.yaml:1: values are nested more than 12 deep");
}

TEST(an_error_about_a_value_names_file_line_and_key)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct err err;
	const struct yaml_node *root = parse(&arena, "a: 1\nb: [2,\n  3]\n", &err);

	CHECK(root);
	CHECK_INT(yaml_err(yaml_find(root, "b")->first->next, &err, "'%d' is odd", 3), -1);
	CHECK_STR(err.text, "x.yaml:3: key 'b': '3' is odd");
}

TEST(a_value_is_shown_escaped_and_cut)
{
	char room[YAML_SHOWN];

	CHECK_STR(yaml_shown("a\x1b[2Jb", room), "a\\x1b[2Jb");
	CHECK_STR(yaml_shown("123456789012345678901234567890123456789012345678901234567890", room),
		  "123456789012345678901234567890123456789012345678901234567890");
	CHECK_STR(yaml_shown("1234567890123456789012345678901234567890123456789012345678901", room),
		  "123456789012345678901234567890123456789012345678901234567890…");
	/* Not in the middle of a character. */
	CHECK_STR(yaml_shown("12345678901234567890123456789012345678901234567890123456789ää", room),
		  "12345678901234567890123456789012345678901234567890123456789…");
}
