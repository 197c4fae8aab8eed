/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/journals.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"
#include "tests/lib/paper_runs.h"

/* A folder beneath the test's own. */
static int new_folder(const char *name)
{
	int fd;

	CHECK(mkdirat(check_folder(), name, 0755) == 0);
	fd = openat(check_folder(), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(fd >= 0);
	return fd;
}

static void load(int folder, struct str *out)
{
	struct err err = ERR_INIT;

	str_clear(out);
	CHECK_OK(io_read_file(folder, JOURNAL_FILE, 1 << 20, out, &err));
}

static void store(int folder, const char *bytes, size_t len)
{
	auto_fd fd = openat(folder, JOURNAL_FILE, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct err err = ERR_INIT;

	CHECK(fd >= 0);
	CHECK_OK(io_write_all(fd, bytes, len, "a journal", &err));
}

static void add(struct journal *journal, int64_t slot, struct record record)
{
	paper_run_add(journal, slot, &record);
}

static struct record marked(const char *task, const char *agent, uint32_t attempt,
			    const char *unseen)
{
	static const struct digest tree = { { 0xab } };
	struct record record = paper_record("run-1", task, agent, attempt);

	record.seen = paper_mark("VALID", 2);
	record.unseen = paper_mark(unseen, 1.5);
	record.digests.task = &tree;
	return record;
}

static struct record lost(const char *task, const char *agent, uint32_t attempt)
{
	struct record record = paper_record("run-1", task, agent, attempt);

	record.is_built = false;
	record.infra = "no seat was free";
	return record;
}

/* Two tasks, two agents; the second agent's attempt on "b" was lost and tried again. */
static int make_run(const char *folder)
{
	cleanup(journal_done) struct journal journal = JOURNAL_INIT;
	int fd = new_folder(folder);

	paper_run_create(&journal, fd, "run-1", 2, 2, 1);
	add(&journal, 2, lost("b", "second", 2));
	add(&journal, 1, marked("b", "first", 1, "VALID"));
	add(&journal, 2, marked("a", "second", 2, "WRONG"));
	add(&journal, 2, marked("b", "second", 3, "VALID"));
	add(&journal, 1, marked("a", "first", 1, "VALID"));
	paper_run_tell(&journal, "run.finished");
	return fd;
}

TEST(of_each_planned_attempt_the_last_record_counts)
{
	auto_fd folder = make_run("run");
	cleanup(journals_done) struct journals journals = JOURNALS_INIT;
	struct err err = ERR_INIT;
	const struct journals_run *run;

	CHECK_OK(journals_read(&journals, folder, "here/run", &err));
	CHECK_INT(journals.run_count, 1);
	run = &journals.runs[0];
	CHECK_STR(run->run, "run-1");
	CHECK_STR(run->folder, "here/run");
	CHECK(!run->name);
	CHECK_INT(run->planned, 4);
	CHECK_INT(run->recorded, 4);
	CHECK_INT(run->infra, 1);
	CHECK_INT(run->torn, 0);
	CHECK(run->is_finished);
	CHECK_INT(journals.record_count, 4);
	/* By task, then as planned, in whatever order they were done. */
	CHECK_STR(journals.records[0].task, "a");
	CHECK_STR(journals.records[0].agent, "first");
	CHECK_STR(journals.records[1].agent, "second");
	CHECK_STR(journals.records[1].unseen.kind, "WRONG");
	CHECK_INT(journals.records[1].unseen.cases, 8);
	CHECK_STR(journals.records[2].task, "b");
	CHECK_INT(journals.records[3].attempt, 3);
	CHECK(!journals.records[3].infra);
	CHECK(fabs(record_speedup(&journals.records[3].seen) - 2) < 1e-9);
	CHECK(strncmp(journals.trees[0], "ab00", 4) == 0);
}

TEST(a_run_has_its_name_its_labels_and_what_was_planned)
{
	cleanup(journal_done) struct journal journal = JOURNAL_INIT;
	cleanup(journals_done) struct journals journals = JOURNALS_INIT;
	auto_fd folder = new_folder("run");
	struct err err = ERR_INIT;
	struct digest digest;

	paper_run_create_named(&journal, folder, "run-1", 1);
	CHECK_OK(journals_read(&journals, folder, "run", &err));
	CHECK_STR(journals.runs[0].name, "nightly");
	CHECK_INT(journals.runs[0].label_count, 2);
	CHECK_STR(journals.runs[0].labels[0].key, "machine");
	CHECK_STR(journals.runs[0].labels[0].value, "paper");
	CHECK_STR(journals.runs[0].labels[1].value, "none\n");
	CHECK_OK(planned_digest_file(folder, PLANNED_FILE, &digest, &err));
	CHECK(digest_equal(&journals.runs[0].digest, &digest));
}

TEST(an_attempt_that_stayed_infra_is_there_as_such)
{
	cleanup(journal_done) struct journal journal = JOURNAL_INIT;
	cleanup(journals_done) struct journals journals = JOURNALS_INIT;
	auto_fd folder = new_folder("run");
	struct err err = ERR_INIT;

	paper_run_create(&journal, folder, "run-1", 1, 1, 1);
	add(&journal, 1, lost("a", "first", 1));
	add(&journal, 1, lost("a", "first", 2));
	CHECK_OK(journals_read(&journals, folder, "run", &err));
	CHECK_INT(journals.record_count, 1);
	CHECK_INT(journals.records[0].attempt, 2);
	CHECK_STR(journals.records[0].infra, "no seat was free");
	CHECK(!journals.trees[0]);
	CHECK_INT(journals.runs[0].infra, 2);
	CHECK(!journals.runs[0].is_finished);
}

TEST(a_run_that_goes_on_or_never_got_far_is_read_as_far_as_it_is)
{
	cleanup(journal_done) struct journal journal = JOURNAL_INIT;
	cleanup(journals_done) struct journals journals = JOURNALS_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	auto_fd folder = new_folder("run");
	struct err err = ERR_INIT;

	paper_run_create(&journal, folder, "run-1", 3, 1, 1);
	add(&journal, 1, marked("a", "first", 1, "VALID"));
	load(folder, &text);
	str_addf(&text, "{\"seq\":5,\"pr");
	store(folder, text.text, text.len);
	/* The writer has its lock, and need not give it up. */
	CHECK_OK(journals_read(&journals, folder, "run", &err));
	CHECK_INT(journals.runs[0].planned, 3);
	CHECK_INT(journals.runs[0].recorded, 1);
	CHECK_INT(journals.runs[0].torn, 12);
}

TEST(a_run_counts_once)
{
	auto_fd folder = make_run("run");
	cleanup(journals_done) struct journals journals = JOURNALS_INIT;
	struct err err = ERR_INIT;

	CHECK_OK(journals_read(&journals, folder, "run", &err));
	CHECK_INT(journals_read(&journals, folder, "copy", &err), -1);
	CHECK_STR(err.text, "it is the run 'run-1', which counts already as 'run'");
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_INT(journals.run_count, 1);
	CHECK_INT(journals.record_count, 4);
}

TEST(whichever_byte_is_changed_its_line_is_named_and_nothing_counts)
{
	auto_fd folder = make_run("run");
	cleanup(journals_done) struct journals journals = JOURNALS_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	int line = 1;

	load(folder, &text);
	for (size_t i = 0; i < text.len; i += i % 7 == 0 ? 1 : 13) {
		struct err err = ERR_INIT;
		char want[64];

		line = 1;
		for (size_t j = 0; j < i; j++)
			line += text.text[j] == '\n';
		if (text.text[i] == '\n')
			continue;
		snprintf(want, sizeof(want), "journal line %d: ", line);
		text.text[i] ^= 1;
		/* A newline more: its first half is off. */
		store(folder, text.text, text.len);
		CHECK_INT(journals_read(&journals, folder, "run", &err), -1);
		CHECK_INT(err.kind, ERR_INPUT);
		CHECK(strncmp(err.text, want, strlen(want)) == 0);
		CHECK_INT(journals.run_count, 0);
		CHECK_INT(journals.record_count, 0);
		text.text[i] ^= 1;
	}
	CHECK_INT(line, 13);
}

TEST(a_line_that_is_gone_is_missed)
{
	auto_fd folder = make_run("run");
	cleanup(journals_done) struct journals journals = JOURNALS_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	struct err err = ERR_INIT;
	const char *second, *third;

	load(folder, &text);
	second = strchr(text.text, '\n') + 1;
	third = strchr(second, '\n') + 1;
	memmove(text.text + (second - text.text), third, strlen(third) + 1);
	store(folder, text.text, strlen(text.text));
	CHECK_INT(journals_read(&journals, folder, "run", &err), -1);
	CHECK(strncmp(err.text, "journal line 2: ", 16) == 0);
}

TEST(a_good_run_is_not_touched_by_a_bad_one_after_it)
{
	auto_fd folder = make_run("run");
	auto_fd empty = new_folder("empty");
	auto_fd text = new_folder("text");
	auto_fd fifo = new_folder("fifo");
	cleanup(journals_done) struct journals journals = JOURNALS_INIT;
	struct err err = ERR_INIT;

	CHECK_OK(journals_read(&journals, folder, "run", &err));
	CHECK_INT(journals_read(&journals, empty, "empty", &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_STR(err.text, "open 'journal.jsonl': No such file or directory");
	store(text, "hello\n", 6);
	CHECK_INT(journals_read(&journals, text, "text", &err), -1);
	CHECK_STR(err.text, "journal line 1: it was changed after it was written");
	store(text, "", 0);
	CHECK_INT(journals_read(&journals, text, "text", &err), -1);
	CHECK_STR(err.text, "the journal has no whole line: the run never began");
	/* Nobody will ever write into it. */
	CHECK(mkfifoat(fifo, JOURNAL_FILE, 0644) == 0);
	CHECK_INT(journals_read(&journals, fifo, "fifo", &err), -1);
	CHECK_STR(err.text, "'journal.jsonl' is no file");
	CHECK_INT(journals.run_count, 1);
	CHECK_INT(journals.record_count, 4);
}

/* The error of a run with this one record at the first task's first slot. */
static const char *error_of(const char *name, const struct record *record)
{
	static struct err err;
	cleanup(journal_done) struct journal journal = JOURNAL_INIT;
	cleanup(journals_done) struct journals journals = JOURNALS_INIT;
	auto_fd folder = new_folder(name);

	err = ERR_INIT;
	paper_run_create(&journal, folder, "run-1", 1, 1, 1);
	paper_run_add(&journal, 1, record);
	return journals_read(&journals, folder, "run", &err) < 0 ? err.text : "";
}

TEST(a_record_of_something_else_is_refused_with_its_line)
{
	struct record record = marked("a", "first", 1, "VALID");

	CHECK_STR(error_of("good", &record), "");
	record.run = "run-2";
	CHECK_STR(error_of("other", &record), "journal line 4: a record: it is of another attempt");
	record.run = NULL;
	CHECK_STR(error_of("none", &record),
		  "journal line 4: a record: it does not say whose it is");
	record.run = "run-1";
	record.agent = NULL;
	CHECK_STR(error_of("nobody", &record),
		  "journal line 4: a record: it does not say whose it is");
}

TEST(a_plan_and_records_that_make_no_sense_are_refused_with_their_line)
{
	cleanup(journals_done) struct journals journals = JOURNALS_INIT;
	struct err err = ERR_INIT;

	{
		cleanup(journal_done) struct journal journal = JOURNAL_INIT;
		auto_fd folder = new_folder("plan");

		paper_run_create(&journal, folder, "run-1", 0, 1, 1);
		CHECK_INT(journals_read(&journals, folder, "plan", &err), -1);
		CHECK(strncmp(err.text, "journal line 2: ", 16) == 0);
	}
	{
		cleanup(journal_done) struct journal journal = JOURNAL_INIT;
		auto_fd folder = new_folder("record");

		paper_run_create(&journal, folder, "run-1", 1, 1, 1);
		paper_run_tell(&journal, "attempt.recorded");
		CHECK_INT(journals_read(&journals, folder, "record", &err), -1);
		CHECK(strncmp(err.text, "journal line 3: ", 16) == 0);
	}
}

TEST(records_of_earlier_builds_say_no_number_of_cases)
{
	cleanup(journal_done) struct journal journal = JOURNAL_INIT;
	cleanup(journals_done) struct journals journals = JOURNALS_INIT;
	auto_fd folder = new_folder("run");
	struct record record = marked("a", "first", 1, "VALID");
	struct err err = ERR_INIT;

	record.unseen.cases = 0;
	paper_run_create(&journal, folder, "run-1", 1, 1, 1);
	paper_run_add(&journal, 1, &record);
	CHECK_OK(journals_read(&journals, folder, "run", &err));
	CHECK_INT(journals.records[0].unseen.cases, 0);
	CHECK_INT(journals.records[0].seen.cases, 8);
}

TEST(what_the_policy_weakens_is_known_of_a_run_before_it_has_records)
{
	cleanup(journals_done) struct journals journals = JOURNALS_INIT;
	auto_fd folder = new_folder("weak"), older = new_folder("older");
	struct journal journal = JOURNAL_INIT;
	struct err err = ERR_INIT;
	struct json_writer *json;

	CHECK_OK(journal_create(&journal, folder, "run-1", &err));
	json = journal_begin(&journal, "run.planned");
	json_put_text(json, "policy_name", "mine");
	json_put_array(json, "weaker");
	json_put_text(json, NULL, "accept:swap");
	json_put_end(json);
	json_put_int(json, "tasks", 1);
	json_put_int(json, "agents", 1);
	json_put_int(json, "repeats", 1);
	CHECK_OK(journal_commit(&journal, &err));
	journal_done(&journal);
	CHECK_OK(journals_read(&journals, folder, "weak", &err));
	CHECK_STR(journals.runs[0].policy, "mine");
	CHECK_INT(journals.runs[0].weaker_count, 1);
	CHECK_STR(journals.runs[0].weaker[0], "accept:swap");
	/* An earlier build said nothing of it. */
	paper_run_create(&journal, older, "run-2", 1, 1, 1);
	journal_done(&journal);
	CHECK_OK(journals_read(&journals, older, "older", &err));
	CHECK(!journals.runs[1].policy);
	CHECK_INT(journals.runs[1].weaker_count, 0);
}
