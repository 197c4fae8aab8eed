/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aka-score RUN…: what proctor makes of the measurements below each folder RUN, for score.py to
 * compare with what AgentKernelArena makes of them
 *
 * A run is WORKSPACE/RUN; each folder in it with a file `facts` is a task: its name, the agent's,
 * its type, and for compile, correctness, baseline and optimized whether the command succeeded (a
 * line each). Beside it lie the output of these commands, and the reports in base/ and opt/. What
 * comes out is in ours/ of the task and of the run, and comparisons of each run with the one before
 * it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/aka/aka_comparison.h"
#include "harness/aka/aka_report.h"
#include "harness/aka/aka_verdict.h"
#include "harness/aka/pyfloat.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"

enum { FACTS = 7, FILE_MAX = 64 << 20 };

no_return static void end(const struct err *err)
{
	fprintf(stderr, "aka-score: %s\n", err->text);
	exit(1);
}

static bool read_if_there(int folder, const char *name, struct str *out)
{
	struct err err = ERR_INIT;

	if (faccessat(folder, name, F_OK, 0) < 0)
		return false;
	if (io_read_file(folder, name, FILE_MAX, out, &err) < 0)
		end(&err);
	return true;
}

static void write_file(int folder, const char *name, const struct str *text)
{
	auto_fd fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct err err = ERR_INIT;

	if (fd < 0 || io_write_all(fd, text->text, text->len, name, &err) < 0)
		end(&err);
}

static int ours_in(int folder)
{
	int fd;

	mkdirat(folder, "ours", 0755);
	fd = openat(folder, "ours", O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		end(&(struct err){ .text = "no folder 'ours'" });
	return fd;
}

struct task {
	char *facts[FACTS];
	struct aka_said compile, correct, base, optimized;
	struct aka_cases baseline, candidate;
	struct arena arena;
	struct aka_result result;
	struct aka_strict strict;
};

static void read_facts(struct task *task, int folder)
{
	cleanup(str_done) struct str text = STR_INIT;
	char *rest;

	if (!read_if_there(folder, "facts", &text))
		end(&(struct err){ .text = "no facts" });
	rest = arena_copy(&task->arena, text.text, text.len);
	for (size_t i = 0; i < FACTS; i++)
		task->facts[i] = strsep(&rest, "\n");
}

static void read_said(struct aka_said *out, int folder, const char *name, const char *success)
{
	cleanup(str_done) struct str stdout_bytes = STR_INIT, stderr_bytes = STR_INIT;
	char path[64];

	snprintf(path, sizeof(path), "%s.out", name);
	read_if_there(folder, path, &stdout_bytes);
	snprintf(path, sizeof(path), "%s.err", name);
	read_if_there(folder, path, &stderr_bytes);
	aka_said_read(out,
		      &(struct aka_streams){ .out = stdout_bytes.text,
					     .out_len = stdout_bytes.len,
					     .err = stderr_bytes.text,
					     .err_len = stderr_bytes.len },
		      strcmp(success, "1") == 0);
}

static void read_cases(struct aka_cases *out, int folder, const char *side,
		       const struct aka_said *said, const char *task_type)
{
	struct str reports[AKA_REPORTS], output = STR_INIT;
	struct aka_measured measured = { .task_type = task_type, .output = &output };
	char path[64];

	measured.is_baseline = strcmp(side, "base") == 0;
	aka_said_all(&output, said);
	for (size_t i = 0; i < AKA_REPORTS; i++) {
		reports[i] = STR_INIT;
		snprintf(path, sizeof(path), "%s/%s", side, aka_report_path((enum aka_channel) i));
		if (read_if_there(folder, path, &reports[i]))
			measured.reports[i] = (struct aka_bytes){ .bytes = reports[i].text,
								  .len = reports[i].len };
	}
	if (said->is_success)
		aka_cases_read(out, &measured);
	for (size_t i = 0; i < AKA_REPORTS; i++)
		str_done(&reports[i]);
	str_done(&output);
}

static void write_task(const struct task *task, int folder)
{
	auto_fd ours = ours_in(folder);
	cleanup(str_done) struct str text = STR_INIT;

	str_addf(&text, "%s\n%s\n", task->result.lost_why != NULL ? task->result.lost_why : "",
		 task->strict.reason);
	pyfloat_add_repr(&text, aka_score(&task->result));
	str_addf(&text, "\n");
	pyfloat_add_repr(&text, aka_score_speedup(&task->result));
	str_addf(&text, "\n");
	pyfloat_add_repr(&text, task->strict.score);
	str_addf(&text, "\n");
	write_file(ours, "facts", &text);
	str_clear(&text);
	aka_result_file(&text, &task->result, false);
	write_file(ours, "task_result.yaml", &text);
	str_clear(&text);
	aka_result_file(&text, &task->result, true);
	write_file(ours, "task_result_scored.yaml", &text);
	str_clear(&text);
	aka_perf_file(&text, &task->baseline);
	if (task->baseline.count > 0)
		write_file(ours, "baseline_perf.yaml", &text);
	str_clear(&text);
	aka_perf_file(&text, &task->candidate);
	if (task->candidate.count > 0 && task->result.is_correct)
		write_file(ours, "optimized_perf.yaml", &text);
}

static void mark(struct task *task, int folder)
{
	struct aka_attempt attempt = { .baseline = &task->baseline };

	read_facts(task, folder);
	attempt.task_name = task->facts[0];
	attempt.agent_name = task->facts[1];
	read_said(&task->compile, folder, "compile", task->facts[3]);
	read_said(&task->correct, folder, "correct", task->facts[4]);
	read_said(&task->base, folder, "base", task->facts[5]);
	read_said(&task->optimized, folder, "opt", task->facts[6]);
	read_cases(&task->baseline, folder, "base", &task->base, task->facts[2]);
	attempt.compile_error = aka_verdict_compile(&task->arena, &task->compile);
	if (attempt.compile_error == NULL) {
		attempt.correct_error = aka_verdict_correct(&task->arena, &task->correct);
		attempt.correct_doubt = aka_verdict_doubt(&task->correct);
	}
	if (attempt.compile_error == NULL && attempt.correct_error == NULL) {
		read_cases(&task->candidate, folder, "opt", &task->optimized, task->facts[2]);
		attempt.optimized = &task->candidate;
	}
	aka_result_make(&task->result, &attempt);
	aka_score_strict(&task->strict, &task->result, &task->baseline, &task->candidate);
	write_task(task, folder);
}

static int is_task(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strcmp(entry->d_name, "ours") != 0 &&
	       strcmp(entry->d_name, "reports") != 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static const char *last_part(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash == NULL)
		return path;
	*slash = '\0';
	return slash + 1;
}

static void write_reports(const struct aka_summary *aka, const struct aka_summary *before,
			  int folder)
{
	auto_fd ours = ours_in(folder);
	cleanup(str_done) struct str text = STR_INIT;

	aka_report_text(&text, aka);
	write_file(ours, "overall_report.txt", &text);
	str_clear(&text);
	aka_report_json(&text, aka);
	write_file(ours, "task_type_breakdown.json", &text);
	str_clear(&text);
	aka_report_csv(&text, aka);
	write_file(ours, "overall_summary.csv", &text);
	str_clear(&text);
	aka_comparison(&text, before, aka);
	write_file(ours, "comparison.txt", &text);
}

/* Of all tasks, those that AgentKernelArena loses as well. */
static void write_marks(const struct task *tasks, size_t count, int folder)
{
	auto_fd ours = ours_in(folder);
	cleanup(mem_free) struct aka_line *lines = mem_alloc(count + 1, sizeof(*lines));
	cleanup(aka_summary_done) struct aka_summary aka = AKA_SUMMARY_INIT;
	cleanup(aka_summary_done) struct aka_summary strict = AKA_SUMMARY_INIT;
	cleanup(str_done) struct str text = STR_INIT;

	for (size_t i = 0; i < count; i++)
		lines[i] = aka_line_of(&tasks[i].result);
	aka_summary_make(&aka, lines, count, "", "");
	for (size_t i = 0; i < count; i++)
		lines[i] = aka_line_strict(&tasks[i].result, &tasks[i].strict);
	aka_summary_make(&strict, lines, count, "", "");
	aka_report_marks(&text, &aka, &strict);
	write_file(ours, "proctor_marks.json", &text);
}

/* Through the file and back, as a comparison of two runs does. */
static void read_back(struct aka_summary *out, const struct aka_summary *aka)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct err err = ERR_INIT;

	aka_report_json(&text, aka);
	if (aka_summary_read(out, text.text, text.len, &err) < 0)
		end(&err);
}

static void mark_run(char *path, struct aka_summary *before)
{
	auto_fd folder = open(path, O_DIRECTORY | O_CLOEXEC);
	struct dirent **entries;
	int count = scandir(path, &entries, is_task, by_name);
	const char *run = last_part(path), *workspace = last_part(path);
	struct task *tasks;
	struct aka_line *lines;
	cleanup(aka_summary_done) struct aka_summary aka = AKA_SUMMARY_INIT;
	size_t kept = 0;

	if (folder < 0 || count < 0)
		end(&(struct err){ .text = "no such run" });
	tasks = mem_alloc((size_t) count + 1, sizeof(*tasks));
	lines = mem_alloc((size_t) count + 1, sizeof(*lines));
	for (int i = 0; i < count; i++) {
		auto_fd inside = openat(folder, entries[i]->d_name, O_DIRECTORY | O_CLOEXEC);

		mark(&tasks[i], inside);
		free(entries[i]);
		if (tasks[i].result.lost_why == NULL)
			lines[kept++] = aka_line_of(&tasks[i].result);
	}
	aka_summary_make(&aka, lines, kept, workspace, run);
	write_reports(&aka, before, folder);
	write_marks(tasks, (size_t) count, folder);
	aka_summary_done(before);
	read_back(before, &aka);
	for (int i = 0; i < count; i++) {
		aka_result_done(&tasks[i].result);
		aka_cases_done(&tasks[i].baseline);
		aka_cases_done(&tasks[i].candidate);
		aka_said_done(&tasks[i].compile);
		aka_said_done(&tasks[i].correct);
		aka_said_done(&tasks[i].base);
		aka_said_done(&tasks[i].optimized);
		arena_done(&tasks[i].arena);
	}
	free(entries);
	free(tasks);
	free(lines);
}

int main(int argc, char **argv)
{
	cleanup(aka_summary_done) struct aka_summary before = AKA_SUMMARY_INIT;

	for (int i = 1; i < argc; i++)
		mark_run(argv[i], &before);
	return 0;
}
