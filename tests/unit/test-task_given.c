/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/task_given.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "harness/judge/inputs.h"
#include "harness/run/hidden.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "tests/lib/check.h"

static struct err err;

static void reduce(const char *text, struct str *out)
{
	CHECK_OK(task_given_text("task.yaml", text, strlen(text), out, &err));
}

/* Whoever adds a key to the format has to say here whether an agent may know it. */
TEST(each_key_of_the_format_is_given_or_kept_on_purpose)
{
	static const char *const kept[] = { "hidden",   "needs",   "reference",
					    "generate", "weights", "returns" };

	for (size_t i = 0; i < task_schema.count; i++) {
		const char *key = task_schema.fields[i].key;
		bool is_kept = false;

		for (size_t k = 0; k < ARRAY_LEN(kept); k++)
			is_kept = is_kept || strcmp(kept[k], key) == 0;
		if (is_kept == task_given_has(key))
			check_fail(__FILE__, __LINE__, "'%s' is decided twice or not", key);
	}
	CHECK(!task_given_has("hidden"));
}

TEST(hidden_cases_and_comments_are_not_in_it_however_they_are_written)
{
	static const char *const texts[] = {
		"name: t # secret\n# secret\nhidden: { odd: { cases: 1, n: 'prime(3, 61)' } }\n",
		"{ name: t, hidden: { odd: { cases: 1, n: 'prime(3, 61)' } } }\n",
		"name: t\n\"hidden\":\n  odd:\n    cases: 1\n    n: 'prime(3, 61)' # secret\n",
		"hidden: secret\nname: t\n? secret\n: secret\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		cleanup(str_done) struct str out = STR_INIT;

		reduce(texts[i], &out);
		CHECK(strstr(out.text, "name: t\n"));
		CHECK(!strstr(out.text, "secret") && !strstr(out.text, "prime"));
		CHECK(!strstr(out.text, "odd") && !strstr(out.text, "hidden:"));
	}
}

TEST(texts_that_mean_something_to_yaml_are_quoted)
{
	static const char text[] = "name: 'a: b, c'\nsummary: \"line\\ntwo \\\"x\\\" \xc3\xa4\"\n"
				   "editable: [ '-', '- x', '', 'a]', '--', -O2, '#x', \"'\" ]\n";
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(str_done) struct str out = STR_INIT;
	const struct yaml_node *before, *after;

	reduce(text, &out);
	before = yaml_parse(&arena, "before", text, strlen(text), &err);
	after = yaml_parse(&arena, "after", out.text, out.len, &err);
	CHECK(before && after);
	CHECK_STR(yaml_find(after, "name")->text, "a: b, c");
	CHECK_STR(yaml_find(after, "summary")->text, "line\ntwo \"x\" \xc3\xa4");
	before = yaml_find(before, "editable")->first;
	after = yaml_find(after, "editable")->first;
	for (; before; before = before->next, after = after->next)
		CHECK_STR(after->text, before->text);
	CHECK(!after);
}

/* The same seen cases come of it as of the whole task. */
static void check_shipped(const char *path)
{
	static const uint8_t key[INPUTS_KEY] = { 1 };
	cleanup(task_done) struct task whole = TASK_INIT, given = TASK_INIT;
	cleanup(str_done) struct str text = STR_INIT, reduced = STR_INIT;
	cleanup(mem_free) struct marking_plan *one = mem_alloc(1, sizeof(*one));
	cleanup(mem_free) struct marking_plan *other = mem_alloc(1, sizeof(*other));
	auto_fd folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK_OK(io_read_file(folder, "task.yaml", TASK_FILE_MAX, &text, &err));
	CHECK_OK(task_load(folder, &whole, &err));
	reduce(text.text, &reduced);
	CHECK_OK(task_parse_given("given", reduced.text, reduced.len, &given, &err));
	CHECK_INT(given.cases.hidden_count, 0);
	CHECK_STR(given.name, whole.name);
	CHECK_STR(given.summary, whole.summary);
	CHECK_INT(given.mark.wall_ms, whole.mark.wall_ms);
	CHECK_INT(given.build.argv.count, whole.build.argv.count);
	for (size_t i = 0; i < given.build.argv.count; i++)
		CHECK_STR(given.build.argv.items[i], whole.build.argv.items[i]);
	CHECK_OK(hidden_plan(&whole, key, one, &err));
	CHECK_OK(hidden_plan(&given, key, other, &err));
	CHECK_INT(other->case_count, whole.cases.seen_count);
	CHECK(memcmp(one->cases, other->cases, other->case_count * sizeof(other->cases[0])) == 0);
}

TEST(the_seen_cases_of_a_task_are_the_same_before_and_after)
{
	check_shipped(SOURCE_ROOT "/tasks/c2c/row-softmax");
	check_shipped(SOURCE_ROOT "/tests/data/tasks/known-ratio");
}

TEST(a_task_without_hidden_cases_is_none_but_for_an_agent)
{
	cleanup(task_done) struct task task = TASK_INIT;
	cleanup(str_done) struct str text = STR_INIT, reduced = STR_INIT;
	auto_fd folder = open(SOURCE_ROOT "/tasks/c2c/row-softmax", O_RDONLY | O_DIRECTORY);

	CHECK_OK(io_read_file(folder, "task.yaml", TASK_FILE_MAX, &text, &err));
	reduce(text.text, &reduced);
	CHECK_INT(task_parse("t.yaml", reduced.text, reduced.len, &task, &err), -1);
	CHECK(strstr(err.text, "'hidden'"));
	/* One that has them is read as well. */
	CHECK_OK(task_parse_given("t.yaml", text.text, text.len, &task, &err));
	CHECK(task.cases.hidden_count > 0);
}

TEST(what_is_no_yaml_is_refused_with_its_line)
{
	cleanup(str_done) struct str out = STR_INIT;

	CHECK_INT(task_given_text("task.yaml", "a: [1\n", 6, &out, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK(strncmp(err.text, "task.yaml:", 10) == 0);
}
