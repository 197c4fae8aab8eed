/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_task_v2.h"

#include <string.h>

#include "sandbox/base/str.h"
#include "tests/lib/check.h"

static struct arena arena;
static struct aka_task task = AKA_TASK_INIT;
static struct err err;

#define HEAD       "schema_version: 2\n"
#define CANDIDATE  "candidate: {language: flydsl, editable: [kernel.py]}\n"
#define EVALUATION "evaluation: {runner: [python3, run.py]}\n"

/* "" or the error, without the file's name. */
static const char *parse(const char *text)
{
	static const char file[] = "tasks/flydsl/x/config.yaml";

	aka_task_done(&task);
	if (aka_task_parse("flydsl/x", text, strlen(text), &task, &err) == 0)
		return "";
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK(strncmp(err.text, file, strlen(file)) == 0);
	return err.text + strlen(file);
}

static const char *argv_of(enum aka_step step)
{
	cleanup(str_done) struct str out = STR_INIT;

	for (size_t i = 0; i < task.steps[step].count; i++)
		for (size_t j = 0; j < task.steps[step].commands[i].argv.count; j++)
			str_addf(&out, "%s%s", i + j > 0 ? " " : "",
				 task.steps[step].commands[i].argv.items[j]);
	return arena_copy(&arena, out.text, out.len);
}

TEST(the_runner_takes_every_step_by_role_and_action)
{
	CHECK_STR(parse(HEAD CANDIDATE EVALUATION), "");
	CHECK_INT(task.version, 2);
	CHECK_STR(task.type, "flydsl");
	CHECK_STR(task.from, "flydsl");
	CHECK_STR(argv_of(AKA_VALIDATE), "python3 run.py validate-task");
	CHECK_STR(argv_of(AKA_BASELINE_CORRECTNESS), "python3 run.py baseline correctness");
	CHECK_STR(argv_of(AKA_PERFORMANCE), "python3 run.py candidate performance");
	CHECK_INT(task.steps[AKA_COMPILE].wall_s, 3600);
	CHECK_STR(task.contract.baseline, "initial_candidate");
	CHECK_STR(task.contract.correctness_policy, "required");
	CHECK_INT(task.edits[0].scope, AKA_SCOPE_FILE);
	aka_task_done(&task);
}

TEST(steps_have_commands_and_times_of_their_own)
{
	CHECK_STR(parse(HEAD CANDIDATE
			"evaluation:\n"
			"  timeout_s: 100\n"
			"  runner: [./run]\n"
			"  task: {timeout_s: 5}\n"
			"  candidate:\n"
			"    compile: {commands: [[make, all], [sh, x]], timeout_s: 7}\n"),
		  "");
	CHECK_INT(task.steps[AKA_VALIDATE].wall_s, 5);
	CHECK_INT(task.steps[AKA_COMPILE].wall_s, 7);
	CHECK_INT(task.steps[AKA_COMPILE].count, 2);
	CHECK_INT(task.steps[AKA_CORRECTNESS].wall_s, 100);
	CHECK_STR(argv_of(AKA_CORRECTNESS), "./run candidate correctness");
}

TEST(scopes_and_entry_points_are_read)
{
	CHECK_STR(
		parse(HEAD
		      "candidate:\n"
		      "  language: triton\n"
		      "  initial_state: unimplemented\n"
		      "  editable:\n"
		      "  - {path: a.py, scope: symbols, symbols: [f, g], allow_new_helpers: true}\n"
		      "  - {path: src, scope: tree}\n"
		      "  - b.py\n"
		      "  entrypoints:\n"
		      "  - {file: a.py, kind: function, symbol: f}\n"
		      "  - {file: src/x/main, kind: executable}\n" EVALUATION),
		"");
	CHECK_INT(task.edit_count, 3);
	CHECK_INT(task.edits[0].symbols.count, 2);
	CHECK(task.edits[0].allow_new_helpers);
	CHECK_INT(task.edits[1].scope, AKA_SCOPE_TREE);
	CHECK_INT(task.contract.entrypoint_count, 2);
	CHECK_INT(task.functions.count, 1);
	CHECK_STR(task.contract.baseline, "provided");
	CHECK_STR(task.from, "provided");
}

TEST(sources_of_the_workspace_are_pinned)
{
	CHECK_STR(parse(HEAD CANDIDATE EVALUATION
			"workspace:\n  setup: [[make, deps]]\n  timeout_s: 9\n  sources:\n"
			"  - {kind: image, image_path: /opt/aiter, destination: aiter, exclude: "
			"[jit]}\n"
			"  - {kind: git, url: 'https://example.org/a', destination: b/c, revision: "
			"0123456789abcdef0123456789abcdef01234567}\n"),
		  "");
	CHECK_INT(task.brought_count, 2);
	CHECK_STR(task.brought[1].revision, "0123456789abcdef0123456789abcdef01234567");
	CHECK_INT(task.setup.count, 1);
	CHECK_INT(task.setup.wall_s, 9);
}

/* Each in its line or two; what is refused first has no need of the rest. */
static const struct {
	const char *text, *why;
} refused[] = {
	{ CANDIDATE EVALUATION "x: y\n", ":4: the file has no key 'x'; the nearest is '" },
	{ EVALUATION, ":1: the key 'candidate' is missing" },
	{ CANDIDATE, ":1: the key 'evaluation' is missing" },
	{ "candidate: [a]\n", ":2: key 'candidate': candidate has to be a mapping of keys "
			      "such as 'language', not a list" },
	{ "candidate: {language: a, editable: []}\n",
	  ":2: key 'candidate': the key 'editable' has to name at least one file" },
	{ "candidate: {language: a, editable: b}\n",
	  ":2: key 'editable': a list is meant, not a text" },
	{ "candidate: {language: 3, editable: [b]}\n",
	  ":2: key 'language': '3' is a number and no text; quote it" },
	{ "candidate: {language: a, editable: [../b]}\n",
	  ":2: key 'editable': '../b' is not a path" },
	{ "candidate: {language: a, editable: ['C:b']}\n",
	  ":2: key 'editable': 'C:b' is not a path" },
	{ "candidate: {language: a, editable: ['b\\c']}\n", "' is not a path" },
	{ "candidate: {language: a, editable: [b, b]}\n",
	  ":2: key 'editable': 'b' and an earlier item of the list overlap" },
	{ "candidate: {language: a, editable: [b/c, {path: b, scope: tree}]}\n",
	  "'b' and an earlier item of the list overlap" },
	{ "candidate: {language: a, editable: [{path: b, scope: all}]}\n",
	  ":2: key 'scope': 'all' is none of file, symbols, tree" },
	{ "candidate: {language: a, editable: [{path: b, scope: null}]}\n",
	  ":2: key 'scope': it is null; leave the key out" },
	{ "candidate: {language: a, editable: [{path: b, symbols: [f]}]}\n",
	  "symbols and allow_new_helpers belong to scope: symbols alone" },
	{ "candidate: {language: a, editable: [{path: b, scope: symbols}]}\n",
	  "scope: symbols names at least one of symbols" },
	{ "candidate: {language: a, editable: [{path: b, scope: symbols, symbols: [f, "
	  "f]}]}\n",
	  "'f' is given twice" },
	{ "candidate: {language: a, initial_state: unimplemented, initial_language: b, "
	  "editable: [b]}\n",
	  ":2: key 'initial_language': what is unimplemented has no initial language" },
	{ "candidate: {language: a, editable: [b], entrypoints: [{file: c, kind: class, "
	  "symbol: d}]}\n",
	  "'c' is outside of what may be edited" },
	{ "candidate: {language: a, editable: [b], entrypoints: [{file: b, kind: "
	  "class}]}\n",
	  "the key 'symbol' is missing" },
	{ "candidate: {language: a, editable: [b], entrypoints: [{file: b, kind: "
	  "executable, symbol: d}]}\n",
	  "an executable has no symbol" },
	{ "candidate: {language: a, editable: [b], entrypoints: [{file: b}]}\n",
	  "the key 'kind' is missing" },
	{ "candidate: {language: a, editable: [b], entrypoints: [{file: b, kind: class, "
	  "symbol: d}, {file: b, kind: class, symbol: d}]}\n",
	  "this entry point is given twice" },
	{ "candidate: {language: a, editable: [config.yaml]}\n" EVALUATION,
	  ":2: key 'candidate': 'config.yaml' may be edited, and is what the task is "
	  "judged by" },
	{ CANDIDATE EVALUATION "instructions: [kernel.py]\n", "'kernel.py' may be edited" },
	{ CANDIDATE EVALUATION "baseline: {kind: provided, source_files: [kernel.py]}\n",
	  "'kernel.py' may be edited" },
	{ CANDIDATE EVALUATION "baseline: {correctness_policy: diagnostic}\n",
	  "the key 'diagnostic_reason' is missing" },
	{ CANDIDATE EVALUATION "baseline: {diagnostic_reason: x}\n",
	  ":4: key 'diagnostic_reason': it belongs to correctness_policy: diagnostic "
	  "alone" },
	{ "candidate: {language: a, initial_state: unimplemented, editable: "
	  "[b]}\nbaseline: {kind: initial_candidate}\n",
	  "what is unimplemented can not be the baseline" },
	{ CANDIDATE "evaluation: {timeout_s: 3}\n",
	  ":3: key 'evaluation': there is no runner, and no commands for task "
	  "validate-task" },
	{ CANDIDATE "evaluation: {runner: python3 run.py}\n",
	  ":3: key 'runner': a command is a list of 1 to 256 words" },
	{ CANDIDATE "evaluation: {runner: []}\n", "a command is a list of 1 to 256 words" },
	{ CANDIDATE "evaluation: {runner: [' ']}\n", "the first word of a command is empty" },
	{ CANDIDATE "evaluation: {runner: [a], timeout_s: '3'}\n",
	  ":3: key 'timeout_s': a number of seconds is meant, not a text" },
	{ CANDIDATE "evaluation: {runner: [a], timeout_s: 0}\n", "'0' is not a number of seconds" },
	{ CANDIDATE "evaluation: {runner: [a], task: {commands: []}}\n",
	  ":3: key 'commands': it has no command" },
	{ CANDIDATE "evaluation: {runner: [a], baseline: {validate: {}}}\n",
	  "a role has no key 'validate'" },
	{ CANDIDATE EVALUATION "platform_support: {status: skip}\n",
	  "the key 'skip_reason' is missing" },
	{ CANDIDATE EVALUATION "platform_support: {status: off}\n",
	  "'off' is a truth value and no text" },
	{ CANDIDATE EVALUATION "kernel_identity: {kernel_kind: hip}\n",
	  "kernel_identity has no key 'kernel_kind'" },
	{ CANDIDATE EVALUATION "exports: [{format: a, output: b, command: [c]}, {format: "
			       "a, output: b, command: [c]}]\n",
	  "two exports have one output" },
	{ CANDIDATE EVALUATION "exports: [{format: a, output: b}]\n",
	  "the key 'command' is missing" },
	{ CANDIDATE EVALUATION "evaluation_tools: [a]\n",
	  ":4: key 'evaluation_tools': a mapping is meant" },
	{ CANDIDATE EVALUATION "kernel_identity: {source_owner: ''}\n",
	  ":4: key 'source_owner': it has to be a text that is not empty" },
	{ CANDIDATE EVALUATION "baseline: {language: ' '}\n",
	  ":4: key 'language': it has to be a text that is not empty" },
	{ CANDIDATE EVALUATION "description: ' '\n", "it has to be a text that is not empty" },
};

TEST(what_the_format_does_not_know_is_refused)
{
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		cleanup(str_done) struct str text = STR_INIT;

		str_addf(&text, "%s%s", HEAD, refused[i].text);
		check_note("row %zu", i);
		if (!strstr(parse(text.text), refused[i].why))
			check_fail(__FILE__, __LINE__, "%s", err.text);
	}
}

TEST(the_format_is_a_number_and_no_text)
{
	CHECK(strstr(parse("schema_version: '2'\n" CANDIDATE EVALUATION), "is not 2"));
	CHECK(strstr(parse("schema_version: 3\n" CANDIDATE EVALUATION), "'3' is not 2"));
	CHECK(strstr(parse("schema_version: [2]\n" CANDIDATE EVALUATION),
		     "'a collection' is not 2"));
}
