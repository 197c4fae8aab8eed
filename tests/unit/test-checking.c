/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check/checking.h"

#include <string.h>
#include <unistd.h>

#include "harness/check/plain_source.h"
#include "sandbox/base/clock.h"
#include "tests/lib/check.h"
#include "tests/lib/judge_cases.h"

static const char text[] =
	"schema: 1\nname: softmax\nkind: c2c\nsummary: rows\neditable: [a.c]\n"
	"build: { argv: [cc, '{out}/a.so'], out: [a.so] }\n"
	"entry: { symbol: softmax, args: [x, y, rows, cols] }\n"
	"oracle: { build: { argv: [cc, '{out}/o.so'], out: [o.so] }, symbol: softmax_oracle }\n"
	"args:\n"
	"  x: { in: f32, shape: [rows, cols], values: 'uniform(-4, 4)' }\n"
	"  y: { out: f32, shape: [rows, cols], compare: 'close(rel=1e-4, abs=1e-9)' }\n"
	"seen: [{ rows: 64, cols: 256 }, { rows: 32, cols: 100 }]\n";

static struct err err;
static struct task task = TASK_INIT;
static struct plain_source source;
static struct worker_source workers;
static struct checking checking;
static struct checked checked;

static void prepare(const char *candidate)
{
	if (!judge_has_cpus())
		SKIP("needs CPUs 0 and 1");
	CHECK_OK(task_parse_given("task.yaml", text, strlen(text), &task, &err));
	plain_source_init(&source);
	source.program = WORKER_PROGRAM;
	source.cpu = 1;
	source.roles[WORKER_ORACLE] = (struct plain_implementation){ KERNELS, "softmax_oracle" };
	source.roles[WORKER_BASELINE] = (struct plain_implementation){ KERNELS, "softmax" };
	source.roles[WORKER_CANDIDATE] = (struct plain_implementation){ KERNELS, candidate };
	workers = plain_source_workers(&source);
	checking = (struct checking){
		.task = &task,
		.source = &workers,
		.judge_cpu = 0,
		.worker_cpu = 1,
		.is_quick = true,
		.deadline = clock_after_ms(60000),
		.stop_fd = -1,
	};
}

TEST(a_right_candidate_is_valid_in_each_case)
{
	prepare("softmax");
	CHECK_OK(checking_run(&checking, &checked, &err));
	CHECK_INT(checked.case_count, 2);
	CHECK_STR(checked.cases[0].name, "rows=64 cols=256");
	CHECK_STR(checked.cases[1].why, "VALID");
	CHECK_INT(checked.set.mark.kind, MARK_VALID);
	CHECK_INT(checked.set.stats.blocks, 0);
	CHECK_STR(checked.why, "VALID");
}

TEST(each_case_that_is_wrong_has_the_judges_words)
{
	prepare("curve");
	CHECK_OK(checking_run(&checking, &checked, &err));
	CHECK_INT(checked.set.mark.kind, MARK_WRONG);
	for (size_t i = 0; i < 2; i++) {
		CHECK_INT(checked.cases[i].mark.kind, MARK_WRONG);
		CHECK(strstr(checked.cases[i].why,
			     "WRONG: candidate, check: an output is wrong; case 'rows="));
		CHECK(strstr(checked.cases[i].why, ", call 0, argument 'y', element 0: got "));
	}
	CHECK_STR(checked.why, checked.cases[0].why);
}

TEST(where_all_is_right_all_is_marked)
{
	prepare("softmax");
	checking.is_quick = false;
	CHECK_OK(checking_run(&checking, &checked, &err));
	CHECK_INT(checked.set.mark.kind, MARK_VALID);
	CHECK(checked.set.stats.blocks >= 10);
	CHECK(checked.cases[0].stats.baseline_ns > 0 && checked.cases[1].stats.candidate_ns > 0);
}

TEST(what_takes_longer_than_the_marking_may_is_a_matter_of_resources)
{
	prepare("softmax");
	checking.is_quick = false;
	task.cases.seen_count = 1;
	checking.deadline = clock_after_ms(60); /* ten blocks are fifty processes */
	CHECK_OK(checking_run(&checking, &checked, &err));
	CHECK_INT(checked.set.mark.kind, MARK_RESOURCE);
	CHECK_STR(checked.why, "RESOURCE: the marking took longer than the task's mark.wall");
	checking.is_quick = true;
	checking.deadline = clock_after_ms(1);
	CHECK_OK(checking_run(&checking, &checked, &err));
	CHECK_STR(checked.cases[0].why,
		  "RESOURCE: the marking took longer than the task's mark.wall");
}

TEST(a_baseline_or_an_oracle_that_fails_is_no_mark)
{
	prepare("softmax");
	source.roles[WORKER_ORACLE].symbol = "no_such_oracle";
	CHECK_INT(checking_run(&checking, &checked, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK_STR(err.text, "the task's own code fails here: INFRA: oracle, oracle: its library "
			    "lacks the entry point");
}

TEST(it_can_be_ended_while_it_runs)
{
	int pair[2];

	prepare("softmax");
	CHECK(pipe(pair) == 0);
	CHECK_INT(write(pair[1], "x", 1), 1);
	checking.stop_fd = pair[0];
	CHECK_OK(checking_run(&checking, &checked, &err));
	CHECK(checked.stopped);
}
