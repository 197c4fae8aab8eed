/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/attempt.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/run/schedule.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "tests/lib/check.h"
#include "tests/lib/runs.h"
#include "tests/lib/tree.h"

/* Each attempt is carried out in its seat, by way of schedule_run(). */
static struct runs runs;
static struct record record;
static struct err err;

#define LEASED "attempt.begun 1 LEASED\nattempt.leased 1\n"
#define RAN    "attempt.begun 1 AGENT\nattempt.agent 1\n"
#define FROZEN "attempt.begun 1 FROZEN\nattempt.frozen 1\n"
#define BUILT  "attempt.begun 1 BUILT\nattempt.built 1\n"
#define JUDGED "attempt.begun 1 JUDGED\nattempt.judged 1\n"
#define DONE   "attempt.recorded 1\nrun.finished\n"
#define BAD_C  "#!/bin/sh\necho 'no C' >work.c\n"

/* Marked at once, and marked when its first call has taken too long: the judge is at work then. */
#define WRONG_C "#!/bin/sh\necho 'void work(void) {}' >work.c\n"
#define SLOW_C \
	"#!/bin/sh\nprintf '#include <unistd.h>\\nvoid work(void) { sleep(9); }\\n' >work.c\n"

static void open_with(const char *script)
{
	runs_prepare(&runs, NULL);
	runs_add(&runs, script);
	runs_open(&runs);
}

static void run_script(const char *script)
{
	open_with(script);
	record = runs_carry_out(&runs);
}

static void check_not_infra(void)
{
	if (record.infra)
		check_fail(__FILE__, __LINE__, "INFRA: %s", record.infra);
}

static const struct slot *slot(void)
{
	return &runs.run.slots.list[0];
}

/* Whatever an agent leaves, it is its own affair. */
static void check_scored(void)
{
	if (record.infra)
		check_fail(__FILE__, __LINE__, "INFRA: %s", record.infra);
	CHECK(record_is_marked(&record));
	CHECK_STR(runs_journal(&runs), RUNS_BEGUN LEASED RAN FROZEN BUILT JUDGED DONE);
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
	record = runs_carry_out(&runs);
	CHECK(record.infra);
	CHECK(strncmp(record.infra, "judge: INFRA: oracle", 20) == 0);
	CHECK(!record_is_marked(&record));
	CHECK_STR(runs_journal(&runs), RUNS_BEGUN LEASED RAN FROZEN BUILT
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
	record = runs_carry_out(&runs);
	for (size_t i = 0; i < count; i++) {
		CHECK_INT(runs.run.slots.list[i].state, SLOT_RECORDED);
		record = runs.run.slots.list[i].record;
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

TEST(each_line_says_whose_it_is_and_the_last_one_has_the_whole_record)
{
	static const char whose[] = "\"task\":\"" RUNS_TASK "\",\"slot\":1,\"attempt\":1,";
	cleanup(str_done) struct str again = STR_INIT;
	struct json_writer json;
	const char *journal;

	run_script(BAD_C);
	journal = jails_text("run/" JOURNAL_FILE);
	CHECK_INT(runs_count(journal, whose), runs_count(journal, "\"event\":\"attempt."));
	CHECK_INT(runs_count(journal, whose), 11);
	CHECK(strstr(journal, "\"event\":\"attempt.recorded\",\"task\":\"" RUNS_TASK
			      "\",\"slot\":1,\"attempt\":1,\"stopped\":false,\"file\":\""));
	CHECK(strstr(journal, "\",\"record\":{\"schema\":\"" RECORD_SCHEMA "\""));
	CHECK(strstr(journal, "\"build_why\":\"the build ended with code 1\""));
	/* What was read of it is what the file has, but for what record_read.h leaves out. */
	json_writer_init(&json, &again);
	record_put(&json, NULL, &record);
	again.text[strcspn(again.text, "{") + strlen(again.text) / 2] = '\0';
	CHECK(strstr(runs_record(1), again.text));
	runs_end(&runs);
}

TEST(a_jail_lost_in_the_middle_is_infra_and_recorded)
{
	struct process killer;

	open_with("#!/bin/sh\necho begun; sleep 20");
	killer = runs_later(&runs, "attempts/" RUNS_TASK "-0001/agent.stdout", "begun",
			    runs_kill_monitor);
	record = runs_carry_out(&runs);
	runs_acted(&killer);
	check_infra("agent jail: the launcher has gone without a word",
		    RUNS_BEGUN LEASED "attempt.begun 1 AGENT\nattempt.infra 1 LEASED\n" DONE);
	CHECK_STR(record.ending.how, "launcher_lost");
	CHECK(strstr(runs_record(1), "\"infra\":\"agent jail: the launcher has gone"));
	runs_end(&runs);
}

/* An agent that says it has begun, and takes its time the first time that it runs. */
#define SLOW "#!/bin/sh\necho begun; sleep 2; echo 'no C' >work.c\n"

TEST(what_was_infra_is_tried_again_under_a_new_number_as_often_as_planned)
{
	struct process killer;

	runs_prepare(&runs, NULL);
	runs_add(&runs, SLOW);
	runs.plan.retries = 1;
	runs_open(&runs);
	killer = runs_later(&runs, "attempts/" RUNS_TASK "-0001/agent.stdout", "begun",
			    runs_kill_monitor);
	record = runs_carry_out(&runs);
	runs_acted(&killer);
	check_not_infra();
	CHECK_INT(record.attempt, 2);
	CHECK_STR(record.build_why, "the build ended with code 1");
	CHECK_INT(runs.run.slots.recorded, 2);
	CHECK_INT(runs.run.slots.infra, 1);
	CHECK(strstr(runs_record(1), "\"infra\":\"agent jail"));
	CHECK(strstr(runs_record(2), "\"attempt\":2"));
	runs_end(&runs);
}

TEST(a_stop_before_the_agent_leaves_the_attempt_to_be_resumed)
{
	open_with(BAD_C);
	runs_can_stop(&runs);
	runs_stop(&runs, 0);
	CHECK_OK(schedule_run(&runs.run, &err));
	CHECK(runs.run.stopped);
	CHECK(slot()->state != SLOT_RECORDED && slot()->state != SLOT_AGENT);
	CHECK(!strstr(runs_journal(&runs), "AGENT"));
	CHECK(strstr(runs_journal(&runs), "run.stopped\n"));
	runs_can_stop(&runs);
	runs_resume(&runs);
	record = runs_carry_out(&runs);
	CHECK_INT(record.attempt, 1);
	check_not_infra();
	CHECK_INT(runs_count(runs_journal(&runs), "attempt.begun 1 AGENT"), 1);
	runs_end(&runs);
}

TEST(a_stop_while_the_agent_runs_is_infra_and_it_is_tried_again_when_resumed)
{
	struct process stopper;

	open_with(SLOW);
	runs_can_stop(&runs);
	stopper = runs_later(&runs, "attempts/" RUNS_TASK "-0001/agent.stdout", "begun", runs_stop);
	record = runs_carry_out(&runs);
	runs_acted(&stopper);
	CHECK(runs.run.stopped);
	CHECK(slot()->was_stopped && !slots_is_final(&runs.run.slots, slot()));
	check_infra("stopped by the operator",
		    RUNS_BEGUN LEASED "attempt.begun 1 AGENT\nattempt.infra 1 LEASED\n"
				      "attempt.recorded 1\nrun.stopped\n");
	CHECK_STR(record.ending.how, "stopped");
	CHECK(strstr(jails_text("run/" JOURNAL_FILE), "\"stopped\":true,\"file\":\""));
	runs_can_stop(&runs);
	runs_resume(&runs);
	record = runs_carry_out(&runs);
	CHECK_INT(record.attempt, 2);
	CHECK_STR(record.build_why, "the build ended with code 1");
	CHECK(strstr(runs_record(1), "\"infra\":\"stopped by the operator\""));
	runs_end(&runs);
}

/* What has been going on for a while when the line with this state is in the journal. */
static void stop_at(const char *state, const char *script)
{
	struct process stopper;
	char text[64];

	snprintf(text, sizeof(text), "\"state\":\"%s\"", state);
	open_with(script);
	runs_can_stop(&runs);
	stopper = runs_later(&runs, JOURNAL_FILE, text, runs_stop);
	CHECK_OK(schedule_run(&runs.run, &err));
	runs_acted(&stopper);
	CHECK(runs.run.stopped);
	CHECK_INT(slot()->state, SLOT_GOING);
	CHECK_INT(runs.run.slots.recorded, 0);
	CHECK(!strstr(runs_journal(&runs), "infra"));
	runs_can_stop(&runs);
	runs_resume(&runs);
	record = runs_carry_out(&runs);
	CHECK_INT(record.attempt, 1);
	check_not_infra();
	CHECK(record.seen.kind);
	for (size_t i = 0; i < record.label_count; i++)
		CHECK(strcmp(record.labels[i], "JUDGED_AGAIN") != 0);
	CHECK_STR(record.ending.how, "exited");
	CHECK_INT(record.ending.code, 0);
	CHECK(record.usage.wall_ns > 0 && record.times.agent_ns > record.times.leased_ns);
	CHECK_INT(runs_count(runs_journal(&runs), "attempt.begun 1 AGENT"), 1);
	runs_end(&runs);
}

TEST(a_stop_while_the_candidate_is_built_leaves_the_attempt_to_be_resumed)
{
	stop_at("BUILT", WRONG_C);
}

TEST(a_stop_while_the_judge_works_leaves_the_attempt_to_be_resumed)
{
	stop_at("JUDGED", SLOW_C);
}

/* Another seat takes up what the one that was killed has left. */
static void kill_seat_at(const char *state, const char *script)
{
	struct process killer;
	char text[64];

	snprintf(text, sizeof(text), "\"state\":\"%s\"", state);
	open_with(script);
	killer = runs_later(&runs, JOURNAL_FILE, text, runs_kill_seat);
	record = runs_carry_out(&runs);
	runs_acted(&killer);
	CHECK_INT(record.attempt, 1);
	check_not_infra();
	CHECK(record.seen.kind);
	CHECK_STR(record.ending.how, "exited");
	CHECK_INT(runs_count(runs_journal(&runs), "attempt.begun 1 AGENT"), 1);
	CHECK_INT(runs_count(runs_journal(&runs), "attempt.begun 1 FROZEN"), 2);
	CHECK_INT(runs_count(runs_journal(&runs), "attempt.recorded"), 1);
	runs_end(&runs);
}

TEST(a_seat_killed_while_it_builds_loses_nothing)
{
	kill_seat_at("BUILT", WRONG_C);
}

TEST(a_seat_killed_while_it_judges_loses_nothing)
{
	kill_seat_at("JUDGED", SLOW_C);
}

TEST(a_seat_killed_while_its_agent_runs_is_infra_and_the_agent_is_not_run_twice)
{
	struct process killer;

	runs_prepare(&runs, NULL);
	runs_add(&runs, SLOW);
	runs.plan.retries = 1;
	runs_open(&runs);
	killer = runs_later(&runs, "attempts/" RUNS_TASK "-0001/agent.stdout", "begun",
			    runs_kill_seat);
	record = runs_carry_out(&runs);
	runs_acted(&killer);
	CHECK_INT(record.attempt, 2);
	check_not_infra();
	CHECK(strstr(runs_record(1), "\"infra\":\"proctor was ended while the agent ran\""));
	CHECK(strstr(runs_record(1), "\"ending\":null"));
	CHECK_INT(runs_count(runs_journal(&runs), "attempt.begun 1 AGENT"), 1);
	CHECK_INT(runs_count(runs_journal(&runs), "attempt.begun 2 AGENT"), 1);
	runs_end(&runs);
}

/* The run can not go on; it can be resumed, with a launcher and a keeper that live. */
static void check_lost(const char *what)
{
	CHECK_INT(schedule_run(&runs.run, &err), -1);
	CHECK_STR(err.text, what);
	CHECK_INT(err.kind, ERR_SYS);
	CHECK_INT(jails_child(getpid(), "proctor-seat"), 0);
	CHECK(!strstr(runs_journal(&runs), "run.finished"));
}

TEST(a_launcher_that_dies_ends_the_run_and_no_seat_is_left)
{
	struct process killer;
	int64_t began_at;

	open_with("#!/bin/sh\necho begun; sleep 20");
	killer = runs_later(&runs, "attempts/" RUNS_TASK "-0001/agent.stdout", "begun",
			    runs_kill_launcher);
	began_at = clock_now();
	check_lost("the launcher has died");
	CHECK(clock_now() - began_at < 10 * NS_PER_S);
	runs_acted(&killer);
	process_kill(&runs.jails.launcher.process);
	runs_end(&runs);
}

TEST(a_launcher_that_is_dead_before_the_first_attempt_ends_the_run_too)
{
	open_with(BAD_C);
	CHECK_INT(kill(runs.jails.launcher.process.pid, SIGKILL), 0);
	check_lost("the launcher has died");
	process_kill(&runs.jails.launcher.process);
	runs_end(&runs);
}

TEST(a_keeper_that_dies_ends_the_run_and_it_is_resumed_with_the_same_secret)
{
	struct process killer;
	struct digest commitment;

	open_with(SLOW);
	commitment = runs.run.keeper.commitment;
	killer = runs_later(&runs, "attempts/" RUNS_TASK "-0001/agent.stdout", "begun",
			    runs_kill_keeper);
	check_lost("the keeper has died");
	runs_acted(&killer);
	runs_resume(&runs);
	CHECK(digest_equal(&commitment, &runs.run.keeper.commitment));
	record = runs_carry_out(&runs);
	CHECK_STR(record.infra, "proctor was ended while the agent ran");
	runs_end(&runs);
}

TEST(an_attempts_folder_that_is_there_is_not_taken)
{
	open_with("#!/bin/sh\n");
	CHECK(mkdirat(runs.place.folder_fd, "attempts", 0755) == 0 &&
	      mkdirat(runs.place.folder_fd, "attempts/" RUNS_TASK "-0001", 0755) == 0);
	record = runs_carry_out(&runs);
	check_infra("create folder 'attempts/" RUNS_TASK "-0001': File exists",
		    RUNS_BEGUN "attempt.begun 1 LEASED\nattempt.infra 1 PLANNED\n" DONE);
	CHECK(faccessat(runs.place.folder_fd, "attempts/" RUNS_TASK "-0001/" RECORD_FILE, F_OK, 0) <
	      0);
	runs_end(&runs);
}

TEST(an_agents_tree_that_is_gone_is_infra_in_its_own_words)
{
	open_with("#!/bin/sh\n");
	CHECK_INT(unlinkat(runs.place.folder_fd, "agents/1.tree", 0), 0);
	record = runs_carry_out(&runs);
	check_infra("open 'agents/1.tree': No such file or directory",
		    RUNS_BEGUN LEASED "attempt.begun 1 AGENT\nattempt.infra 1 LEASED\n" DONE);
	CHECK(!record.ending.how);
	runs_end(&runs);
}

TEST(a_solution_is_an_agent)
{
	auto_fd task = -1;

	runs_copy_task("", "", "");
	CHECK(mkdirat(check_folder(), "task/solutions", 0755) == 0 &&
	      mkdirat(check_folder(), "task/solutions/bad", 0755) == 0);
	task = openat(check_folder(), "task/solutions/bad", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tree_make_file(task, "work.c", "void work(void) {}\n", 0644);
	fd_close(&task);
	runs_prepare(&runs, "task");
	runs.plan.agents[0] =
		(struct run_agent){ .name = "scripted:bad", .solution = "bad", .program_fd = -1 };
	runs.plan.agent_count = 1;
	runs_open(&runs);
	record = runs_carry_out(&runs);
	check_not_infra();
	CHECK_STR(record.agent, "scripted:bad");
	CHECK_STR(record.seen.kind, "WRONG");
	runs_end(&runs);
}

TEST(without_a_journal_nothing_goes_on)
{
	open_with("#!/bin/sh\n");
	runs.run.journal.is_broken = true;
	CHECK_INT(schedule_run(&runs.run, &err), -1);
	CHECK(strstr(err.text, "the journal can not be written after an earlier failure"));
	CHECK(faccessat(runs.place.folder_fd, "attempts", F_OK, 0) < 0);
	CHECK_INT(jails_child(getpid(), "proctor-seat"), 0);
	runs_end(&runs);
}

TEST(the_keeper_gives_the_key_only_once_the_candidate_is_frozen_in_the_journal)
{
	struct keeper_answer answer;
	struct digest root;
	auto_fd fd = -1;

	memset(&root, 0, sizeof(root));
	open_with(BAD_C);
	CHECK_OK(keeper_bind(&runs.run.keeper, RUNS_TASK, 1, &fd, &err));
	CHECK_OK(keeper_ask(fd, &root, clock_after_ms(10000), &answer, &err));
	CHECK_INT(answer.status, KEEPER_NOT_FROZEN);
	record = runs_carry_out(&runs);
	CHECK_OK(keeper_ask(fd, &root, clock_after_ms(10000), &answer, &err));
	CHECK_INT(answer.status, KEEPER_OTHER_ROOT);
	fd_close(&fd);
	runs_end(&runs);
}
