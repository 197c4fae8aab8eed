/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/evidence/digest.h"
#include "harness/evidence/journal.h"
#include "harness/evidence/manifest.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/path.h"
#include "sandbox/collect.h"
#include "tests/lib/check.h"
#include "tests/lib/paper_runs.h"

#define ATTEMPT "attempts/matmul-0001/"

static struct err err;

static void put(const char *path, const char *text, size_t len)
{
	auto_fd fd = path_new_file(check_folder(), path, &err);

	CHECK(fd >= 0);
	CHECK_OK(io_write_all(fd, text, len, path, &err));
}

/* The root of a tree with one file of this content. */
static struct digest put_tree(const char *path, const char *content)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	struct manifest manifest = MANIFEST_INIT;
	struct collect_report report;
	struct digest root;
	auto_fd fd = -1, folder = -1;

	CHECK(mkdirat(check_folder(), "left", 0755) == 0 || errno == EEXIST);
	put("left/matmul.c", content, strlen(content));
	folder = path_open_folder(check_folder(), "left", &err);
	fd = path_new_file(check_folder(), path, &err);
	CHECK(folder >= 0 && fd >= 0);
	CHECK_OK(collect_tree(folder, &limits, fd, &report, &err));
	CHECK(lseek(fd, 0, SEEK_SET) == 0);
	CHECK_OK(manifest_read(fd, &limits, &manifest, &err));
	root = manifest.root;
	manifest_done(&manifest);
	return root;
}

static void hex_of(const char *text, char out[DIGEST_HEX])
{
	const struct digest digest = digest_sha256(text, strlen(text));

	digest_hex(&digest, out);
}

/* A run of one attempt with record, samples and what was left; the candidate is null. */
static void make_run_of(const char *task)
{
	char record[512], frozen[DIGEST_HEX], samples[DIGEST_HEX];
	struct journal journal = JOURNAL_INIT;
	struct json_writer *json;
	struct digest digest;

	CHECK(mkdirat(check_folder(), "attempts", 0755) == 0);
	CHECK(mkdirat(check_folder(), ATTEMPT, 0755) == 0);
	digest = put_tree(ATTEMPT "frozen.tree", "left");
	digest_hex(&digest, frozen);
	hex_of("[1]", samples);
	put(ATTEMPT "samples.json", "[1]", 3);
	snprintf(record, sizeof(record),
		 "{\"digests\":{\"samples\":\"%s\",\"frozen\":\"%s\",\"candidate\":null}}", samples,
		 frozen);
	put(ATTEMPT "record.json", record, strlen(record));
	digest = digest_sha256(record, strlen(record));
	CHECK_OK(journal_create(&journal, check_folder(), "run-1", &err));
	json = journal_begin(&journal, "attempt.recorded");
	json_put_text(json, "task", task);
	json_put_int(json, "attempt", 1);
	json_put_digest(json, "file", &digest);
	CHECK_OK(journal_commit(&journal, &err));
	journal_done(&journal);
}

static void make_run(void)
{
	make_run_of("matmul");
}

static void check_off(const char *want)
{
	err = ERR_INIT;
	CHECK_INT(kept_check(check_folder(), &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_STR(err.text, want);
}

TEST(a_run_whose_files_are_as_they_were_is_whole)
{
	check_folder();
	make_run();
	CHECK_OK(kept_check(check_folder(), &err));
}

TEST(a_task_whose_name_has_a_slash_has_a_folder_without_one)
{
	make_run_of("hip2hip/matmul");
	CHECK(renameat(check_folder(), "attempts/matmul-0001", check_folder(),
		       "attempts/hip2hip+matmul-0001") == 0);
	CHECK_OK(kept_check(check_folder(), &err));
}

TEST(a_name_that_no_folder_can_have_is_refused)
{
	make_run_of("../matmul");
	check_off("journal line 2: a task's name is no name of a folder");
}

TEST(a_record_that_was_changed_is_named)
{
	check_folder();
	make_run();
	put(ATTEMPT "record.json", "{}", 2);
	check_off("journal line 2: 'attempts/matmul-0001/record.json' is not what the journal has");
}

TEST(samples_and_trees_that_were_changed_are_named)
{
	check_folder();
	make_run();
	put(ATTEMPT "samples.json", "[2]", 3);
	check_off("journal line 2: 'attempts/matmul-0001/samples.json' is not what was recorded");
	put(ATTEMPT "samples.json", "[1]", 3);
	put_tree(ATTEMPT "frozen.tree", "other");
	check_off("journal line 2: 'attempts/matmul-0001/frozen.tree' is not what was recorded");
	put_tree(ATTEMPT "frozen.tree", "left");
	CHECK_OK(kept_check(check_folder(), &err));
	CHECK(unlinkat(check_folder(), ATTEMPT "frozen.tree", 0) == 0);
	CHECK_INT(kept_check(check_folder(), &err), -1);
	CHECK(strstr(err.text, "frozen.tree"));
}

TEST(a_plan_that_was_changed_is_named)
{
	struct journal journal = JOURNAL_INIT;

	paper_run_create_named(&journal, check_folder(), "run-1", 1);
	journal_done(&journal);
	put("planned.json", "{}", 2);
	CHECK_INT(kept_check(check_folder(), &err), -1);
	CHECK(strstr(err.text, "journal line 2: ") && strstr(err.text, "planned.json"));
}

TEST(a_folder_without_a_journal_is_no_run)
{
	check_folder();
	CHECK_INT(kept_check(check_folder(), &err), -1);
	CHECK(strstr(err.text, JOURNAL_FILE));
}
