/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/attempt.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "tests/lib/check.h"
#include "tests/lib/runs.h"

static struct runs runs;
static struct record record;
static struct err err;

#define BEFORE "journal.opened\nrun.committed\nrun.planned\n"
#define LEASED "attempt.begun 1 LEASED\nattempt.leased 1\n"
#define RAN    "attempt.begun 1 AGENT\nattempt.agent 1\n"
#define FROZEN "attempt.begun 1 FROZEN\nattempt.frozen 1\n"
#define BUILT  "attempt.begun 1 BUILT\nattempt.built 1\n"
#define JUDGED "attempt.begun 1 JUDGED\nattempt.judged 1\n"
#define DONE   "attempt.recorded 1\n"

static void run_script(const char *script)
{
	runs_prepare(&runs, NULL);
	runs_add(&runs, script);
	runs_open(&runs);
	record = runs_attempt(&runs, 1);
}

/* Whatever an agent leaves, it is its own affair. */
static void check_scored(void)
{
	if (record.infra)
		check_fail(__FILE__, __LINE__, "INFRA: %s", record.infra);
	CHECK(record_is_marked(&record));
	CHECK_STR(runs_journal(&runs), BEFORE LEASED RAN FROZEN BUILT JUDGED DONE);
}

static void check_infra(const char *why, const char *journal)
{
	CHECK(record.infra);
	CHECK_STR(record.infra, why);
	CHECK(!record_is_marked(&record));
	CHECK(!record.seen.kind);
	CHECK_STR(runs_journal(&runs), journal);
}

TEST(each_transition_is_journalled_before_and_after_and_the_mark_recorded)
{
	run_script("#!/bin/sh\necho 'void work(void) {}' >work.c");
	check_scored();
	CHECK(record.is_built);
	CHECK_STR(record.seen.kind, "WRONG");
	CHECK_STR(record.ending.how, "exited");
	CHECK_INT(record.ending.code, 0);
	CHECK(record.is_committed_first);
	CHECK(strstr(runs_record(1), "\"seen\":{\"kind\":\"WRONG\""));
	CHECK(strstr(runs_record(1), "\"infra\":null"));
	runs_end(&runs);
}

TEST(an_oracle_that_fails_is_ours_and_no_mark_of_the_candidate)
{
	runs_copy_task("evaluate/oracle.c", "rows * cols", "*(volatile int64_t *) 8");
	runs_prepare(&runs, "task");
	runs_add(&runs, "#!/bin/sh\n");
	runs_open(&runs);
	record = runs_attempt(&runs, 1);
	CHECK(record.infra);
	CHECK(strncmp(record.infra, "judge: INFRA: oracle", 20) == 0);
	CHECK(!record_is_marked(&record));
	CHECK_STR(runs_journal(&runs), BEFORE LEASED RAN FROZEN BUILT
		  "attempt.begun 1 JUDGED\nattempt.infra 1 BUILT\n" DONE);
	CHECK(strstr(runs_record(1), "\"score\":null"));
	runs_end(&runs);
}

TEST(a_candidate_that_does_not_build_scores_0_and_is_not_judged)
{
	struct score_result result;

	run_script("#!/bin/sh\necho 'no C' >work.c");
	check_scored();
	CHECK(!record.is_built);
	CHECK_STR(record.build_why, "the build ended with code 1");
	CHECK(!record.seen.kind && !record.unseen.kind);
	CHECK_INT(record.times.judged_ns, 0);
	result = record_result(&record);
	CHECK(score_attempt(&result) == 0);
	CHECK(strstr(runs_record(1),
		     "\"built\":false,\"build_why\":\"the build ended with code 1\""));
	CHECK(strstr(jails_text("run/attempts/" RUNS_TASK "-0001/build.stderr"), "error"));
	runs_end(&runs);
}

TEST(what_an_agent_makes_of_its_files_is_never_our_failure)
{
	static const char *const scripts[] = {
		"rm work.c",
		"rm work.c; mkdir work.c; echo 1 >work.c/x",
		"rm work.c; ln -s /etc/passwd work.c",
		"rm work.c; mkfifo work.c",
		"echo bad >work.c; chmod 000 work.c .",
		"chmod 4755 work.c",
		"truncate -s 3G work.c",
		"echo bad >work.c; for i in $(seq 300); do mkdir d 2>/dev/null && cd d; done",
		"echo bad >work.c; kill -9 $$",
	};
	size_t count = ARRAY_LEN(scripts);

	runs_prepare(&runs, NULL);
	for (size_t i = 0; i < count; i++) {
		char text[256];

		snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", scripts[i]);
		runs_add(&runs, text);
	}
	runs_open(&runs);
	for (size_t i = 0; i < count; i++) {
		record = runs_attempt(&runs, (uint32_t) i + 1);
		if (record.infra)
			check_fail(__FILE__, __LINE__, "%s: %s", scripts[i], record.infra);
		check_note("%s: %s", scripts[i], record.build_why ? record.build_why : "built");
	}
	runs_end(&runs);
}

TEST(a_candidate_that_a_build_jail_can_not_hold_is_not_built)
{
	runs.policy = "schema: 1\nname: small\nbuild: { workspace: { size: 1MiB } }\n";
	run_script("#!/bin/sh\nhead -c 600000 /dev/zero >>work.c");
	check_scored();
	CHECK(!record.is_built);
	CHECK(strncmp(record.build_why, "the candidate has 600", 21) == 0);
	CHECK(strstr(record.build_why,
		     " bytes in 1 files and folders; the policy's build jail takes "
		     "524288 in 16384"));
	runs_end(&runs);
}

TEST(a_large_workspace_takes_nothing_from_a_small_candidate)
{
	runs.policy = "schema: 1\nname: small\nbuild: { workspace: { size: 1MiB, inodes: 16 } }\n";
	run_script("#!/bin/sh\nhead -c 9000000 /dev/zero >cache\n"
		   "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo >a$i; done\n"
		   "echo 'void work(void) {}' >work.c");
	check_scored();
	CHECK(record.is_built);
	CHECK_INT(record.unused.total, 13);
	CHECK_INT(record.rejected.total, 0);
	runs_end(&runs);
}

TEST(a_jail_lost_in_the_middle_is_infra_and_recorded)
{
	struct process killer;
	int status;

	runs_prepare(&runs, NULL);
	runs_add(&runs, "#!/bin/sh\necho begun; sleep 20");
	runs_open(&runs);
	killer = runs_kill_later(&runs, 1, false);
	record = runs_attempt(&runs, 1);
	CHECK_INT(process_wait(&killer, CLOCK_NEVER, &status, &err), 1);
	CHECK_INT(status, 0);
	check_infra("agent jail: the launcher has gone without a word",
		    BEFORE LEASED "attempt.begun 1 AGENT\nattempt.infra 1 LEASED\n" DONE);
	CHECK_STR(record.ending.how, "launcher_lost");
	CHECK(strstr(runs_record(1), "\"infra\":\"agent jail: the launcher has gone"));
	runs_end(&runs);
}

TEST(without_a_launcher_no_agent_has_ended)
{
	runs_prepare(&runs, NULL);
	runs_add(&runs, "#!/bin/sh\n");
	runs_open(&runs);
	process_kill(&runs.jails.launcher.process);
	record = runs_attempt(&runs, 1);
	CHECK(record.infra && strstr(record.infra, "ask the launcher for jail 'agent': "));
	CHECK(!record.ending.how);
	CHECK_INT(record.ending.code, RECORD_UNKNOWN);
	CHECK_STR(runs_journal(&runs),
		  BEFORE LEASED "attempt.begun 1 AGENT\nattempt.infra 1 LEASED\n" DONE);
	runs_end(&runs);
}

TEST(the_operators_wish_ends_the_agent_and_the_attempt_is_infra)
{
	auto_fd stop = -1;

	runs_prepare(&runs, NULL);
	runs_add(&runs, "#!/bin/sh\nsleep 20");
	runs_open(&runs);
	stop = eventfd(1, EFD_CLOEXEC);
	runs.plan.stop_fd = stop;
	record = runs_attempt(&runs, 1);
	check_infra("stopped by the operator",
		    BEFORE LEASED "attempt.begun 1 AGENT\nattempt.infra 1 LEASED\n" DONE);
	CHECK_STR(record.ending.how, "stopped");
	fd_close(&stop);
	runs_end(&runs);
}

TEST(an_attempts_folder_that_is_there_is_not_taken)
{
	runs_prepare(&runs, NULL);
	runs_add(&runs, "#!/bin/sh\n");
	runs_open(&runs);
	CHECK(mkdirat(runs.plan.folder_fd, "attempts", 0755) == 0 &&
	      mkdirat(runs.plan.folder_fd, "attempts/" RUNS_TASK "-0001", 0755) == 0);
	record = runs_attempt(&runs, 1);
	check_infra("create folder 'attempts/" RUNS_TASK "-0001': File exists",
		    BEFORE "attempt.begun 1 LEASED\nattempt.infra 1 PLANNED\n" DONE);
	CHECK(faccessat(runs.plan.folder_fd, "attempts/" RUNS_TASK "-0001/" RECORD_FILE, F_OK, 0) <
	      0);
	runs_end(&runs);
}

TEST(an_agent_that_is_none_is_infra_in_its_own_words)
{
	runs_prepare(&runs, NULL);
	runs_add(&runs, "#!/bin/sh\n");
	runs_open(&runs);
	/* Refused where a run is opened; it may vanish afterwards. */
	runs.plan.agents[0].name = "scripted:none";
	runs.plan.agents[0].solution = "none";
	record = runs_attempt(&runs, 1);
	check_infra("agent 'scripted:none': open 'solutions/none': No such file or directory",
		    BEFORE LEASED "attempt.begun 1 AGENT\nattempt.infra 1 LEASED\n" DONE);
	CHECK(!record.ending.how);
	runs_end(&runs);
}

TEST(without_a_journal_nothing_goes_on)
{
	runs_prepare(&runs, NULL);
	runs_add(&runs, "#!/bin/sh\n");
	runs_open(&runs);
	runs.run.journal.is_broken = true;
	CHECK_INT(
		attempt_run(&runs.run, &runs.run.tasks[0], &runs.plan.agents[0], 1, &record, &err),
		-1);
	CHECK(err.text[0]);
	CHECK(faccessat(runs.plan.folder_fd, "attempts", F_OK, 0) < 0);
	runs_end(&runs);
}

TEST(the_keeper_gives_the_key_only_once_the_candidate_is_frozen_in_the_journal)
{
	struct keeper_answer answer;
	struct digest root;
	auto_fd fd = -1;

	memset(&root, 0, sizeof(root));
	runs_prepare(&runs, NULL);
	runs_add(&runs, "#!/bin/sh\necho 'no C' >work.c");
	runs_open(&runs);
	CHECK_OK(keeper_bind(&runs.run.keeper, RUNS_TASK, 1, &fd, &err));
	CHECK_OK(keeper_ask(fd, &root, clock_after_ms(10000), &answer, &err));
	CHECK_INT(answer.status, KEEPER_NOT_FROZEN);
	record = runs_attempt(&runs, 1);
	CHECK_OK(keeper_ask(fd, &root, clock_after_ms(10000), &answer, &err));
	CHECK_INT(answer.status, KEEPER_OTHER_ROOT);
	fd_close(&fd);
	runs_end(&runs);
}
