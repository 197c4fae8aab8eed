/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_command.h"

#include <string.h>

#include "sandbox/base/str.h"
#include "tests/lib/check.h"

static struct arena arena;
static struct aka_command command;

/* The words with | between them; a shell's are told by their first. */
static const char *join(const struct argv *argv)
{
	cleanup(str_done) struct str out = STR_INIT;

	for (size_t i = 0; i < argv->count; i++)
		str_addf(&out, "%s%s", i > 0 ? "|" : "", argv->items[i]);
	return arena_copy(&arena, out.text, out.len);
}

static const char *split(const char *text)
{
	const char *why = aka_command_parse(text, &arena, &command);

	if (why)
		return why;
	return command.needs_shell ? "a shell" : join(&command.argv);
}

static const char *plan(const char *text, const char *interpreter, const char *extra)
{
	const char *why = aka_command_parse(text, &arena, &command);
	struct argv argv;

	if (why)
		return why;
	argv = aka_command_plan(&command, interpreter, extra, &arena);
	return join(&argv);
}

TEST(words_are_split_as_a_posix_shell_splits_them)
{
	CHECK_STR(split("python3 scripts/task_runner.py compile"),
		  "python3|scripts/task_runner.py|compile");
	CHECK_STR(split("  a\t b  "), "a|b");
	CHECK_STR(split("python -c \"import ast; ast.parse(open('X.py').read())\""),
		  "python|-c|import ast; ast.parse(open('X.py').read())");
	CHECK_STR(split("a 'b  c'd \"\" ''"), "a|b  cd||");
	CHECK_STR(split("a b\\ c \\\\ \\'"), "a|b c|\\|'");
	CHECK_STR(split("a \"x\\\"y\\\\z\\n\\$\""), "a|x\"y\\z\\n$");
	CHECK_STR(split("a 'b\\'"), "a|b\\");
	CHECK_STR(split("a \\\nb"), "a|b");
	CHECK_STR(split("a b#c d~"), "a|b#c|d~");
	CHECK_STR(split("a X=1"), "a|X=1");
	CHECK_STR(split("a '$(x)' '*'"), "a|$(x)|*");
}

TEST(what_does_not_end_is_no_command)
{
	CHECK_STR(split(""), "it is empty");
	CHECK_STR(split(" \t "), "it is empty");
	CHECK_STR(split("a 'b"), "a single quote does not close");
	CHECK_STR(split("a \"b'"), "a double quote does not close");
	CHECK_STR(split("a \"b\\\""), "a double quote does not close");
	CHECK_STR(split("a b\\"), "there is nothing behind its last backslash");
	CHECK_STR(split("'' a"), "its first word is empty");
}

TEST(what_only_a_shell_can_do_is_left_to_one)
{
	static const char *const texts[] = {
		"a | b", "a && b",    "a;b",    "a > b", "a <b",   "(a)",  "a $B",  "a \"$B\"",
		"a `b`", "a \"`b`\"", "a *.py", "a b?",  "a [bc]", "a\nb", "a ~/b", "a #b",
		"A=1 b", "cd build",  "exec a", "! a",   "if a",   "a &",
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		check_note("text %zu", i);
		CHECK_STR(split(texts[i]), "a shell");
		CHECK_INT(command.argv.count, 0);
	}
}

TEST(an_interpreter_takes_the_place_of_the_leading_word)
{
	CHECK_STR(plan("python3 a.py x", "/opt/py", NULL), "/opt/py|a.py|x");
	CHECK_STR(plan("python a.py", "/opt/py", NULL), "/opt/py|a.py");
	CHECK_STR(plan("  python a.py", "/opt/py", NULL), "/opt/py|a.py");
	CHECK_STR(plan("pytest -x a.py", "/opt/py", NULL), "/opt/py|-m|pytest|-x|a.py");
	CHECK_STR(plan("pytest", "/opt/py", NULL), "/opt/py|-m|pytest");
	CHECK_STR(plan("python3.11 a.py", "/opt/py", NULL), "python3.11|a.py");
	CHECK_STR(plan("'python3' a.py", "/opt/py", NULL), "python3|a.py");
	CHECK_STR(plan("python3\ta.py", "/opt/py", NULL), "python3|a.py");
	CHECK_STR(plan("make python3", "/opt/py", NULL), "make|python3");
	CHECK_STR(plan("python3 a.py", NULL, NULL), "python3|a.py");
}

TEST(one_more_word_goes_to_the_end)
{
	CHECK_STR(plan("python3 a.py", "p", "--baseline_only"), "p|a.py|--baseline_only");
	CHECK_STR(plan("a | b", NULL, "--baseline_only"), "/bin/sh|-c|a | b --baseline_only");
}

TEST(in_a_text_for_a_shell_the_interpreter_is_quoted)
{
	CHECK_STR(plan("python3 a | b", "/opt/py", NULL), "/bin/sh|-c|/opt/py a | b");
	CHECK_STR(plan(" pytest a && b", "/o t/'p", NULL),
		  "/bin/sh|-c| '/o t/'\"'\"'p' -m pytest a && b");
	CHECK_STR(plan("a && python3 b", "/opt/py", NULL), "/bin/sh|-c|a && python3 b");
}

TEST(the_file_that_is_run_is_known)
{
	CHECK_STR(split("pytest -vv a.py -k \"not b\" c.py::test"),
		  "pytest|-vv|a.py|-k|not b|c.py::test");
	CHECK(aka_command_runs(&command, "a.py"));
	CHECK(aka_command_runs(&command, "c.py"));
	CHECK(!aka_command_runs(&command, "a.p"));
	CHECK_STR(aka_command_file(&command, &arena), "a.py");
	CHECK_STR(split("python3 -u run.py --file k.py"), "python3|-u|run.py|--file|k.py");
	CHECK(aka_command_runs(&command, "run.py"));
	CHECK(!aka_command_runs(&command, "k.py"));
	CHECK_STR(split("python3 -c x.py"), "python3|-c|x.py");
	CHECK(!aka_command_runs(&command, "x.py"));
	CHECK(!aka_command_file(&command, &arena));
	CHECK_STR(split("make a.py"), "make|a.py");
	CHECK(!aka_command_runs(&command, "a.py"));
}

TEST(a_vector_has_its_interpreter_by_its_first_word)
{
	static const struct {
		const char *words[3], *planned;
	} rows[] = {
		{ { "python3", "a b" }, "PY|a b" },
		{ { "python" }, "PY" },
		{ { "pytest", "a.py" }, "PY|-m|pytest|a.py" },
		{ { "python3 ", "x" }, "python3 |x" },
		{ { "a|b", "$c" }, "a|b|$c" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct argv argv = { rows[i].words, rows[i].words[1] ? 2 : 1 };
		struct argv planned;

		command = aka_command_of(argv);
		CHECK(!command.needs_shell);
		planned = aka_command_plan(&command, "PY", NULL, &arena);
		CHECK_STR(join(&planned), rows[i].planned);
	}
}
