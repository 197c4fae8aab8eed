/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/evaluation.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/aka/aka_product.h"
#include "harness/aka/aka_stub.h"
#include "harness/evidence/tree.h"
#include "harness/evidence/tree_files.h"
#include "harness/run/build.h"
#include "harness/run/compose.h"
#include "harness/run/evaluation_command.h"
#include "harness/run/evaluation_timing.h"
#include "sandbox/base/fd.h"
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
		.limits = tree_own_limits(),
		.adds = aka_product_is_kept,
	};
	auto_fd out = evaluator_file(command->job->folder_fd, err);

	if (out < 0)
		return -1;
	if (lseek(edit.pristine_fd, 0, SEEK_SET) < 0 || lseek(edit.frozen_fd, 0, SEEK_SET) < 0)
		return err_sys(err, "rewind a tree");
	if (tree_merge(&edit, out, &report, err) < 0)
		return err_wrap(err, "what compiling left");
	if (!build_takes(&next, &report.counts, "evaluator", why, room))
		return 1;
	*out_fd = fd_take(&out);
	return 0;
}

/* One side of a step that compiles. */
struct compiling {
	const struct evaluation_job *job;
	enum aka_step step;
	const char *name; /* of the logs */
	int *tree_fd;     /* what is compiled, and then what goes on */
	struct evaluation *out;
	const struct pyvalue *error; /* what it said, if it failed */
};

/* Return: 0 with the products in the place of the tree; 1 if it does not compile; -1. */
static int compile_one(struct compiling *side, size_t index, struct err *err)
{
	char log[COMMAND_NAME_MAX];
	cleanup(command_done) struct command command = {
		.job = side->job,
		.step = side->step,
		.index = index,
		.name = log,
		.tree_fd = *side->tree_fd,
		.left_fd = -1,
		.result = EVALUATOR_RESULT_INIT,
	};
	struct evaluation *out = side->out;
	int products = -1, kept;

	command_name(side->job, side->name, index, log);
	if (command_run(&command, err) < 0)
		return -1;
	side->error = aka_verdict_compile(&out->arena, &command.result.said);
	if (side->error) {
		snprintf(out->why, sizeof(out->why), "%s", command.result.why);
		return 1;
	}
	if (!command.result.has_left)
		return err_set(err, ERR_SYS, "%s: the workspace was not collected", log);
	kept = keep_products(&command, &products, out->why, sizeof(out->why), err);
	if (kept > 0)
		side->error = pyvalue_new_text(&out->arena, out->why, strlen(out->why));
	if (kept != 0)
		return kept;
	fd_close(side->tree_fd);
	*side->tree_fd = products;
	return 0;
}

/* Each command over the products of those before it. */
static int compile(struct compiling *side, struct err *err)
{
	for (size_t i = 0; i < side->job->task->steps[side->step].count; i++) {
		const int failed = compile_one(side, i, err);

		if (failed != 0)
			return failed;
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
	struct compiling baseline = {
		.job = job,
		.step = AKA_BASELINE_COMPILE,
		.name = "baseline-compile",
		.tree_fd = &out->baseline_fd,
		.out = out,
	};
	struct compiling candidate = {
		.job = job,
		.step = AKA_COMPILE,
		.name = "compile",
		.tree_fd = &out->candidate_fd,
		.out = out,
	};
	int failed;

	out->baseline_fd = copy_fd(job->pristine_fd, err);
	if (out->baseline_fd < 0)
		return -1;
	out->candidate_fd = copy_fd(job->candidate_fd, err);
	if (out->candidate_fd < 0)
		return -1;
	failed = compile(&baseline, err);
	if (failed < 0)
		return -1;
	out->has_baseline = failed == 0;
	out->baseline_error = baseline.error;
	out->why[0] = '\0';
	if (compile(&candidate, err) < 0)
		return -1;
	out->compile_error = candidate.error;
	return 0;
}

/* ---- checking ---- */

enum { SOURCE_MAX = 4 << 20 };

/* Where a task begins with functions that only raise, there has to be something else by now. */
static int look_for_stubs(const struct evaluation_job *job, struct evaluation *out, struct err *err)
{
	const struct aka_task *task = job->task;
	const struct stream_limits limits = tree_own_limits();
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

int evaluation_check(const struct evaluation_job *job, const char *name, int tree_fd,
		     struct evaluation *out, const struct pyvalue **error, struct err *err)
{
	*error = NULL;
	for (size_t i = 0; i < job->task->steps[AKA_CORRECTNESS].count; i++) {
		char log[COMMAND_NAME_MAX];
		cleanup(command_done) struct command command = {
			.job = job,
			.step = AKA_CORRECTNESS,
			.index = i,
			.name = log,
			.tree_fd = tree_fd,
			.left_fd = -1,
			.result = EVALUATOR_RESULT_INIT,
		};

		command_name(job, name, i, log);
		if (command_run(&command, err) < 0)
			return -1;
		*error = aka_verdict_correct(&out->arena, &command.result.said);
		if (*error) {
			snprintf(out->why, sizeof(out->why), "%s", command.result.why);
			return 0;
		}
		if (!out->correct_doubt)
			out->correct_doubt = aka_verdict_doubt(&command.result.said);
	}
	return 0;
}

/* ---- the mark ---- */

int evaluation_mark(const struct evaluation_job *job, struct evaluation *out, struct err *err)
{
	if (!out->compile_error && look_for_stubs(job, out, err) < 0)
		return -1;
	if (!out->compile_error && !out->correct_error &&
	    evaluation_check(job, "correctness", out->candidate_fd, out, &out->correct_error, err) <
		    0)
		return -1;
	if (evaluation_time(job, out, err) < 0)
		return -1;
	evaluation_make_result(job, out, &out->runs[0].cases,
			       out->run_count > 1 ? &out->runs[1].cases : NULL, &out->result);
	aka_score_strict(&out->strict, &out->result, &out->runs[0].cases,
			 out->run_count > 1 ? &out->runs[1].cases : NULL);
	evaluation_be_strict(job, out);
	return 0;
}
