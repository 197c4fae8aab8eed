/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aka-heldout WORK: what proctor makes of the held-out shapes and measurements below WORK, for
 * heldout.py to compare with what AgentKernelArena makes of them
 *
 * Each folder of WORK/inject has a held_out_shapes.yaml, and files in ws/. What they become is in
 * ours/, and in ours/facts a line each: its name and an outcome, or in their place "load: " and why
 * the first could not be read. Each folder of WORK/unseen is a run, each folder in it a task (see
 * read_attempt()). What comes of it is in ours/ of the task and of the run.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/aka/aka_heldout.h"
#include "harness/aka/aka_unseen_summary.h"
#include "harness/aka/aka_verdict.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"

enum { FILE_MAX = 64 << 20 };

no_return static void end(const char *what)
{
	fprintf(stderr, "aka-heldout: %s\n", what);
	exit(1);
}

static bool read_if_there(int folder, const char *name, struct str *out)
{
	struct err err = ERR_INIT;

	if (faccessat(folder, name, F_OK, 0) < 0)
		return false;
	if (io_read_file(folder, name, FILE_MAX, out, &err) < 0)
		end(err.text);
	return true;
}

static void write_file(int folder, const char *name, const struct str *text)
{
	auto_fd fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct err err = ERR_INIT;

	if (fd < 0 || io_write_all(fd, text->text, text->len, name, &err) < 0)
		end(name);
}

static int open_folder(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		end(name);
	return fd;
}

static int ours_in(int folder)
{
	mkdirat(folder, "ours", 0755);
	return open_folder(folder, "ours");
}

static int is_case(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strcmp(entry->d_name, "ours") != 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Calls @visit for each folder in @folder. */
static void each(int folder, void (*visit)(int folder, void *user), void *user)
{
	struct dirent **entries;
	int count = scandirat(folder, ".", &entries, is_case, by_name);

	if (count < 0)
		end("no such folder");
	for (int i = 0; i < count; i++) {
		auto_fd inside = open_folder(folder, entries[i]->d_name);

		visit(inside, user);
		free(entries[i]);
	}
	free(entries);
}

/* ---- injections ---- */

static void apply(int ws, int ours, const struct aka_heldout *heldout, struct str *facts)
{
	for (size_t i = 0; i < heldout->count; i++) {
		cleanup(str_done) struct str before = STR_INIT, after = STR_INIT;
		const char *file = heldout->injections[i].file;
		enum aka_injected outcome;

		if (!read_if_there(ws, file, &before)) {
			str_addf(facts, "%s gone\n", file);
			continue;
		}
		outcome = aka_heldout_apply(&after, heldout, file, before.text, before.len);
		str_addf(facts, "%s %d\n", file, (int) outcome);
		if (outcome == AKA_INJECTED)
			write_file(ours, file, &after);
	}
}

static void inject(int folder, void *user)
{
	auto_fd ws = open_folder(folder, "ws");
	auto_fd ours = ours_in(folder);
	cleanup(aka_heldout_done) struct aka_heldout heldout = AKA_HELDOUT_INIT;
	cleanup(str_done) struct str text = STR_INIT, facts = STR_INIT;
	struct err err = ERR_INIT;

	(void) user;
	if (!read_if_there(folder, "held_out_shapes.yaml", &text))
		end("no held_out_shapes.yaml");
	if (aka_heldout_parse("held_out_shapes.yaml", text.text, text.len, &heldout, &err) < 0)
		str_addf(&facts, "load: %s\n", err.text);
	else
		apply(ws, ours, &heldout, &facts);
	write_file(ours, "facts", &facts);
}

/* ---- results ---- */

enum fact {
	FACT_TASK,
	FACT_TYPE,
	FACT_ERROR,
	FACT_CORRECT, /* what the run has said: 0 or 1, speedup, score */
	FACT_SPEEDUP,
	FACT_SCORE,
	FACT_COMMANDS, /* did it succeed: orig-compile, orig-correct, opt-compile, … */
	FACTS = FACT_COMMANDS + 6,
};

static const char *const commands[] = { "orig-compile", "orig-correct", "opt-compile",
					"opt-correct",  "orig-perf",    "opt-perf" };

struct task {
	struct arena arena;
	char *facts[FACTS];
	struct aka_cases original, optimized;
	struct aka_unseen unseen;
};

static void read_stream(int folder, size_t command, const char *stream, struct str *out)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.%s", commands[command], stream);
	read_if_there(folder, name, out);
}

static void read_said(const struct task *task, int folder, size_t command, struct aka_said *out)
{
	cleanup(str_done) struct str stdout_bytes = STR_INIT, stderr_bytes = STR_INIT;

	read_stream(folder, command, "out", &stdout_bytes);
	read_stream(folder, command, "err", &stderr_bytes);
	aka_said_read(out,
		      &(struct aka_streams){ .out = stdout_bytes.text,
					     .out_len = stdout_bytes.len,
					     .err = stderr_bytes.text,
					     .err_len = stderr_bytes.len },
		      strcmp(task->facts[FACT_COMMANDS + command], "1") == 0);
}

static void read_side(struct task *task, int folder, size_t first, struct aka_unseen_side *out)
{
	cleanup(aka_said_done) struct aka_said compile = AKA_SAID_INIT, correct = AKA_SAID_INIT;

	read_said(task, folder, first, &compile);
	read_said(task, folder, first + 1, &correct);
	out->compile_error = aka_verdict_compile(&task->arena, &compile);
	out->correct_error = aka_verdict_correct(&task->arena, &correct);
}

static void read_cases(const struct task *task, int folder, bool is_baseline, struct aka_cases *out)
{
	cleanup(aka_said_done) struct aka_said said = AKA_SAID_INIT;
	cleanup(str_done) struct str output = STR_INIT, report = STR_INIT;
	struct aka_measured measured = { .task_type = task->facts[FACT_TYPE],
					 .is_baseline = is_baseline,
					 .output = &output };

	read_said(task, folder, is_baseline ? 4 : 5, &said);
	aka_said_all(&output, &said);
	if (read_if_there(folder, is_baseline ? "orig.json" : "opt.json", &report))
		measured.reports[AKA_BUILD_PERFORMANCE_REPORT] =
			(struct aka_bytes){ .bytes = report.text, .len = report.len };
	if (said.is_success)
		aka_cases_read(out, &measured);
}

static void read_attempt(struct task *task, int folder, struct aka_unseen_attempt *out)
{
	cleanup(str_done) struct str text = STR_INIT;
	char *rest;

	if (!read_if_there(folder, "facts", &text))
		end("no facts");
	rest = arena_copy(&task->arena, text.text, text.len);
	for (size_t i = 0; i < FACTS; i++)
		task->facts[i] = strsep(&rest, "\n");
	out->task_name = task->facts[FACT_TASK];
	out->is_torch2hip = strcmp(task->facts[FACT_TYPE], "torch2hip") == 0;
	if (*task->facts[FACT_ERROR] != '\0')
		out->error = task->facts[FACT_ERROR];
	out->seen = (struct aka_seen){ .is_correct = *task->facts[FACT_CORRECT] == '1',
				       .speedup = strtod(task->facts[FACT_SPEEDUP], NULL),
				       .score = strtod(task->facts[FACT_SCORE], NULL) };
	read_side(task, folder, 0, &out->original);
	read_side(task, folder, 2, &out->optimized);
	read_cases(task, folder, true, &task->original);
	read_cases(task, folder, false, &task->optimized);
	out->original.cases = &task->original;
	out->optimized.cases = &task->optimized;
}

static void write_task(const struct task *task, int folder)
{
	auto_fd ours = ours_in(folder);
	cleanup(str_done) struct str text = STR_INIT;

	aka_unseen_file(&text, &task->unseen);
	write_file(ours, "heldout_task_result.yaml", &text);
	str_clear(&text);
	if (task->unseen.is_correct && task->unseen.lost_why == NULL &&
	    aka_unseen_perf_file(&text, &task->optimized))
		write_file(ours, "optimized_perf.yaml", &text);
	str_clear(&text);
	str_addf(&text, "%s", task->unseen.lost_why != NULL ? task->unseen.lost_why : "");
	write_file(ours, "lost", &text);
}

struct run {
	struct task tasks[256];
	size_t count;
};

static void mark(int folder, void *user)
{
	struct run *run = user;
	struct aka_unseen_attempt attempt = { .task_name = NULL };
	struct task *task;

	if (run->count == ARRAY_LEN(run->tasks))
		end("too many tasks in a run");
	task = &run->tasks[run->count++];
	*task = (struct task){ .original = AKA_CASES_INIT,
			       .optimized = AKA_CASES_INIT,
			       .unseen = AKA_UNSEEN_INIT };
	read_attempt(task, folder, &attempt);
	aka_unseen_make(&task->unseen, &attempt);
	write_task(task, folder);
}

static void mark_run(int folder, void *user)
{
	cleanup(mem_free) struct run *run = mem_alloc(1, sizeof(*run));
	const struct aka_unseen *results[ARRAY_LEN(run->tasks)];
	cleanup(str_done) struct str text = STR_INIT;
	size_t kept = 0;
	auto_fd ours = ours_in(folder);

	(void) user;
	each(folder, mark, run);
	for (size_t i = 0; i < run->count; i++)
		if (run->tasks[i].unseen.lost_why == NULL)
			results[kept++] = &run->tasks[i].unseen;
	if (aka_unseen_summary_file(&text, results, kept))
		write_file(ours, "heldout_summary.yaml", &text);
	for (size_t i = 0; i < run->count; i++) {
		aka_cases_done(&run->tasks[i].original);
		aka_cases_done(&run->tasks[i].optimized);
		aka_unseen_done(&run->tasks[i].unseen);
		arena_done(&run->tasks[i].arena);
	}
}

int main(int argc, char **argv)
{
	auto_fd work = argc == 2 ? open_folder(AT_FDCWD, argv[1]) : -1;
	auto_fd injections = -1, runs = -1;

	if (work < 0)
		end("it takes one folder");
	injections = open_folder(work, "inject");
	runs = open_folder(work, "unseen");
	each(injections, inject, NULL);
	each(runs, mark_run, NULL);
	return 0;
}
