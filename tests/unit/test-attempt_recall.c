/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/attempt_recall.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"
#include "tests/lib/tree.h"

#define TASK "known-ratio"

static struct planned_task planned_task = { .name = TASK, .folder = TASK };
static struct slot slot = { .number = 1, .attempt = 2, .entries = 3 };
static struct run_place place;
static struct run run;
static struct attempt attempt;
static struct journal journal;
static struct err err;

/* An attempt whose folder and task are there, with nothing about it in the journal yet. */
static void begin(void)
{
	auto_fd original = open(SOURCE_ROOT "/tests/data/tasks/" TASK, O_RDONLY | O_DIRECTORY);
	cleanup(str_done) struct str text = STR_INIT;
	int folder = check_folder();

	CHECK(mkdirat(folder, "tasks", 0755) == 0 && mkdirat(folder, "tasks/" TASK, 0755) == 0);
	CHECK(mkdirat(folder, "attempts", 0755) == 0 &&
	      mkdirat(folder, "attempts/" TASK "-0002", 0755) == 0);
	CHECK_OK(io_read_file(original, "task.yaml", MIB, &text, &err));
	tree_make_file(folder, "tasks/" TASK "/task.yaml", text.text, 0644);
	tree_make_file(folder, "tasks/" TASK "/pristine.tree", "pristine", 0644);
	tree_make_file(folder, "attempts/" TASK "-0002/frozen.tree", "frozen", 0644);
	place.folder_fd = folder;
	run.place = &place;
	attempt = (struct attempt){ .run = &run,
				    .slot = &slot,
				    .planned = &planned_task,
				    .task = TASK_INIT,
				    .task_fd = -1,
				    .folder_fd = -1,
				    .ending = { .code = RECORD_UNKNOWN, .signal = RECORD_UNKNOWN },
				    .usage = { RECORD_UNKNOWN, RECORD_UNKNOWN, RECORD_UNKNOWN,
					       RECORD_UNKNOWN, RECORD_UNKNOWN, RECORD_UNKNOWN },
				    .pristine_fd = -1,
				    .frozen_fd = -1,
				    .infra = ERR_INIT };
	CHECK_OK(journal_create(&journal, folder, "run-1", &err));
}

static void end(void)
{
	task_done(&attempt.task);
	fd_close(&attempt.task_fd);
	fd_close(&attempt.folder_fd);
	fd_close(&attempt.pristine_fd);
	fd_close(&attempt.frozen_fd);
	arena_done(&run.arena);
	journal_done(&journal);
}

static struct json_writer *begin_line(const char *event, const char *task, uint32_t number)
{
	struct json_writer *json = journal_begin(&journal, event);

	json_put_text(json, "task", task);
	json_put_int(json, "slot", 1);
	json_put_int(json, "attempt", number);
	return json;
}

static void commit(void)
{
	CHECK_OK(journal_commit(&journal, &err));
}

static void add_line(const char *event, const char *task, uint32_t number, const char *state)
{
	struct json_writer *json = begin_line(event, task, number);

	if (state)
		json_put_text(json, "state", state);
	commit();
}

static void add_agent(const char *task, uint32_t number, const char *how, int64_t code)
{
	const struct record_ending ending = { .how = how, .code = code, .signal = RECORD_UNKNOWN };
	const struct record_usage usage = { .wall_ns = 77, .memory_peak = code };

	record_put_ending(begin_line(ATTEMPT_AGENT_LINE, task, number), &ending, &usage);
	commit();
}

static void add_frozen(const char *task, uint32_t number, const char *root)
{
	const struct digest digest = digest_sha256(root, strlen(root));
	char hex[DIGEST_HEX];

	digest_hex(&digest, hex);
	json_put_text(begin_line(KEEPER_FROZEN, task, number), "candidate", hex);
	commit();
}

/* Up to where the agent has ended. */
static void add_first_lines(void)
{
	add_line(ATTEMPT_BEGUN, TASK, 2, "LEASED");
	add_line(ATTEMPT_LEASED_LINE, TASK, 2, NULL);
	add_line(ATTEMPT_BEGUN, TASK, 2, "AGENT");
	add_agent(TASK, 2, "exited", 3);
}

TEST(an_attempt_is_taken_up_with_all_that_is_known_of_its_agent)
{
	begin();
	add_first_lines();
	CHECK_OK(attempt_take_up(&attempt, &err));
	CHECK_STR(attempt.ending.how, "exited");
	CHECK_INT(attempt.ending.code, 3);
	CHECK_INT(attempt.usage.wall_ns, 77);
	CHECK_INT(attempt.usage.memory_peak, 3);
	CHECK(attempt.times.leased_ns > 0);
	CHECK(attempt.times.agent_ns >= attempt.times.leased_ns);
	CHECK_INT(attempt.times.frozen_ns, 0); /* that is done again */
	CHECK(!attempt.has_root_before && !attempt.was_judged && !attempt.has_services);
	CHECK_STR(attempt.task.name, TASK);
	CHECK(attempt.task_fd >= 0 && attempt.folder_fd >= 0 && attempt.pristine_fd >= 0);
	CHECK(attempt.frozen_fd >= 0);
	CHECK_INT(attempt.infra.kind, ERR_NONE);
	end();
}

TEST(the_log_of_its_services_is_known_by_its_digest)
{
	const struct record_ending ending = { .how = "exited" };
	const struct record_usage usage = { .wall_ns = 77 };
	const struct digest digest = digest_sha256("log", 3);
	struct json_writer *json;

	begin();
	add_line(ATTEMPT_BEGUN, TASK, 2, "LEASED");
	add_line(ATTEMPT_LEASED_LINE, TASK, 2, NULL);
	add_line(ATTEMPT_BEGUN, TASK, 2, "AGENT");
	json = begin_line(ATTEMPT_AGENT_LINE, TASK, 2);
	record_put_ending(json, &ending, &usage);
	json_put_digest(json, "services", &digest);
	commit();
	CHECK_OK(attempt_take_up(&attempt, &err));
	CHECK(attempt.has_services && digest_equal(&attempt.services, &digest));
	end();
}

TEST(lines_of_other_attempts_and_tasks_are_not_its_own)
{
	begin();
	add_first_lines();
	add_line(ATTEMPT_LEASED_LINE, "other", 2, NULL);
	add_agent("other", 2, "timeout", 9);
	add_agent(TASK, 1, "timeout", 9);
	add_agent(TASK, 20, "timeout", 9);
	add_frozen(TASK, 1, "another root");
	add_line("attempt.judged", "other", 2, NULL);
	CHECK_OK(attempt_take_up(&attempt, &err));
	CHECK_STR(attempt.ending.how, "exited");
	CHECK(!attempt.has_root_before && !attempt.was_judged && !attempt.has_services);
	end();
}

/* The keeper has a key for the first root alone. */
TEST(the_first_root_of_its_candidate_is_the_one_that_counts)
{
	const struct digest want = digest_sha256("first", 5);

	begin();
	add_first_lines();
	add_frozen(TASK, 2, "first");
	add_frozen(TASK, 2, "second");
	CHECK_OK(attempt_take_up(&attempt, &err));
	CHECK(attempt.has_root_before);
	CHECK(digest_equal(&attempt.root_before, &want));
	CHECK(!attempt.was_judged);
	end();
}

TEST(a_verdict_that_was_not_recorded_is_known)
{
	begin();
	add_first_lines();
	add_frozen(TASK, 2, "first");
	add_line("attempt.judged", TASK, 2, NULL);
	CHECK_OK(attempt_take_up(&attempt, &err));
	CHECK(attempt.was_judged);
	end();
}

TEST(without_the_archive_nothing_is_taken_up)
{
	begin();
	add_first_lines();
	CHECK_INT(unlinkat(check_folder(), "attempts/" TASK "-0002/frozen.tree", 0), 0);
	CHECK_INT(attempt_take_up(&attempt, &err), -1);
	CHECK_STR(err.text, "open 'frozen.tree': No such file or directory");
	end();
}

TEST(without_its_task_nothing_is_taken_up)
{
	begin();
	add_first_lines();
	CHECK_INT(unlinkat(check_folder(), "tasks/" TASK "/task.yaml", 0), 0);
	CHECK_INT(attempt_take_up(&attempt, &err), -1);
	CHECK_STR(err.text, "open 'task.yaml': No such file or directory");
	end();
}

TEST(a_journal_that_is_off_is_not_gone_on_from)
{
	auto_fd fd = -1;

	begin();
	add_first_lines();
	fd = openat(check_folder(), JOURNAL_FILE, O_WRONLY | O_APPEND | O_CLOEXEC);
	CHECK_INT(write(fd, "{}\n", 3), 3);
	CHECK_INT(attempt_take_up(&attempt, &err), -1);
	CHECK_STR(err.text, "journal line 6: it was changed after it was written");
	end();
}

TEST(a_line_of_its_own_that_makes_no_sense_is_an_error)
{
	begin();
	add_first_lines();
	add_line(KEEPER_FROZEN, TASK, 2, NULL);
	CHECK_INT(attempt_take_up(&attempt, &err), -1);
	CHECK_STR(err.text, "key 'candidate' is missing");
	end();
}

TEST(an_attempt_that_was_cut_off_is_infra_with_what_is_known)
{
	begin();
	add_line(ATTEMPT_BEGUN, TASK, 2, "LEASED");
	add_line(ATTEMPT_LEASED_LINE, TASK, 2, NULL);
	add_line(ATTEMPT_BEGUN, TASK, 2, "AGENT");
	attempt_cut_off(&attempt, SLOT_CUT);
	CHECK_STR(attempt.infra.text, "proctor was ended while the agent ran");
	CHECK_INT(attempt.infra.kind, ERR_SYS);
	CHECK(attempt.times.leased_ns > 0 && attempt.times.agent_ns > 0);
	CHECK(!attempt.ending.how);
	CHECK(attempt.folder_fd >= 0);
	end();
}

TEST(an_attempt_that_is_given_up_says_how_often_it_was_taken_up)
{
	begin();
	add_first_lines();
	attempt_cut_off(&attempt, SLOT_GIVE_UP);
	CHECK_STR(attempt.infra.text, "the attempt was taken up 3 times and ended proctor's own "
				      "process each time");
	CHECK_STR(attempt.ending.how, "exited");
	end();
}

/* There may be none: it was cut off while it was made, say. */
TEST(an_attempt_without_a_folder_is_cut_off_all_the_same)
{
	begin();
	slot.attempt = 5;
	attempt_cut_off(&attempt, SLOT_GIVE_UP);
	CHECK_INT(attempt.folder_fd, -1);
	CHECK(attempt.infra.kind != ERR_NONE);
	end();
}

TEST(a_folder_is_named_after_task_and_number)
{
	char name[PLANNED_PATH_MAX];

	attempt = (struct attempt){ .planned = &planned_task, .slot = &slot };
	attempt_folder(&attempt, name);
	CHECK_STR(name, "attempts/" TASK "-0002");
	slot.attempt = 12345;
	attempt_folder(&attempt, name);
	CHECK_STR(name, "attempts/" TASK "-12345");
}
