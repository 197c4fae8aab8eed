/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/prepare_aka.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/runs.h"

static struct runs runs;
static struct err err;

static bool is_there(const char *name)
{
	return faccessat(check_folder(), name, F_OK, 0) == 0;
}

/* run_create() fails with these words, and leaves nothing in the folder. */
static void check_fails(const char *text)
{
	err = (struct err) ERR_INIT;
	CHECK_INT(run_create(&runs.run, &runs.place, &runs.plan, &runs.jails.launcher,
			     &runs.progress, &err),
		  -1);
	if (!strstr(err.text, text))
		check_fail(__FILE__, __LINE__, "'%s' does not have '%s'", err.text, text);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK(!is_there("run/tasks") && !is_there("run/agents") && !is_there("run/planned.json"));
	runs_end(&runs);
}

static void begin(const char *config)
{
	runs_aka(&runs, "", "k", config);
	runs_add(&runs, "#!/bin/sh\n");
}

TEST(all_that_a_run_needs_of_a_task_is_in_its_folder)
{
	begin(NULL);
	runs_open(&runs);
	CHECK(is_there("run/tasks/" RUNS_AKA_FOLDER "/config.yaml"));
	CHECK(is_there("run/tasks/" RUNS_AKA_FOLDER "/pristine.tree"));
	CHECK(strstr(jails_text("run/planned.json"), "\"kind\":\"agentkernelarena\""));
	CHECK(strstr(jails_text("run/planned.json"), "\"name\":\"" RUNS_AKA_TASK "\""));
	/* The checkout may change. */
	CHECK(unlinkat(check_folder(), "aka/tasks/triton2triton/own/run.sh", 0) == 0);
	runs_resume(&runs);
	CHECK_STR(runs_carry_out(&runs).seen.kind, "VALID");
	runs_end(&runs);
}

TEST(what_can_not_be_run_is_told_in_the_plan)
{
	begin(NULL);
	runs_aka_task("other", "", "k", "platform_support: { status: skip }\n");
	runs_open(&runs);
	CHECK_INT(runs.run.planned.task_count, 1);
	CHECK_INT(runs.run.planned.aka.dropped_count, 1);
	CHECK_STR(runs.run.planned.aka.dropped[0].name, "triton2triton/other");
	runs_resume(&runs);
	CHECK_STR(runs.run.planned.aka.dropped[0].name, "triton2triton/other");
	runs_end(&runs);
}

TEST(where_nothing_is_left_to_run_there_is_no_run)
{
	begin("platform_support: { status: skip }\n");
	check_fails("none of the 1 tasks that were selected is run");
}

TEST(a_selector_of_nothing_is_an_error)
{
	begin(NULL);
	runs.plan.aka.selectors = (struct argv){ (const char *const[]){ "hip2hip", NULL }, 1 };
	check_fails("the selector 'hip2hip' matches no task");
}

TEST(solutions_are_no_agents_there)
{
	begin(NULL);
	runs.plan.agents[0].solution = "honest";
	check_fails("a task of AgentKernelArena has no solutions");
}

TEST(a_task_that_can_not_be_read_stops_the_run)
{
	begin(NULL);
	runs_aka_task("bad", "", "k", "compile_timeout: soon\n");
	check_fails("task 'triton2triton/bad': ");
}

TEST(each_seat_needs_gpus_of_its_own)
{
	static const char *const names[] = { "0", "1" };

	begin(NULL);
	runs.plan.gpus = names;
	runs.plan.gpu_count = 2;
	check_fails("2 GPUs are named, and no jail of the policy 'default' has one");
}
