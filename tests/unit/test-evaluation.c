/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/evaluation.h"

#include <fcntl.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/lib/runs.h"

static struct runs runs;
static struct record record;

static void run_task(const char *runner, const char *config, const char *script)
{
	runs_aka(&runs, runner, "a kernel\n", config);
	runs_add(&runs, script);
	runs_open(&runs);
	record = runs_carry_out(&runs);
	if (record.infra)
		check_fail(__FILE__, __LINE__, "INFRA: %s", record.infra);
}

TEST(products_of_compiling_go_on_and_what_only_steers_does_not)
{
	run_task("case $1 in\ncompile) echo made >a.out; echo >conftest.py; echo changed >kernel\n"
		 "mkdir build; echo '[{\"execution_time_ms\": 1e-9}]' "
		 ">build/performance_report.json;;\n"
		 "correctness) ls; test -s a.out && ! test -e conftest.py && ! test -e "
		 "build/performance_report.json && grep -q 'a kernel' kernel;;\nesac\n",
		 NULL, "#!/bin/sh\n");
	CHECK(record.is_built);
	CHECK_STR(record.seen.kind, "VALID");
	CHECK_STR(jails_text(RUNS_AKA_ATTEMPT "correctness.stdout"),
		  "a.out\nbuild\nconfig.yaml\nkernel\nrun.sh\n");
	/* Nothing was measured. */
	CHECK(record.aka.speedup == 0 && record.aka.score == 120);
	CHECK_INT(record.seen.blocks, 0);
	runs_end(&runs);
}

TEST(nothing_of_one_step_is_there_in_the_next)
{
	run_task("case $1 in\ncompile) echo x >/tmp/x; (sleep 30 &); exit 0;;\n"
		 "correctness) test ! -e /tmp/x && test $(ls -d /proc/[0-9]* | wc -l) -le 5;;\n"
		 "esac\n",
		 NULL, "#!/bin/sh\n");
	CHECK_STR(record.seen.kind, "VALID");
	runs_end(&runs);
}

TEST(a_wrong_candidate_keeps_what_its_evaluator_says)
{
	run_task("case $1 in\ncorrectness) echo off by 3; exit 2;;\nesac\n", NULL, "#!/bin/sh\n");
	CHECK(record.is_built);
	CHECK_STR(record.seen.kind, "WRONG");
	CHECK_STR(record.seen.stage, "correctness");
	CHECK(strstr(record.seen.why, "exit code 2"));
	CHECK(record.aka.score == 20 && record.aka.strict_score == 20);
	CHECK(strstr(jails_text(RUNS_AKA_ATTEMPT "task_result.yaml"), "off by 3"));
	runs_end(&runs);
}

TEST(a_pass_that_prints_a_failure_is_one_for_its_evaluator_alone)
{
	run_task("case $1 in\ncorrectness) echo FAIL bypass;;\nesac\n", NULL, "#!/bin/sh\n");
	CHECK_STR(record.seen.kind, "WRONG");
	CHECK(record.aka.is_correct && record.aka.score == 120);
	CHECK(record.aka.strict_score == 20);
	CHECK(record.aka.reason);
	runs_end(&runs);
}

TEST(a_command_that_takes_too_long_has_failed)
{
	run_task("case $1 in\ncompile) sleep 20;;\nesac\n", "compile_timeout: 1\n", "#!/bin/sh\n");
	CHECK(!record.is_built);
	CHECK_STR(record.build_why, "compile: timeout");
	CHECK(strstr(jails_text(RUNS_AKA_ATTEMPT "task_result.yaml"),
		     "Command timed out after 1 seconds"));
	runs_end(&runs);
}
