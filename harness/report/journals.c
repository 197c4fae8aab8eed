/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/journals.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/run/attempt_state.h"
#include "harness/run/record_read.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/path.h"

enum { NAME_MAX_LEN = 255, PLAN_MAX = 1 << 20, SLOT_MAX = 1 << 24, DIGITS = DIGEST_HEX - 1 };

/* A record as it stands in the journal. */
struct line {
	struct record record;
	const char *tree;
	int64_t slot;
	uint64_t seq;
};

struct lines {
	struct line *list; /* owned */
	size_t count, room;
};

static void lines_done(struct lines *lines)
{
	mem_free(&lines->list);
}

static const char *keep(struct journals *journals, const char *text)
{
	return text ? arena_copy(&journals->arena, text, strlen(text)) : NULL;
}

/* ---- lines ---- */

static int note_labels(struct journals *journals, const struct json_value *list,
		       struct journals_run *run, struct err *err)
{
	const size_t count = json_count(list);
	struct planned_label *labels;

	if (count > JOURNALS_LABELS_MAX)
		return err_set(err, ERR_INPUT, "it has more than %d labels",
			       (int) JOURNALS_LABELS_MAX);
	labels = arena_alloc(&journals->arena, count + 1, sizeof(*labels));
	for (size_t i = 0; i < count; i++) {
		const char *key = NULL, *value = NULL;

		if (json_get_text(json_item(list, i), "key", NAME_MAX_LEN, &key, err) < 0 ||
		    json_get_text(json_item(list, i), "value", NAME_MAX_LEN, &value, err) < 0)
			return err_wrap(err, "label %zu", i + 1);
		labels[i] = (struct planned_label){ keep(journals, key), keep(journals, value) };
	}
	run->labels = labels;
	run->label_count = count;
	return 0;
}

static int note_planned(struct journals *journals, const struct json_value *line,
			struct journals_run *run, struct err *err)
{
	int64_t tasks = 0, agents = 0, repeats = 0;
	const char *name = NULL, *policy = NULL;

	if (json_get_int(line, "tasks", 1, PLAN_MAX, &tasks, err) < 0 ||
	    json_get_int(line, "agents", 1, PLAN_MAX, &agents, err) < 0 ||
	    json_get_int(line, "repeats", 1, PLAN_MAX, &repeats, err) < 0)
		return -1;
	if (!json_is_absent(json_member(line, "name")) &&
	    json_get_text(line, "name", NAME_MAX_LEN, &name, err) < 0)
		return -1;
	if (!json_is_absent(json_member(line, "policy_name")) &&
	    json_get_text(line, "policy_name", NAME_MAX_LEN, &policy, err) < 0)
		return -1;
	if (record_read_texts(json_member(line, "weaker"), &journals->arena, &run->weaker,
			      &run->weaker_count, err) < 0)
		return err_wrap(err, "weaker");
	run->policy = keep(journals, policy);
	if (!json_is_absent(json_member(line, "labels")) &&
	    note_labels(journals, json_member(line, "labels"), run, err) < 0)
		return -1;
	if (!json_is_absent(json_member(line, "planned")) &&
	    json_get_digest(line, "planned", &run->digest, err) < 0)
		return -1;
	run->planned = (size_t) tasks * (size_t) agents * (size_t) repeats;
	run->name = keep(journals, name);
	return 0;
}

/* The line and the record in it are about the same attempt. */
static int check_record(const struct record *record, const struct journal_reader *reader,
			const char *task, int64_t attempt, struct err *err)
{
	if (!record->run || !record->task || !record->agent)
		return err_set(err, ERR_INPUT, "it does not say whose it is");
	if (strcmp(record->run, reader->run) != 0 || strcmp(record->task, task) != 0 ||
	    record->attempt != attempt)
		return err_set(err, ERR_INPUT, "it is of another attempt");
	return 0;
}

static int read_tree(struct journals *journals, const struct json_value *record, const char **out,
		     struct err *err)
{
	const struct json_value *digests = json_member(record, "digests");
	const char *tree = NULL;

	if (!json_is_absent(json_member(digests, "task")) &&
	    json_get_text(digests, "task", DIGITS, &tree, err) < 0)
		return -1;
	*out = keep(journals, tree);
	return 0;
}

static int note_recorded(struct journals *journals, const struct journal_reader *reader,
			 const struct journal_entry *entry, struct lines *lines, struct err *err)
{
	const struct json_value *record = json_member(entry->fields, "record");
	struct line line = { .seq = entry->seq };
	const char *task = NULL;
	int64_t attempt = 0;

	if (journals->record_count + lines->count >= JOURNALS_ATTEMPTS_MAX)
		return err_set(err, ERR_INPUT, "there are more than %d attempts in all",
			       (int) JOURNALS_ATTEMPTS_MAX);
	if (json_get_text(entry->fields, "task", NAME_MAX_LEN, &task, err) < 0 ||
	    json_get_int(entry->fields, "slot", 1, SLOT_MAX, &line.slot, err) < 0 ||
	    json_get_int(entry->fields, "attempt", 1, SLOT_MAX, &attempt, err) < 0)
		return -1;
	if (record_read(record, &journals->arena, &line.record, err) < 0 ||
	    read_tree(journals, record, &line.tree, err) < 0 ||
	    check_record(&line.record, reader, task, attempt, err) < 0)
		return err_wrap(err, "a record");
	if (lines->count == lines->room) {
		lines->room = MAX_OF(2 * lines->room, (size_t) 16);
		lines->list = mem_resize(lines->list, lines->room, sizeof(*lines->list));
	}
	lines->list[lines->count++] = line;
	return 0;
}

static int note(struct journals *journals, const struct journal_reader *reader,
		const struct journal_entry *entry, struct journals_run *run, struct lines *lines,
		struct err *err)
{
	run->is_finished = strcmp(entry->event, "run.finished") == 0;
	if (strcmp(entry->event, "run.planned") == 0)
		return note_planned(journals, entry->fields, run, err);
	if (strcmp(entry->event, ATTEMPT_RECORDED_LINE) == 0)
		return note_recorded(journals, reader, entry, lines, err);
	return 0;
}

static int read_lines(struct journals *journals, struct journal_reader *reader,
		      struct journals_run *run, struct lines *lines, struct err *err)
{
	struct journal_entry entry;
	int got;

	while ((got = journal_read(reader, &entry, err)) > 0)
		if (note(journals, reader, &entry, run, lines, err) < 0)
			return err_wrap(err, "journal line %llu", (unsigned long long) entry.seq);
	if (got < 0)
		return -1;
	if (reader->lines == 0)
		return err_set(err, ERR_INPUT,
			       "the journal has no whole line: the run never began");
	return 0;
}

/* ---- a run ---- */

/* By task, then by slot, then as they were written. */
static int compare_lines(const void *a, const void *b)
{
	const struct line *left = a, *right = b;
	const int by_task = strcmp(left->record.task, right->record.task);

	if (by_task != 0)
		return by_task;
	if (left->slot != right->slot)
		return left->slot < right->slot ? -1 : 1;
	return left->seq < right->seq ? -1 : 1;
}

static bool is_same_slot(const struct line *left, const struct line *right)
{
	return left->slot == right->slot && strcmp(left->record.task, right->record.task) == 0;
}

/* Of each slot the last record. */
static void take_lines(struct journals *journals, struct journals_run *run, struct lines *lines)
{
	const size_t most = journals->record_count + lines->count;

	if (lines->count == 0)
		return;
	qsort(lines->list, lines->count, sizeof(*lines->list), compare_lines);
	if (most > journals->record_room) {
		journals->record_room = MAX_OF(2 * journals->record_room, most);
		journals->records = mem_resize(journals->records, journals->record_room,
					       sizeof(*journals->records));
		journals->trees = mem_resize(journals->trees, journals->record_room,
					     sizeof(*journals->trees));
	}
	for (size_t i = 0; i < lines->count; i++) {
		const struct line *line = &lines->list[i];

		run->infra += !record_is_marked(&line->record);
		if (i + 1 < lines->count && is_same_slot(line, &lines->list[i + 1]))
			continue;
		journals->trees[journals->record_count] = line->tree;
		journals->records[journals->record_count++] = line->record;
		run->recorded++;
	}
}

static void add_run(struct journals *journals, const struct journals_run *run)
{
	if (journals->run_count == journals->run_room) {
		journals->run_room = MAX_OF(2 * journals->run_room, (size_t) 8);
		journals->runs =
			mem_resize(journals->runs, journals->run_room, sizeof(*journals->runs));
	}
	journals->runs[journals->run_count++] = *run;
}

/* The same journal twice would be twice the evidence. */
static int check_new(const struct journals *journals, const char *run, struct err *err)
{
	if (journals->run_count >= JOURNALS_RUNS_MAX)
		return err_set(err, ERR_INPUT, "there are more than %d runs",
			       (int) JOURNALS_RUNS_MAX);
	for (size_t i = 0; i < journals->run_count; i++)
		if (strcmp(journals->runs[i].run, run) == 0)
			return err_set(err, ERR_INPUT,
				       "it is the run '%s', which counts already as '%s'", run,
				       journals->runs[i].folder);
	return 0;
}

/* What stands there under this name may be anything: opening it does not wait. */
static int open_journal(int folder_fd, struct err *err)
{
	struct stat info;
	auto_fd fd = path_open(folder_fd, JOURNAL_FILE, O_RDONLY | O_NONBLOCK, 0, err);

	if (fd < 0)
		return -1;
	if (fstat(fd, &info) < 0)
		return err_sys(err, "look at '" JOURNAL_FILE "'");
	if (!S_ISREG(info.st_mode))
		return err_set(err, ERR_INPUT, "'" JOURNAL_FILE "' is no file");
	return fd_take(&fd);
}

int journals_read(struct journals *journals, int folder_fd, const char *folder, struct err *err)
{
	cleanup(journal_reader_done) struct journal_reader reader;
	cleanup(lines_done) struct lines lines = { .count = 0 };
	struct journals_run run = { .planned = 0 };
	auto_fd fd = open_journal(folder_fd, err);

	journal_reader_init(&reader, fd);
	if (fd < 0 || read_lines(journals, &reader, &run, &lines, err) < 0 ||
	    check_new(journals, reader.run, err) < 0)
		return -1;
	run.folder = keep(journals, folder);
	run.run = keep(journals, reader.run);
	run.torn = reader.torn;
	take_lines(journals, &run, &lines);
	add_run(journals, &run);
	return 0;
}

void journals_done(struct journals *journals)
{
	mem_free(&journals->runs);
	mem_free(&journals->records);
	mem_free(&journals->trees);
	arena_done(&journals->arena);
	*journals = JOURNALS_INIT;
}
