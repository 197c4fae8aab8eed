/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/evidence/tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/base/mem.h"
#include "sandbox/base/path.h"
#include "sandbox/collect.h"

const struct name tree_change_names[] = {
	{ "changed", TREE_CHANGED },
	{ "added", TREE_ADDED },
	{ "deleted", TREE_DELETED },
	{ "refused", TREE_REFUSED },
	{ NULL, 0 },
};

int tree_pack(int root_fd, const struct stream_limits *limits, int out_fd,
	      struct stream_counts *counts, struct err *err)
{
	struct collect_report report;
	char more[64] = "";

	if (collect_tree(root_fd, limits, out_fd, &report, err) < 0)
		return -1;
	if (report.counts.refused == 0) {
		*counts = report.counts;
		return 0;
	}
	if (report.counts.refused > 1)
		snprintf(more, sizeof(more), ", and %" PRIu64 " more entries",
			 report.counts.refused - 1);
	return err_set(err, ERR_INPUT, "'%s' can not be part of a tree (%s)%s",
		       report.first_refused,
		       names_text(stream_reason_names, (int) report.first_reason), more);
}

struct stream_limits tree_own_limits(void)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;

	limits.total = limits.file = STREAM_BYTES_MAX;
	limits.entries = STREAM_ENTRIES_MAX;
	return limits;
}

void tree_report_done(struct tree_report *report)
{
	arena_done(&report->arena);
	free(report->changes);
	*report = TREE_REPORT_INIT;
}

/*
 * Both streams are in the same order, so that one pass over both is enough: at each step the
 * entry whose path comes first is looked at, or both entries if they have the same path.
 */
struct merge {
	const struct tree_edit *edit;
	struct tree_report report;
	size_t room; /* changes that the report has room for */
	struct stream_reader pristine, frozen;
	struct stream_writer writer;
	uint8_t ours[64 * 1024], theirs[64 * 1024];
};

static void merge_free(struct merge **merge)
{
	tree_report_done(&(*merge)->report);
	free(*merge);
	*merge = NULL;
}

static void note(struct merge *merge, const struct stream_entry *entry, enum tree_change_kind kind,
		 bool has_effect)
{
	struct tree_report *report = &merge->report;
	struct tree_change *change;

	(has_effect ? report->effective : report->ignored)[kind]++;
	if (report->count == TREE_CHANGES_MAX)
		return;
	if (report->count == merge->room) {
		merge->room = MAX_OF(2 * merge->room, (size_t) 64);
		report->changes =
			mem_resize(report->changes, merge->room, sizeof(report->changes[0]));
	}
	change = &report->changes[report->count++];
	*change = (struct tree_change){ .kind = kind, .has_effect = has_effect };
	change->reason = kind == TREE_REFUSED ? entry->reason : STREAM_TAKEN;
	change->path = arena_copy(&report->arena, entry->path, entry->path_len);
	change->path_len = entry->path_len;
}

/* Does `path` lie in the folder that the first `len` bytes of `folder` name? */
static bool is_below(const struct stream_entry *entry, const char *folder, size_t len)
{
	return entry->path_len > len && memcmp(entry->path, folder, len) == 0 &&
	       entry->path[len] == '/';
}

/* A folder is editable only as a part of an editable folder. */
static bool is_editable(const struct merge *merge, const struct stream_entry *entry)
{
	for (size_t i = 0; i < merge->edit->editable_count; i++) {
		const char *path = merge->edit->editable[i];
		size_t len = strlen(path);

		if (path[len - 1] == '/') {
			if (is_below(entry, path, len - 1))
				return true;
		} else if (entry->kind != STREAM_FOLDER && entry->path_len == len &&
			   memcmp(entry->path, path, len) == 0) {
			return true;
		}
	}
	return false;
}

/* Is this folder needed so that something editable can be in it? */
static bool is_on_the_way(const struct merge *merge, const struct stream_entry *entry)
{
	if (entry->kind != STREAM_FOLDER)
		return false;
	for (size_t i = 0; i < merge->edit->editable_count; i++) {
		const char *path = merge->edit->editable[i];

		if (strlen(path) > entry->path_len &&
		    memcmp(path, entry->path, entry->path_len) == 0 && path[entry->path_len] == '/')
			return true;
	}
	return false;
}

static bool is_wanted(const struct merge *merge, const struct stream_entry *entry)
{
	return merge->edit->adds && merge->edit->adds(entry->path, entry->path_len);
}

static bool can_hold(const struct merge *merge, const struct stream_entry *entry)
{
	return stream_holds_parent(&merge->writer.cursor, entry->path, entry->path_len);
}

/*
 * Copies the entry at which `from` is to the candidate. With `other`, which is at a file of the
 * same size, *differs is set if its content is not the same.
 */
static int copy(struct merge *merge, struct stream_reader *from, struct stream_reader *other,
		bool *differs, struct err *err)
{
	const struct stream_entry *entry = &from->decoder.entry;
	ssize_t got;

	if (stream_writer_entry(&merge->writer, entry, err) < 0)
		return -1;
	if (entry->kind != STREAM_FILE)
		return 0;
	while ((got = stream_reader_content(from, merge->ours, sizeof(merge->ours), err)) > 0) {
		if (stream_writer_content(&merge->writer, merge->ours, (size_t) got, err) < 0)
			return -1;
		if (!other)
			continue;
		if (stream_reader_content(other, merge->theirs, (size_t) got, err) < 0)
			return -1;
		*differs |= memcmp(merge->ours, merge->theirs, (size_t) got) != 0;
	}
	return (int) got;
}

static int take_deleted(struct merge *merge, struct err *err)
{
	const struct stream_entry *entry = &merge->pristine.decoder.entry;
	bool editable = is_editable(merge, entry);

	note(merge, entry, TREE_DELETED, editable);
	return editable ? 0 : copy(merge, &merge->pristine, NULL, NULL, err);
}

static int take_added(struct merge *merge, struct err *err)
{
	const struct stream_entry *entry = &merge->frozen.decoder.entry;
	bool editable = is_editable(merge, entry);
	bool taken;

	if (entry->kind == STREAM_REFUSED) {
		note(merge, entry, TREE_REFUSED, editable);
		return 0;
	}
	/* The pristine tree may have a file where this one has a folder. */
	taken = (editable || is_on_the_way(merge, entry) || is_wanted(merge, entry)) &&
		can_hold(merge, entry);
	note(merge, entry, TREE_ADDED, taken);
	return taken ? copy(merge, &merge->frozen, NULL, NULL, err) : 0;
}

static int take_file(struct merge *merge, struct err *err)
{
	const struct stream_entry *before = &merge->pristine.decoder.entry;
	const struct stream_entry *after = &merge->frozen.decoder.entry;
	bool editable = is_editable(merge, after);
	bool differs = before->executable != after->executable || before->size != after->size;
	struct stream_reader *from = editable ? &merge->frozen : &merge->pristine;
	struct stream_reader *other = editable ? &merge->pristine : &merge->frozen;

	if (copy(merge, from, before->size == after->size ? other : NULL, &differs, err) < 0)
		return -1;
	if (differs)
		note(merge, after, TREE_CHANGED, editable);
	return 0;
}

/* The agent made something else of an entry. */
static int take_other_kind(struct merge *merge, struct err *err)
{
	const struct stream_entry *before = &merge->pristine.decoder.entry;
	const struct stream_entry *after = &merge->frozen.decoder.entry;
	bool editable = is_editable(merge, before);

	if (after->kind == STREAM_REFUSED)
		note(merge, after, TREE_REFUSED, editable);
	else
		note(merge, after, TREE_CHANGED, editable);
	if (!editable)
		return copy(merge, &merge->pristine, NULL, NULL, err);
	/* A folder in the place of a file that alone is editable is not. */
	return is_editable(merge, after) && after->kind != STREAM_REFUSED
		     ? copy(merge, &merge->frozen, NULL, NULL, err)
		     : 0;
}

static int take_both(struct merge *merge, struct err *err)
{
	enum stream_kind before = merge->pristine.decoder.entry.kind;
	enum stream_kind after = merge->frozen.decoder.entry.kind;

	if (before == STREAM_FOLDER && after == STREAM_FOLDER)
		return copy(merge, &merge->pristine, NULL, NULL, err);
	if (before == STREAM_FILE && after == STREAM_FILE)
		return take_file(merge, err);
	return take_other_kind(merge, err);
}

/* The next entry of the pristine tree, which has to fit what is said to be editable. */
static int next_pristine(struct merge *merge, struct err *err)
{
	int more = stream_reader_entry(&merge->pristine, err);
	const struct stream_entry *entry = &merge->pristine.decoder.entry;
	char shown[256];

	if (more < 0)
		return err_wrap(err, "the task's tree");
	if (more == 0)
		return 0;
	stream_show(shown, entry->path, entry->path_len);
	if (entry->kind == STREAM_REFUSED)
		return err_set(err, ERR_INPUT, "the task's tree lacks '%s' (%s)", shown,
			       names_text(stream_reason_names, (int) entry->reason));
	for (size_t i = 0; i < merge->edit->editable_count; i++) {
		const char *path = merge->edit->editable[i];
		size_t len = strlen(path);
		bool folder = path[len - 1] == '/';

		len -= folder;
		if (entry->path_len != len || memcmp(entry->path, path, len) != 0 ||
		    folder == (entry->kind == STREAM_FOLDER))
			continue;
		return err_set(err, ERR_INPUT,
			       folder ? "editable: '%s/' is a file in the task: write '%s'"
				      : "editable: '%s' is a folder in the task: write '%s/'",
			       shown, shown);
	}
	return 1;
}

static int next_frozen(struct merge *merge, struct err *err)
{
	int more = stream_reader_entry(&merge->frozen, err);

	return more < 0 ? err_wrap(err, "the frozen tree") : more;
}

static int merge_trees(struct merge *merge, struct err *err)
{
	const struct stream_entry *before = &merge->pristine.decoder.entry;
	const struct stream_entry *after = &merge->frozen.decoder.entry;
	int ours = next_pristine(merge, err), theirs = ours < 0 ? -1 : next_frozen(merge, err);

	while (ours > 0 || theirs > 0) {
		int order = theirs <= 0 ? -1 : 1, taken;

		if (ours < 0 || theirs < 0)
			return -1;
		if (ours > 0 && theirs > 0)
			order = stream_compare(before->path, before->path_len, after->path,
					       after->path_len);
		if (order < 0)
			taken = take_deleted(merge, err);
		else if (order > 0)
			taken = take_added(merge, err);
		else
			taken = take_both(merge, err);
		if (taken < 0)
			return err_wrap(err, "merge the task's and the frozen tree");
		if (order <= 0)
			ours = next_pristine(merge, err);
		if (ours >= 0 && order >= 0)
			theirs = next_frozen(merge, err);
	}
	return ours < 0 || theirs < 0 ? -1 : 0;
}

static int check_editable(const struct tree_edit *edit, struct err *err)
{
	if (edit->editable_count > TREE_EDITABLE_MAX)
		return err_set(err, ERR_INPUT, "editable: %zu paths, more than %d",
			       edit->editable_count, TREE_EDITABLE_MAX);
	for (size_t i = 0; i < edit->editable_count; i++) {
		cleanup(mem_free) char *path = mem_alloc(strlen(edit->editable[i]) + 1, 1);
		size_t len = strlen(edit->editable[i]);

		memcpy(path, edit->editable[i], len);
		if (len > 1 && path[len - 1] == '/')
			path[len - 1] = '\0';
		if (!path_is_relative(path))
			return err_set(err, ERR_INPUT,
				       "editable: '%.300s' is not a path below the workspace",
				       edit->editable[i]);
	}
	return 0;
}

int tree_merge(const struct tree_edit *edit, int out_fd, struct tree_report *out, struct err *err)
{
	cleanup(merge_free) struct merge *merge = mem_alloc(1, sizeof(*merge));

	merge->report = TREE_REPORT_INIT;
	merge->edit = edit;
	if (stream_limits_check(&edit->limits, err) < 0 || check_editable(edit, err) < 0)
		return -1;
	stream_reader_open(&merge->pristine, edit->pristine_fd, &edit->limits);
	stream_reader_open(&merge->frozen, edit->frozen_fd, &edit->limits);
	stream_writer_open(&merge->writer, out_fd, &edit->limits);
	if (merge_trees(merge, err) < 0 || stream_writer_close(&merge->writer, err) < 0)
		return -1;
	merge->report.counts = merge->writer.cursor.counts;
	*out = take(merge->report, TREE_REPORT_INIT);
	return 0;
}
