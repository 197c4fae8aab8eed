/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_task_v1.h"

#include <string.h>

#include "sandbox/base/str.h"
#include "tests/lib/check.h"

static struct arena arena;
static struct aka_task task = AKA_TASK_INIT;
static struct err err;

#define COMMANDS                                               \
	"compile_command:\n- python3 run.py compile\n"         \
	"correctness_command:\n- python3 run.py correctness\n" \
	"performance_command:\n- python3 run.py performance\n"
#define TRITON "task_type: triton2triton\nsource_file_path: [k.py]\n" COMMANDS

/* "" or the error. */
static const char *parse(const char *text)
{
	aka_task_done(&task);
	if (aka_task_parse("a/b", text, strlen(text), &task, &err) == 0)
		return "";
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_INT(task.version, 0);
	return err.text;
}

static const char *argv_of(enum aka_step step)
{
	cleanup(str_done) struct str out = STR_INIT;

	for (size_t i = 0; i < task.steps[step].count; i++) {
		struct argv argv = aka_command_plan(&task.steps[step].commands[i], "PY",
						    task.steps[step].extra, &task.arena);

		for (size_t j = 0; j < argv.count; j++)
			str_addf(&out, "%s%s", j > 0 ? " " : "", argv.items[j]);
		str_addf(&out, "\n");
	}
	return arena_copy(&arena, out.text, out.len);
}

/* The paths that may be edited, with their scopes. */
static const char *edits(void)
{
	cleanup(str_done) struct str out = STR_INIT;

	for (size_t i = 0; i < task.edit_count; i++)
		str_addf(&out, "%s%s %s", i > 0 ? ", " : "", task.edits[i].path,
			 names_text(aka_scope_names, (int) task.edits[i].scope));
	return arena_copy(&arena, out.text, out.len);
}

TEST(a_task_is_planned_with_its_baseline)
{
	CHECK_STR(parse(TRITON "target_kernel_functions: [f]\nsource_origin: {date: 2026-06-01}\n"),
		  "");
	CHECK_INT(task.version, 1);
	CHECK_STR(task.name, "a/b");
	CHECK_STR(task.from, "triton");
	CHECK_STR(task.language, "triton");
	CHECK_STR(argv_of(AKA_COMPILE), "PY run.py compile\n");
	CHECK_STR(argv_of(AKA_BASELINE_COMPILE), "PY run.py compile\n");
	CHECK_STR(argv_of(AKA_BASELINE_CORRECTNESS), "");
	CHECK_STR(argv_of(AKA_BASELINE_PERFORMANCE), "PY run.py performance\n");
	CHECK_STR(argv_of(AKA_VALIDATE), "");
	CHECK_INT(task.steps[AKA_CORRECTNESS].wall_s, 3600);
	CHECK_STR(edits(), "k.py file");
	CHECK(!aka_task_is_colocated(&task));
	aka_task_done(&task);
}

TEST(torch2hip_measures_pytorch_and_writes_its_target)
{
	CHECK_STR(parse("task_type: torch2hip\nsource_file_path: [module.py]\n"
			"target_file_path: hip/a.hip\n" COMMANDS),
		  "");
	CHECK_STR(argv_of(AKA_BASELINE_COMPILE), "");
	CHECK_STR(argv_of(AKA_BASELINE_PERFORMANCE), "PY run.py performance --baseline_only\n");
	CHECK_STR(argv_of(AKA_PERFORMANCE), "PY run.py performance\n");
	CHECK_STR(edits(), "hip/a.hip file");
	CHECK_STR(task.from, "torch");
	CHECK_STR(task.language, "hip");
	CHECK_STR(parse("task_type: torch2hip\nsource_file_path: [module.py]\n" COMMANDS),
		  "tasks/a/b/config.yaml:1: the key 'target_file_path' is missing: a torch2hip "
		  "task names the file to write");
}

TEST(hip2hip_has_its_target_once)
{
	CHECK_STR(parse("task_type: hip2hip\nsource_file_path: [a.hip, b.hip]\n"
			"target_file_path: a.hip\n" COMMANDS),
		  "");
	CHECK_STR(edits(), "a.hip file, b.hip file");
}

TEST(of_a_file_that_is_also_run_only_the_functions_are_carried_over)
{
	static const char colocated[] = "compile_command: [python -c \"1\"]\n"
					"correctness_command: [pytest -x k.py -k \"not p\"]\n"
					"performance_command: [pytest -x k.py -k p]\n"
					"target_kernel_functions: ['f, g', h]\n";
	cleanup(str_done) struct str text = STR_INIT;

	str_addf(&text, "task_type: triton2triton\nsource_file_path: [k.py, l.py]\n%s", colocated);
	CHECK_STR(parse(text.text), "");
	CHECK_STR(edits(), "k.py symbols, l.py file");
	CHECK(aka_task_is_colocated(&task));
	CHECK_INT(task.edits[0].symbols.count, 3);
	CHECK_STR(task.edits[0].symbols.items[1], "g");
	CHECK_STR(argv_of(AKA_CORRECTNESS), "PY -m pytest -x k.py -k not p\n");
	str_clear(&text);
	str_addf(&text, "task_type: instruction2triton\nsource_file_path: []\n%s", colocated);
	CHECK_STR(parse(text.text), "");
	CHECK_STR(edits(), "k.py symbols");
	CHECK_STR(task.from, "instruction");
}

TEST(what_is_brought_may_be_edited_as_a_whole)
{
	CHECK_STR(
		parse("task_type: image_kernel\nrepository_language: HIP\n"
		      "image_repo_path: /opt/aiter\nimage_repo_exclude: [__pycache__, jit/build]\n"
		      "source_file_path: [csrc/a.cu]\ncompile_timeout: 1800\n"
		      "performance_timeout: '60'\n" COMMANDS),
		"");
	CHECK_STR(edits(), "aiter tree");
	CHECK_INT(task.brought_count, 1);
	CHECK_STR(task.brought->from, "/opt/aiter");
	CHECK_INT(task.brought->exclude.count, 2);
	CHECK_STR(task.language, "hip");
	CHECK_INT(task.steps[AKA_COMPILE].wall_s, 1800);
	CHECK_INT(task.steps[AKA_BASELINE_COMPILE].wall_s, 1800);
	CHECK_INT(task.steps[AKA_PERFORMANCE].wall_s, 60);

	CHECK_STR(parse("task_type: repository\nrepository_language: triton\n"
			"repo_url: https://example.org/x/rocPRIM.git/\npost_clone_install: a || b\n"
			"post_clone_install_mode: every_setup\n" COMMANDS),
		  "");
	CHECK_STR(edits(), "rocPRIM tree");
	CHECK_INT(task.brought->origin, AKA_ORIGIN_GIT);
	CHECK(!task.brought->revision);
	CHECK_INT(task.setup.count, 1);
	CHECK(task.setup.commands[0].needs_shell);
	CHECK_INT(task.setup.wall_s, 7200);
	CHECK(task.sets_up_each_time);
}

TEST(a_command_that_is_a_plain_text_is_refused)
{
	CHECK_STR(parse("task_type: triton2triton\nsource_file_path: [k.py]\n"
			"compile_command: make\n"),
		  "tasks/a/b/config.yaml:3: key 'compile_command': 'make' is a plain text; write a "
		  "list: - make");
	CHECK_STR(parse("task_type: triton2triton\nsource_file_path: k.py\n"
			"compile_command: []\n"),
		  "tasks/a/b/config.yaml:3: key 'compile_command': it has no command");
	CHECK_STR(parse("task_type: triton2triton\nsource_file_path: k.py\n"
			"compile_command:\n- a\n- b 'c\n"),
		  "tasks/a/b/config.yaml:5: key 'compile_command': the command 'b 'c': a single "
		  "quote does not close");
	CHECK_STR(
		parse("task_type: triton2triton\nsource_file_path: k.py\ncompile_command: [12]\n"),
		"tasks/a/b/config.yaml:3: key 'compile_command': '12' is a number and no text; "
		"quote it");
	CHECK_STR(parse("task_type: triton2triton\nsource_file_path: k.py\n"),
		  "tasks/a/b/config.yaml:1: the key 'compile_command' is missing");
}

TEST(a_text_stands_for_a_list_of_one_elsewhere)
{
	CHECK_STR(parse("task_type: triton2triton\nsource_file_path: k.py\n"
			"target_kernel_functions: f\n" COMMANDS),
		  "");
	CHECK_STR(edits(), "k.py file");
	CHECK_INT(task.functions.count, 1);
}

TEST(values_that_mean_nothing_are_refused_with_their_line)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "task_type: hip3hip\n",
		  ":1: key 'task_type': there is no type 'hip3hip'; the nearest is 'hip2hip'" },
		{ "a: b\n", ":1: the key 'task_type' is missing" },
		{ "- a\n", ":1: the file has to be a mapping of keys such as task_type" },
		{ "task_type: null\n",
		  ":1: key 'task_type': it has to be a text that is not empty" },
		{ "task_type: [hip2hip]\n", ":1: key 'task_type': a text is meant, not a list" },
		{ "task_type: repository\n", ":1: the key 'repository_language' is missing" },
		{ "task_type: hip2hip\nsource_file_path: [../a]\n",
		  ":2: key 'source_file_path': '../a' is not a path in the task's folder: "
		  "relative, without . and .." },
		{ "task_type: hip2hip\nsource_file_path: {a: b}\n",
		  ":2: key 'source_file_path': a list is meant, not a mapping" },
		{ "task_type: hip2hip\ntarget_file_path: /a\n",
		  ":2: key 'target_file_path': '/a' is not a path in the task's folder: relative, "
		  "without . and .." },
		{ TRITON "compile_timeout: 0\n",
		  ":9: key 'compile_timeout': '0' is not a number of seconds, within 1..604800" },
		{ TRITON "correctness_timeout: 1h\n", ":9: key 'correctness_timeout': '1h' is not "
						      "a number of seconds, within 1..604800" },
		{ TRITON "prompt: null\n", ":9: key 'prompt': a mapping is meant, not null" },
		{ TRITON "post_clone_install_mode: never\n",
		  ":9: key 'post_clone_install_mode': 'never' is none of after_clone, "
		  "every_setup" },
		{ TRITON "image_repo_path: aiter\n",
		  ":9: key 'image_repo_path': 'aiter' is not an absolute path without . and .." },
		{ TRITON "image_repo_path: /a/../b\n",
		  ":9: key 'image_repo_path': '/a/../b' is not an absolute path without . and .." },
		{ TRITON "image_repo_path: /a\nimage_repo_exclude: [/b]\n",
		  ":10: key 'image_repo_exclude': '/b' is not a path" },
		{ TRITON "repo_url: https://example.org/..\n",
		  ":9: key 'repo_url': its last name can not name a folder; give repo_subdir" },
		{ TRITON "repo_url: u\nrepo_subdir: ../x\n",
		  ":10: key 'repo_subdir': '../x' is not a path" },
		{ "task_type: triton2triton\n" COMMANDS,
		  ":1: nothing may be edited: neither source_file_path nor target_file_path names "
		  "a file" },
		{ "task_type: instruction2triton\ncompile_command: [a]\ncorrectness_command: "
		  "[a]\nperformance_command: [a]\n",
		  ":1: nothing may be edited" },
		{ "task_type: image_kernel\nrepository_language: hip\n" COMMANDS,
		  ":1: the key 'image_repo_path' is missing" },
		{ TRITON "task_type: hip2hip\n",
		  ":9: key 'task_type' is given twice; the first is in line 1" },
		{ TRITON "schema_version: 1\n",
		  ":9: key 'schema_version': '1' is not 2, the only format that has this key" },
		{ "a: &b c\n", ":1: the anchor 'b' is not allowed; write the value out" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		check_note("row %zu", i);
		if (!strstr(parse(rows[i].text), rows[i].why))
			check_fail(__FILE__, __LINE__, "%s", err.text);
	}
}

TEST(a_platform_that_is_malformed_is_told_and_the_task_runs)
{
	CHECK_STR(parse(TRITON "platform_support: {status: ' Skip ', skip_reason: no driver}\n"),
		  "");
	CHECK(task.platform.is_skipped);
	CHECK_STR(task.platform.reason, "no driver");
	CHECK_STR(parse(TRITON "platform_support: {status: null, required_arch: ' gfx942'}\n"), "");
	CHECK(!task.platform.is_skipped);
	CHECK_STR(task.platform.required_arch, "gfx942");
	CHECK_STR(parse(TRITON "platform_support: {status: broken, required_arch: [gfx942]}\n"),
		  "");
	CHECK(!task.platform.is_skipped && !task.platform.required_arch);
	CHECK_INT(task.remark_count, 2);
	CHECK_STR(task.remarks[1],
		  "platform_support.required_arch in line 9 is a list: any will do");
	CHECK_STR(parse(TRITON "platform_support: gfx942\n"), "");
	CHECK_INT(task.remark_count, 1);
	CHECK_STR(parse(TRITON "platform_support: null\n"), "");
	CHECK_INT(task.remark_count, 0);
}

TEST(prompts_are_kept_in_every_style_of_yaml)
{
	CHECK_STR(parse(TRITON "prompt:\n  instructions: one\n    two\n  cheatsheet: null\n"), "");
	CHECK_STR(task.prompt.instructions, "one two");
	CHECK(!task.prompt.cheatsheet);
	CHECK_STR(parse(TRITON "prompt:\n  instructions: |\n    a\n      b\n\n  source_code: >-\n  "
			       "  c\n    d\n"),
		  "");
	CHECK_STR(task.prompt.instructions, "a\n  b\n");
	CHECK_STR(task.prompt.source_code, "c d");
	CHECK_STR(parse(TRITON "prompt:\n  instructions: \"a\\n\\\n    \\ b \\\"c\\\"\n    d\"\n"),
		  "");
	CHECK_STR(task.prompt.instructions, "a\n b \"c\" d");
	CHECK_STR(parse(TRITON "prompt:\n  instructions: 'a\n\n    it''s'"), "");
	CHECK_STR(task.prompt.instructions, "a\nit's");
}

TEST(a_command_over_several_lines_is_one_line)
{
	CHECK_STR(parse("task_type: hip2hip\ntarget_file_path: a.hip\n"
			"compile_command:\n- python3 a.py --x b\n  --y c\n"
			"correctness_command: [a]\nperformance_command: [a]\n"),
		  "");
	CHECK_STR(argv_of(AKA_COMPILE), "PY a.py --x b --y c\n");
}
