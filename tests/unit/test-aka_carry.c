/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_carry.h"

#include <stdio.h>
#include <string.h>

#include "sandbox/base/mem.h"
#include "tests/lib/check.h"

#define TASK                                   \
	"import triton\n"                      \
	"\n"                                   \
	"# the kernel\n"                       \
	"@triton.jit\n"                        \
	"def kernel(x):\n"                     \
	"    return x # slow\n"                \
	"\n"                                   \
	"def golden(x): return x\n"            \
	"\n"                                   \
	"@triton.jit\n"                        \
	"def part(x): return x\n"              \
	"@pytest.mark.parametrize('n', [1])\n" \
	"def test_it(n):\n"                    \
	"    assert kernel(n) == golden(n)\n"

static struct aka_carried report;
static struct str out = { .text = str_empty };
static struct err err;

static const char *carry_of(const char *given, const char *left, bool may_help)
{
	static const char *const symbols[] = { "kernel" };
	struct aka_edit edit = {
		.path = "a.py",
		.scope = AKA_SCOPE_SYMBOLS,
		.symbols = { symbols, 1 },
		.allow_new_helpers = may_help,
	};

	aka_carried_done(&report);
	str_clear(&out);
	CHECK_OK(aka_carry(&edit, &(struct aka_bytes){ given, strlen(given) },
			   &(struct aka_bytes){ left, left ? strlen(left) : 0 }, &out, &report,
			   &err));
	return out.text;
}

static const char *carry(const char *left)
{
	return carry_of(TASK, left, false);
}

/* What became of a block, and why: "idle: …"; "same" is not told. */
static const char *fate(const char *name)
{
	static char room[128];

	for (size_t i = 0; i < report.item_count; i++)
		if (strcmp(report.items[i].name, name) == 0) {
			snprintf(room, sizeof(room), "%s%s%s",
				 names_text(aka_fate_names, (int) report.items[i].fate),
				 report.items[i].why ? ": " : "",
				 report.items[i].why ? report.items[i].why : "");
			return room;
		}
	return "not told";
}

TEST(the_task_s_file_carried_over_itself_is_itself)
{
	CHECK_STR(carry(TASK), TASK);
	CHECK_INT(report.counts[AKA_FATE_SAME], 2);
	CHECK_INT(report.item_count, 0);
	CHECK(!report.why);
	CHECK_STR(carry_of("def kernel(): 1", "def kernel(): 1", false), "def kernel(): 1");
	CHECK_STR(carry_of("def kernel(): 1\r\nb\r\n", "def kernel(): 1\r\nb\r\n", false),
		  "def kernel(): 1\r\nb\r\n");
}

TEST(what_may_be_edited_takes_the_place_of_the_task_s_and_nothing_else_does)
{
	CHECK_STR(carry("import os\n"
			"# mine\n"
			"@triton.autotune([1])\n"
			"@triton.jit\n"
			"def kernel(x):\n"
			"    return x # fast\n"
			"@triton.jit\n"
			"def part(x): return 2\n"
			"def golden(x): return None\n"
			"def test_it(n): pass\n"
			"golden = None\n"),
		  "import triton\n"
		  "\n"
		  "# the kernel\n"
		  "@triton.autotune([1])\n"
		  "@triton.jit\n"
		  "def kernel(x):\n"
		  "    return x # fast\n"
		  "\n"
		  "def golden(x): return x\n"
		  "\n"
		  "@triton.jit\n"
		  "def part(x): return 2\n"
		  "@pytest.mark.parametrize('n', [1])\n"
		  "def test_it(n):\n"
		  "    assert kernel(n) == golden(n)\n");
	CHECK_INT(report.counts[AKA_FATE_REPLACED], 2);
	CHECK_INT(report.counts[AKA_FATE_IDLE], 4);
	CHECK_STR(fate("kernel"), "replaced");
	CHECK_STR(fate("golden"), "idle: it is not among what may be edited");
	CHECK_STR(fate("test_it"), "idle: it is not among what may be edited");
	CHECK_STR(fate("import os"), "idle: imports and other statements stay the task's");
	CHECK_STR(fate("golden = None"), "idle: imports and other statements stay the task's");
	CHECK_INT(report.items[0].line, 3);
}

TEST(the_last_definition_counts_in_both_files)
{
	CHECK_STR(carry_of("def kernel(): 1\ndef kernel(): 2\n",
			   "def kernel(): 3\nclass kernel: 4\n", false),
		  "def kernel(): 1\nclass kernel: 4\n");
	CHECK_STR(fate("kernel"), "replaced");
	CHECK_INT(report.counts[AKA_FATE_IDLE], 1);
	CHECK_STR(report.items[1].why, "a later definition of its name counts");
}

TEST(what_is_missing_stays_the_task_s)
{
	CHECK_STR(carry("import triton\n"), TASK);
	CHECK_INT(report.counts[AKA_FATE_MISSING], 2);
	CHECK_STR(fate("kernel"), "missing");
	CHECK_STR(fate("part"), "missing");
	CHECK_INT(report.items[0].line, 0);
}

TEST(new_functions_of_the_device_come_before_what_they_stand_before)
{
	CHECK_STR(carry_of("import triton\nx = 1\n@triton.jit\ndef kernel(): 1\ny = 2\n",
			   "@triton.jit\ndef a(): 1\n@triton.heuristics({})\n@triton.jit\n"
			   "def b(): 2\ndef kernel(): 3\n@triton.jit\ndef c(): 4",
			   false),
		  "import triton\nx = 1\n@triton.jit\ndef a(): 1\n\n\n@triton.heuristics({})\n"
		  "@triton.jit\ndef b(): 2\n\n\ndef kernel(): 3\n@triton.jit\ndef c(): 4\n\n\n"
		  "y = 2\n");
	CHECK_INT(report.counts[AKA_FATE_ADDED], 3);
	CHECK_INT(report.hosted, 1);
	CHECK_STR(fate("kernel"),
		  "replaced: it was a function of the device, and is none any more");
	CHECK_STR(carry_of("def golden(): 1", "@triton.jit\ndef a(): 1", false),
		  "def golden(): 1\n@triton.jit\ndef a(): 1\n\n\n");
}

TEST(a_named_function_that_the_task_lacks_is_added)
{
	CHECK_STR(carry_of("x = 1\n", "def kernel(): 1\n", false), "x = 1\ndef kernel(): 1\n\n\n");
	CHECK_STR(fate("kernel"), "added");
}

TEST(other_new_functions_and_classes_come_along_only_where_that_is_allowed)
{
	static const char left[] = "def help(): 1\nclass Help: 2\ndef kernel(): 3\nhelp()\n";

	CHECK_STR(carry_of("def kernel(): 1\n", left, false), "def kernel(): 3\n");
	CHECK_STR(fate("help"), "idle: it is not among what may be edited");
	CHECK_STR(carry_of("def kernel(): 1\n", left, true),
		  "def help(): 1\n\n\nclass Help: 2\n\n\ndef kernel(): 3\n");
	CHECK_STR(fate("help()"), "idle: imports and other statements stay the task's");
}

/* That a function of this name, new and of the device, has no effect; and why. */
static const char *refused(const char *name)
{
	char text[128];

	snprintf(text, sizeof(text), "@triton.jit\ndef %s(): 1\n", name);
	CHECK_STR(carry_of("from x import check\n" TASK, text, true), "from x import check\n" TASK);
	return fate(name);
}

TEST(no_new_name_is_one_that_pytest_or_the_task_s_file_knows)
{
	static const char pytests[] = "idle: pytest looks for such names";

	CHECK_STR(refused("test"), pytests);
	CHECK_STR(refused("test_more"), pytests);
	CHECK_STR(refused("TestMore"), pytests);
	CHECK_STR(refused("pytest_configure"), pytests);
	CHECK_STR(refused("__getattr__"), pytests);
	CHECK_STR(refused("setup_module"), pytests);
	CHECK_STR(refused("tearDownModule"), pytests);
	CHECK_STR(refused("check"), "idle: the task's file uses its name");
	CHECK_STR(refused("n"), "idle: the task's file uses its name");
	CHECK_STR(refused("\xef\xbd\x94"
			  "est_x"),
		  "idle: its name is not ASCII");
}

TEST(decorators_of_pytest_come_along_only_where_the_task_s_has_some)
{
	static const char odd[] = "idle: a decorator of it is pytest's, or no name";

	CHECK_STR(carry("@pytest.fixture(autouse=True)\n@triton.jit\ndef kernel(x): 1\n"), TASK);
	CHECK_STR(fate("kernel"), odd);
	CHECK_STR(carry("@triton.jit\n@(lambda f: f)\ndef kernel(x): 1\n"), TASK);
	CHECK_STR(fate("kernel"), odd);
	CHECK_STR(carry("@fixture\n@triton.jit\ndef other(x): 1\n"), TASK);
	CHECK_STR(fate("other"), odd);
	CHECK_STR(carry_of("@pytest.mark.x\ndef kernel(): 1\n", "@pytest.mark.y\ndef kernel(): 2\n",
			   false),
		  "@pytest.mark.y\ndef kernel(): 2\n");
}

TEST(a_function_of_the_device_that_is_not_named_stays_one)
{
	CHECK_STR(carry("def part(x): return 2\n"), TASK);
	CHECK_STR(fate("part"), "idle: the task's is a function of the device, and this is none");
	CHECK_STR(carry("@jit\ndef part(x): return 2\n"), TASK);
	CHECK_STR(carry_of("from triton import (language,\n jit)\n@jit\ndef part(): 1\n",
			   "@jit\ndef part(): 2\n", false),
		  "from triton import (language,\n jit)\n@jit\ndef part(): 2\n");
	CHECK_STR(carry_of("from triton import jit as j\n@jit\ndef part(): 1\n",
			   "@jit\ndef part(): 2\n", false),
		  "from triton import jit as j\n@jit\ndef part(): 1\n");
	CHECK_STR(carry_of("from numba import jit\n@jit\ndef part(): 1\n", "@jit\ndef part(): 2\n",
			   false),
		  "from numba import jit\n@jit\ndef part(): 1\n");
}

TEST(an_agent_s_file_that_can_not_be_cut_leaves_the_task_s)
{
	CHECK_STR(carry("def kernel(:\n"), TASK);
	CHECK_STR(report.why, "a.py:1: a bracket is not closed");
	CHECK_STR(carry(NULL), TASK);
	CHECK_STR(report.why, "a.py: it is not there");
	CHECK_STR(carry("# coding: utf-7\ndef kernel(): 1\n"), TASK);
	CHECK_STR(report.why, "a.py:1: the encoding that it names is not read");
	CHECK_INT(report.item_count, 0);
}

TEST(a_task_s_file_that_can_not_be_cut_is_an_error)
{
	struct aka_edit edit = { .path = "a.py", .scope = AKA_SCOPE_SYMBOLS };

	CHECK_INT(aka_carry(&edit, &(struct aka_bytes){ "'", 1 }, &(struct aka_bytes){ "", 0 },
			    &out, &report, &err),
		  -1);
	CHECK_STR(err.text, "the task's file: a.py:1: a string is not closed");
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_INT(out.len, 0);
	CHECK(!report.why);
}

TEST(text_goes_behind_what_is_there)
{
	carry("");
	CHECK_OK(aka_carry(
		&(struct aka_edit){ .path = "a.py" }, &(struct aka_bytes){ "def a(): 1", 10 },
		&(struct aka_bytes){ "@triton.jit\ndef b(): 1", 22 }, &out, &report, &err));
	CHECK_STR(out.text, TASK "def a(): 1\n@triton.jit\ndef b(): 1\n\n\n");
}

TEST(what_is_told_is_bounded_and_can_be_shown)
{
	char text[1200] = "def kernel(x): 1\n\x1b"
			  "0 = 1\n";

	for (int i = 0; i < 200; i++)
		strcat(text, "x=1\n");
	for (int i = 0; i < 100; i++)
		strcat(text, "y");
	carry(text);
	CHECK_INT(report.item_count, AKA_FATED_MAX);
	CHECK_INT(report.counts[AKA_FATE_IDLE], 202);
	CHECK_STR(report.items[0].name, "part");
	CHECK_STR(report.items[1].name, "kernel");
	CHECK_STR(report.items[2].name, "\\x1b0 = 1");
	carry(text + strlen(text) - 100);
	CHECK_INT(strlen(report.items[2].name), 60);
}
