/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/record_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"

static struct arena arena = ARENA_INIT;
static struct err err;

static const char *const flags[] = { "pids_hit", "denied:ptrace" };
static const char *const labels[] = { "LAUNCH_BOUND", "JUDGED_AGAIN" };

/* With a value in every member that is read again. */
static struct record full_record(void)
{
	return (struct record){
		.run = "run-1",
		.task = "saxpy",
		.agent = "scripted:./it \"quoted\"\n",
		.policy = "default",
		.attempt = 7,
		.tier = "T2",
		.trust = "OPERATOR-TRUSTED",
		.is_committed_first = true,
		.ending = { "signaled", RECORD_UNKNOWN, 9, flags, 2 },
		.is_built = true,
		.build_why = "words of the build",
		.seen = { .kind = "WRONG",
			  .stage = "check",
			  .reason = "value",
			  .role = "candidate",
			  .why = "in words",
			  .case_index = 3,
			  .call = 4,
			  .arg = 1,
			  .index = INT64_MAX,
			  .case_name = "rows=3",
			  .has_values = true,
			  .got = 1.25,
			  .want = -0.1,
			  .blocks = 10,
			  .verdict = "FAST",
			  .ratio = 0.7,
			  .ratio_low = 0.6,
			  .ratio_high = 0.8,
			  .margin = 0.01,
			  .launch_bound = true },
		.unseen = { .kind = "VALID",
			    .case_index = RECORD_UNKNOWN,
			    .call = RECORD_UNKNOWN,
			    .arg = RECORD_UNKNOWN,
			    .index = RECORD_UNKNOWN },
		.infra = "words of ours",
		.weaker = labels,
		.weaker_count = 1,
		.labels = labels,
		.label_count = 2,
		.times = { 1700000000000000001, 2, 3, 4, 5, INT64_MAX },
		.usage = { 5000000000, 1, 2, 3, 4, 0 },
		.rejected = { .total = 5 },
		.unused = { .total = 123456789012 },
	};
}

static void put(const struct record *record, struct str *out)
{
	struct json_writer json;

	str_clear(out);
	json_writer_init(&json, out);
	record_put(&json, NULL, record);
	CHECK(json_writer_is_whole(&json));
}

/* Reads @text, which was parsed into @json. */
static int read_text(const char *text, struct record *out)
{
	cleanup(json_done) struct json json = JSON_INIT;

	err = (struct err) ERR_INIT;
	CHECK_OK(json_parse(&json, text, strlen(text), MIB, &err));
	return record_read(json_root(&json), &arena, out, &err);
}

/* What is written of what was read is what was written before. */
static struct record check_identity(const struct record *record)
{
	cleanup(str_done) struct str text = STR_INIT, again = STR_INIT;
	struct record got;

	put(record, &text);
	if (read_text(text.text, &got) < 0)
		check_fail(__FILE__, __LINE__, "%s: %s", err.text, text.text);
	put(&got, &again);
	CHECK_STR(again.text, text.text);
	return got;
}

TEST(a_record_that_was_written_is_read_as_it_was)
{
	const struct record record = full_record();
	const struct record got = check_identity(&record);

	CHECK_STR(got.agent, record.agent);
	CHECK_INT(got.attempt, 7);
	CHECK_INT(got.seen.index, INT64_MAX);
	CHECK(got.seen.has_values && got.seen.got == 1.25 && got.seen.want == -0.1);
	CHECK(got.seen.ratio == 0.7 && got.seen.ratio_low == 0.6 && got.seen.ratio_high == 0.8);
	CHECK_INT(got.ending.flag_count, 2);
	CHECK_STR(got.ending.flags[1], "denied:ptrace");
	CHECK_STR(got.labels[1], "JUDGED_AGAIN");
	CHECK_INT(got.weaker_count, 1);
	CHECK_STR(got.weaker[0], "LAUNCH_BOUND");
	CHECK_INT(got.times.recorded_ns, INT64_MAX);
	CHECK_INT(got.unused.total, 123456789012);
	CHECK(!got.unused.list && !got.digests.task);
	arena_done(&arena);
}

TEST(a_record_of_nothing_is_read_as_it_was)
{
	const struct record record = {
		.task = "t",
		.attempt = 1,
		.ending = { .code = RECORD_UNKNOWN, .signal = RECORD_UNKNOWN },
		.seen = RECORD_MARK_NONE,
		.unseen = RECORD_MARK_NONE,
		.usage = { RECORD_UNKNOWN, RECORD_UNKNOWN, RECORD_UNKNOWN, RECORD_UNKNOWN,
			   RECORD_UNKNOWN, RECORD_UNKNOWN }
	};
	const struct record got = check_identity(&record);

	CHECK(!got.run && !got.ending.how && !got.seen.kind && !got.unseen.kind && !got.infra);
	CHECK_INT(got.ending.code, RECORD_UNKNOWN);
	CHECK_INT(got.usage.memory_peak, RECORD_UNKNOWN);
	CHECK_INT(got.seen.case_index, RECORD_UNKNOWN);
	CHECK_INT(got.label_count, 0);
	CHECK_INT(got.times.agent_ns, 0);
	arena_done(&arena);
}

TEST(what_is_not_finite_stays_so)
{
	struct record record = full_record(), got;

	record.seen.ratio_low = -INFINITY;
	record.seen.ratio_high = INFINITY;
	record.seen.got = NAN;
	got = check_identity(&record);
	CHECK(isinf(got.seen.ratio_low) && got.seen.ratio_low < 0);
	CHECK(isinf(got.seen.ratio_high) && got.seen.ratio_high > 0);
	CHECK(got.seen.has_values && isnan(got.seen.got) && got.seen.want == -0.1);
	record.seen.want = INFINITY; /* neither is known then */
	got = check_identity(&record);
	CHECK(!got.seen.has_values);
	arena_done(&arena);
}

TEST(a_mark_without_values_or_timing_has_none)
{
	struct record record = full_record(), got;

	record.seen.has_values = false;
	record.seen.blocks = 0;
	got = check_identity(&record);
	CHECK(!got.seen.has_values);
	CHECK_INT(got.seen.blocks, 0);
	CHECK(!got.seen.verdict);
	arena_done(&arena);
}

TEST(what_it_comes_to_is_the_same)
{
	const struct record record = full_record();
	struct record valid = record, got;
	struct score_result one, other;

	valid.seen.kind = "VALID";
	got = check_identity(&valid);
	one = record_result(&valid);
	other = record_result(&got);
	CHECK(one.is_fast && other.is_fast && one.is_correct && other.is_correct);
	CHECK(one.speedup == other.speedup && one.speedup > 2);
	CHECK_INT(record_is_marked(&got), record_is_marked(&valid));
	arena_done(&arena);
}

/* The text of a full record, with @from in it as @to, is refused with these words. */
static void check_damage(const char *from, const char *to, const char *why)
{
	cleanup(str_done) struct str text = STR_INIT, damaged = STR_INIT;
	const struct record record = full_record();
	struct record got = { .attempt = 99 };
	const char *at;

	put(&record, &text);
	at = strstr(text.text, from);
	if (!at)
		check_fail(__FILE__, __LINE__, "there is no '%s' in %s", from, text.text);
	str_addf(&damaged, "%.*s%s%s", (int) (at - text.text), text.text, to, at + strlen(from));
	CHECK_INT(read_text(damaged.text, &got), -1);
	CHECK_STR(err.text, why);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_INT(got.attempt, 99);
	arena_done(&arena);
}

TEST(each_kind_of_damage_is_named)
{
	check_damage("\"task\":\"saxpy\"", "\"task\":7", "key 'task' is not a text");
	check_damage("\"attempt\":7", "\"attempt\":0",
		     "key 'attempt': 0 is not within 1..4294967295");
	check_damage("\"attempt\":7,", "", "key 'attempt' is missing");
	check_damage("\"committed_first\":true", "\"committed_first\":null",
		     "key 'committed_first' is not true or false");
	check_damage("\"built\":true,", "", "key 'built' is missing");
	check_damage("\"how\":\"signaled\"", "\"how\":[]", "ending: key 'how' is not a text");
	check_damage("\"signal\":9", "\"signal\":\"9\"", "ending: key 'signal' is not an integer");
	check_damage("[\"pids_hit\",", "[1,", "ending: a list of words has something else");
	check_damage("\"wall_ns\":5000000000", "\"wall_ns\":5e9",
		     "usage: key 'wall_ns' is not an integer");
	check_damage("\"case_index\":3", "\"case_index\":false",
		     "mark 'seen': key 'case_index' is not an integer");
	check_damage("\"got\":1.25", "\"got\":1",
		     "mark 'seen': key 'got' is not a number with a "
		     "point");
	check_damage("\"blocks\":10", "\"blocks\":0",
		     "mark 'seen': key 'blocks': 0 is not within 1..4294967295");
	check_damage("\"launch_bound\":true", "\"launch_bound\":1",
		     "mark 'seen': key 'launch_bound' is not true or false");
	check_damage("\"log_ratio\":0.7", "\"log_ratio\":\"x\"",
		     "mark 'seen': key 'log_ratio' is not a number with a point");
	check_damage("\"unseen\":{\"kind\":\"VALID\"", "\"unseen\":{\"kind\":1",
		     "mark 'unseen': key 'kind' is not a text");
	check_damage("\"agent_ns\":2", "\"agent_ns\":true",
		     "times: key 'agent_ns' is not an integer");
	check_damage("\"agent_ns\":2", "\"agent_ns\":-9223372036854775808",
		     "times: key 'agent_ns': -9223372036854775808 is not within "
		     "0..9223372036854775807");
	check_damage("\"labels\":[", "\"labels\":[{},", "a list of words has something else");
	check_damage("\"rejected\":{\"total\":5", "\"rejected\":{\"total\":-5",
		     "rejected: key 'total': -5 is not within 0..9223372036854775807");
	check_damage("\"unused\":{", "\"used\":{", "unused: key 'total' is missing");
}

TEST(lists_and_texts_without_an_end_are_refused)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct record got;

	str_addf(&text, "{\"task\":\"");
	for (int i = 0; i < 5000; i++)
		str_add(&text, "x", 1);
	str_addf(&text, "\"}");
	CHECK_INT(read_text(text.text, &got), -1);
	CHECK_STR(err.text, "key 'task' is longer than 4096 bytes");
	str_clear(&text);
	str_addf(&text, "{\"attempt\":1,\"committed_first\":true,\"built\":true,\"labels\":[\"x\"");
	for (int i = 0; i < 300; i++)
		str_addf(&text, ",\"x\"");
	str_addf(&text, "]}");
	CHECK_INT(read_text(text.text, &got), -1);
	CHECK_STR(err.text, "a list of 301 words");
	arena_done(&arena);
}

TEST(no_record_is_an_error)
{
	struct record got;

	CHECK_INT(record_read(NULL, &arena, &got, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_INT(read_text("{}", &got), -1);
	CHECK_STR(err.text, "key 'attempt' is missing");
	arena_done(&arena);
}

TEST(an_ending_is_read_without_a_record)
{
	cleanup(json_done) struct json json = JSON_INIT;
	const char *text =
		"{\"ending\":{\"how\":\"exited\",\"code\":3,\"signal\":null,\"flags\":[]},"
		"\"usage\":{\"wall_ns\":11}}";
	struct record_ending ending;
	struct record_usage usage;

	CHECK_OK(json_parse(&json, text, strlen(text), MIB, &err));
	CHECK_OK(record_read_ending(json_root(&json), &arena, &ending, &usage, &err));
	CHECK_STR(ending.how, "exited");
	CHECK_INT(ending.code, 3);
	CHECK_INT(ending.signal, RECORD_UNKNOWN);
	CHECK_INT(usage.wall_ns, 11);
	CHECK_INT(usage.cpu_us, RECORD_UNKNOWN);
	arena_done(&arena);
}
