/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/outcome.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "tests/lib/check.h"

/* Attempts put together by hand, as attempt.c leaves them at each state. */
static struct planned_task task = { .name = "a-task", .folder = "a-task" };
static const struct planned_agent agent = { .name = "scripted:x" };
static const struct slot slot = { .attempt = 7 };
static struct run run;
static struct attempt attempt;
static struct record record;
static struct err err;

static void begin(void)
{
	run.planned.run = "run-1";
	run.policy = policy_default();
	arena_done(&run.arena);
	attempt = (struct attempt){ .run = &run,
				    .slot = &slot,
				    .planned = &task,
				    .agent = &agent,
				    .folder_fd = check_folder(),
				    .ending = { .code = RECORD_UNKNOWN, .signal = RECORD_UNKNOWN },
				    .usage = { RECORD_UNKNOWN, RECORD_UNKNOWN, RECORD_UNKNOWN,
					       RECORD_UNKNOWN, RECORD_UNKNOWN, RECORD_UNKNOWN },
				    .frozen = MANIFEST_INIT,
				    .changes = TREE_REPORT_INIT,
				    .samples = SAMPLES_INIT };
	attempt.times.leased_ns = 1;
}

static void end_agent(enum ending ending, int code, uint32_t flags)
{
	const struct jail_outcome outcome = {
		.last = { .kind = EVENT_ENDED,
			  .result = { .ending = ending,
				      .code = code,
				      .flags = flags,
				      .wall_ns = 11,
				      .cpu_us = 12,
				      .memory_peak = 13,
				      .pids_peak = 14 } },
		.stdout_bytes = 15,
		.stderr_bytes = 16,
	};

	attempt.times.agent_ns = 2;
	outcome_take_ending(&attempt, &outcome);
}

static void build(bool is_built, const char *why)
{
	attempt.times.frozen_ns = 3;
	attempt.times.built_ns = 4;
	attempt.is_built = is_built;
	snprintf(attempt.build_why, sizeof(attempt.build_why), "%s", why);
}

/* Two cases, one seen and one not. */
static struct judging_result *judge(void)
{
	struct judging_result *judged = mem_alloc(1, sizeof(*judged));

	judged->case_count = 2;
	judged->is_unseen[1] = 1;
	snprintf(judged->names[0], sizeof(judged->names[0]), "rows=3");
	snprintf(judged->names[1], sizeof(judged->names[1]), "odd 1");
	judged->committed_first = 1;
	judged->seen.mark.kind = judged->unseen.mark.kind = MARK_VALID;
	attempt.judged = judged;
	attempt.times.judged_ns = 5;
	return judged;
}

static struct mark wrong(uint32_t case_index)
{
	return (struct mark){
		.kind = MARK_WRONG,
		.stage = STAGE_CHECK,
		.reason = REASON_VALUE,
		.role = WORKER_CANDIDATE,
		.has_case = true,
		.case_index = case_index,
		.call = 2,
		.arg = 1,
		.index = 99,
		.got = 1.25,
		.want = 1.5,
	};
}

/* Writes the record; *text is its file. */
static void finish(struct str *text)
{
	CHECK_OK(outcome_record(&attempt, &record, &err));
	CHECK_OK(io_read_file(check_folder(), RECORD_FILE, MIB, text, &err));
	mem_free(&attempt.judged);
	attempt.judged = NULL;
}

TEST(an_agent_that_never_ran_has_no_ending)
{
	cleanup(str_done) struct str text = STR_INIT;

	begin();
	err_set(&attempt.infra, ERR_SYS, "agent jail: no more");
	finish(&text);
	CHECK(!record.ending.how);
	CHECK_INT(record.ending.code, RECORD_UNKNOWN);
	CHECK_INT(record.ending.signal, RECORD_UNKNOWN);
	CHECK_INT(record.usage.wall_ns, RECORD_UNKNOWN);
	CHECK_STR(record.infra, "agent jail: no more");
	CHECK(!record.build_why);
	CHECK(!record.seen.kind);
	CHECK(!record_is_marked(&record));
	CHECK(strstr(text.text, "\"attempt\":7"));
}

/* A jail that could not be asked for, or not be listened to, has no last event. */
TEST(an_agents_jail_without_a_last_event_has_no_ending)
{
	static const enum event_kind kinds[] = { EVENT_FAILED, EVENT_NOT_FOUND,
						 EVENT_NOT_EXECUTABLE };
	cleanup(str_done) struct str text = STR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		begin();
		attempt.times.agent_ns = 2;
		outcome_take_ending(&attempt,
				    &(struct jail_outcome){ .last = { .kind = kinds[i] } });
		str_clear(&text);
		finish(&text);
		CHECK(!record.ending.how);
		CHECK_INT(record.ending.code, RECORD_UNKNOWN);
		CHECK_INT(record.usage.wall_ns, RECORD_UNKNOWN);
	}
}

TEST(what_is_told_of_an_agents_end_is_what_a_resumed_attempt_needs)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct json_writer json;

	begin();
	end_agent(ENDING_EXITED, 3, 0);
	json_writer_init(&json, &text);
	json_put_object(&json, NULL);
	outcome_tell_agent(&attempt, &json);
	json_put_end(&json);
	CHECK_STR(text.text,
		  "{\"ending\":{\"how\":\"exited\",\"code\":3,\"signal\":null,\"flags\":[]},"
		  "\"usage\":{\"wall_ns\":11,\"cpu_us\":12,\"memory_peak\":13,\"pids_peak\":14,"
		  "\"stdout_bytes\":15,\"stderr_bytes\":16},\"services\":null}");
}

TEST(a_mark_that_was_made_twice_says_so)
{
	cleanup(str_done) struct str text = STR_INIT;

	begin();
	build(true, "");
	judge();
	attempt.was_judged = true;
	finish(&text);
	CHECK_INT(record.label_count, 1);
	CHECK_STR(record.labels[0], "JUDGED_AGAIN");
}

TEST(each_ending_has_its_name_and_only_its_own_number)
{
	cleanup(str_done) struct str text = STR_INIT;

	for (int ending = ENDING_EXITED; ending <= ENDING_LAUNCHER_LOST; ending++) {
		begin();
		end_agent((enum ending) ending, 6, 0);
		str_clear(&text);
		finish(&text);
		CHECK_STR(record.ending.how, names_text(ending_names, ending));
		CHECK_INT(record.ending.code, ending == ENDING_EXITED ? 6 : RECORD_UNKNOWN);
		CHECK_INT(record.ending.signal, ending == ENDING_SIGNALED ? 6 : RECORD_UNKNOWN);
		CHECK_INT(record.ending.flag_count, 0);
	}
	CHECK_INT(record.usage.wall_ns, 11);
	CHECK_INT(record.usage.cpu_us, 12);
	CHECK_INT(record.usage.memory_peak, 13);
	CHECK_INT(record.usage.pids_peak, 14);
	CHECK_INT(record.usage.stdout_bytes, 15);
	CHECK_INT(record.usage.stderr_bytes, 16);
}

TEST(services_are_told_by_flags_and_the_digest_of_their_log)
{
	static const struct service items[] = { { .name = "api" }, { .name = "db" } };
	const struct jail_outcome outcome = {
		.last = { .kind = EVENT_ENDED,
			  .result = { .ending = ENDING_EXITED, .flags = JAIL_PIDS_HIT } },
		.services = { .count = 2,
			      .services = { { .capped = 1U << RELAY_SENT, .unreachable = 1 },
					    { .connections = 3 } } },
	};

	begin();
	run.policy.services = (struct services){ items, 2 };
	outcome_take_ending(&attempt, &outcome);
	CHECK_INT(attempt.ending.flag_count, 3);
	CHECK_STR(attempt.ending.flags[0], "pids_hit");
	CHECK_STR(attempt.ending.flags[1], "service_capped:api");
	CHECK_STR(attempt.ending.flags[2], "service_unreachable:api");
}

TEST(every_flag_is_told)
{
	cleanup(str_done) struct str text = STR_INIT;

	begin();
	end_agent(ENDING_TIMEOUT, 0, JAIL_PIDS_HIT | JAIL_DISK_FULL | JAIL_INODES_FULL);
	finish(&text);
	CHECK_INT(record.ending.flag_count, 3);
	CHECK(strstr(text.text, "\"flags\":[\"pids_hit\",\"disk_full\",\"inodes_full\"]"));
}

TEST(a_timeout_does_not_replace_the_mark)
{
	cleanup(str_done) struct str text = STR_INIT;

	begin();
	end_agent(ENDING_TIMEOUT, 0, 0);
	build(true, "");
	judge();
	finish(&text);
	CHECK_STR(record.ending.how, "timeout");
	CHECK_STR(record.seen.kind, "VALID");
	CHECK_STR(record.unseen.kind, "VALID");
	CHECK(record_is_marked(&record));
	CHECK(record.is_committed_first);
	CHECK(!record.seen.stage && !record.seen.why);
}

TEST(what_was_not_built_says_why_and_what_was_does_not)
{
	cleanup(str_done) struct str text = STR_INIT;

	begin();
	end_agent(ENDING_EXITED, 0, 0);
	build(false, "the build left no 'x.so'");
	finish(&text);
	CHECK(!record.is_built);
	CHECK_STR(record.build_why, "the build left no 'x.so'");
	CHECK(!record.seen.kind);
	CHECK(faccessat(check_folder(), RECORD_SAMPLES_FILE, F_OK, 0) < 0);
	begin();
	build(true, "");
	str_clear(&text);
	memset(&attempt.artifact, 0xab, sizeof(attempt.artifact));
	finish(&text);
	CHECK(record.is_built);
	CHECK(!record.build_why);
	CHECK(strstr(text.text, "\"artifact\":\"abab"));
}

TEST(a_wrong_seen_case_is_told_with_its_values)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct judging_result *judged;

	begin();
	build(true, "");
	judged = judge();
	judged->seen.mark = wrong(0);
	snprintf(judged->seen_why, sizeof(judged->seen_why), "in words");
	finish(&text);
	CHECK_STR(record.seen.kind, "WRONG");
	CHECK_STR(record.seen.stage, "check");
	CHECK_STR(record.seen.reason, "value");
	CHECK_STR(record.seen.role, "candidate");
	CHECK_STR(record.seen.why, "in words");
	CHECK_STR(record.seen.case_name, "rows=3");
	CHECK_INT(record.seen.case_index, 0);
	CHECK_INT(record.seen.call, 2);
	CHECK_INT(record.seen.arg, 1);
	CHECK_INT(record.seen.index, 99);
	CHECK(record.seen.has_values && record.seen.got == 1.25 && record.seen.want == 1.5);
	CHECK(strstr(text.text, "1.25"));
}

TEST(of_an_unseen_case_the_number_is_told_and_no_value_or_name)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct judging_result *judged;

	begin();
	build(true, "");
	judged = judge();
	judged->unseen.mark = wrong(1);
	finish(&text);
	CHECK_STR(record.unseen.kind, "WRONG");
	CHECK_INT(record.unseen.case_index, 1);
	CHECK_INT(record.seen.cases, 1);
	CHECK_INT(record.unseen.cases, 1);
	CHECK(!record.unseen.case_name);
	CHECK(!record.unseen.has_values);
	CHECK_INT(record.unseen.index, RECORD_UNKNOWN);
	CHECK(!strstr(text.text, "1.25") && !strstr(text.text, "1.5,"));
	CHECK(!strstr(text.text, "odd 1"));
}

TEST(a_judge_that_failed_has_marked_nothing)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct judging_result *judged;

	begin();
	build(true, "");
	judged = judge();
	judged->has_error = 1;
	judged->seen.mark = wrong(0);
	err_set(&attempt.infra, ERR_SYS, "judge: it died");
	finish(&text);
	CHECK(!record.seen.kind);
	CHECK(!record.is_committed_first);
	CHECK(!record_is_marked(&record));
	CHECK(faccessat(check_folder(), RECORD_SAMPLES_FILE, F_OK, 0) < 0);
}

TEST(the_timing_is_told_where_there_were_blocks)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct judging_result *judged;

	begin();
	build(true, "");
	judged = judge();
	judged->seen.stats = (struct stats_mark){ .blocks = 10,
						  .ratio = { 0.5, 0.25, 0.75 },
						  .margin = 0.125,
						  .verdict = VERDICT_FAST,
						  .launch_bound = true };
	judged->unseen.stats = (struct stats_mark){ .blocks = 10, .launch_bound = true };
	judged->cases[1].clock_mismatch = true;
	finish(&text);
	CHECK_INT(record.seen.blocks, 10);
	CHECK_STR(record.seen.verdict, "FAST");
	CHECK(record.seen.ratio == 0.5 && record.seen.ratio_low == 0.25 &&
	      record.seen.ratio_high == 0.75 && record.seen.margin == 0.125);
	CHECK_STR(record.unseen.verdict, "AMBG");
	CHECK_INT(record.label_count, 3);
	CHECK_STR(record.labels[0], "LAUNCH_BOUND");
	CHECK_STR(record.labels[1], "LAUNCH_BOUND_UNSEEN");
	CHECK_STR(record.labels[2], "CLOCK_MISMATCH");
}

TEST(samples_are_kept_as_integers_and_their_digest_is_in_the_record)
{
	cleanup(str_done) struct str text = STR_INIT, raw = STR_INIT;
	const struct sample sample = { .block = 3, .role = 1, .sealed_ns = 123456789 };
	char hex[DIGEST_HEX];
	struct digest digest;

	begin();
	build(true, "");
	judge();
	samples_add(&attempt.samples, &sample);
	finish(&text);
	CHECK_OK(io_read_file(check_folder(), RECORD_SAMPLES_FILE, MIB, &raw, &err));
	CHECK(strstr(raw.text, "123456789"));
	digest = digest_sha256(raw.text, raw.len);
	digest_hex(&digest, hex);
	CHECK(strstr(text.text, hex));
	samples_done(&attempt.samples);
}

TEST(an_attempt_without_a_folder_still_has_a_record)
{
	begin();
	attempt.folder_fd = -1;
	err_set(&attempt.infra, ERR_SYS, "create folder 'x': it is there");
	CHECK_OK(outcome_record(&attempt, &record, &err));
	CHECK_STR(record.infra, "create folder 'x': it is there");
	CHECK_STR(record.task, "a-task");
	CHECK_INT(record.attempt, 7);
}

TEST(files_are_listed_in_the_file_and_only_counted_in_memory)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct manifest_entry entries[] = {
		{ .kind = STREAM_FILE, .path = "a", .path_len = 1 },
		{ .kind = STREAM_REFUSED, .reason = STREAM_FIFO, .path = "b", .path_len = 1 },
	};
	struct tree_change changes[] = {
		{ .kind = TREE_CHANGED, .has_effect = true, .path = "c", .path_len = 1 },
		{ .kind = TREE_ADDED, .path = "d", .path_len = 1 },
	};

	begin();
	attempt.frozen.entries = entries;
	attempt.frozen.count = ARRAY_LEN(entries);
	attempt.changes.changes = changes;
	attempt.changes.count = ARRAY_LEN(changes);
	attempt.changes.effective[TREE_CHANGED] = 1;
	attempt.changes.ignored[TREE_ADDED] = 20000; /* more than the report lists */
	finish(&text);
	CHECK(strstr(text.text, "\"rejected\":{\"total\":1,\"first\":[{\"path\":\"b\",\"reason\":"
				"\"fifo\"}]}"));
	CHECK(strstr(text.text, "\"unused\":{\"total\":20000,\"first\":[{\"path\":\"d\",\"reason\":"
				"\"added\"}]}"));
	CHECK_INT(record.rejected.total, 1);
	CHECK_INT(record.unused.total, 20000);
	CHECK_INT(record.rejected.count, 0);
	CHECK(!record.unused.list);
}

TEST(the_record_outlives_the_attempt)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct judging_result *judged;

	begin();
	end_agent(ENDING_EXITED, 0, JAIL_DISK_FULL);
	build(false, "words of the build");
	judged = judge();
	judged->seen.mark = wrong(0);
	snprintf(judged->seen_why, sizeof(judged->seen_why), "words of the judge");
	err_set(&attempt.infra, ERR_SYS, "words of ours");
	finish(&text);
	memset(&attempt, 0x5a, sizeof(attempt));
	CHECK_STR(record.build_why, "words of the build");
	CHECK_STR(record.seen.why, "words of the judge");
	CHECK_STR(record.seen.case_name, "rows=3");
	CHECK_STR(record.infra, "words of ours");
	CHECK(!record.digests.frozen && !record.digests.samples);
	arena_done(&run.arena);
}
