/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/marking_child.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "harness/check/plain_source.h"
#include "harness/judge/inputs.h"
#include "sandbox/base/clock.h"
#include "tests/lib/check.h"
#include "tests/lib/judge_cases.h"

static struct marking_plan plan;
static struct plain_source source;
static struct worker_source workers;
static struct marking_told told;
static struct err err;
static uint8_t key[INPUTS_KEY] = { 7 };
static struct marking_child child;

static void prepare(const char *candidate)
{
	if (!judge_has_cpus())
		SKIP("needs CPUs 0 and 1");
	judge_plan(&plan);
	plan.call_ns = 5 * NS_PER_S;
	judge_add_softmax(&plan, 64, 256, false);
	judge_add_softmax(&plan, 32, 100, true);
	plain_source_init(&source);
	source.program = WORKER_PROGRAM;
	source.cpu = 1;
	source.roles[WORKER_ORACLE] = (struct plain_implementation){ KERNELS, "softmax_oracle" };
	source.roles[WORKER_BASELINE] = (struct plain_implementation){ KERNELS, "softmax" };
	source.roles[WORKER_CANDIDATE] = (struct plain_implementation){ KERNELS, candidate };
	workers = plain_source_workers(&source);
	child = (struct marking_child){
		.plan = &plan,
		.key = key,
		.source = &workers,
		.options = { .most_blocks = 1 },
		.deadline = clock_after_ms(60000),
		.stop_fd = -1,
	};
}

TEST(the_mark_comes_back_with_figures_of_a_marking_too_short_for_a_look)
{
	prepare("softmax");
	CHECK_OK(marking_child_run(&child, &told, &err));
	CHECK_INT(told.fate, MARKING_MADE);
	CHECK_INT(told.seen.mark.kind, MARK_VALID);
	CHECK_INT(told.unseen.mark.kind, MARK_VALID);
	CHECK_INT(told.seen.stats.blocks, 0);
	CHECK(told.cases[0].null_ns > 0 && told.cases[1].null_ns > 0);
	CHECK(told.wall_ns > 0);
}

TEST(a_check_alone_times_nothing_and_finds_what_is_wrong)
{
	prepare("softmax");
	child.options = (struct marking_options){ .check_only = true };
	CHECK_OK(marking_child_run(&child, &told, &err));
	CHECK_INT(told.seen.mark.kind, MARK_VALID);
	CHECK_INT(told.unseen.mark.kind, MARK_VALID);
	CHECK(told.cases[0].baseline_ns <= 0);
	source.roles[WORKER_CANDIDATE].symbol = "curve"; /* another function */
	CHECK_OK(marking_child_run(&child, &told, &err));
	CHECK_INT(told.seen.mark.kind, MARK_WRONG);
	CHECK_INT(told.seen.mark.stage, STAGE_CHECK);
	CHECK_INT(told.unseen.mark.kind, MARK_WRONG);
}

TEST(the_callers_own_cpus_stay_as_they_were)
{
	cpu_set_t before, after;

	prepare("softmax");
	CHECK(sched_getaffinity(0, sizeof(before), &before) == 0);
	CHECK_OK(marking_child_run(&child, &told, &err));
	CHECK(sched_getaffinity(0, sizeof(after), &after) == 0);
	CHECK(CPU_EQUAL(&before, &after));
}

TEST(a_deadline_that_is_missed_is_a_fate_and_leaves_no_process)
{
	prepare("softmax");
	child.options.most_blocks = 0;
	plan.case_count = 1;
	for (int i = 0; i < 10; i++)
		judge_add_softmax(&plan, 512, 1024, false);
	child.deadline = clock_after_ms(300);
	CHECK_OK(marking_child_run(&child, &told, &err));
	CHECK_INT(told.fate, MARKING_TOO_LONG);
	CHECK(clock_now() < child.deadline + 5 * NS_PER_S);
}

TEST(the_operator_can_end_it)
{
	int pair[2];

	prepare("softmax");
	CHECK(pipe(pair) == 0);
	CHECK_INT(write(pair[1], "x", 1), 1);
	child.stop_fd = pair[0];
	CHECK_OK(marking_child_run(&child, &told, &err));
	CHECK_INT(told.fate, MARKING_STOPPED);
}

TEST(an_error_comes_back_in_its_own_words)
{
	prepare("softmax");
	plan.cases[0].args[0].tensor.count = 0;
	CHECK_INT(marking_child_run(&child, &told, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK(strstr(err.text, "argument 0: it is empty"));
}
