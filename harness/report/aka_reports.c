/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/aka_reports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/aka/aka_report.h"
#include "harness/aka/aka_unseen_summary.h"
#include "harness/run/record.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/path.h"

/* One agent's n-th attempts. */
struct part {
	const struct run *run;
	size_t agent, repeat;
	struct aka_line *theirs, *strict; /* owned */
	size_t count;
};

static void part_done(struct part *part)
{
	mem_free(&part->theirs);
	mem_free(&part->strict);
}

static bool is_of(const struct part *part, const struct slot *slot)
{
	return slot->state == SLOT_RECORDED && slot->agent == part->agent &&
	       (slot->number - 1) % part->run->planned.repeats == part->repeat;
}

static struct aka_line line_of(const struct record *record)
{
	return (struct aka_line){
		.task_name = record->task,
		.agent_name = record->agent,
		.compiles = record->aka.compiles,
		.is_correct = record->aka.is_correct,
		.score = record->aka.score,
		.speedup = record->aka.speedup,
	};
}

static struct aka_line strict_of(const struct record *record)
{
	struct aka_line line = line_of(record);
	const char *reason = record->infra ? record->infra : record->aka.reason;

	line.compiles = record->aka.is_there && record->is_built;
	line.is_correct = record_is_right(&record->seen);
	line.score = record->aka.strict_score;
	line.speedup = record->aka.strict_speedup;
	snprintf(line.reason, sizeof(line.reason), "%s", reason ? reason : "");
	return line;
}

/* The reference sorts by the names of its folders: '/' is '_', and the time of the run behind. */
static int compare_names(const char *x, const char *y)
{
	for (;; x++, y++) {
		const int one = *x == '/' || *x == '\0' ? '_' : (unsigned char) *x;
		const int other = *y == '/' || *y == '\0' ? '_' : (unsigned char) *y;

		if (one != other)
			return one - other;
		if (*x == '\0' || *y == '\0')
			return *x == *y ? 0 : *x == '\0' ? -1 : 1;
	}
}

static int compare_lines(const void *a, const void *b)
{
	const struct aka_line *left = a, *right = b;

	return compare_names(left->task_name, right->task_name);
}

static void collect(struct part *part)
{
	const struct slots *slots = &part->run->slots;

	part->theirs = mem_alloc(slots->count + 1, sizeof(*part->theirs));
	part->strict = mem_alloc(slots->count + 1, sizeof(*part->strict));
	for (size_t i = 0; i < slots->count; i++) {
		if (!is_of(part, &slots->list[i]))
			continue;
		part->theirs[part->count] = line_of(&slots->list[i].record);
		part->strict[part->count++] = strict_of(&slots->list[i].record);
	}
	qsort(part->theirs, part->count, sizeof(*part->theirs), compare_lines);
	qsort(part->strict, part->count, sizeof(*part->strict), compare_lines);
}

/* "workspace_GPU_AGENT": the first '_' behind the prefix ends the GPU. */
static void name_workspace(const struct part *part, char *out, size_t room)
{
	const struct planned *planned = &part->run->planned;
	char gpu[64];

	snprintf(gpu, sizeof(gpu), "%s", planned->aka.gpu ? planned->aka.gpu : "unknown");
	for (char *at = gpu; *at; at++)
		if (*at == '_' || *at == '/')
			*at = '-';
	snprintf(out, room, "workspace_%s_%s", gpu, planned->agents[part->agent].name);
}

/* "run_YYYYMMDD_HHMMSS" of an id that begins with YYYYMMDDTHHMMSSZ. */
static void name_run(const struct planned *planned, char *out, size_t room)
{
	if (strlen(planned->run) >= 16 && planned->run[8] == 'T')
		snprintf(out, room, "run_%.8s_%.6s", planned->run, planned->run + 9);
	else
		snprintf(out, room, "run_%s", planned->run);
}

static int write_text(int folder_fd, const char *name, const struct str *text, struct err *err)
{
	return io_replace_file(folder_fd, name, text->text, text->len, 0644, err);
}

static int write_files(int folder_fd, const struct aka_summary *theirs,
		       const struct aka_summary *strict, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;
	cleanup(str_done) struct str json = STR_INIT;
	cleanup(str_done) struct str csv = STR_INIT;
	cleanup(str_done) struct str marks = STR_INIT;

	aka_report_text(&text, theirs);
	aka_report_json(&json, theirs);
	aka_report_csv(&csv, theirs);
	aka_report_marks(&marks, theirs, strict);
	if (write_text(folder_fd, "overall_report.txt", &text, err) < 0 ||
	    write_text(folder_fd, "task_type_breakdown.json", &json, err) < 0 ||
	    write_text(folder_fd, "overall_summary.csv", &csv, err) < 0)
		return -1;
	return write_text(folder_fd, "proctor_marks.json", &marks, err);
}

static int make_folder(int folder_fd, const char *name, struct err *err)
{
	if (mkdirat(folder_fd, name, 0755) < 0 && errno != EEXIST)
		return err_sys(err, "create folder '%s'", name);
	return path_open_folder(folder_fd, name, err);
}

static struct aka_unseen unseen_of(const struct record *record)
{
	const struct record_heldout *from = &record->heldout;
	struct aka_unseen unseen = AKA_UNSEEN_INIT;
	int status = AKA_BOTH_FAIL;

	best_effort(names_find(aka_unseen_status_names, from->status, &status));
	unseen.task_name = record->task;
	unseen.compiles = from->compiles;
	unseen.is_correct = from->is_correct;
	unseen.time_ms = from->time_ms;
	unseen.original_compiles = from->original_compiles;
	unseen.original_is_correct = from->original_is_correct;
	unseen.original_time_ms = from->original_time_ms;
	unseen.status = (enum aka_unseen_status) status;
	unseen.speedup = from->speedup;
	unseen.score = from->score;
	unseen.seen = (struct aka_seen){ .is_correct = record->aka.is_correct,
					 .speedup = record->aka.speedup,
					 .score = record->aka.score };
	return unseen;
}

static int compare_unseen(const void *a, const void *b)
{
	const struct aka_unseen *const *left = a, *const *right = b;

	return compare_names((*left)->task_name, (*right)->task_name);
}

/* Nothing where no shapes were held out. */
static int write_unseen(const struct part *part, int folder_fd, struct err *err)
{
	const struct slots *slots = &part->run->slots;
	cleanup(mem_free) struct aka_unseen *all = mem_alloc(slots->count + 1, sizeof(*all));
	cleanup(mem_free) const struct aka_unseen **sorted =
		mem_alloc(slots->count + 1, sizeof(const struct aka_unseen *));
	cleanup(str_done) struct str text = STR_INIT;
	size_t count = 0;

	for (size_t i = 0; i < slots->count; i++) {
		const struct record *record = &slots->list[i].record;

		if (!is_of(part, &slots->list[i]) || !record->heldout.is_there)
			continue;
		all[count] = unseen_of(record);
		sorted[count] = &all[count];
		count++;
	}
	qsort(sorted, count, sizeof(const struct aka_unseen *), compare_unseen);
	if (!aka_unseen_summary_file(&text, sorted, count))
		return 0;
	return write_text(folder_fd, "heldout_summary.yaml", &text, err);
}

static int write_part(struct part *part, int folder_fd, struct err *err)
{
	cleanup(aka_summary_done) struct aka_summary theirs = AKA_SUMMARY_INIT;
	cleanup(aka_summary_done) struct aka_summary strict = AKA_SUMMARY_INIT;
	char workspace[512], run[80];

	collect(part);
	name_workspace(part, workspace, sizeof(workspace));
	name_run(&part->run->planned, run, sizeof(run));
	aka_summary_make(&theirs, part->theirs, part->count, workspace, run);
	aka_summary_make(&strict, part->strict, part->count, workspace, run);
	if (write_files(folder_fd, &theirs, &strict, err) < 0)
		return -1;
	return write_unseen(part, folder_fd, err);
}

int aka_reports_write(const struct run *run, struct err *err)
{
	const struct planned *planned = &run->planned;
	const size_t count = planned->agent_count * planned->repeats;
	auto_fd reports = -1;

	if (planned->kind != PLANNED_AKA)
		return 0;
	reports = make_folder(run->place->folder_fd, AKA_REPORTS_FOLDER, err);
	if (reports < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		cleanup(part_done) struct part part = { .run = run,
							.agent = i / planned->repeats,
							.repeat = i % planned->repeats };
		char name[64];
		auto_fd own = -1;

		snprintf(name, sizeof(name), "%zu-%zu", part.agent + 1, part.repeat + 1);
		own = count > 1 ? make_folder(reports, name, err) : -1;
		if (count > 1 && own < 0)
			return -1;
		if (write_part(&part, count > 1 ? own : reports, err) < 0)
			return err_wrap(err, "the reports of agent '%s'",
					planned->agents[part.agent].name);
	}
	return 0;
}
