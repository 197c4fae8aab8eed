/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/kept.h"

#include <stdio.h>
#include <string.h>

#include "harness/evidence/journal.h"
#include "harness/evidence/manifest.h"
#include "harness/run/attempt_state.h"
#include "harness/run/planned.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/path.h"

enum { NAME_MAX_LEN = 255, ATTEMPTS_MAX = 1 << 24, RECORD_MAX = 16 << 20 };

/* What the policy allowed a tree to hold does not matter here: it is in memory entry by entry. */
static const struct stream_limits any_tree = { STREAM_BYTES_MAX, STREAM_BYTES_MAX,
					       UINT32_MAX,       128,
					       STREAM_PATH_MAX,  0 };

static int check_plan(int folder_fd, const struct json_value *line, struct err *err)
{
	cleanup(planned_done) struct planned planned = PLANNED_INIT;
	struct digest expected, found;

	if (json_get_digest(line, "planned", &expected, err) < 0)
		return -1;
	return planned_read(folder_fd, &expected, &planned, &found, err);
}

static int digest_tree(int folder_fd, const char *path, struct digest *out, struct err *err)
{
	cleanup(manifest_done) struct manifest manifest = MANIFEST_INIT;
	auto_fd fd = path_open_file(folder_fd, path, err);

	if (fd < 0)
		return -1;
	if (manifest_read(fd, &any_tree, &manifest, err) < 0)
		return err_wrap(err, "%s", path);
	*out = manifest.root;
	return 0;
}

/* A file of an attempt, and its digest's key in the record, which is null where there is none. */
struct kept_file {
	const char *name, *key;
	bool is_tree;
};

static int check_file(int folder_fd, const char *attempt, const struct kept_file *file,
		      const struct json_value *digests, struct err *err)
{
	struct digest expected, found;
	char path[PLANNED_PATH_MAX];

	if (json_is_absent(json_member(digests, file->key)))
		return 0;
	snprintf(path, sizeof(path), "%s/%s", attempt, file->name);
	if (json_get_digest(digests, file->key, &expected, err) < 0 ||
	    (file->is_tree ? digest_tree(folder_fd, path, &found, err)
			   : planned_digest_file(folder_fd, path, &found, err)) < 0)
		return -1;
	if (!digest_equal(&expected, &found))
		return err_set(err, ERR_INPUT, "'%s' is not what was recorded", path);
	return 0;
}

static int read_record(int folder_fd, const char *attempt, const struct digest *expected,
		       struct json *out, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;
	char path[PLANNED_PATH_MAX];
	struct digest found;

	snprintf(path, sizeof(path), "%s/record.json", attempt);
	if (io_read_file(folder_fd, path, RECORD_MAX, &text, err) < 0)
		return -1;
	found = digest_sha256(text.text, text.len);
	if (!digest_equal(expected, &found))
		return err_set(err, ERR_INPUT, "'%s' is not what the journal has", path);
	return json_parse(out, text.text, text.len, RECORD_MAX, err);
}

static int check_attempt(int folder_fd, const struct json_value *line, struct err *err)
{
	static const struct kept_file files[] = {
		{ "samples.json", "samples", false },
		{ "services.jsonl", "services", false },
		{ "frozen.tree", "frozen", true },
		{ "candidate.tree", "candidate", true },
	};
	cleanup(json_done) struct json record = JSON_INIT;
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	const struct json_value *digests;
	char attempt[PLANNED_PATH_MAX];
	struct digest expected;
	const char *task = NULL, *folder;
	int64_t number = 0;

	if (json_get_text(line, "task", NAME_MAX_LEN, &task, err) < 0 ||
	    json_get_int(line, "attempt", 1, ATTEMPTS_MAX, &number, err) < 0 ||
	    json_get_digest(line, "file", &expected, err) < 0)
		return -1;
	folder = planned_folder(strchr(task, '/') ? PLANNED_AKA : PLANNED_NATIVE, task, &arena);
	if (!folder)
		return err_set(err, ERR_INPUT, "a task's name is no name of a folder");
	snprintf(attempt, sizeof(attempt), "attempts/%s-%04d", folder, (int) number);
	if (read_record(folder_fd, attempt, &expected, &record, err) < 0)
		return -1;
	digests = json_member(json_root(&record), "digests");
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (check_file(folder_fd, attempt, &files[i], digests, err) < 0)
			return -1;
	return 0;
}

static int check_line(int folder_fd, const struct journal_entry *entry, struct err *err)
{
	if (strcmp(entry->event, "run.planned") == 0)
		return check_plan(folder_fd, entry->fields, err);
	if (strcmp(entry->event, ATTEMPT_RECORDED_LINE) == 0)
		return check_attempt(folder_fd, entry->fields, err);
	return 0;
}

int kept_check(int folder_fd, struct err *err)
{
	cleanup(journal_reader_done) struct journal_reader reader;
	auto_fd fd = journal_open_read(folder_fd, err);
	struct journal_entry entry;
	int got;

	journal_reader_init(&reader, fd);
	if (fd < 0)
		return -1;
	while ((got = journal_read(&reader, &entry, err)) > 0)
		if (check_line(folder_fd, &entry, err) < 0)
			return err_wrap(err, "journal line %llu", (unsigned long long) entry.seq);
	return got;
}
