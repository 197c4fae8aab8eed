/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/run.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"
#include "tests/lib/runs.h"
#include "tests/lib/tree.h"

static struct runs runs;
static struct err err;

#define BAD_C "#!/bin/sh\necho 'no C' >work.c\n"

static int create_run(void)
{
	err = (struct err) ERR_INIT;
	return run_create(&runs.run, &runs.place, &runs.plan, &runs.jails.launcher, &runs.progress,
			  &err);
}

/* run_create() fails with these words, nothing of an agent has run, and nothing is left. */
static void check_refused(enum err_kind kind, const char *text)
{
	CHECK_INT(create_run(), -1);
	CHECK_STR(err.text, text);
	CHECK_INT(err.kind, kind);
	CHECK(faccessat(runs.place.folder_fd, "attempts", F_OK, 0) < 0);
	runs_end(&runs);
}

TEST(the_plan_stands_in_the_journal_before_any_agent)
{
	const struct planned *planned = &runs.run.planned;
	cleanup(str_done) struct str text = STR_INIT, plan = STR_INIT;
	struct digest digest;
	char hex[DIGEST_HEX];

	runs_prepare(&runs, NULL);
	runs_add(&runs, BAD_C);
	runs_open(&runs);
	CHECK_STR(runs_journal(&runs), RUNS_BEGUN);
	CHECK_OK(io_read_file(runs.place.folder_fd, JOURNAL_FILE, MIB, &text, &err));
	CHECK_OK(io_read_file(runs.place.folder_fd, PLANNED_FILE, MIB, &plan, &err));
	digest = digest_sha256(plan.text, plan.len);
	digest_hex(&digest, hex);
	CHECK(strstr(text.text, hex));
	digest_hex(&planned->judge, hex);
	CHECK(strstr(text.text, hex) && strstr(plan.text, hex));
	digest_hex(&runs.run.keeper.commitment, hex);
	CHECK(strstr(text.text, hex));
	digest_hex(&planned->tasks[0].tree, hex);
	CHECK(strstr(plan.text, hex));
	digest_hex(&planned->tasks[0].built, hex);
	CHECK(strstr(plan.text, hex));
	CHECK(strstr(plan.text, "\"agents\":[{\"name\":\"script\",\"solution\":false}]"));
	CHECK(strstr(text.text, "\"scoring\":\"20 if it builds"));
	runs_end(&runs);
}

TEST(the_built_in_policy_has_a_digest_too)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct digest digest;

	runs_prepare(&runs, NULL);
	runs_add(&runs, BAD_C);
	runs_open(&runs);
	CHECK_OK(io_read_file(runs.place.folder_fd, PLANNED_POLICY, MIB, &text, &err));
	digest = digest_sha256(text.text, text.len);
	CHECK(digest_equal(&digest, &runs.run.planned.policy));
	CHECK(strstr(text.text, "name: default"));
	runs_end(&runs);
}

TEST(retries_are_those_of_the_plan_or_else_of_the_policy)
{
	runs_prepare(&runs, NULL);
	runs_add(&runs, BAD_C);
	runs.policy = "schema: 1\nname: three\nretries: 3\n";
	runs.plan.retries = -1;
	runs_open(&runs);
	CHECK_INT(runs.run.planned.retries, 3);
	runs_end(&runs);
}

TEST(one_task_given_twice_is_refused_by_its_name)
{
	runs_prepare(&runs, NULL);
	runs_add(&runs, BAD_C);
	runs.plan.task_fds[1] = fcntl(runs.plan.task_fds[0], F_DUPFD_CLOEXEC, 0);
	runs.plan.task_paths[1] = "again";
	runs.plan.task_count = 2;
	check_refused(ERR_INPUT, "task 'again': a task of this name is given twice");
}

TEST(a_mistake_in_the_policy_is_named_with_file_and_line)
{
	int policy;

	runs_prepare(&runs, NULL);
	policy = memfd_create("policy", MFD_CLOEXEC);
	CHECK_INT(dprintf(policy, "schema: 1\nname: x\nworker: { pids: 9 }\n"), 38);
	CHECK_INT(lseek(policy, 0, SEEK_SET), 0);
	runs.plan.policy.fd = policy;
	runs.plan.policy.path = "my.yaml";
	check_refused(ERR_INPUT, "my.yaml:3: key 'pids': '9' is not within 16..32768");
}

TEST(a_baseline_that_does_not_build_is_its_authors_and_the_words_are_kept)
{
	runs_copy_task("workspace/work.c", "void work(", "void work((");
	runs_prepare(&runs, "task");
	CHECK_INT(create_run(), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_STR(err.text, "task 'task': baseline: the build ended with code 1; its output is in "
			    "tasks/" RUNS_TASK "/baseline.stderr of the run's folder");
	CHECK(strstr(jails_text("run/tasks/" RUNS_TASK "/baseline.stderr"), "error"));
	runs_end(&runs);
}

TEST(an_oracle_that_does_not_build_is_its_authors_too)
{
	runs_copy_task("evaluate/oracle.c", "void work", "void (work");
	runs_prepare(&runs, "task");
	check_refused(ERR_INPUT,
		      "task 'task': oracle: the build ended with code 1; its output is in "
		      "tasks/" RUNS_TASK "/oracle.stderr of the run's folder");
}

TEST(a_link_in_a_workspace_is_named)
{
	runs_copy_task("", "", "");
	CHECK(symlinkat("/etc/passwd", check_folder(), "task/workspace/link") == 0);
	runs_prepare(&runs, "task");
	check_refused(ERR_INPUT,
		      "task 'task': 'workspace/link' can not be part of a tree (symlink)");
}

TEST(a_folder_without_a_task_is_refused)
{
	runs_prepare(&runs, "/etc/ssl");
	CHECK_INT(create_run(), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK(strncmp(err.text, "task '/etc/ssl': ", 17) == 0);
	runs_end(&runs);
}

TEST(with_one_cpu_there_is_no_judge)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	runs_prepare(&runs, NULL);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		SKIP("needs CPU 0");
	check_refused(ERR_HOST, "judge and worker need a CPU each, and there is only CPU 0");
}

TEST(without_a_worker_program_both_places_are_named)
{
	runs_prepare(&runs, NULL);
	runs.place.programs = "/nonexistent";
	check_refused(
		ERR_HOST,
		"open 'proctor-worker', which is neither in '/nonexistent' nor in '" LIBEXECDIR
		"': No such file or directory");
}

TEST(a_launcher_that_is_gone_is_found_before_anything_is_planned)
{
	runs_prepare(&runs, NULL);
	runs_add(&runs, BAD_C);
	process_kill(&runs.jails.launcher.process);
	CHECK_INT(create_run(), -1);
	CHECK_INT(err.kind, ERR_SYS);
	CHECK(strstr(err.text,
		     "task '" RUNS_TASK "': baseline: ask the launcher for jail 'build': "));
	CHECK(faccessat(runs.place.folder_fd, JOURNAL_FILE, F_OK, 0) < 0);
	runs_end(&runs);
}

/* --- a run that is resumed --- */

static int resume_run(void)
{
	run_done(&runs.run);
	err = (struct err) ERR_INIT;
	return run_resume(&runs.run, &runs.place, &runs.jails.launcher, &runs.progress, &err);
}

static void open_one(void)
{
	runs_prepare(&runs, NULL);
	runs_add(&runs, BAD_C);
	runs_open(&runs);
}

/* run_resume() fails with these words, and the journal is as it was. */
static void check_not_resumed(const char *text)
{
	cleanup(str_done) struct str before = STR_INIT, after = STR_INIT;

	CHECK_OK(io_read_file(runs.place.folder_fd, JOURNAL_FILE, MIB, &before, &err));
	CHECK_INT(resume_run(), -1);
	CHECK_STR(err.text, text);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_OK(io_read_file(runs.place.folder_fd, JOURNAL_FILE, MIB, &after, &err));
	CHECK_STR(after.text, before.text);
	runs_end(&runs);
}

/* A file of the run's folder, in place of the one that is there. */
static void put_file(const char *name, const char *text, size_t len)
{
	auto_fd fd =
		openat(runs.place.folder_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, text, len), len);
}

/* The journal ends behind so many lines, and some bytes more. */
static void cut_journal(size_t lines, size_t more)
{
	cleanup(str_done) struct str text = STR_INIT;
	size_t len = 0;

	CHECK_OK(io_read_file(runs.place.folder_fd, JOURNAL_FILE, MIB, &text, &err));
	for (; lines > 0; lines--)
		len += strcspn(text.text + len, "\n") + 1;
	put_file(JOURNAL_FILE, text.text, len + more);
}

TEST(a_run_goes_on_from_wherever_its_first_lines_were_cut_off)
{
	struct digest commitment;

	open_one();
	commitment = runs.run.keeper.commitment;
	for (size_t lines = 1; lines <= 3; lines++) {
		cut_journal(lines, lines < 3 ? 20 : 0);
		if (resume_run() < 0)
			check_fail(__FILE__, __LINE__, "%zu lines: %s", lines, err.text);
		CHECK(strncmp(runs_journal(&runs), RUNS_BEGUN, strlen(RUNS_BEGUN)) == 0);
		CHECK_INT(runs_count(runs_journal(&runs), "run.committed"), 1);
		CHECK_INT(runs_count(runs_journal(&runs), "run.planned"), 1);
		CHECK(digest_equal(&commitment, &runs.run.keeper.commitment));
		run_done(&runs.run);
	}
	CHECK_INT(unlinkat(runs.place.folder_fd, JOURNAL_FILE, 0), 0);
	CHECK_OK(resume_run());
	CHECK_STR(runs_journal(&runs), RUNS_BEGUN "run.resumed\n");
	CHECK_INT(runs_carry_out(&runs).attempt, 1);
	runs_end(&runs);
}

TEST(where_the_journal_of_attempts_is_gone_none_is_begun_again)
{
	open_one();
	runs_carry_out(&runs);
	CHECK_INT(unlinkat(runs.place.folder_fd, JOURNAL_FILE, 0), 0);
	CHECK_INT(resume_run(), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK(strncmp(err.text, "'" JOURNAL_FILE "' is gone", 23) == 0);
	CHECK(faccessat(runs.place.folder_fd, JOURNAL_FILE, F_OK, 0) < 0);
	runs_end(&runs);
}

TEST(a_torn_line_is_cut_off_and_that_is_told)
{
	cleanup(str_done) struct str text = STR_INIT;

	open_one();
	cut_journal(2, 9);
	CHECK_OK(resume_run());
	CHECK_OK(io_read_file(runs.place.folder_fd, JOURNAL_FILE, MIB, &text, &err));
	CHECK(strstr(text.text, "\"event\":\"run.resumed\",\"cut\":9,\"recorded\":0"));
	CHECK_STR(runs_journal(&runs), RUNS_BEGUN "run.resumed\n");
	runs_end(&runs);
}

TEST(a_resumed_run_knows_what_was_planned_and_what_was_recorded)
{
	runs_prepare(&runs, NULL);
	runs_add(&runs, BAD_C);
	runs.policy = "schema: 1\nname: mine\nbuild: { pids: 77 }\n";
	runs_open(&runs);
	runs_carry_out(&runs);
	CHECK_OK(resume_run());
	CHECK_STR(runs.run.planned.run, "test-run");
	CHECK_INT(runs.run.policy.build.pids, 77);
	CHECK_STR(runs.run.policy.name, "mine");
	CHECK(slots_are_through(&runs.run.slots));
	CHECK_STR(runs.run.slots.list[0].record.build_why, "the build ended with code 1");
	CHECK_STR(runs.run.slots.list[0].record.policy, "mine");
	runs_end(&runs);
}

/* Of its files the run keeps one that says all, and of its walls the record says which are weaker.
 */
TEST(a_policy_that_extends_files_is_kept_whole_and_what_it_weakens_is_recorded)
{
	static const char base[] = "schema: 1\nname: base\nbuild: { pids: 77 }\naccept: [swap]\n";
	static const char mine[] = "schema: 1\nname: mine\nextends: ./base.yaml\n"
				   "agent: { syscalls: [profiler] }\n";
	cleanup(str_done) struct str kept = STR_INIT, text = STR_INIT;

	runs_prepare(&runs, NULL);
	runs_add(&runs, BAD_C);
	CHECK_OK(io_replace_file(check_folder(), "base.yaml", base, strlen(base), 0644, &err));
	CHECK_OK(io_replace_file(check_folder(), "mine.yaml", mine, strlen(mine), 0644, &err));
	CHECK_OK(policy_file_open(&runs.plan.policy, check_folder(), "mine.yaml", &err));
	runs_open(&runs);
	CHECK(unlinkat(check_folder(), "base.yaml", 0) == 0);
	runs_carry_out(&runs);
	CHECK_OK(resume_run());
	CHECK_INT(runs.run.policy.build.pids, 77);
	CHECK_INT(runs.run.policy.file_count, 1);
	CHECK_STR(runs.run.slots.list[0].record.weaker[0], "agent.syscalls:profiler");
	CHECK_INT(runs.run.slots.list[0].record.weaker_count, 2);
	CHECK_OK(io_read_file(runs.place.folder_fd, PLANNED_POLICY, MIB, &kept, &err));
	CHECK(strstr(kept.text, "name: mine\n") && strstr(kept.text, "\n  pids: 77\n"));
	CHECK_OK(io_read_file(runs.place.folder_fd, JOURNAL_FILE, MIB, &text, &err));
	CHECK(strstr(text.text, "\"policy_name\":\"mine\",\"weaker\":[\"agent.syscalls:profiler\","
				"\"accept:swap\"]"));
	runs_end(&runs);
}

TEST(a_finished_run_is_resumed_without_another_line)
{
	cleanup(str_done) struct str before = STR_INIT, after = STR_INIT;

	open_one();
	runs_carry_out(&runs);
	CHECK_OK(io_read_file(runs.place.folder_fd, JOURNAL_FILE, MIB, &before, &err));
	CHECK_OK(resume_run());
	runs_carry_out(&runs);
	CHECK_OK(io_read_file(runs.place.folder_fd, JOURNAL_FILE, MIB, &after, &err));
	CHECK_STR(after.text, before.text);
	runs_end(&runs);
}

TEST(where_no_run_was_begun_none_is_resumed)
{
	runs_prepare(&runs, NULL);
	CHECK_INT(run_resume(&runs.run, &runs.place, &runs.jails.launcher, &runs.progress, &err),
		  -1);
	CHECK_STR(err.text,
		  "no run was begun there: open '" PLANNED_FILE "': No such file or directory");
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK(faccessat(runs.place.folder_fd, JOURNAL_FILE, F_OK, 0) < 0);
	runs_end(&runs);
}

TEST(a_plan_that_was_changed_is_not_resumed)
{
	cleanup(str_done) struct str text = STR_INIT;
	char *at;

	open_one();
	CHECK_OK(io_read_file(runs.place.folder_fd, PLANNED_FILE, MIB, &text, &err));
	at = strstr(text.text, "\"repeats\":1");
	CHECK(at);
	at[strlen("\"repeats\":")] = '2';
	put_file(PLANNED_FILE, text.text, text.len);
	check_not_resumed("'" PLANNED_FILE "' is not what the journal says: it was changed");
}

TEST(it_is_the_plan_that_is_named_where_a_digest_in_it_was_changed)
{
	cleanup(str_done) struct str text = STR_INIT;
	char *at;

	open_one();
	CHECK_OK(io_read_file(runs.place.folder_fd, PLANNED_FILE, MIB, &text, &err));
	at = strstr(text.text, "\"sha256\":\"");
	CHECK(at);
	at += strlen("\"sha256\":\"");
	*at = *at == '0' ? '1' : '0';
	put_file(PLANNED_FILE, text.text, text.len);
	check_not_resumed("'" PLANNED_FILE "' is not what the journal says: it was changed");
}

TEST(a_file_that_was_changed_or_is_gone_is_named)
{
	open_one();
	put_file("tasks/" RUNS_TASK "/oracle.tree", "x", 1);
	CHECK_INT(resume_run(), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_STR(err.text, "'tasks/" RUNS_TASK "/oracle.tree' is not what was planned: it was "
			    "changed");
	CHECK_INT(unlinkat(runs.place.folder_fd, "agents/1.tree", 0), 0);
	put_file("tasks/" RUNS_TASK "/oracle.tree", "", 0);
	CHECK_INT(unlinkat(runs.place.folder_fd, "tasks/" RUNS_TASK "/oracle.tree", 0), 0);
	check_not_resumed("what was planned is not there any more: open 'tasks/" RUNS_TASK
			  "/oracle.tree': No such file or directory");
}

TEST(two_builds_of_proctor_do_not_share_a_run)
{
	cleanup(str_done) struct str text = STR_INIT;
	char *at;

	open_one();
	CHECK_OK(io_read_file(runs.place.folder_fd, PLANNED_FILE, MIB, &text, &err));
	at = strstr(text.text, "\"judge\":\"");
	CHECK(at);
	at += strlen("\"judge\":\"");
	*at = *at == '0' ? '1' : '0';
	put_file(PLANNED_FILE, text.text, text.len);
	cut_journal(1, 0); /* it does not know the plan */
	check_not_resumed("the run was begun by another build of proctor: marks of two programs do "
			  "not belong into one run; resume it with that one");
}

TEST(another_secret_is_found_before_anything_is_drawn)
{
	static const char other[KEEPER_SECRET_LEN] = "not the one that was committed t";

	open_one();
	CHECK_INT(pwrite(runs.place.secret_fd, other, sizeof(other), 0), sizeof(other));
	check_not_resumed("the file 'secret' of the run's folder does not hold the secret that the "
			  "journal has the commitment of");
}

TEST(a_second_proctor_is_refused_and_told_of_the_first)
{
	struct run second;
	char text[128];

	open_one();
	CHECK_INT(run_resume(&second, &runs.place, &runs.jails.launcher, &runs.progress, &err), -1);
	snprintf(text, sizeof(text),
		 "the run is being written by process %d: wait for it, or end it first",
		 (int) getpid());
	CHECK_STR(err.text, text);
	CHECK_INT(err.kind, ERR_INPUT);
	run_done(&second);
	CHECK_STR(runs_journal(&runs), RUNS_BEGUN);
	runs_end(&runs);
}

TEST(the_journal_of_another_run_is_refused)
{
	cleanup(journal_done) struct journal other = JOURNAL_INIT;

	open_one();
	run_done(&runs.run);
	CHECK_INT(unlinkat(runs.place.folder_fd, JOURNAL_FILE, 0), 0);
	CHECK_OK(journal_create(&other, runs.place.folder_fd, "other", &err));
	journal_done(&other);
	check_not_resumed("its journal is that of run 'other', its plan of 'test-run'");
}

TEST(a_line_that_makes_no_sense_is_named_by_its_number)
{
	struct json_writer *json;

	open_one();
	json = journal_begin(&runs.run.journal, ATTEMPT_BEGUN);
	json_put_text(json, "task", RUNS_TASK);
	json_put_int(json, "slot", 1);
	json_put_int(json, "attempt", 7);
	json_put_text(json, "state", "LEASED");
	CHECK_OK(journal_commit(&runs.run.journal, &err));
	check_not_resumed("line 4 of the journal: 7 is no number that slot 1 can have now");
}
