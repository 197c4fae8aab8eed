/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_stub.h"

#include <string.h>

#include "tests/lib/check.h"

#define BEFORE  "Invalid torch2flydsl optimization submission: "
#define MISSING BEFORE "missing declared top-level target definition(s): "
#define STUB    BEFORE "unimplemented target stub(s): "

static struct arena arena;
static const char *type = "torch2flydsl";

static const char *find_in(const char *text, const char *more)
{
	static const char *const functions[] = { "run", "build", "run" };
	static const char *const paths[] = { "kernel.py", "src/more.py", "data.txt" };
	struct aka_task task = {
		.version = 1,
		.type = type,
		.functions = { functions, ARRAY_LEN(functions) },
		.sources = { paths, ARRAY_LEN(paths) },
	};
	const struct aka_bytes files[] = {
		{ text, strlen(text) },
		{ more, more ? strlen(more) : 0 },
		{ "def build(): 1\n", 15 },
	};
	const struct pyvalue *error = aka_stub_find(&arena, &task, files);

	return error ? error->text : "fine";
}

/* What is said of a function with this body, beside a good one. */
static const char *find(const char *body)
{
	cleanup(str_done) struct str text = STR_INIT;

	str_addf(&text, "def run(a: {1: 2} = lambda: 3) -> lambda: 4:%s\n", body);
	return find_in(text.text, "def build(): return 1\n");
}

TEST(a_function_that_only_raises_is_a_stub)
{
	CHECK_STR(find(" raise NotImplementedError"), STUB "run");
	CHECK_STR(find("\n  '''text'''\n  pass; pass\n  raise NotImplementedError('x', (1))\n"),
		  STUB "run");
	CHECK_STR(find("\n  (r'a'\n   'b')\n  raise (builtins.NotImplementedError) from None"),
		  STUB "run");
	CHECK_STR(find(" raise (NotImplementedError('x'))"), STUB "run");
	CHECK_STR(find(" raise (((builtins) . NotImplementedError)()); pass"), STUB "run");
	CHECK_STR(find("\n # a\n\n raise NotImplementedError(\n)# b\n # c"), STUB "run");
}

TEST(a_function_that_does_something_is_none)
{
	CHECK_STR(find(" pass"), "fine");
	CHECK_STR(find(" 'text'"), "fine");
	CHECK_STR(find(" ..."), "fine");
	CHECK_STR(find(" raise"), "fine");
	CHECK_STR(find(" raise RuntimeError('NotImplementedError')"), "fine");
	CHECK_STR(find(" raise NotImplementedError; raise NotImplementedError"), "fine");
	CHECK_STR(find("\n  if a:\n    raise NotImplementedError"), "fine");
	CHECK_STR(find("\n  pass\n  'no docstring'\n  raise NotImplementedError"), "fine");
	CHECK_STR(find("\n  b'bytes'\n  raise NotImplementedError"), "fine");
	CHECK_STR(find("\n  f'format'\n  raise NotImplementedError"), "fine");
	CHECK_STR(find("\n  ('tuple',)\n  raise NotImplementedError"), "fine");
	CHECK_STR(find("\n  'a' + 'b'\n  raise NotImplementedError"), "fine");
	CHECK_STR(find(" raise NotImplementedError() if a else b"), "fine");
	CHECK_STR(find(" raise NotImplementedError()()"), "fine");
	CHECK_STR(find(" raise NotImplementedError('x').with_traceback(None)"), "fine");
	CHECK_STR(find(" raise other.NotImplementedError"), "fine");
	CHECK_STR(find(" raise (NotImplementedError,)"), "fine");
	CHECK_STR(find(" raise builtins.builtins"), "fine");
	CHECK_STR(find(" raise builtins.(NotImplementedError)"), "fine");
}

TEST(the_last_definition_of_a_file_counts_and_any_file_may_have_it)
{
	CHECK_STR(find_in("def run(): raise NotImplementedError\ndef run(): return 1\n",
			  "async def build(): return 1\n"),
		  "fine");
	CHECK_STR(find_in("def run(): return 1\n@a\n@b(lambda: 1)\nasync def run():\n"
			  "  raise NotImplementedError\n",
			  "def build(): return 1\ndef run(): return 1\n"),
		  STUB "run");
}

TEST(what_is_no_function_of_the_module_is_missing)
{
	CHECK_STR(find_in("run = 1\nclass build: pass\nif a:\n  def run(): pass\n", NULL),
		  MISSING "build, run");
	CHECK_STR(find_in("def run(): raise NotImplementedError\n", ""),
		  MISSING "build; unimplemented target stub(s): run");
}

TEST(a_file_that_can_not_be_read_is_passed_over)
{
	CHECK_STR(find_in("def run(): 1\ndef build(): 1\n'", NULL), MISSING "build, run");
	CHECK_STR(find_in("def run(): 1\n# \xff\n", "def build(): 1\n"), MISSING "run");
	CHECK_STR(find_in("\xef\xbb\xbf"
			  "def run(): 1\n",
			  "def build(): 1\n"),
		  MISSING "run");
}

TEST(other_types_of_tasks_are_not_looked_at)
{
	type = "flydsl2flydsl";
	CHECK_STR(find_in("", NULL), "fine");
}
