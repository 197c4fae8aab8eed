/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/run.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
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

static size_t count(const char *text, const char *what)
{
	size_t found = 0;

	for (; (text = strstr(text, what)); text++)
		found++;
	return found;
}

static int open_run(void)
{
	err = (struct err) ERR_INIT;
	return run_open(&runs.run, &runs.plan, &runs.jails.launcher, &runs.progress, &err);
}

/* run_open() fails with these words, nothing of an agent has run, and nothing is left. */
static void check_refused(enum err_kind kind, const char *text)
{
	CHECK_INT(open_run(), -1);
	CHECK_STR(err.text, text);
	CHECK_INT(err.kind, kind);
	CHECK(faccessat(runs.plan.folder_fd, "attempts", F_OK, 0) < 0);
	runs_end(&runs);
}

TEST(every_planned_attempt_has_a_number_of_its_own_and_exactly_one_record)
{
	const char *journal;

	runs_prepare(&runs, NULL);
	runs_add(&runs, BAD_C);
	runs_add(&runs, BAD_C "exit 3\n");
	runs.plan.repeats = 2;
	runs_open(&runs);
	CHECK_OK(run_attempts(&runs.run, &err));
	CHECK_INT(runs.run.record_count, 4);
	CHECK(!runs.run.stopped);
	journal = runs_journal(&runs);
	for (uint32_t i = 1; i <= 4; i++) {
		char line[64];

		CHECK_INT(runs.run.records[i - 1].attempt, i);
		CHECK_INT(runs.run.records[i - 1].ending.code, i <= 2 ? 0 : 3);
		snprintf(line, sizeof(line), "attempt.recorded %u\n", i);
		CHECK_INT(count(journal, line), 1);
		snprintf(line, sizeof(line), "attempt.begun %u AGENT\n", i);
		CHECK_INT(count(journal, line), 1);
		CHECK(strstr(runs_record(i), "\"agent\":\"script\""));
	}
	CHECK_STR(journal + strlen(journal) - 13, "run.finished\n");
	runs_end(&runs);
}

TEST(a_launcher_that_dies_in_the_middle_loses_no_attempt)
{
	struct process killer;
	const char *journal;
	int status;

	runs_prepare(&runs, NULL);
	runs_add(&runs, BAD_C);
	runs_add(&runs, "#!/bin/sh\necho begun; sleep 20");
	runs_add(&runs, BAD_C);
	runs_open(&runs);
	killer = runs_kill_later(&runs, 2, true);
	CHECK_OK(run_attempts(&runs.run, &err));
	CHECK_INT(process_wait(&killer, CLOCK_NEVER, &status, &err), 1);
	CHECK_INT(status, 0);
	CHECK_INT(runs.run.record_count, 3);
	CHECK(!runs.run.records[0].infra);
	CHECK_STR(runs.run.records[1].infra, "agent jail: the launcher has gone without a word");
	CHECK(runs.run.records[2].infra);
	CHECK(!runs.run.records[2].ending.how);
	journal = runs_journal(&runs);
	CHECK_INT(count(journal, "attempt.infra 2 LEASED\n"), 1);
	CHECK_INT(count(journal, "attempt.infra 3 LEASED\n"), 1);
	CHECK_INT(count(journal, "attempt.recorded "), 3);
	CHECK(strstr(runs_record(3), "\"infra\":\"ask the launcher for jail 'agent': "));
	process_kill(&runs.jails.launcher.process);
	runs_end(&runs);
}

TEST(the_operators_wish_ends_the_run_after_the_attempt_that_it_met)
{
	auto_fd stop = -1;
	const char *journal;

	runs_prepare(&runs, NULL);
	runs_add(&runs, "#!/bin/sh\nsleep 20");
	runs.plan.repeats = 3;
	runs_open(&runs);
	stop = eventfd(1, EFD_CLOEXEC);
	runs.plan.stop_fd = stop;
	CHECK_OK(run_attempts(&runs.run, &err));
	CHECK(runs.run.stopped);
	CHECK_INT(runs.run.record_count, 1);
	CHECK_STR(runs.run.records[0].infra, "stopped by the operator");
	journal = runs_journal(&runs);
	CHECK_INT(count(journal, "attempt.recorded "), 1);
	CHECK_STR(journal + strlen(journal) - 12, "run.stopped\n");
	fd_close(&stop);
	runs_end(&runs);
}

TEST(the_plan_stands_in_the_journal_before_any_agent)
{
	cleanup(str_done) struct str text = STR_INIT;
	char hex[DIGEST_HEX];

	runs_prepare(&runs, NULL);
	runs_add(&runs, BAD_C);
	runs_open(&runs);
	CHECK_STR(runs_journal(&runs), "journal.opened\nrun.committed\nrun.planned\n");
	CHECK_OK(io_read_file(runs.plan.folder_fd, JOURNAL_FILE, MIB, &text, &err));
	digest_hex(&runs.run.tasks[0].digest, hex);
	CHECK(strstr(text.text, hex));
	digest_hex(&runs.run.judge_digest, hex);
	CHECK(strstr(text.text, hex));
	digest_hex(&runs.run.keeper.commitment, hex);
	CHECK(strstr(text.text, hex));
	CHECK(strstr(text.text, "\"agents\":[\"script\"]"));
	CHECK(strstr(text.text, "\"scoring\":\"20 if it builds"));
	runs_end(&runs);
}

TEST(the_built_in_policy_has_a_digest_too)
{
	static const struct digest none;

	runs_prepare(&runs, NULL);
	runs_add(&runs, BAD_C);
	runs_open(&runs);
	CHECK(memcmp(&runs.run.policy_digest, &none, sizeof(none)) != 0);
	runs_end(&runs);
}

TEST(one_task_given_twice_is_refused_by_its_name)
{
	runs_prepare(&runs, NULL);
	runs_add(&runs, BAD_C);
	runs.plan.task_fds[1] = fcntl(runs.plan.task_fds[0], F_DUPFD_CLOEXEC, 0);
	runs.plan.task_count = 2;
	check_refused(ERR_INPUT, "task '" RUNS_TASK "': a task of this name is given twice");
}

TEST(a_mistake_in_the_policy_is_named_with_file_and_line)
{
	int policy;

	runs_prepare(&runs, NULL);
	policy = memfd_create("policy", MFD_CLOEXEC);
	CHECK_INT(dprintf(policy, "schema: 1\nname: x\nworker: { pids: 9 }\n"), 38);
	CHECK_INT(lseek(policy, 0, SEEK_SET), 0);
	runs.plan.policy_fd = policy;
	runs.plan.policy_path = "my.yaml";
	check_refused(ERR_INPUT, "my.yaml:3: key 'pids': '9' is not within 16..32768");
}

TEST(a_baseline_that_does_not_build_is_its_authors_and_the_words_are_kept)
{
	runs_copy_task("workspace/work.c", "void work(", "void work((");
	runs_prepare(&runs, "task");
	CHECK_INT(open_run(), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_STR(err.text,
		  "task '" RUNS_TASK "': baseline: the build ended with code 1; its output "
		  "is in baseline.stderr of the run's folder of the task");
	CHECK(strstr(jails_text("run/tasks/" RUNS_TASK "/baseline.stderr"), "error"));
	runs_end(&runs);
}

TEST(an_oracle_that_does_not_build_is_its_authors_too)
{
	runs_copy_task("evaluate/oracle.c", "void work", "void (work");
	runs_prepare(&runs, "task");
	check_refused(ERR_INPUT,
		      "task '" RUNS_TASK "': oracle: the build ended with code 1; its output is in "
		      "oracle.stderr of the run's folder of the task");
}

TEST(a_link_in_a_workspace_is_named)
{
	runs_copy_task("", "", "");
	CHECK(symlinkat("/etc/passwd", check_folder(), "task/workspace/link") == 0);
	runs_prepare(&runs, "task");
	check_refused(ERR_INPUT,
		      "task '" RUNS_TASK "': 'workspace/link' can not be part of a tree (symlink)");
}

TEST(a_folder_without_a_task_is_refused)
{
	runs_prepare(&runs, "/etc/ssl");
	CHECK_INT(open_run(), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK(strncmp(err.text, "task '(unread)': ", 17) == 0);
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
	runs.plan.programs = "/nonexistent";
	check_refused(
		ERR_HOST,
		"open 'proctor-worker', which is neither in '/nonexistent' nor in '" LIBEXECDIR
		"': No such file or directory");
}

TEST(a_launcher_that_is_gone_is_found_before_anything_is_planned)
{
	runs_prepare(&runs, NULL);
	process_kill(&runs.jails.launcher.process);
	CHECK_INT(open_run(), -1);
	CHECK_INT(err.kind, ERR_SYS);
	CHECK(strstr(err.text,
		     "task '" RUNS_TASK "': baseline: ask the launcher for jail 'build': "));
	CHECK(faccessat(runs.plan.folder_fd, JOURNAL_FILE, F_OK, 0) < 0);
	runs_end(&runs);
}
