/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/agent.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"
#include "tests/lib/jails.h"
#include "tests/lib/tree.h"

static struct jails jails;
static struct run run;
static struct run_plan plan;
static struct run_task task;
static struct run_agent agent;
static struct jail_outcome outcome;
static struct err err;

/* A task of two files, with one solution. */
static void open_task(void)
{
	auto_fd solutions = -1;
	int folder = check_folder();

	jails_start(&jails);
	CHECK(mkdirat(folder, "solutions", 0755) == 0 &&
	      mkdirat(folder, "solutions/good", 0755) == 0);
	solutions = openat(folder, "solutions/good", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tree_make_file(solutions, "b", "better", 0644);
	plan.stop_fd = -1;
	run.plan = &plan;
	run.launcher = &jails.launcher;
	run.policy = policy_default();
	run.policy.agent.grace_ms = 50;
	task.folder_fd = folder;
	task.pristine_fd = tree_fd("\nf a=1\nf b=2");
}

static int run_it(int *frozen_fd)
{
	static int number;
	char name[16];
	int result;
	auto_fd folder = -1;

	snprintf(name, sizeof(name), "attempt%d", number++);
	CHECK(mkdirat(check_folder(), name, 0755) == 0);
	folder = openat(check_folder(), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*frozen_fd = tree_empty_fd();
	err = (struct err) ERR_INIT;
	result = agent_run(&(struct agent_job){ &run, &task, &agent, folder, *frozen_fd }, &outcome,
			   &err);
	return result;
}

static void run_solution(const char *name, int *frozen_fd)
{
	agent = (struct run_agent){ .name = "it", .solution = name, .program_fd = -1 };
	CHECK_OK(run_it(frozen_fd));
}

static void run_program(const char *script, int *frozen_fd)
{
	auto_fd program = memfd_create("program", MFD_CLOEXEC);

	CHECK_INT(write(program, script, strlen(script)), strlen(script));
	agent = (struct run_agent){ .name = "it", .program_fd = program };
	CHECK_OK(run_it(frozen_fd));
}

static void close_task(int *frozen_fd)
{
	fd_close(frozen_fd);
	fd_close(&task.pristine_fd);
	jails_end(&jails);
}

TEST(a_solution_is_copied_over_the_workspace)
{
	int frozen = -1;

	open_task();
	run_solution("good", &frozen);
	CHECK_INT(outcome.last.kind, EVENT_ENDED);
	CHECK_INT(outcome.last.result.ending, ENDING_EXITED);
	CHECK_INT(outcome.last.result.collected, 1);
	CHECK_TREE(frozen, "\nf a=1\nf b=better");
	close_task(&frozen);
}

TEST(a_program_is_run_in_the_workspace_and_only_that_is_kept)
{
	int frozen = -1;

	open_task();
	run_program("#!/bin/sh\npwd; cat a; echo 3 >c; echo x >/tmp/t; rm b; exit 7", &frozen);
	CHECK_INT(outcome.last.result.code, 7);
	CHECK_TREE(frozen, "\nf a=1\nf c=3\n");
	CHECK_STR(jails_text("attempt0/agent.stdout"), "/work\n1");
	close_task(&frozen);
}

TEST(the_program_can_be_run_again_though_its_descriptor_was_read)
{
	auto_fd program = -1;
	int frozen = -1;

	open_task();
	program = memfd_create("program", MFD_CLOEXEC);
	CHECK_INT(write(program, "#!/bin/sh\necho 1 >>a", 20), 20);
	agent = (struct run_agent){ .name = "it", .program_fd = program };
	for (int i = 0; i < 2; i++) {
		fd_close(&frozen);
		CHECK_OK(run_it(&frozen));
		CHECK_TREE(frozen, "\nf a=11\n\nf b=2");
	}
	fd_close(&program);
	close_task(&frozen);
}

TEST(an_agent_whose_time_is_over_leaves_what_it_has_done)
{
	int frozen = -1;

	open_task();
	run.policy.agent.wall_ms = 1000;
	task.task.limits.wall_ms = 300; /* the tighter one */
	run_program("#!/bin/sh\necho 3 >b; sleep 20", &frozen);
	CHECK_INT(outcome.last.result.ending, ENDING_TIMEOUT);
	CHECK(outcome.last.result.wall_ns < 1000 * NS_PER_MS);
	CHECK_INT(outcome.last.result.collected, 1);
	CHECK_TREE(frozen, "\nf a=1\nf b=3\n");
	close_task(&frozen);
}

TEST(the_tasks_output_limit_holds_where_it_is_tighter)
{
	int frozen = -1;

	open_task();
	task.task.limits.output = 5000;
	run_program("#!/bin/sh\nyes", &frozen);
	CHECK_INT(outcome.last.result.ending, ENDING_OUTPUT);
	CHECK_INT(strlen(jails_text("attempt0/agent.stdout")), 5000);
	CHECK_TREE(frozen, "\nf a=1\nf b=2");
	close_task(&frozen);
}

TEST(a_workspace_filled_to_the_brim_is_collected)
{
	struct stat info;
	int frozen = -1;

	open_task();
	task.task.limits.workspace = MIB;
	task.task.limits.inodes = 64;
	run_program("#!/bin/sh\ni=0; while true >$i; do i=$((i+1)); done 2>/dev/null\n"
		    "cat /dev/zero >a 2>/dev/null; truncate -s 100G b; ln -s / 0; exit 0",
		    &frozen);
	CHECK_INT(outcome.last.result.flags, JAIL_DISK_FULL | JAIL_INODES_FULL);
	CHECK_INT(outcome.last.result.collected, 1);
	CHECK(fstat(frozen, &info) == 0);
	CHECK(info.st_size > (off_t) MIB / 2);
	close_task(&frozen);
}

TEST(a_solution_that_is_not_there_is_an_error_that_names_it)
{
	int frozen = -1;

	open_task();
	agent = (struct run_agent){ .name = "scripted:bad", .solution = "bad", .program_fd = -1 };
	CHECK_INT(run_it(&frozen), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_STR(err.text,
		  "agent 'scripted:bad': open 'solutions/bad': No such file or directory");
	fd_close(&frozen);
	agent.solution = "../good";
	CHECK_INT(run_it(&frozen), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	close_task(&frozen);
}

TEST(a_program_that_is_too_large_is_an_error_that_says_so)
{
	auto_fd program = -1;
	int frozen = -1;

	open_task();
	program = memfd_create("program", MFD_CLOEXEC);
	CHECK_INT(ftruncate(program, 9 * 1024 * 1024), 0);
	agent = (struct run_agent){ .name = "big", .program_fd = program };
	CHECK_INT(run_it(&frozen), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK(strncmp(err.text, "agent 'big': the agent's program", 32) == 0);
	fd_close(&program);
	close_task(&frozen);
}

TEST(a_program_without_an_interpreter_says_what_is_missing)
{
	int frozen = -1;

	open_task();
	run_program("#!/no/such/shell\n", &frozen);
	CHECK_INT(outcome.last.kind, EVENT_NOT_FOUND);
	CHECK_STR(outcome.last.err.text, "jail 'agent': start: execute '/run/agent/program': No "
					 "such file or directory");
	close_task(&frozen);
}
