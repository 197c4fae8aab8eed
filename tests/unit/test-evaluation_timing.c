/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/evaluation_timing.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/runs.h"

static struct runs runs;
static struct record record;

#define PRINTS "case $1 in\nperformance) " RUNS_AKA_REPORT("cat kernel") ";;\nesac\n"

static void run_task(const char *runner, const char *script)
{
	runs_aka(&runs, runner, "4.0", NULL);
	runs_add(&runs, script);
	runs_open(&runs);
	record = runs_carry_out(&runs);
	if (record.infra)
		check_fail(__FILE__, __LINE__, "INFRA: %s", record.infra);
}

static bool has_run(const char *name)
{
	return faccessat(check_folder(), name, F_OK, 0) == 0;
}

TEST(what_is_unchanged_is_settled_after_one_round)
{
	run_task(PRINTS, "#!/bin/sh\n");
	CHECK_STR(record.seen.verdict, "SAME");
	CHECK_INT(record.seen.blocks, 1);
	CHECK(record.aka.strict_speedup == 1);
	CHECK(has_run(RUNS_AKA_ATTEMPT "perf-04-baseline.stdout"));
	CHECK(!has_run(RUNS_AKA_ATTEMPT "perf-05-baseline.stdout"));
	CHECK(has_run(RUNS_AKA_ATTEMPT "perf-02-candidate+build+performance_report.json"));
	CHECK(strstr(jails_text(RUNS_AKA_ATTEMPT "samples.json"), "{\"case\":\"one\",\"ms\":4"));
	runs_end(&runs);
}

TEST(what_is_faster_is_timed_in_all_rounds)
{
	run_task(PRINTS, "#!/bin/sh\nprintf 1.0 >kernel\n");
	CHECK_STR(record.seen.verdict, "FAST");
	CHECK_INT(record.seen.blocks, 2);
	CHECK(record.aka.strict_speedup == 4 && record.aka.strict_score == 520);
	CHECK(has_run(RUNS_AKA_ATTEMPT "perf-08-baseline.stdout"));
	runs_end(&runs);
}

TEST(figures_that_can_not_count_are_not_measured_again)
{
	run_task(PRINTS, "#!/bin/sh\nprintf -- -1.0 >kernel\n");
	CHECK_INT(record.seen.blocks, 0);
	CHECK(record.aka.strict_speedup == 0 && record.aka.strict_score == 120);
	CHECK(record.aka.reason);
	CHECK(!has_run(RUNS_AKA_ATTEMPT "perf-03-candidate.stdout"));
	runs_end(&runs);
}

TEST(a_run_without_figures_takes_the_speedup)
{
	/* The third time that it runs, it fails; what it is told by the clock it can not know. */
	run_task("case $1 in\nperformance) test ! -e die || exit 1; " RUNS_AKA_REPORT(
			 "cat kernel") ";;\nesac\n",
		 "#!/bin/sh\nprintf '1.0\\n2.0' >kernel\n");
	CHECK(record.aka.strict_speedup == 0);
	CHECK(record.aka.reason);
	runs_end(&runs);
}

TEST(without_a_baseline_there_is_no_speedup_and_its_evaluator_says_so)
{
	run_task("case $1 in\nperformance) grep -q 4.0 kernel && exit 1; " RUNS_AKA_REPORT(
			 "cat kernel") ";;\nesac\n",
		 "#!/bin/sh\nprintf 1.0 >kernel\n");
	CHECK_STR(record.seen.kind, "VALID");
	CHECK(record.aka.score == 120 && record.aka.strict_score == 120);
	CHECK(strstr(jails_text(RUNS_AKA_ATTEMPT "task_result.yaml"),
		     "Baseline not available, cannot calculate speedup"));
	runs_end(&runs);
}
