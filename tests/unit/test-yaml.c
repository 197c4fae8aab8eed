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

/* What an author's slip looks like, and that the message says where it is and what to do. */
TEST(what_is_no_yaml_is_named_with_its_line_and_a_way_out)
{
	static const struct {
		const char *text, *where, *way_out;
	} cases[] = {
		{ "a: [\n", "x.yaml:2: ", "(a bracket does not close, or a value is missing)" },
		{ "a: [1, 2\nb: 3\n", "x.yaml:2: ", "(a bracket does not close, or a comma" },
		{ "a: {b: 1\nc: 3\n", "x.yaml:2: ", "(a bracket does not close, or a comma" },
		{ "a: 1\nb:\n\t- c\n", "x.yaml:3: ", "(indent with blanks: a tab can not)" },
		{ "ä: 'äöü'\nb:\n\tc: 1\n", "x.yaml:3: ", "(indent with blanks: a tab can not)" },
		{ "a:\n  b: 1\n\tc: 2\n", "x.yaml:3: ", "(indent with blanks: a tab can not)" },
		{ "a: b: c\n", "x.yaml:1: ", "(quote a text that holds ': '" },
		{ "a: 1\nb: 2\n c: 3\n", "x.yaml:3: ", "(quote a text that holds ': '" },
		{ "a: 1\n  b\nc\n", "x.yaml:4: ", "(a key is followed by ': ')" },
		{ "a: 'x\nb: 2\n", "that begins in line 1", "(a quote does not close)" },
		{ "a: \"x\nb: 2\n", "x.yaml:3: ", "(a quote does not close)" },
		{ "a: @b\n", "x.yaml:1: ", "(quote a text that begins with @, ` or %)" },
		{ "a: *\n", "x.yaml:1: ", "(quote a text that begins with * or &)" },
		{ "a: \"\\d\"\n", "x.yaml:1: ", "(single quotes take a \\ as it is)" },
		{ "- a\nb: 1\n", "x.yaml:2: ", "(items of one list stand in one column)" },
		{ "a: - b\n", "x.yaml:1: ", "(a '-' of a list stands on a line of its own)" },
		{ "a:\n    b: 1\n  c: 2\n", "x.yaml:3: ", "(keys and items of one level" },
		{ "%YAML 9.9\n---\na: 1\n", "x.yaml:1: ", "(see proctor-task(5) " },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup(arena_done) struct arena arena = ARENA_INIT;
		struct err err;

		CHECK(!parse(&arena, cases[i].text, &err));
		if (!strstr(err.text, "this is not valid YAML") ||
		    !strstr(err.text, cases[i].where) || !strstr(err.text, cases[i].way_out))
			check_fail(__FILE__, __LINE__, "'%s' gives: %s", cases[i].text, err.text);
		CHECK_INT(err.kind, ERR_INPUT);
	}
}

TEST(what_is_no_text_is_named_with_line_and_byte)
{
	static const struct {
		const char *text;
		size_t len;
		const char *error;
	} cases[] = {
		{ "a: 1\nb: \0\n", 10,
		  "x.yaml:2: byte 8 is the control character 0x00; remove it" },
		{ "a: 1\n\n\x1b[2J\n", 11,
		  "x.yaml:3: byte 6 is the control character 0x1b; remove it" },
		{ "a: \x7f\n", 5, "x.yaml:1: byte 3 is the control character 0x7f; remove it" },
		{ "a: \xff\n", 5,
		  "x.yaml:1: byte 3: invalid leading UTF-8 octet; the file has to be UTF-8 text" },
		{ "a: 1\nb: \xc3(\n", 11,
		  "x.yaml:2: byte 9: invalid trailing UTF-8 octet; the file has to be UTF-8 "
		  "text" },
		{ "a: \xed\xa0\x80\n", 7,
		  "x.yaml:1: byte 3: invalid Unicode character; the file has to be UTF-8 text" },
		{ "a: \xc0\x80\n", 6,
		  "x.yaml:1: byte 3: invalid length of a UTF-8 sequence; the file has to be UTF-8 "
		  "text" },
		{ "a: \xe2\x82", 5,
		  "x.yaml:1: byte 3: incomplete UTF-8 octet sequence; the file has to be UTF-8 "
		  "text" },
		{ "\377\376a\0:\0", 6, "x.yaml: this is UTF-16; save it as UTF-8" },
		{ "\376\377\0a\0:", 6, "x.yaml: this is UTF-16; save it as UTF-8" },
		{ "\177ELF\2\1\1\0", 8,
		  "x.yaml:1: byte 0 is the control character 0x7f; remove it" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup(arena_done) struct arena arena = ARENA_INIT;
		struct err err = ERR_INIT;

		CHECK(!yaml_parse(&arena, "x.yaml", cases[i].text, cases[i].len, &err));
		CHECK_STR(err.text, cases[i].error);
		CHECK_INT(err.kind, ERR_INPUT);
	}
}

TEST(files_of_other_systems_are_read_with_the_same_lines)
{
	static const char *const texts[] = {
		"a: 1\r\nb: [2,\r\n  3]\r\nc: |\r\n  d\r\n",
		"\357\273\277a: 1\nb: [2,\n  3]\nc: |\n  d\n",
		"---\na: 1\nb: [2,\n  3]\nc: |\n  d\n...\n",
		"a:\t1\nb:\t[2,\n  3]\t# tabs between words\nc: |\n  d\n",
		"a: 1\nb: [2,\n  3]\nc: |\n  d",
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		cleanup(arena_done) struct arena arena = ARENA_INIT;
		struct err err;
		const struct yaml_node *root = parse(&arena, texts[i], &err);
		int first = *texts[i] == '-' ? 2 : 1;

		if (!root)
			check_fail(__FILE__, __LINE__, "'%s': %s", texts[i], err.text);
		CHECK_INT(root->count, 3);
		CHECK_STR(yaml_find(root, "a")->text, "1");
		CHECK_INT(yaml_find(root, "b")->key_line, first + 1);
		CHECK_STR(yaml_find(root, "b")->first->next->text, "3");
		CHECK_INT(yaml_find(root, "b")->first->next->line, first + 2);
		CHECK_INT(yaml_find(root, "c")->key_line, first + 3);
		CHECK(strncmp(yaml_find(root, "c")->text, "d", 1) == 0);
	}
}

/* Nine lists of nine aliases each: 9^9 values, if anybody followed them. */
TEST(a_bomb_of_aliases_is_refused_at_its_first_anchor)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(text_done) struct str text = STR_INIT;
	struct err err;

	str_addf(&text, "a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
	for (int i = 1; i < 9; i++) {
		str_addf(&text, "a%d: &a%d [", i, i);
		for (int k = 0; k < 9; k++)
			str_addf(&text, "*a%d,", i - 1);
		str_addf(&text, "]\n");
	}
	CHECK(!parse(&arena, text.text, &err));
	CHECK_STR(err.text, "x.yaml:1: the anchor 'a0' is not allowed; write the value out");
	CHECK(!parse(&arena, "a: 1\n<<: *b\n", &err));
	CHECK_STR(err.text, "x.yaml:2: the alias 'b' is not allowed; write the value out");
}

/* Each nests, or makes the parser look ahead, in its own way. */
TEST(whatever_nests_without_end_is_refused)
{
	static const char *const units[] = {
		"[", "{", "{a: ", "- ", "? ", "[{", "a: [", "\"a\": {"
	};

	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		cleanup(arena_done) struct arena arena = ARENA_INIT;
		cleanup(text_done) struct str text = STR_INIT;
		struct err err;

		while (text.len + strlen(units[i]) <= yaml_limits.bytes)
			str_addf(&text, "%s", units[i]);
		CHECK(!parse(&arena, text.text, &err));
		CHECK_INT(err.kind, ERR_INPUT);
		CHECK(strncmp(err.text, "x.yaml:1: ", 10) == 0);
	}
}

TEST(a_long_path_leaves_room_for_the_mistake)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(text_done) struct str path = STR_INIT;
	struct err err = ERR_INIT;

	for (int i = 0; i < 400; i++)
		str_addf(&path, "folder%d/", i);
	str_addf(&path, "x\x1b.yaml");
	CHECK(!yaml_parse(&arena, path.text, "a: &b 1\n", 8, &err));
	CHECK(strncmp(err.text, "…", strlen("…")) == 0);
	CHECK(strstr(err.text, "/folder399/x\\x1b.yaml:1: the anchor 'b' is not allowed; write"));
}
