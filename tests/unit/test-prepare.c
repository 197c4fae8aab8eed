/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/prepare.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"
#include "tests/lib/runs.h"
#include "tests/lib/tree.h"

static struct runs runs;
static struct err err;

#define SCRIPT "#!/bin/sh\n"

static int compare(const void *left, const void *right)
{
	const char *const *one = left, *const *other = right;

	return strcmp(*one, *other);
}

/* Appends the names in a folder of the run, and in those below it, in order: "a b/ b/c ". */
static void list(const char *path, struct str *out)
{
	cleanup(str_done) struct str below = STR_INIT;
	const struct dirent *entry;
	char *names[64];
	size_t count = 0;
	int fd = openat(runs.place.folder_fd, path[0] ? path : ".", O_RDONLY | O_DIRECTORY);
	DIR *folder = fdopendir(fd);

	CHECK(folder);
	while ((entry = readdir(folder)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			names[count++] = strdup(entry->d_name);
	closedir(folder);
	qsort(names, count, sizeof(names[0]), compare);
	for (size_t i = 0; i < count; i++) {
		struct stat info;

		str_clear(&below);
		str_addf(&below, "%s%s", path, names[i]);
		CHECK(fstatat(runs.place.folder_fd, below.text, &info, AT_SYMLINK_NOFOLLOW) == 0);
		if (S_ISDIR(info.st_mode)) {
			str_add(&below, "/", 1);
			str_addf(out, "%s ", below.text);
			list(below.text, out);
		} else {
			str_addf(out, "%s ", below.text);
		}
		free(names[i]);
	}
}

static void check_folder_has(const char *names)
{
	cleanup(str_done) struct str text = STR_INIT;

	list("", &text);
	CHECK_STR(text.text, names);
}

/* run_create() fails with these words. */
static void check_fails(const char *text)
{
	err = (struct err) ERR_INIT;
	CHECK_INT(run_create(&runs.run, &runs.place, &runs.plan, &runs.jails.launcher,
			     &runs.progress, &err),
		  -1);
	if (!strstr(err.text, text))
		check_fail(__FILE__, __LINE__, "'%s' does not have '%s'", err.text, text);
}

static void add_solution(const char *name)
{
	runs.plan.agents[runs.plan.agent_count++] =
		(struct run_agent){ .name = name, .solution = name, .program_fd = -1 };
}

static void check_tree(const char *path, const char *want)
{
	auto_fd fd = openat(runs.place.folder_fd, path, O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_TREE(fd, want);
}

TEST(all_that_a_run_needs_is_in_its_folder)
{
	cleanup(str_done) struct str task = STR_INIT;

	runs_prepare(&runs, NULL);
	runs_add(&runs, SCRIPT);
	add_solution("once");
	runs_open(&runs);
	check_folder_has("agents/ agents/1.tree journal.jsonl planned.json policy.yaml tasks/ "
			 "tasks/" RUNS_TASK "/ "
			 "tasks/" RUNS_TASK "/agent-2.tree "
			 "tasks/" RUNS_TASK "/baseline.stderr "
			 "tasks/" RUNS_TASK "/baseline.stdout "
			 "tasks/" RUNS_TASK "/baseline.tree "
			 "tasks/" RUNS_TASK "/evaluate.tree "
			 "tasks/" RUNS_TASK "/given.tree "
			 "tasks/" RUNS_TASK "/oracle.stderr "
			 "tasks/" RUNS_TASK "/oracle.stdout "
			 "tasks/" RUNS_TASK "/oracle.tree "
			 "tasks/" RUNS_TASK "/pristine.tree "
			 "tasks/" RUNS_TASK "/task.yaml ");
	check_tree("agents/1.tree", "\nx program=" SCRIPT);
	CHECK_OK(io_read_file(runs.plan.task_fds[0], "task.yaml", MIB, &task, &err));
	CHECK_STR(jails_text("run/tasks/" RUNS_TASK "/task.yaml"), task.text);
	runs_end(&runs);
}

TEST(the_task_may_change_or_vanish_once_it_is_planned)
{
	runs_copy_task("", "", "");
	runs_prepare(&runs, "task");
	runs_add(&runs, SCRIPT "echo 'no C' >work.c\n");
	runs_open(&runs);
	CHECK(unlinkat(check_folder(), "task/workspace/work.c", 0) == 0 &&
	      unlinkat(check_folder(), "task/task.yaml", 0) == 0);
	runs_resume(&runs);
	CHECK_STR(runs_carry_out(&runs).build_why, "the build ended with code 1");
	runs_end(&runs);
}

TEST(what_fails_before_anything_is_built_leaves_the_folder_empty)
{
	runs_prepare(&runs, NULL);
	runs_add(&runs, SCRIPT);
	add_solution("none");
	check_fails("there is no solution 'none'");
	check_folder_has("");
	run_done(&runs.run);
	/* The corrected command works. */
	runs.plan.agents[1].solution = "once";
	runs_open(&runs);
	runs_end(&runs);
}

TEST(what_fails_behind_a_build_that_worked_leaves_the_folder_empty)
{
	runs_prepare(&runs, NULL);
	runs_add(&runs, SCRIPT);
	add_solution("once");
	runs.plan.task_fds[1] = open("/etc/ssl", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	runs.plan.task_paths[1] = "/etc/ssl";
	runs.plan.task_count = 2;
	check_fails("task '/etc/ssl': ");
	check_folder_has("");
	runs_end(&runs);
}

TEST(a_task_that_is_given_twice_leaves_the_folder_empty)
{
	runs_prepare(&runs, NULL);
	runs_add(&runs, SCRIPT);
	runs.plan.task_fds[1] = fcntl(runs.plan.task_fds[0], F_DUPFD_CLOEXEC, 0);
	runs.plan.task_paths[1] = "again";
	runs.plan.task_count = 2;
	check_fails("a task of this name is given twice");
	check_folder_has("");
	runs_end(&runs);
}

TEST(a_policy_that_is_wrong_leaves_the_folder_empty)
{
	runs_prepare(&runs, NULL);
	runs_add(&runs, SCRIPT);
	runs.plan.policy.fd = memfd_create("policy", MFD_CLOEXEC);
	runs.plan.policy.path = "p.yaml";
	check_fails("p.yaml");
	check_folder_has("");
	runs_end(&runs);
}

TEST(an_agents_name_that_no_plan_can_hold_is_refused)
{
	char name[PLANNED_NAME_MAX + 2];

	memset(name, 'n', sizeof(name));
	name[PLANNED_NAME_MAX + 1] = '\0';
	runs_prepare(&runs, NULL);
	runs_add(&runs, SCRIPT);
	runs.plan.agents[0].name = name;
	check_fails("agent 'nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…': a name of more than 255 "
		    "bytes");
	CHECK_INT(err.kind, ERR_INPUT);
	check_folder_has("");
	run_done(&runs.run);
	name[PLANNED_NAME_MAX] = '\0';
	memset(name, 0xff, 200); /* each of these becomes two bytes */
	runs_open(&runs);
	runs_resume(&runs);
	runs_end(&runs);
}

/* Its author has to know why. */
TEST(what_a_build_that_failed_has_printed_stays)
{
	runs_copy_task("evaluate/oracle.c", "void work", "void (work");
	runs_prepare(&runs, "task");
	runs_add(&runs, SCRIPT);
	check_fails("oracle: the build ended with code 1");
	CHECK(strstr(jails_text("run/tasks/" RUNS_TASK "/oracle.stderr"), "error"));
	CHECK(faccessat(runs.place.folder_fd, PLANNED_FILE, F_OK, 0) < 0);
	runs_end(&runs);
}

/* A launcher that is gone is no failure of the author's. */
TEST(a_build_that_could_not_be_tried_leaves_the_folder_empty)
{
	runs_prepare(&runs, NULL);
	runs_add(&runs, SCRIPT);
	process_kill(&runs.jails.launcher.process);
	check_fails("baseline: ask the launcher");
	check_folder_has("");
	runs_end(&runs);
}

TEST(what_others_have_put_there_stays)
{
	auto_fd folder = -1;

	runs_prepare(&runs, NULL);
	runs_add(&runs, SCRIPT);
	add_solution("none");
	tree_make_file(runs.place.folder_fd, "mine", "1", 0644);
	CHECK(mkdirat(runs.place.folder_fd, "agents", 0755) == 0);
	folder = openat(runs.place.folder_fd, "agents", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tree_make_file(folder, "1.tree", "2", 0644);
	fd_close(&folder);
	check_fails("create folder 'agents': File exists");
	check_folder_has("agents/ agents/1.tree mine ");
	CHECK_STR(jails_text("run/agents/1.tree"), "2");
	runs_end(&runs);
}

/* A run whose policy and programs are prepared, and of its only task the folder. */
static void prepare_half(void)
{
	runs_prepare(&runs, NULL);
	runs_add(&runs, SCRIPT);
	add_solution("none");
	runs.run = (struct run){ .place = &runs.place,
				 .launcher = &runs.jails.launcher,
				 .stop_fd = -1,
				 .planned = PLANNED_INIT,
				 .policy = policy_default(),
				 .journal = JOURNAL_INIT,
				 .keeper = KEEPER_INIT,
				 .progress = &runs.progress,
				 .null_fd = -1,
				 .worker_fd = -1,
				 .arena = ARENA_INIT };
	CHECK_INT(prepare_run(&runs.run, &runs.plan, &err), -1);
	CHECK(strstr(err.text, "there is no solution 'none'"));
	check_folder_has("agents/ agents/1.tree policy.yaml tasks/ tasks/" RUNS_TASK "/ "
			 "tasks/" RUNS_TASK "/agent-2.tree ");
}

TEST(only_what_was_made_is_removed)
{
	auto_fd task = -1;

	prepare_half();
	task = openat(runs.place.folder_fd, "tasks/" RUNS_TASK, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tree_make_file(task, "notes", "3", 0644);
	fd_close(&task);
	prepare_undo(&runs.run);
	check_folder_has("tasks/ tasks/" RUNS_TASK "/ tasks/" RUNS_TASK "/notes ");
	runs_end(&runs);
}

TEST(no_link_is_followed_when_it_is_removed)
{
	auto_fd other = -1;

	prepare_half();
	CHECK(mkdirat(check_folder(), "other", 0755) == 0);
	other = openat(check_folder(), "other", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tree_make_file(other, "task.yaml", "4", 0644);
	tree_make_file(other, "1.tree", "5", 0644);
	fd_close(&other);
	CHECK(unlinkat(runs.place.folder_fd, "tasks/" RUNS_TASK "/agent-2.tree", 0) == 0 &&
	      unlinkat(runs.place.folder_fd, "tasks/" RUNS_TASK, AT_REMOVEDIR) == 0 &&
	      symlinkat("../../other", runs.place.folder_fd, "tasks/" RUNS_TASK) == 0);
	CHECK(unlinkat(runs.place.folder_fd, "agents/1.tree", 0) == 0 &&
	      unlinkat(runs.place.folder_fd, "agents", AT_REMOVEDIR) == 0 &&
	      symlinkat("../other", runs.place.folder_fd, "agents") == 0);
	prepare_undo(&runs.run);
	check_folder_has("agents tasks/ tasks/" RUNS_TASK " ");
	CHECK_STR(jails_text("other/task.yaml"), "4");
	CHECK_STR(jails_text("other/1.tree"), "5");
	runs_end(&runs);
}
