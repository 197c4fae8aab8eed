/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/hidden.h"

#include <fcntl.h>
#include <string.h>

#include "tests/lib/check.h"

static struct marking_plan one, other;
static struct task task = TASK_INIT;
static struct err err;

static void draw(uint8_t byte, struct marking_plan *out)
{
	uint8_t key[INPUTS_KEY];

	memset(key, byte, sizeof(key));
	CHECK_OK(hidden_plan(&task, key, out, &err));
	out->worker_cpu = 1;
	CHECK_OK(marking_plan_check(out, &err));
}

static void load(void)
{
	int folder = open(SOURCE_ROOT "/tasks/c2c/row-softmax", O_RDONLY | O_DIRECTORY);

	CHECK(folder >= 0);
	CHECK_OK(task_load(folder, &task, &err));
}

TEST(the_seen_cases_come_first_and_are_the_tasks)
{
	load();
	draw(1, &one);
	CHECK_INT(one.cases[0].unseen, 0);
	CHECK_STR(one.cases[0].name, "rows=256 cols=128");
	CHECK_INT(one.cases[0].arg_count, 4);
	CHECK_INT(one.cases[0].args[0].use, MARKING_INPUT);
	CHECK_INT(one.cases[0].args[0].tensor.count, 256 * 128);
	CHECK_INT(one.cases[0].args[1].use, MARKING_OUTPUT);
	CHECK_INT(one.cases[0].args[2].whole, 256);
	CHECK_INT(one.cases[task.cases.seen_count].unseen, 1);
}

TEST(the_same_key_gives_the_same_cases_and_another_key_others)
{
	load();
	draw(1, &one);
	draw(1, &other);
	CHECK(memcmp(&one, &other, sizeof(one)) == 0);
	draw(2, &other);
	CHECK_INT(one.case_count, other.case_count);
	CHECK(memcmp(&one, &other, sizeof(one)) != 0);
	/* The seen ones do not depend on it. */
	CHECK(memcmp(one.cases, other.cases, task.cases.seen_count * sizeof(one.cases[0])) == 0);
}

TEST(an_unseen_case_is_called_by_its_category_and_number)
{
	uint32_t at;

	load();
	draw(1, &one);
	at = (uint32_t) task.cases.seen_count;
	CHECK_STR(one.cases[at].name, "odd 1");
	CHECK_STR(one.cases[at + 1].name, "odd 2");
	CHECK_STR(one.cases[at + 2].name, "up 1");
	for (; at < one.case_count; at++)
		CHECK_INT(one.cases[at].unseen, 1);
	CHECK_INT(one.case_count, 3 + 2 + 1 + 1 + 1);
}

TEST(what_the_task_says_of_an_argument_is_in_the_plan)
{
	load();
	draw(1, &one);
	CHECK(one.cases[0].args[0].values.reals[0] == -8 &&
	      one.cases[0].args[0].values.reals[1] == 8);
	CHECK_INT(one.cases[0].args[1].compare.kind, COMPARER_CLOSE);
	CHECK(one.cases[0].args[1].compare.rel == 1e-4 &&
	      one.cases[0].args[1].compare.abs == 1e-12);
	CHECK_INT(one.cases[0].args[2].tensor.element, ELEMENT_I64);
	CHECK_INT(one.call_ns, 2000 * NS_PER_MS);
}

TEST(who_has_the_key_gets_the_dimensions_of_each_case_again)
{
	const uint8_t key[INPUTS_KEY] = { 5 };
	cleanup(str_done) struct str text = STR_INIT;
	int64_t dims[CASES_MAX][DIMS_MAX + 1];

	load();
	CHECK_OK(hidden_plan(&task, key, &one, &err));
	CHECK_OK(hidden_dims(&task, key, dims, &err));
	for (uint32_t i = 0; i < one.case_count; i++) {
		CHECK_INT(dims[i][0] * dims[i][1], one.cases[i].args[0].tensor.count);
		CHECK_INT(dims[i][0], one.cases[i].args[2].whole);
		CHECK_INT(dims[i][1], one.cases[i].args[3].whole);
	}
	hidden_name_dims(&task.cases.dims, dims[1], &text);
	CHECK_STR(text.text, one.cases[1].name);
}

TEST(a_category_from_which_no_case_can_be_drawn_is_named)
{
	load();
	/* Every draw is the seen case again: found when the task is read, were it in its file. */
	task.cases.hidden[0].range_count = 0;
	CHECK_INT(hidden_plan(&task, (const uint8_t[INPUTS_KEY]){ 1 }, &one, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK(strncmp(err.text, "hidden category 'odd': ", 23) == 0);
}
