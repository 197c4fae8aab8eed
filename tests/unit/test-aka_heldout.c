/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_heldout.h"

#include <string.h>

#include "tests/lib/check.h"

static struct aka_heldout heldout = AKA_HELDOUT_INIT;
static struct err err;

static int parse(const char *text)
{
	err = ERR_INIT;
	return aka_heldout_parse("held_out_shapes.yaml", text, strlen(text), &heldout, &err);
}

static void check_refused(const char *text, const char *want)
{
	CHECK_INT(parse(text), -1);
	CHECK_STR(err.text, want);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_INT(heldout.count, 0);
}

#define FILE_OF(marker, rest)                                                               \
	"injections:\n- file: a.py\n  find_marker: " marker "\n  replacement_code: |\n    " \
	"x\n" rest

TEST(a_file_of_held_out_shapes_is_read)
{
	CHECK_OK(parse(
		"task_type: hip2hip\n"
		"num_original_shapes: 11\n"
		"init_constraints:\n  features: 4\n"
		"injections:\n"
		"- file: pytorch_code_module/a.py\n"
		"  find_marker: 'def get_inputs():'\n"
		"  replacement_code: |\n    def get_inputs():\n        return 1\n"
		"- {file: b.py, find_marker: raw_replace, old_code: '1', replacement_code: ''}\n"
		"- {file: c.py, find_marker: TEST_SHAPES, replacement_code: x, why: not}\n"
		"generated_by: somebody\n"));
	CHECK_STR(heldout.task_type, "hip2hip");
	CHECK_INT(heldout.shape_count, 11);
	CHECK_STR(yaml_find(heldout.init_constraints, "features")->text, "4");
	CHECK_INT(heldout.count, 3);
	CHECK_STR(heldout.injections[0].file, "pytorch_code_module/a.py");
	CHECK_INT(heldout.injections[0].marker, AKA_MARKER_INPUTS);
	CHECK_STR(heldout.injections[0].replacement, "def get_inputs():\n    return 1\n");
	CHECK_INT(heldout.injections[1].marker, AKA_MARKER_RAW);
	CHECK_STR(heldout.injections[1].old_code, "1");
	CHECK_STR(heldout.injections[1].replacement, "");
	CHECK_INT(heldout.injections[2].marker, AKA_MARKER_SHAPES);
	CHECK(aka_heldout_changes(&heldout, "b.py") && !aka_heldout_changes(&heldout, "d.py"));
	aka_heldout_done(&heldout);
}

TEST(injections_alone_do)
{
	CHECK_OK(parse("num_original_shapes: five\n" FILE_OF("TEST_SHAPES", "")));
	CHECK(!heldout.task_type && !heldout.init_constraints);
	CHECK_INT(heldout.shape_count, 0);
}

TEST(without_injections_there_is_nothing_to_do)
{
	check_refused("task_type: a\n", "held_out_shapes.yaml:1: the key 'injections' is missing");
	check_refused("injections: []\n", "held_out_shapes.yaml:1: key 'injections': it is empty: "
					  "nothing would be held out");
	check_refused("injections:\n", "held_out_shapes.yaml:1: key 'injections': it is empty: "
				       "nothing would be held out");
	check_refused("- a\n", "held_out_shapes.yaml:1: the file has to be a mapping of keys such "
			       "as injections");
}

TEST(what_an_injection_lacks_is_told_with_its_line)
{
	check_refused("injections:\n- file: a.py\n  find_marker: TEST_SHAPES\n",
		      "held_out_shapes.yaml:2: key 'injections': the key 'replacement_code' is "
		      "missing");
	check_refused("injections:\n- find_marker: TEST_SHAPES\n",
		      "held_out_shapes.yaml:2: key 'injections': the key 'file' is missing");
	check_refused(FILE_OF("raw_replace", ""),
		      "held_out_shapes.yaml:2: key 'injections': the key 'old_code' is missing");
	check_refused(FILE_OF("raw_replace", "  old_code: ''\n"),
		      "held_out_shapes.yaml:6: key 'old_code': it is empty, and raw_replace looks "
		      "for it");
	check_refused("injections: [a]\n",
		      "held_out_shapes.yaml:1: key 'injections': a mapping of file, find_marker "
		      "and replacement_code is meant, not a text");
}

TEST(other_markers_and_values_are_refused)
{
	check_refused(FILE_OF("SHAPES", ""), "held_out_shapes.yaml:3: key 'find_marker': 'SHAPES' "
					     "is none of TEST_SHAPES, def get_inputs, raw_replace");
	check_refused("injections:\n- file: a.py\n  find_marker: TEST_SHAPES\n  replacement_code: "
		      "12\n",
		      "held_out_shapes.yaml:4: key 'replacement_code': '12' is a number and no "
		      "text; write it as a block: replacement_code: |");
	check_refused("injections:\n- file: a.py\n  find_marker: TEST_SHAPES\n  replacement_code: "
		      "[1]\n",
		      "held_out_shapes.yaml:4: key 'replacement_code': a text is meant, not a "
		      "list");
}

TEST(no_injection_leads_out_of_the_workspace)
{
	check_refused("injections:\n- {file: ../a.py, find_marker: TEST_SHAPES, replacement_code: "
		      "x}\n",
		      "held_out_shapes.yaml:2: key 'file': '../a.py' is not a path in the task's "
		      "folder: relative, without . and ..");
	CHECK_INT(parse("injections:\n- {file: /etc/passwd, find_marker: TEST_SHAPES, "
			"replacement_code: x}\n"),
		  -1);
}

TEST(there_are_at_most_so_many_injections)
{
	struct str text = STR_INIT;

	str_addf(&text, "injections:\n");
	for (int i = 0; i <= AKA_HELDOUT_INJECTIONS_MAX; i++)
		str_addf(&text, "- {file: a, find_marker: TEST_SHAPES, replacement_code: x}\n");
	CHECK_INT(parse(text.text), -1);
	CHECK_STR(err.text, "held_out_shapes.yaml:2: key 'injections': it has more than 64 items");
	str_done(&text);
}

TEST(a_file_gets_all_of_its_own_in_their_order)
{
	static const char text[] = "TEST_SHAPES = [1]\r\nx = 1\n";
	struct str out = STR_INIT;

	CHECK_OK(parse("injections:\n"
		       "- {file: a.py, find_marker: TEST_SHAPES, replacement_code: 'TEST_SHAPES = "
		       "[2]'}\n"
		       "- {file: b.py, find_marker: raw_replace, old_code: none, replacement_code: "
		       "y}\n"
		       "- {file: a.py, find_marker: raw_replace, old_code: '[2]', "
		       "replacement_code: '[3]'}\n"));
	CHECK_INT(aka_heldout_apply(&out, &heldout, "a.py", text, strlen(text)), AKA_INJECTED);
	CHECK_STR(out.text, "TEST_SHAPES = [3]\nx = 1\n");
	str_clear(&out);
	CHECK_INT(aka_heldout_apply(&out, &heldout, "b.py", text, strlen(text)),
		  AKA_INJECT_NO_OLD_CODE);
	CHECK_INT(out.len, 0);
	CHECK_INT(aka_heldout_apply(&out, &heldout, "c.py", text, strlen(text)), AKA_INJECTED);
	CHECK_STR(out.text, text);
	str_done(&out);
}
