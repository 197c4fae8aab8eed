/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pyyaml.h"

#include <string.h>

#include "harness/aka/pyjson.h"
#include "tests/lib/check.h"

static void dumps(const char *json_text, const char *yaml)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(str_done) struct str out = STR_INIT;
	struct err err = ERR_INIT;
	struct pyjson json;

	CHECK_OK(pyjson_parse(&json, &arena, json_text, strlen(json_text), &err));
	pyyaml_dump(&out, json.root);
	CHECK_STR(out.text, yaml);
}

TEST(lists_stand_under_their_key_and_dictionaries_are_indented)
{
	dumps("{\"a\":[1,[2,[]],{\"b\":{},\"c\":[3]}],\"d\":{\"e\":[null,true]}}",
	      "a:\n- 1\n- - 2\n  - []\n- b: {}\n  c:\n  - 3\nd:\n  e:\n  - null\n  - true\n");
	dumps("{}", "{}\n");
}

TEST(texts_are_quoted_where_they_have_to_be)
{
	dumps("{\"a\":\"it's\",\"b\":\"it's: "
	      "x\",\"c\":\"\\u00e9\\n\\u0000\\ud83d\\ude00\",\"1\":\"\"}",
	      "a: it's\nb: 'it''s: x'\nc: \"\\xE9\\n\\0\\U0001F600\"\n'1': ''\n");
}

TEST(long_lines_are_folded_at_spaces)
{
	cleanup(str_done) struct str json = STR_INIT;
	const char *word = "0123456789 0123456789 0123456789 0123456789 ";

	str_addf(&json, "{\"a\":\"%s%sx\",\"b\":\"%s%s:\",\"c\":\"%s%s\\t\"}", word, word, word,
		 word, word, word);
	dumps(json.text,
	      "a: 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 "
	      "0123456789\n  x\n"
	      "b: '0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 "
	      "0123456789\n  :'\n"
	      "c: \"0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 "
	      "0123456789\\\n  \\ \\t\"\n");
}

TEST(several_lines_are_in_single_quotes_with_empty_lines_between)
{
	dumps("{\"a\":\"Failed\\nSTDOUT:\\n\\nx\\n\"}",
	      "a: 'Failed\n\n  STDOUT:\n\n\n  x\n\n  '\n");
}

TEST(keys_that_do_not_fit_a_line_are_marked)
{
	dumps("{\"a\\nb\":1,\"\":[2]}", "? 'a\n\n  b'\n: 1\n? ''\n: - 2\n");
}

TEST(what_is_there_twice_has_an_anchor)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(str_done) struct str out = STR_INIT;
	struct pyvalue *root = pyvalue_new(&arena, PYVALUE_DICT);
	struct pyvalue *list = pyvalue_new(&arena, PYVALUE_LIST);
	struct pyvalue *empty = pyvalue_new(&arena, PYVALUE_DICT);

	pyvalue_append(&arena, list, pyvalue_new_int(&arena, 1));
	pyvalue_put(&arena, root, "a", list);
	pyvalue_put(&arena, root, "b", empty);
	pyvalue_put(&arena, root, "c", empty);
	pyvalue_put(&arena, root, "d", list);
	pyyaml_dump(&out, root);
	CHECK_STR(out.text, "a: &id002\n- 1\nb: &id001 {}\nc: *id001\nd: *id002\n");
}
