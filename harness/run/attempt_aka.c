/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/attempt_aka.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/evidence/tree_files.h"
#include "harness/run/evaluator.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"

/* ---- the candidate ---- */

/* Of the paths that are taken over whole; those of single functions stay the task's here. */
static int take_files(struct attempt *attempt, int out_fd, struct err *err)
{
	const struct aka_task *task = &attempt->aka;
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	const char **paths = arena_alloc(&arena, task->edit_count + 1, sizeof(*paths));
	struct tree_edit edit = {
		.pristine_fd = attempt->pristine_fd,
		.frozen_fd = attempt->frozen_fd,
		.editable = paths,
		.limits = attempt_own_limits(),
	};

	for (size_t i = 0; i < task->edit_count; i++) {
		const struct aka_edit *from = &task->edits[i];

		if (from->scope != AKA_SCOPE_SYMBOLS)
			paths[edit.editable_count++] =
				arena_printf(&arena, "%s%s", from->path,
					     from->scope == AKA_SCOPE_TREE ? "/" : "");
	}
	if (lseek(edit.pristine_fd, 0, SEEK_SET) < 0 || lseek(edit.frozen_fd, 0, SEEK_SET) < 0)
		return err_sys(err, "rewind a tree");
	if (tree_merge(&edit, out_fd, &attempt->changes, err) < 0)
		return err_wrap(err, "make the candidate");
	return 0;
}

int attempt_aka_candidate(struct attempt *attempt, struct err *err)
{
	attempt->candidate_fd = attempt_new_file(attempt, "candidate.tree", err);
	if (attempt->candidate_fd < 0)
		return -1;
	return take_files(attempt, attempt->candidate_fd, err);
}

/* ---- the mark ---- */

static void say_step(void *user, const char *what)
{
	attempt_say(user, what);
}

static struct evaluation_job job_of(struct attempt *attempt)
{
	return (struct evaluation_job){
		.run = attempt->run,
		.task = &attempt->aka,
		.task_name = attempt->planned->name,
		.agent_name = attempt->agent->name,
		.folder_fd = attempt->folder_fd,
		.pristine_fd = attempt->pristine_fd,
		.candidate_fd = attempt->candidate_fd,
		.say = say_step,
		.user = attempt,
		.stopped = &attempt->stopped,
	};
}

int attempt_aka_compile(struct attempt *attempt, struct err *err)
{
	const struct evaluation_job job = job_of(attempt);

	attempt->evaluation = evaluation_new();
	if (evaluation_compile(&job, attempt->evaluation, err) < 0)
		return -1;
	attempt->is_built = attempt->evaluation->compile_error == NULL;
	if (!attempt->is_built)
		snprintf(attempt->build_why, sizeof(attempt->build_why), "compile: %.200s",
			 attempt->evaluation->why);
	attempt->times.built_ns = clock_wall_ns();
	return 0;
}

int attempt_aka_mark(struct attempt *attempt, struct err *err)
{
	const struct evaluation_job job = job_of(attempt);

	if (evaluation_mark(&job, attempt->evaluation, err) < 0)
		return -1;
	attempt->times.judged_ns = clock_wall_ns();
	return 0;
}
