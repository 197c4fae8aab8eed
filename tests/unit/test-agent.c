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
static struct task task = TASK_INIT;
static struct jail_outcome outcome;
static struct err err;
static int pristine = -1;

/* A workspace of two files. */
static void open_task(void)
{
	jails_start(&jails);
	run.stop_fd = -1;
	run.launcher = &jails.launcher;
	run.policy = policy_default();
	run.policy.agent.grace_ms = 50;
	pristine = tree_fd("\nf a=1\nf b=2");
}

/* In a folder of its own: "attempt0", "attempt1", … */
static int run_it(int script, bool is_solution, int *frozen_fd)
{
	static int number;
	char name[16];
	struct agent_job job = {
		.run = &run,
		.task = &task,
		.is_solution = is_solution,
		.pristine_fd = pristine,
		.script_fd = script,
	};
	int result;

	snprintf(name, sizeof(name), "attempt%d", number++);
	CHECK(mkdirat(check_folder(), name, 0755) == 0);
	job.folder_fd = openat(check_folder(), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	job.frozen_fd = *frozen_fd = tree_empty_fd();
	err = (struct err) ERR_INIT;
	result = agent_run(&job, &outcome, &err);
	fd_close(&job.folder_fd);
	return result;
}

/* What agent_pack_program() makes of a script. */
static int pack_program(const char *script)
{
	auto_fd program = memfd_create("program", MFD_CLOEXEC);
	int tree = tree_empty_fd();

	CHECK_INT(write(program, script, strlen(script)), strlen(script));
	CHECK_OK(agent_pack_program(program, tree, &err));
	return tree;
}

static void run_program(const char *script, int *frozen_fd)
{
	auto_fd tree = pack_program(script);

	CHECK_OK(run_it(tree, false, frozen_fd));
}

static void close_task(int *frozen_fd)
{
	fd_close(frozen_fd);
	fd_close(&pristine);
	jails_end(&jails);
}

TEST(a_solution_is_copied_over_the_workspace)
{
	auto_fd solution = -1;
	int frozen = -1;

	open_task();
	solution = tree_fd("\nf b=better");
	CHECK_OK(run_it(solution, true, &frozen));
	fd_close(&solution);
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

TEST(a_tree_can_be_run_again_though_its_descriptor_was_read)
{
	auto_fd tree = -1;
	int frozen = -1;

	open_task();
	tree = pack_program("#!/bin/sh\necho 1 >>a");
	for (int i = 0; i < 2; i++) {
		fd_close(&frozen);
		CHECK_OK(run_it(tree, false, &frozen));
		CHECK_TREE(frozen, "\nf a=11\n\nf b=2");
	}
	fd_close(&tree);
	close_task(&frozen);
}

TEST(an_agent_whose_time_is_over_leaves_what_it_has_done)
{
	int frozen = -1;

	open_task();
	run.policy.agent.wall_ms = 1000;
	task.limits.wall_ms = 300; /* the tighter one */
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
	task.limits.output = 5000;
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
	task.limits.workspace = MIB;
	task.limits.inodes = 64;
	run_program("#!/bin/sh\ni=0; while true >$i; do i=$((i+1)); done 2>/dev/null\n"
		    "cat /dev/zero >a 2>/dev/null; truncate -s 100G b; ln -s / 0; exit 0",
		    &frozen);
	CHECK_INT(outcome.last.result.flags, JAIL_DISK_FULL | JAIL_INODES_FULL);
	CHECK_INT(outcome.last.result.collected, 1);
	CHECK(fstat(frozen, &info) == 0);
	CHECK(info.st_size > (off_t) MIB / 2);
	close_task(&frozen);
}

TEST(a_solution_is_packed_and_one_that_is_not_there_is_an_error_that_names_it)
{
	int folder = check_folder();
	auto_fd solutions = -1, out = tree_empty_fd();

	CHECK(mkdirat(folder, "solutions", 0755) == 0 &&
	      mkdirat(folder, "solutions/good", 0755) == 0);
	solutions = openat(folder, "solutions/good", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tree_make_file(solutions, "b", "better", 0644);
	CHECK_INT(agent_pack_solution(folder, "bad", out, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_STR(err.text, "there is no solution 'bad'; there are good");
	CHECK(mkdirat(folder, "solutions/fine", 0755) == 0);
	err = (struct err) ERR_INIT;
	CHECK_INT(agent_pack_solution(folder, "bad", out, &err), -1);
	CHECK_STR(err.text, "there is no solution 'bad'; there are fine, good");
	CHECK(symlinkat("good", folder, "solutions/link") == 0);
	err = (struct err) ERR_INIT;
	CHECK_INT(agent_pack_solution(folder, "link", out, &err), -1);
	CHECK(strstr(err.text, "solution 'link': open 'solutions/link': Too many"));
	for (size_t i = 0; i < 4; i++) {
		static const char *const names[] = { "../good", "..", ".", "" };

		err = (struct err) ERR_INIT;
		CHECK_INT(agent_pack_solution(folder, names[i], out, &err), -1);
		CHECK_INT(err.kind, ERR_INPUT);
	}
	CHECK_INT(lseek(out, 0, SEEK_END), 0);
	CHECK_OK(agent_pack_solution(folder, "good", out, &err));
	CHECK_TREE(out, "\nf b=better");
}

TEST(a_program_is_packed_whole_wherever_its_descriptor_stands)
{
	auto_fd program = memfd_create("program", MFD_CLOEXEC), out = -1;

	CHECK_INT(write(program, "#!/bin/sh\n", 10), 10);
	for (int i = 0; i < 2; i++) {
		fd_close(&out);
		out = tree_empty_fd();
		CHECK_OK(agent_pack_program(program, out, &err));
		CHECK_TREE(out, "\nx program=#!/bin/sh\n");
	}
}

TEST(a_program_that_is_too_large_is_an_error_that_says_so)
{
	auto_fd program = memfd_create("program", MFD_CLOEXEC), out = tree_empty_fd();

	CHECK_INT(ftruncate(program, 9 * 1024 * 1024), 0);
	CHECK_INT(agent_pack_program(program, out, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK(strstr(err.text, "the agent's program"));
	CHECK_INT(lseek(out, 0, SEEK_END), 0);
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
