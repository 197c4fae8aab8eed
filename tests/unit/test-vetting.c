/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/vetting.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/run/launcher.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"
#include "tests/lib/tree.h"

/*
 * Whole vettings over real jails, of the task tests/data/tasks/known-ratio with one thing changed.
 */
static struct err err;
static struct launcher launcher = { .process = PROCESS_INIT, .socket_fd = -1 };
static struct progress progress;
static struct run_place place = { .programs = PROGRAMS, .folder_fd = -1, .stop_fd = -1 };
static struct run run;
static struct vetted vetted;
static int task_fd = -1;

/* A copy, @from replaced by @to in @file. */
static void copy_task(const char *file, const char *from, const char *to)
{
	static const char *const files[] = { "task.yaml",
					     "README.md",
					     "workspace/work.c",
					     "evaluate/oracle.c",
					     "solutions/once/work.c",
					     "solutions/once/NOTE.md" };
	static const char *const folders[] = {
		"known-ratio",           "known-ratio/workspace",      "known-ratio/evaluate",
		"known-ratio/solutions", "known-ratio/solutions/once", "out"
	};
	auto_fd original = open(SOURCE_ROOT "/tests/data/tasks/known-ratio",
				O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		CHECK(mkdirat(check_folder(), folders[i], 0755) == 0);
	task_fd = openat(check_folder(), "known-ratio", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		cleanup(str_done) struct str text = STR_INIT, changed = STR_INIT;
		const char *at;

		CHECK_OK(io_read_file(original, files[i], MIB, &text, &err));
		at = strcmp(files[i], file) == 0 ? strstr(text.text, from) : NULL;
		CHECK(at || strcmp(files[i], file) != 0);
		if (at)
			str_addf(&changed, "%.*s%s%s", (int) (at - text.text), text.text, to,
				 at + strlen(from));
		tree_make_file(task_fd, files[i], at ? changed.text : text.text, 0644);
	}
}

static void prepare(void)
{
	cpu_set_t allowed;

	if (geteuid() != 0)
		SKIP("needs root");
	CHECK(sched_getaffinity(0, sizeof(allowed), &allowed) == 0);
	if (CPU_COUNT(&allowed) < 2)
		SKIP("needs two CPUs");
	CHECK_OK(launcher_start(PROGRAMS, &launcher, &err));
	progress_start(&progress, -1, false, 0, 0, 0);
	run = (struct run){ .place = &place,
			    .launcher = &launcher,
			    .progress = &progress,
			    .stop_fd = -1,
			    .policy = policy_default() };
	CHECK_OK(cpus_choose(&allowed, &run.cpus, &err));
	run.null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	run.worker_fd = launcher_open_program(PROGRAMS, "proctor-worker", &err);
	CHECK(run.worker_fd >= 0);
	{
		cleanup(str_done) struct str program = STR_INIT;

		CHECK_OK(io_read_fd(run.worker_fd, STR_MAX - 1, "worker", &program, &err));
		fd_close(&run.worker_fd);
		run.worker_fd = io_memfd("worker", program.text, program.len, &err);
	}
}

static void vet(const char *file, const char *from, const char *to)
{
	auto_fd out = -1;

	prepare();
	copy_task(file, from, to);
	out = openat(check_folder(), "out", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK_OK(vetting_run(&(struct vetting){ &run, task_fd, out }, &vetted, &err));
	CHECK_INT(err.kind, ERR_NONE);
	fd_close(&task_fd);
	launcher_done(&launcher);
}

static void check_problem(const char *file, const char *from, const char *to, const char *want)
{
	vet(file, from, to);
	CHECK(!vetted_is_good(&vetted));
	CHECK_INT(vetted.problem.kind, ERR_INPUT);
	if (!strstr(vetted.problem.text, want))
		check_fail(__FILE__, __LINE__, "'%s' is not in '%s'", want, vetted.problem.text);
}

TEST(a_good_task_is_good_with_an_estimate_and_its_solutions)
{
	vet("task.yaml", "wall: 120s", "wall: 1h");
	if (!vetted_is_good(&vetted))
		check_fail(__FILE__, __LINE__, "%s %s", vetted.problem.text,
			   vetted.solutions[0].why);
	CHECK_STR(vetted.name, "known-ratio");
	CHECK_INT(vetted.case_count, 3);
	CHECK_STR(vetted.cases[0].name, "rows=16 cols=256");
	CHECK(vetted.cases[2].is_unseen && vetted.cases[0].baseline_ns > 0);
	CHECK(vetted.marking_ns > 0);
	CHECK_INT(vetted.solution_count, 1);
	CHECK_INT(vetted.solutions[0].seen, MARK_VALID);
	CHECK_INT(vetted.solutions[0].unseen, MARK_VALID);
}

TEST(a_mistake_in_the_file_has_its_line)
{
	check_problem("task.yaml", "kind: c2c", "kind: c3c", "task.yaml:4: key 'kind'");
}

TEST(an_entry_that_is_not_there_is_found)
{
	check_problem("task.yaml", "symbol: work,", "symbol: werk,",
		      "entry.symbol: the library of the baseline has no function 'werk'");
}

TEST(a_dimension_that_entry_args_forgets_is_found)
{
	vet("task.yaml", "args: [x, y, rows, cols]", "args: [x, y, cols]");
	CHECK(!vetted_is_good(&vetted));
	CHECK(strstr(vetted.problem.text, "void work"));
	CHECK(strstr(vetted.problem.text, "x, float *y, int64_t cols)") ||
	      strstr(vetted.problem.text, "x, double *y, int64_t cols)"));
}

TEST(an_oracle_that_crashes_is_found)
{
	check_problem("evaluate/oracle.c", "y[i] = x[i];", "*(volatile int *) 0 = 0;",
		      "entry.args: the oracle crashes");
}

TEST(an_oracle_that_says_something_else_is_found)
{
	check_problem("evaluate/oracle.c", "y[i] = x[i]", "y[i] = x[i] + 0.001",
		      "args.y: the baseline and the oracle disagree at element 0: ");
}

TEST(a_compiler_that_has_something_to_say_is_quoted)
{
	check_problem("workspace/work.c", "#include", "#error no way\n#include", "no way");
}

TEST(a_library_that_is_none_is_found)
{
	check_problem("task.yaml", "-shared, oracle.c", "-c, oracle.c",
		      "oracle.build.out: 'oracle.so' can not be loaded");
}

TEST(limits_in_which_nothing_can_be_built_are_found)
{
	check_problem("task.yaml", "check: { argv: [proctor-check] }",
		      "limits: { wall: 1s }\ncheck: { argv: [sleep, \"30\"] }", "limits.wall: ");
}

TEST(a_workspace_that_its_own_limits_can_not_hold_is_found)
{
	check_problem("task.yaml", "check: { argv: [proctor-check] }",
		      "limits: { workspace: 1MiB, inodes: 64 }\n"
		      "check: { argv: [sh, -c, \"cat /dev/zero >/work/x; exit 3\"] }",
		      "limits.workspace: ");
}

TEST(a_check_that_is_not_there_is_found)
{
	check_problem("task.yaml", "[proctor-check]", "[no-such-check, \"it's\"]",
		      "check: in the agent's jail, over the workspace as it is, it ends with code "
		      "127; it says: ");
}

TEST(a_solution_with_another_mark_than_its_note_says_makes_the_task_bad)
{
	vet("solutions/once/NOTE.md", "unseen VALID", "unseen WRONG");
	CHECK_INT(vetted.problem.kind, ERR_NONE);
	CHECK(!vetted_is_good(&vetted));
	CHECK(!vetted.solutions[0].is_expected);
	CHECK_INT(vetted.solutions[0].unseen, MARK_VALID);
}

TEST(a_solution_that_is_wrong_is_told_with_the_case_and_its_dimensions)
{
	vet("solutions/once/work.c", "void work(", "void work_(");
	CHECK(!vetted_is_good(&vetted));
	CHECK_INT(vetted.solutions[0].seen, MARK_WRONG);
	CHECK(strstr(vetted.solutions[0].why, "its library lacks the entry point"));
}
