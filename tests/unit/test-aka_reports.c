/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/aka_reports.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/runs.h"

static struct runs runs;
static struct err err;

#define RUNNER                                                                  \
	"case $1 in\ncompile) test -s kernel;;\nperformance) " RUNS_AKA_REPORT( \
		"cat kernel") ";;\nesac\n"

static bool is_there(const char *name)
{
	return faccessat(check_folder(), name, F_OK, 0) == 0;
}

TEST(a_run_of_one_agent_has_the_reports_of_the_reference)
{
	const char *text;

	runs_aka(&runs, RUNNER, "4.0", NULL);
	runs_aka_task("a_b", RUNNER, "", NULL);
	runs.plan.aka.gpu = "H_200";
	runs_add(&runs, "#!/bin/sh\ntest -s kernel && printf 2.0 >kernel\n");
	runs_open(&runs);
	runs_carry_out(&runs);
	CHECK_OK(aka_reports_write(&runs.run, &err));
	text = jails_text("run/reports/overall_report.txt");
	CHECK(strstr(text, "Agent: script\nTarget GPU: H-200\n"));
	CHECK(strstr(text, "FAIL     triton2triton/a_b "));
	CHECK(strstr(text, "PASS     triton2triton/own "));
	CHECK(strstr(text, "Score:  320.0  Speedup: 2.00x"));
	CHECK(strstr(text, "Total Tasks:           2\n"));
	CHECK(strstr(jails_text("run/reports/overall_summary.csv"),
		     "triton2triton/own,triton2triton,320.0000,2.0000,Optimized by script "));
	CHECK(strstr(
		jails_text("run/reports/proctor_marks.json"),
		"{\"task\":\"triton2triton/own\",\"score_aka\":320.0,\"score_strict\":320.0,"));
	CHECK(is_there("run/reports/task_type_breakdown.json"));
	runs_end(&runs);
}

TEST(several_agents_have_a_folder_each)
{
	runs_aka(&runs, RUNNER, "4.0", NULL);
	runs_add(&runs, "#!/bin/sh\n");
	runs_add(&runs, "#!/bin/sh\nprintf 1.0 >kernel\n");
	runs.plan.agents[1].name = "other";
	runs_open(&runs);
	runs_carry_out(&runs);
	CHECK_OK(aka_reports_write(&runs.run, &err));
	CHECK(!is_there("run/reports/overall_report.txt"));
	CHECK(strstr(jails_text("run/reports/1-1/overall_report.txt"), "Score:  220.0"));
	CHECK(strstr(jails_text("run/reports/2-1/overall_report.txt"), "Score:  520.0"));
	runs_end(&runs);
}

TEST(a_run_of_other_tasks_has_none)
{
	runs_prepare(&runs, NULL);
	runs_add(&runs, "#!/bin/sh\n");
	runs_open(&runs);
	CHECK_OK(aka_reports_write(&runs.run, &err));
	CHECK(!is_there("run/reports"));
	runs_end(&runs);
}
