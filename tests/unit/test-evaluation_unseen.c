/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/evaluation_unseen.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/report/aka_reports.h"
#include "sandbox/base/fd.h"
#include "tests/lib/check.h"
#include "tests/lib/runs.h"
#include "tests/lib/tree.h"

static struct runs runs;
static struct record record;
static struct err err;

/* A kernel is right on the shapes that it names; its time stands behind them. */
#define RUNNER                                                                      \
	"SHAPE=1\ncase $1 in\ncorrectness) grep -q $SHAPE: kernel && echo pass;;\n" \
	"performance) " RUNS_AKA_REPORT("sed s/.*:// kernel") ";;\nesac\n"

#define SHAPES                                                              \
	"task_type: triton2triton\nnum_original_shapes: 1\ninjections:\n"   \
	"- { file: run.sh, find_marker: raw_replace, old_code: 'SHAPE=1', " \
	"replacement_code: 'SHAPE=2' }\n"

static void hold_out(const char *text)
{
	auto_fd folder = -1;

	CHECK(mkdirat(check_folder(), "held", 0755) == 0 &&
	      mkdirat(check_folder(), "held/triton2triton", 0755) == 0 &&
	      mkdirat(check_folder(), "held/" RUNS_AKA_TASK, 0755) == 0);
	folder = openat(check_folder(), "held/" RUNS_AKA_TASK, O_RDONLY | O_DIRECTORY);
	tree_make_file(folder, "held_out_shapes.yaml", text, 0644);
	runs.plan.aka.heldout = "held";
	runs.plan.aka.heldout_fd =
		openat(check_folder(), "held", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void run_script(const char *kernel, const char *shapes, const char *script)
{
	runs_aka(&runs, RUNNER, kernel, NULL);
	hold_out(shapes);
	runs_add(&runs, script);
	runs_open(&runs);
	record = runs_carry_out(&runs);
	if (record.infra)
		check_fail(__FILE__, __LINE__, "INFRA: %s", record.infra);
}

static void end(void)
{
	fd_close(&runs.plan.aka.heldout_fd);
	runs_end(&runs);
}

TEST(a_kernel_for_the_shapes_that_it_knows_is_found_out)
{
	run_script("1:2: 4.0", SHAPES, "#!/bin/sh\nprintf '1: 1.0' >kernel\n");
	CHECK_STR(record.seen.kind, "VALID");
	CHECK(record.aka.strict_speedup == 4);
	CHECK_STR(record.unseen.kind, "WRONG");
	CHECK_STR(record.heldout.status, "opt_regression");
	CHECK(record.heldout.original_is_correct && !record.heldout.is_correct);
	CHECK(strstr(jails_text(RUNS_AKA_ATTEMPT "heldout_task_result.yaml"),
		     "generalization_status: opt_regression\n"));
	CHECK_OK(aka_reports_write(&runs.run, &err));
	CHECK(strstr(jails_text("run/reports/heldout_summary.yaml"), "opt_regression: 1\n"));
	end();
}

TEST(a_kernel_that_holds_keeps_its_speedup)
{
	run_script("1:2: 4.0", SHAPES, "#!/bin/sh\nprintf '1:2: 2.0' >kernel\n");
	CHECK_STR(record.unseen.kind, "VALID");
	CHECK_STR(record.heldout.status, "both_pass");
	CHECK(record.heldout.speedup == 2 && record.heldout.score == 320);
	end();
}

TEST(shapes_that_the_tasks_own_kernel_fails_on_say_nothing)
{
	run_script("1: 4.0", SHAPES, "#!/bin/sh\n");
	CHECK_STR(record.seen.kind, "VALID");
	CHECK(!record.unseen.kind);
	CHECK_STR(record.heldout.status, "both_fail");
	end();
}

TEST(no_agent_sees_them)
{
	run_script("1:2: 4.0", SHAPES,
		   "#!/bin/sh\ngrep -rl SHAPE=[2] /work /run /tmp /dev/shm\nls -R /work\n");
	CHECK_STR(jails_text(RUNS_AKA_ATTEMPT "agent.stdout"),
		  "/work:\nconfig.yaml\nkernel\nrun.sh\n");
	end();
}

TEST(shapes_that_fit_nowhere_are_told)
{
	run_script("1:2: 4.0",
		   "task_type: triton2triton\ninjections:\n- { file: run.sh, find_marker: "
		   "raw_replace, old_code: 'NOWHERE', replacement_code: 'SHAPE=2' }\n",
		   "#!/bin/sh\n");
	CHECK_STR(record.seen.kind, "VALID");
	CHECK(!record.unseen.kind);
	CHECK(strstr(record.heldout.error, "run.sh: "));
	end();
}

TEST(a_file_of_shapes_that_can_not_be_read_stops_the_run)
{
	runs_aka(&runs, RUNNER, "1: 4.0", NULL);
	hold_out("injections: []\n");
	runs_add(&runs, "#!/bin/sh\n");
	CHECK_INT(run_create(&runs.run, &runs.place, &runs.plan, &runs.jails.launcher,
			     &runs.progress, &err),
		  -1);
	CHECK(strstr(err.text, "held/" RUNS_AKA_TASK "/held_out_shapes.yaml:"));
	end();
}
