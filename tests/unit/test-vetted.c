/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/vetted.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"

static struct vetted vetted;

static void prepare(void)
{
	vetted = (struct vetted){
		.name = "t",
		.cases = { { .name = "n=1", .baseline_ns = 5000, .floor_ns = 9000 },
			   { .name = "n=2", .baseline_ns = 50000, .floor_ns = 9000 },
			   { .name = "odd 1 (n=3)", .is_unseen = true, .baseline_ns = 400000 } },
		.case_count = 3,
		.marking_ns = 12 * NS_PER_S,
		.mark_wall_ns = 60 * NS_PER_S,
		.solutions = { { .name = "honest-a",
				 .is_built = true,
				 .seen = MARK_VALID,
				 .unseen = MARK_VALID,
				 .is_expected = true } },
		.solution_count = 1,
	};
}

static const char *print(void)
{
	static struct str out = STR_INIT;

	str_clear(&out);
	vetted_print(&vetted, "some/folder", &(struct table_style){ .has_color = false }, &out);
	return out.text;
}

static const char *put(void)
{
	static struct str out = STR_INIT;
	struct json_writer json;

	str_clear(&out);
	json_writer_init(&json, &out);
	vetted_put(&vetted, "some/folder", &json);
	CHECK(json_writer_is_whole(&json));
	return out.text;
}

TEST(a_good_task_has_an_estimate_and_notes_on_its_cases)
{
	prepare();
	CHECK(vetted_is_good(&vetted));
	CHECK(strncmp(print(),
		      "t: good; a marking of 40 blocks takes about 12 s here, mark.wall is ",
		      68) == 0);
	CHECK(strstr(print(), "too short to be told from a call"));
	CHECK(strstr(print(), "longer than 300 us"));
	CHECK(strstr(print(), "what is more than 1.2 times as fast may be LAUNCH_BOUND"));
	CHECK(!strstr(print(), "busy"));
	CHECK(strstr(put(), "\"task\":\"t\",\"good\":true,\"problem\":null,\"marking_ns\":"
			    "12000000000,"));
}

TEST(a_case_that_leaves_candidates_no_room_is_noted_before_any_is_too_short)
{
	prepare();
	vetted.cases[1] = (struct vetted_case){ .name = "n", .baseline_ns = 39000 };
	CHECK(strstr(print(), "shorter than 40 us: whatever is faster may be LAUNCH_BOUND"));
	vetted.cases[1].baseline_ns = 161000;
	CHECK(!strstr(print(), "times as fast may be LAUNCH_BOUND"));
	vetted.cases[1].floor_ns = 80500;
	CHECK(strstr(print(), "what is more than 2.0 times as fast may be LAUNCH_BOUND"));
	/* Where others have the CPU the floor is theirs. */
	vetted.busy = 0.5;
	CHECK(!strstr(print(), "times as fast may be LAUNCH_BOUND"));
}

TEST(a_solution_that_is_not_as_expected_makes_the_task_bad)
{
	prepare();
	vetted.solutions[0].is_expected = false;
	vetted.solutions[0].unseen = MARK_WRONG;
	snprintf(vetted.solutions[0].why, sizeof(vetted.solutions[0].why), "WRONG: so");
	CHECK(!vetted_is_good(&vetted));
	CHECK(strncmp(print(), "t: NOT GOOD; ", 13) == 0);
	CHECK(strstr(print(), "WRONG: so"));
	CHECK(strstr(put(), "\"solution\":\"honest-a\",\"expected\":\"NO\",\"seen\":\"VALID\","
			    "\"unseen\":\"WRONG\""));
}

TEST(a_task_that_could_not_be_read_is_called_by_its_folder)
{
	vetted = (struct vetted){ .case_count = 0 };
	err_set(&vetted.problem, ERR_INPUT, "task.yaml:1: it is no mapping");
	CHECK(!vetted_is_good(&vetted));
	CHECK_STR(print(), "some/folder: NOT GOOD\ntask.yaml:1: it is no mapping\n");
	CHECK(strstr(put(), "\"task\":null,\"good\":false,\"problem\":\"task.yaml:1: it is no"));
}

TEST(a_folder_can_not_forge_a_line_or_talk_to_the_terminal)
{
	cleanup(str_done) struct str out = STR_INIT;

	vetted = (struct vetted){ .case_count = 0 };
	err_set(&vetted.problem, ERR_INPUT, "'a\033[2Jb\nfake: good' is no task");
	vetted_print(&vetted, "x/a\033[2Jb\nfake: good", &(struct table_style){ 0 }, &out);
	CHECK_STR(out.text, "x/a\\x1b[2Jb\\x0afake: good: NOT GOOD\n"
			    "'a\\x1b[2Jb\\x0afake: good' is no task\n");
}

TEST(a_busy_machine_is_told)
{
	prepare();
	vetted.busy = 0.4;
	CHECK(!strstr(print(), "too short"));
	CHECK(strstr(print(), "this machine is busy: for 40 % of the time"));
}
