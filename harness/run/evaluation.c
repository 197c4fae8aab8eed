/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/evaluation.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/aka/aka_product.h"
#include "harness/aka/aka_stub.h"
#include "harness/aka/pyjson.h"
#include "harness/evidence/tree.h"
#include "harness/evidence/tree_files.h"
#include "harness/run/build.h"
#include "harness/run/compose.h"
#include "harness/run/evaluator.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"

/*
 * Theory of operation
 *
 * The steps behind compiling begin with what compiling left: files of the task and of the candidate
 * as they were, and beside them what is new and a product (aka_product.h). Of what the other steps
 * leave, nothing goes on; of the performance command the reports are read, and kept as they are.
 */

struct evaluation *evaluation_new(void)
{
	struct evaluation *made = mem_alloc(1, sizeof(*made));

	made->arena = ARENA_INIT;
	made->result = AKA_RESULT_INIT;
	made->baseline_fd = made->candidate_fd = -1;
	for (size_t i = 0; i < AKA_RUNS_MAX; i++)
		made->runs[i].cases = AKA_CASES_INIT;
	return made;
}

void evaluation_free(struct evaluation **evaluation)
{
	struct evaluation *made = *evaluation;

	if (!made)
		return;
	for (size_t i = 0; i < made->run_count; i++)
		aka_cases_done(&made->runs[i].cases);
	aka_result_done(&made->result);
	arena_done(&made->arena);
	fd_close(&made->baseline_fd);
	fd_close(&made->candidate_fd);
	mem_free(evaluation);
	*evaluation = NULL;
}

static struct stream_limits own_limits(void)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;

	limits.total = limits.file = STREAM_BYTES_MAX;
	limits.entries = STREAM_ENTRIES_MAX;
	return limits;
}

/* ---- one command ---- */

/* Where a command of a step runs, and what is known of it then. */
struct command {
	const struct evaluation_job *job;
	enum aka_step step;
	size_t index;
	const char *name; /* of its logs */
	int tree_fd;
	int left_fd; /* owned: what it left */
	struct evaluator_result result;
};

static void command_done(struct command *command)
{
	fd_close(&command->left_fd);
	evaluator_result_done(&command->result);
}

static int run_command(struct command *command, struct err *err)
{
	const struct evaluation_job *job = command->job;
	const struct aka_action *action = &job->task->steps[command->step];
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct evaluator_job what = {
		.run = job->run,
		.name = command->name,
		.folder_fd = job->folder_fd,
		.tree_fd = command->tree_fd,
		.wall_s = action->wall_s,
		.argv = aka_command_plan(&action->commands[command->index],
					 job->run->planned.aka.python, action->extra, &arena),
	};
	int result;

	job->say(job->user, command->name);
	command->left_fd = what.left_fd = evaluator_file(job->folder_fd, err);
	if (what.left_fd < 0)
		return -1;
	result = evaluator_run(&what, &command->result, err);
	*job->stopped = command->result.stopped;
	return result < 0 ? err_wrap(err, "%s", command->name) : 0;
}

/* ---- compiling ---- */

void evaluation_refuse(struct evaluation *evaluation, const char *why)
{
	snprintf(evaluation->why, sizeof(evaluation->why), "%s", why);
	evaluation->compile_error = pyvalue_new_text(&evaluation->arena, why, strlen(why));
}

/*
 * What goes on behind a command that compiles. Return: 0 with the tree in *out_fd; 1 if the next
 * jail could not hold it, with the reason in @why; -1.
 */
static int keep_products(const struct command *command, int *out_fd, char *why, size_t room,
			 struct err *err)
{
	const struct stream_limits next = compose_evaluator_limits(&command->job->run->policy);
	cleanup(tree_report_done) struct tree_report report = TREE_REPORT_INIT;
	const struct tree_edit edit = {
		.pristine_fd = command->tree_fd,
		.frozen_fd = command->left_fd,
		.limits = own_limits(),
		.adds = aka_product_is_kept,
	};
	auto_fd out = evaluator_file(command->job->folder_fd, err);

	if (out < 0)
		return -1;
	if (lseek(edit.pristine_fd, 0, SEEK_SET) < 0 || lseek(edit.frozen_fd, 0, SEEK_SET) < 0)
		return err_sys(err, "rewind a tree");
	if (tree_merge(&edit, out, &report, err) < 0)
		return err_wrap(err, "what compiling left");
	if (!build_takes(&next, &report.counts, why, room))
		return 1;
	*out_fd = fd_take(&out);
	return 0;
}

/* A name for the logs of a command; commands of one step are counted from the second on. */
static void name_command(const char *step, size_t index, char out[64])
{
	if (index == 0)
		snprintf(out, 64, "%s", step);
	else
		snprintf(out, 64, "%s-%zu", step, index + 1);
}

/*
 * Runs the commands of a step that compiles, each over the products of those before it.
 * Return: 0; 1 if one of them failed, with what it said in @error; -1.
 */
static int compile(const struct evaluation_job *job, enum aka_step step, const char *name,
		   int *tree_fd, struct evaluation *out, const struct pyvalue **error,
		   struct err *err)
{
	for (size_t i = 0; i < job->task->steps[step].count; i++) {
		char log[64];
		cleanup(command_done) struct command command = {
			.job = job,
			.step = step,
			.index = i,
			.name = log,
			.tree_fd = *tree_fd,
			.left_fd = -1,
			.result = EVALUATOR_RESULT_INIT,
		};
		int products = -1, kept;

		name_command(name, i, log);
		if (run_command(&command, err) < 0)
			return -1;
		*error = aka_verdict_compile(&out->arena, &command.result.said);
		if (*error || !command.result.has_left) {
			snprintf(out->why, sizeof(out->why), "%s", command.result.why);
			return 1;
		}
		kept = keep_products(&command, &products, out->why, sizeof(out->why), err);
		if (kept > 0)
			*error = pyvalue_new_text(&out->arena, out->why, strlen(out->why));
		if (kept != 0)
			return kept;
		fd_close(tree_fd);
		*tree_fd = products;
	}
	return 0;
}

static int copy_fd(int fd, struct err *err)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	return copy < 0 ? err_sys(err, "copy the descriptor of a tree") : copy;
}

int evaluation_compile(const struct evaluation_job *job, struct evaluation *out, struct err *err)
{
	const struct pyvalue *ignored = NULL;
	int failed;

	out->baseline_fd = copy_fd(job->pristine_fd, err);
	if (out->baseline_fd < 0)
		return -1;
	out->candidate_fd = copy_fd(job->candidate_fd, err);
	if (out->candidate_fd < 0)
		return -1;
	failed = compile(job, AKA_BASELINE_COMPILE, "baseline-compile", &out->baseline_fd, out,
			 &ignored, err);
	if (failed < 0)
		return -1;
	out->has_baseline = failed == 0;
	failed = compile(job, AKA_COMPILE, "compile", &out->candidate_fd, out, &out->compile_error,
			 err);
	if (failed > 0 && !out->compile_error)
		return err_set(err, ERR_SYS, "what compiling left was not collected");
	return failed < 0 ? -1 : 0;
}

/* ---- checking ---- */

enum { SOURCE_MAX = 4 << 20 };

/* Where a task begins with functions that only raise, there has to be something else by now. */
static int look_for_stubs(const struct evaluation_job *job, struct evaluation *out, struct err *err)
{
	const struct aka_task *task = job->task;
	const struct stream_limits limits = own_limits();
	struct tree_file files[TREE_FILES_MAX];
	struct aka_bytes sources[TREE_FILES_MAX];
	const size_t count = MIN_OF((size_t) task->sources.count, (size_t) TREE_FILES_MAX);
	int result;

	if (strcmp(task->type, "torch2flydsl") != 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		files[i] = (struct tree_file){ .path = task->sources.items[i], .bytes = STR_INIT };
	result = tree_files_read(out->candidate_fd, &limits, files, count, SOURCE_MAX, err);
	for (size_t i = 0; i < count; i++)
		sources[i] = files[i].is_there && !files[i].is_too_large
				   ? (struct aka_bytes){ files[i].bytes.text, files[i].bytes.len }
				   : (struct aka_bytes){ NULL, 0 };
	if (result == 0)
		out->correct_error = aka_stub_find(&out->arena, task, sources);
	tree_files_done(files, count);
	return result;
}

static int check(const struct evaluation_job *job, struct evaluation *out, struct err *err)
{
	for (size_t i = 0; i < job->task->steps[AKA_CORRECTNESS].count; i++) {
		char log[64];
		cleanup(command_done) struct command command = {
			.job = job,
			.step = AKA_CORRECTNESS,
			.index = i,
			.name = log,
			.tree_fd = out->candidate_fd,
			.left_fd = -1,
			.result = EVALUATOR_RESULT_INIT,
		};

		name_command("correctness", i, log);
		if (run_command(&command, err) < 0)
			return -1;
		out->correct_error = aka_verdict_correct(&out->arena, &command.result.said);
		if (out->correct_error) {
			snprintf(out->why, sizeof(out->why), "%s", command.result.why);
			return 0;
		}
		if (!out->correct_doubt)
			out->correct_doubt = aka_verdict_doubt(&command.result.said);
	}
	return 0;
}

/* ---- timing ---- */

/* The reports that a command left, kept under names of their own. */
static int keep_reports(const struct command *command, const struct tree_file *files,
			struct err *err)
{
	for (size_t i = 0; i < AKA_REPORTS; i++) {
		char name[256];

		if (!files[i].is_there || files[i].is_too_large)
			continue;
		snprintf(name, sizeof(name), "%s+%s", command->name, files[i].path);
		for (char *at = name; *at; at++)
			*at = *at == '/' ? '+' : *at;
		if (io_replace_file(command->job->folder_fd, name, files[i].bytes.text,
				    files[i].bytes.len, 0644, err) < 0)
			return -1;
	}
	return 0;
}

static void read_cases(const struct command *command, const struct tree_file *files,
		       bool is_baseline, struct aka_cases *out)
{
	cleanup(str_done) struct str output = STR_INIT;
	struct aka_measured measured = {
		.task_type = command->job->task->type,
		.is_baseline = is_baseline,
		.output = &output,
	};

	aka_said_all(&output, &command->result.said);
	for (size_t i = 0; i < AKA_REPORTS; i++)
		if (files[i].is_there)
			measured.reports[i] =
				(struct aka_bytes){ files[i].bytes.text, files[i].bytes.len };
	aka_cases_read(out, &measured);
	/* Where it is, it says nothing: as one that can not be read. */
	for (size_t i = 0; i < AKA_REPORTS; i++)
		if (files[i].is_too_large)
			out->doubts |= AKA_DOUBT_TOO_LARGE;
}

static int take_cases(const struct command *command, bool is_baseline, struct aka_cases *out,
		      struct err *err)
{
	struct tree_file files[AKA_REPORTS];
	const struct stream_limits limits = own_limits();
	int result = 0;

	for (size_t i = 0; i < AKA_REPORTS; i++)
		files[i] = (struct tree_file){ .path = aka_report_path((enum aka_channel) i),
					       .bytes = STR_INIT };
	if (command->result.has_left)
		result = tree_files_read(command->left_fd, &limits, files, AKA_REPORTS,
					 PYJSON_BYTES_MAX, err);
	if (result == 0)
		result = keep_reports(command, files, err);
	if (result == 0)
		read_cases(command, files, is_baseline, out);
	tree_files_done(files, AKA_REPORTS);
	return result;
}

/* The first command that ends well and says something is the measurement. */
static int time_once(const struct evaluation_job *job, struct evaluation *out, size_t index,
		     struct err *err)
{
	const bool is_baseline = aka_timing_side(index) == AKA_SIDE_BASELINE;
	const enum aka_step step = is_baseline ? AKA_BASELINE_PERFORMANCE : AKA_PERFORMANCE;
	struct aka_run *run = &out->runs[index];

	out->run_count = index + 1;
	for (size_t i = 0; i < job->task->steps[step].count && run->cases.count == 0; i++) {
		char stem[48], log[64];
		cleanup(command_done) struct command command = {
			.job = job,
			.step = step,
			.index = i,
			.name = log,
			.tree_fd = is_baseline ? out->baseline_fd : out->candidate_fd,
			.left_fd = -1,
			.result = EVALUATOR_RESULT_INIT,
		};

		snprintf(stem, sizeof(stem), "perf-%02zu-%s", index + 1,
			 is_baseline ? "baseline" : "candidate");
		name_command(stem, i, log);
		if (run_command(&command, err) < 0)
			return -1;
		aka_cases_done(&run->cases);
		run->wall_ns = command.result.wall_ns;
		if (command.result.said.is_success &&
		    take_cases(&command, is_baseline, &run->cases, err) < 0)
			return -1;
	}
	return 0;
}

static bool is_settled(const struct evaluation *out, bool is_on_gpu)
{
	struct aka_timing so_far;

	return aka_timing_make(&so_far, out->runs, out->run_count, is_on_gpu) == 0 &&
	       strcmp(so_far.verdict, "SAME") == 0;
}

static bool is_on_gpu(const struct evaluation_job *job)
{
	return job->run->policy.evaluator.gpus > 0;
}

/* Has the run that was made last figures to go on with? One of two sides without is no timing. */
static bool goes_on(const struct evaluation *out)
{
	return out->runs[0].cases.count > 0 && out->runs[out->run_count - 1].cases.count > 0;
}

/*
 * The baseline once, for the reference's record has its time whatever becomes of the candidate; the
 * candidate once, for it may have one without a baseline; and the rest of the rounds.
 */
static int time_both(const struct evaluation_job *job, struct evaluation *out, struct err *err)
{
	const size_t most = job->run->planned.aka.rounds * AKA_ROUND_RUNS;

	out->run_count = 1;
	if (out->has_baseline && time_once(job, out, 0, err) < 0)
		return -1;
	if (out->compile_error || out->correct_error)
		return 0;
	for (size_t i = 1; i < most && (i == 1 || goes_on(out)); i++) {
		if (i % AKA_ROUND_RUNS == 0 && is_settled(out, is_on_gpu(job)))
			return 0;
		if (time_once(job, out, i, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- the mark ---- */

static void make_result(const struct evaluation_job *job, const struct evaluation *out,
			const struct aka_cases *baseline, const struct aka_cases *optimized,
			struct aka_result *result)
{
	const struct aka_attempt attempt = {
		.task_name = job->task_name,
		.agent_name = job->agent_name,
		.compile_error = out->compile_error,
		.correct_error = out->correct_error,
		.correct_doubt = out->correct_doubt,
		.baseline = baseline,
		.optimized = optimized,
	};

	aka_result_make(result, &attempt);
}

/* Does what the first run of the baseline and this one left bear a speedup out? */
static bool is_borne_out(const struct evaluation_job *job, struct evaluation *out, size_t index)
{
	cleanup(aka_result_done) struct aka_result result = AKA_RESULT_INIT;
	struct aka_strict strict;

	make_result(job, out, &out->runs[0].cases, &out->runs[index].cases, &result);
	aka_score_strict(&strict, &result, &out->runs[0].cases, &out->runs[index].cases);
	if (strict.speedup > 0)
		return true;
	snprintf(out->strict.reason, sizeof(out->strict.reason), "run %zu: %.220s", index + 1,
		 strict.reason);
	return false;
}

static void refuse(struct evaluation *out, const char *why)
{
	if (out->strict.reason[0] == '\0')
		snprintf(out->strict.reason, sizeof(out->strict.reason), "%s", why);
}

/* What the formula pays for is what all runs together bear out. */
static void be_strict(const struct evaluation_job *job, struct evaluation *out)
{
	const bool has_speedup = out->strict.speedup > 0;
	bool is_whole = has_speedup && out->run_count >= AKA_ROUND_RUNS;
	size_t odd;

	for (size_t i = 2; is_whole && i < out->run_count; i++)
		is_whole = is_borne_out(job, out, i);
	out->strict.speedup = 0;
	if (is_whole) {
		odd = aka_timing_make(&out->timing, out->runs, out->run_count, is_on_gpu(job));
		if (odd != 0)
			snprintf(out->strict.reason, sizeof(out->strict.reason),
				 "run %zu: its cases are not those of the first run", odd);
		out->strict.speedup = aka_timing_counts(&out->timing);
		if (odd == 0 && out->strict.speedup == 0)
			refuse(out, "a time is shorter than a kernel of a GPU can take");
	} else if (has_speedup) {
		refuse(out, "not every run of the performance command left figures");
	}
	out->strict.score = out->result.has_compiled ? 20.0 + (out->result.has_passed ? 100.0 : 0) +
							       100.0 * out->strict.speedup
						     : 0;
}

int evaluation_mark(const struct evaluation_job *job, struct evaluation *out, struct err *err)
{
	if (!out->compile_error && look_for_stubs(job, out, err) < 0)
		return -1;
	if (!out->compile_error && !out->correct_error && check(job, out, err) < 0)
		return -1;
	if (time_both(job, out, err) < 0)
		return -1;
	make_result(job, out, &out->runs[0].cases, out->run_count > 1 ? &out->runs[1].cases : NULL,
		    &out->result);
	aka_score_strict(&out->strict, &out->result, &out->runs[0].cases,
			 out->run_count > 1 ? &out->runs[1].cases : NULL);
	be_strict(job, out);
	return 0;
}
