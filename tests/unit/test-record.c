/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/record.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"

/* A folder that has no name any more as soon as it is empty. */
static int scratch_folder(char path[64])
{
	int fd;

	snprintf(path, 64, "/tmp/proctor-record-XXXXXX");
	CHECK(mkdtemp(path) != NULL);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(fd >= 0);
	return fd;
}

static struct record good_record(void)
{
	static const char *const flags[] = { "pids_hit", "denied:ptrace" };
	static const char *const labels[] = { "LAUNCH_BOUND" };
	static const struct record_entry rejected[] = {
		{ "a\nb\xff", 4, "a FIFO" },
	};
	static const struct digest root = { { 0xab } };
	struct record record = {
		.run = "run-1",
		.task = "c2c/saxpy",
		.agent = "script",
		.policy = "default",
		.attempt = 2,
		.tier = "T2",
		.trust = "OPERATOR-TRUSTED",
		.is_committed_first = true,
		.ending = { "timeout", RECORD_UNKNOWN, 9, flags, 2 },
		.is_built = true,
		.seen = RECORD_MARK_NONE,
		.unseen = RECORD_MARK_NONE,
		.labels = labels,
		.label_count = 1,
		.times = { .agent_ns = 1700000000000000001 },
		.usage = { 5000000000, 4000000, RECORD_UNKNOWN, 7, 12, 0 },
		.digests = { .candidate = &root },
		.rejected = { rejected, 1, 1 },
	};

	record.seen.kind = "VALID";
	record.seen.blocks = 10;
	record.seen.verdict = "FAST";
	record.seen.ratio = log(2);
	record.seen.ratio_low = log(1.5);
	record.seen.ratio_high = INFINITY;
	record.seen.margin = 0.01;
	record.unseen.kind = "WRONG";
	record.unseen.stage = "check";
	record.unseen.reason = "value";
	record.unseen.role = "candidate";
	record.unseen.why = "unseen case 1: an output is wrong";
	record.unseen.case_index = 1;
	record.unseen.call = 0;
	record.unseen.index = 77;
	record.unseen.case_name = "secret-shape";
	record.unseen.has_values = true;
	record.unseen.got = 1.25;
	record.unseen.want = 98765.5;
	return record;
}

TEST(a_record_is_written_whole_and_reads_back)
{
	char path[64];
	auto_fd folder = scratch_folder(path);
	const struct record record = good_record();
	cleanup(str_done) struct str text = STR_INIT;
	cleanup(json_done) struct json json = JSON_INIT;
	const struct json_value *root, *part;
	struct err err = ERR_INIT;
	struct digest digest, written;
	const char *got = NULL;
	int64_t number = 0;
	double real = 0;

	CHECK_OK(record_write(&record, folder, &digest, &err));
	CHECK_OK(io_read_file(folder, RECORD_FILE, 1 << 20, &text, &err));
	written = digest_sha256(text.text, text.len);
	CHECK(digest_equal(&digest, &written));
	CHECK_OK(json_parse(&json, text.text, text.len, 1 << 20, &err));
	root = json_root(&json);
	CHECK_OK(json_get_text(root, "schema", 99, &got, &err));
	CHECK_STR(got, "proctor/record/1");
	CHECK_OK(json_get_double(root, "score", &real, &err));
	CHECK(fabs(real - 320) < 1e-9);
	part = json_member(root, "ending");
	CHECK_OK(json_get_text(part, "how", 99, &got, &err));
	CHECK_STR(got, "timeout");
	CHECK_INT(json_count(json_member(part, "flags")), 2);
	part = json_member(json_member(root, "seen"), "timing");
	CHECK_OK(json_get_double(part, "speedup_low", &real, &err));
	CHECK(fabs(real - 1.5) < 1e-9);
	CHECK_INT(json_get_double(part, "speedup_high", &real, &err), -1); /* null */
	CHECK_OK(json_get_int(json_member(root, "usage"), "wall_ns", 0, INT64_MAX, &number, &err));
	CHECK_INT(number, 5000000000);
	part = json_item(json_member(json_member(root, "rejected"), "first"), 0);
	CHECK_OK(json_get_text(part, "path", 99, &got, &err));
	CHECK_STR(got, "a\nb\xc3\xbf");
	CHECK_OK(json_get_text(json_member(root, "digests"), "candidate", 64, &got, &err));
	CHECK(strncmp(got, "ab00", 4) == 0);

	/* The same record is the same bytes. */
	CHECK_OK(record_write(&record, folder, &digest, &err));
	{
		cleanup(str_done) struct str again = STR_INIT;

		CHECK_OK(io_read_file(folder, RECORD_FILE, 1 << 20, &again, &err));
		CHECK_STR(again.text, text.text);
	}
	CHECK_INT(unlinkat(folder, RECORD_FILE, 0), 0);
	CHECK_INT(rmdir(path), 0);
}

TEST(an_unseen_case_is_never_told)
{
	struct record record = good_record();
	cleanup(str_done) struct str text = STR_INIT;
	struct json_writer json;

	json_writer_init(&json, &text);
	record_put(&json, NULL, &record);
	CHECK(!strstr(text.text, "secret-shape"));
	CHECK(!strstr(text.text, "98765.5"));
	CHECK(!strstr(text.text, "77"));
	CHECK(strstr(text.text, "\"cases\":null,\"case_index\":1"));

	/* That the search finds what is there: the same mark of the seen set. */
	record.seen = record.unseen;
	str_clear(&text);
	json_writer_init(&json, &text);
	record_put(&json, NULL, &record);
	CHECK(strstr(text.text, "\"case\":\"secret-shape\""));
	CHECK(strstr(text.text, "\"got\":1.25,\"want\":98765.5"));
	CHECK(strstr(text.text, "\"index\":77"));
}

TEST(how_many_cases_a_set_has_is_told)
{
	struct record record = good_record();
	cleanup(str_done) struct str text = STR_INIT;
	struct json_writer json;

	record.unseen.cases = 8;
	json_writer_init(&json, &text);
	record_put(&json, NULL, &record);
	CHECK(strstr(text.text, "\"cases\":8,\"case_index\":1"));
}

TEST(an_ending_does_not_replace_a_mark)
{
	struct record record = good_record();

	CHECK(fabs(record_speedup(&record.seen) - 2) < 1e-9);
	CHECK(record_result(&record).is_correct);
	CHECK(record_is_marked(&record));
	record.infra = "the launcher was lost after the marking";
	CHECK(record_is_marked(&record));
	record.seen = RECORD_MARK_NONE;
	CHECK(!record_is_marked(&record));
}

TEST(a_mark_of_ours_is_no_mark_of_the_candidates)
{
	struct record record = good_record();

	record.seen.kind = "INFRA";
	CHECK(!record_is_marked(&record));
	record.seen.kind = "WRONG";
	CHECK(record_is_marked(&record));
}

TEST(only_a_correct_and_timed_mark_has_a_speedup)
{
	struct record record = good_record();

	record.seen.kind = "SUSPECT";
	CHECK(record_speedup(&record.seen) > 1.9);
	CHECK(record_is_right(&record.seen));
	record.seen.kind = "WRONG";
	CHECK(record_speedup(&record.seen) <= 0);
	CHECK(!record_result(&record).is_correct);
	record.seen.kind = "VALID";
	record.seen.blocks = 0;
	CHECK(record_speedup(&record.seen) <= 0);
	CHECK(record_result(&record).is_correct);
}

TEST(only_the_verdict_fast_is_fast)
{
	struct record record = good_record();

	CHECK(record_result(&record).is_fast);
	record.seen.verdict = "AMBG";
	CHECK(!record_result(&record).is_fast);
	record.seen.verdict = "SAME";
	CHECK(!record_result(&record).is_fast);
	record.seen.verdict = NULL;
	CHECK(!record_result(&record).is_fast);
	record.seen.verdict = "FAST";
	record.seen.kind = "WRONG";
	CHECK(!record_result(&record).is_fast);
	record.seen.kind = "VALID";
	record.seen.blocks = 0;
	CHECK(!record_result(&record).is_fast);
}

TEST(an_attempt_that_never_began_has_a_record_too)
{
	const struct record record = { .run = "r", .task = "t", .infra = "no seat", .attempt = 1 };
	cleanup(str_done) struct str text = STR_INIT;
	struct json_writer json;

	json_writer_init(&json, &text);
	record_put(&json, NULL, &record);
	CHECK(json_writer_is_whole(&json));
	CHECK(strstr(
		text.text,
		"\"ending\":null,\"built\":false,\"build_why\":null,\"seen\":null,"
		"\"unseen\":null,\"aka\":null,\"carried\":null,\"heldout\":null,\"score\":null,"
		"\"infra\":\"no seat\",\"labels\":[]"));
}

TEST(a_long_list_is_cut_and_the_total_told)
{
	static struct record_entry many[RECORD_LISTED_MAX + 5];
	struct record record = good_record();
	cleanup(str_done) struct str text = STR_INIT;
	cleanup(json_done) struct json json = JSON_INIT;
	struct json_writer writer;
	struct err err = ERR_INIT;
	const struct json_value *part;
	int64_t total = 0;

	for (size_t i = 0; i < ARRAY_LEN(many); i++)
		many[i] = (struct record_entry){ "x", 1, "not editable" };
	record.unused = (struct record_entries){ many, ARRAY_LEN(many), 123456 };
	json_writer_init(&writer, &text);
	record_put(&writer, NULL, &record);
	CHECK_OK(json_parse(&json, text.text, text.len, 1 << 20, &err));
	part = json_member(json_root(&json), "unused");
	CHECK_OK(json_get_int(part, "total", 0, INT64_MAX, &total, &err));
	CHECK_INT(total, 123456);
	CHECK_INT(json_count(json_member(part, "first")), RECORD_LISTED_MAX);
}

TEST(samples_are_integers_in_a_file_whose_digest_is_known)
{
	static const char *const roles[] = { "null", "store", "baseline", "candidate" };
	static const struct record_case cases[] = { { "small", false }, { "u1", true } };
	static const struct record_sample list[] = {
		{ 0, 0, 0, 0, 3, 0, 800, 790 },
		{ 0, 1, 3, 1, 7, 1, INT64_MAX, -1 },
	};
	const struct record_samples samples = { roles, 4, cases, 2, 10000, list, 2 };
	char path[64];
	auto_fd folder = scratch_folder(path);
	cleanup(str_done) struct str text = STR_INIT;
	struct err err = ERR_INIT;
	struct digest digest, want;

	CHECK_OK(record_write_samples(&samples, folder, &digest, &err));
	CHECK_OK(io_read_file(folder, RECORD_SAMPLES_FILE, 1 << 20, &text, &err));
	CHECK_STR(text.text,
		  "{\"schema\":\"proctor/samples/1\",\"floor_ppm\":10000,\"cases\":["
		  "{\"name\":\"small\",\"unseen\":false},{\"name\":\"u1\",\"unseen\":true}],"
		  "\"roles\":[\"null\",\"store\",\"baseline\",\"candidate\"],"
		  "\"columns\":[\"block\",\"half\",\"role\",\"case\",\"call\",\"flags\","
		  "\"sealed_ns\",\"claimed_ns\"],\"samples\":[[0,0,0,0,3,0,800,790],"
		  "[0,1,3,1,7,1,9223372036854775807,-1]]}\n");
	want = digest_sha256(text.text, text.len);
	CHECK(digest_equal(&digest, &want));
	CHECK_INT(unlinkat(folder, RECORD_SAMPLES_FILE, 0), 0);
	CHECK_INT(rmdir(path), 0);
}

TEST(samples_that_are_too_many_for_a_file_are_refused)
{
	enum { MANY = 1500000 }; /* of 60 bytes each */
	const struct record_sample one = {
		UINT32_MAX, 1, 3, 63, 7, UINT32_MAX, INT64_MAX, INT64_MAX
	};
	struct record_sample *list = calloc(MANY, sizeof(*list));
	struct record_samples samples = { .list = list, .count = MANY };
	struct err err = ERR_INIT;
	struct digest digest;
	char path[64];
	auto_fd folder = scratch_folder(path);

	CHECK(list != NULL);
	for (size_t i = 0; i < MANY; i++)
		list[i] = one;
	CHECK_INT(record_write_samples(&samples, folder, &digest, &err), -1);
	CHECK_STR(err.text, "'samples.json' would be larger than 67108864 bytes");
	CHECK_INT(rmdir(path), 0); /* nothing is left */
	free(list);
}
