/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/attempt_aka.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/aka/aka_carry.h"
#include "harness/evidence/tree_files.h"
#include "harness/run/build.h"
#include "harness/run/compose.h"
#include "harness/run/evaluation_unseen.h"
#include "harness/run/evaluator.h"
#include "harness/run/outcome_aka.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
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
		.limits = tree_own_limits(),
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

enum { SOURCE_MAX = 4 << 20 }; /* of a file whose functions are carried over */

/* Files of which only functions are taken, as task and agent have them, and what they become. */
struct carrying {
	const struct aka_edit *edits[TREE_FILES_MAX];
	struct tree_file pristine[TREE_FILES_MAX], frozen[TREE_FILES_MAX], made[TREE_FILES_MAX];
	size_t count;
};

static void carrying_done(struct carrying **carrying)
{
	struct carrying *all = *carrying;

	tree_files_done(all->pristine, all->count);
	tree_files_done(all->frozen, all->count);
	tree_files_done(all->made, all->count);
	mem_free(carrying);
}

static void carry_edit(struct carrying *all, const struct aka_edit *edit)
{
	size_t at = all->count++;

	for (; at > 0 && stream_compare(all->edits[at - 1]->path, strlen(all->edits[at - 1]->path),
					edit->path, strlen(edit->path)) > 0;
	     at--)
		all->edits[at] = all->edits[at - 1];
	all->edits[at] = edit;
}

static int list_edits(const struct aka_task *task, struct carrying *all, struct err *err)
{
	for (size_t i = 0; i < task->edit_count; i++) {
		if (task->edits[i].scope != AKA_SCOPE_SYMBOLS)
			continue;
		if (all->count == TREE_FILES_MAX)
			return err_set(err, ERR_INPUT, "more than %d files of functions",
				       (int) TREE_FILES_MAX);
		carry_edit(all, &task->edits[i]);
	}
	for (size_t i = 0; i < all->count; i++)
		all->pristine[i] = all->frozen[i] = all->made[i] =
			(struct tree_file){ .path = all->edits[i]->path, .bytes = STR_INIT };
	return 0;
}

static struct aka_bytes bytes_of(const struct tree_file *file)
{
	if (!file->is_there || file->is_too_large)
		return (struct aka_bytes){ NULL, 0 };
	return (struct aka_bytes){ file->bytes.text, file->bytes.len };
}

/* It has an effect, if not that of a whole file. */
static void note_effect(struct tree_report *changes, const char *path)
{
	for (size_t i = 0; i < changes->count; i++) {
		struct tree_change *change = &changes->changes[i];

		if (change->has_effect || strcmp(change->path, path) != 0)
			continue;
		change->has_effect = true;
		changes->ignored[change->kind]--;
		changes->effective[change->kind]++;
	}
}

static int carry_file(struct attempt *attempt, struct carrying *all, size_t index, struct err *err)
{
	const struct aka_bytes pristine = bytes_of(&all->pristine[index]);
	const struct aka_bytes frozen = bytes_of(&all->frozen[index]);
	cleanup(aka_carried_done) struct aka_carried report = AKA_CARRIED_INIT;
	struct record_carried *out = &attempt->carried;

	if (!pristine.bytes)
		return err_set(err, ERR_INPUT, "the task has no '%s'", all->edits[index]->path);
	all->made[index].is_there = true;
	if (aka_carry(all->edits[index], &pristine, &frozen, &all->made[index].bytes, &report,
		      err) < 0)
		return err_wrap(err, "'%s'", all->edits[index]->path);
	out->is_there = true;
	out->replaced += report.counts[AKA_FATE_REPLACED];
	out->added += report.counts[AKA_FATE_ADDED];
	out->missing += report.counts[AKA_FATE_MISSING];
	out->idle += report.counts[AKA_FATE_IDLE];
	out->hosted += report.hosted;
	if (report.why && !out->why)
		out->why = arena_printf(&attempt->run->arena, "%s: %s", all->edits[index]->path,
					report.why);
	if (report.counts[AKA_FATE_REPLACED] + report.counts[AKA_FATE_ADDED] > 0)
		note_effect(&attempt->changes, all->edits[index]->path);
	return 0;
}

static int carry(struct attempt *attempt, int base_fd, struct carrying *all, struct err *err)
{
	const struct stream_limits limits = tree_own_limits();

	if (tree_files_read(attempt->pristine_fd, &limits, all->pristine, all->count, SOURCE_MAX,
			    err) < 0 ||
	    tree_files_read(attempt->frozen_fd, &limits, all->frozen, all->count, SOURCE_MAX, err) <
		    0)
		return -1;
	for (size_t i = 0; i < all->count; i++)
		if (carry_file(attempt, all, i, err) < 0)
			return -1;
	return tree_files_put(base_fd, &limits, all->made, all->count, attempt->candidate_fd, err);
}

int attempt_aka_candidate(struct attempt *attempt, struct err *err)
{
	cleanup(carrying_done) struct carrying *all = mem_alloc(1, sizeof(*all));
	auto_fd base = -1;

	attempt->candidate_fd = attempt_new_file(attempt, "candidate.tree", err);
	if (attempt->candidate_fd < 0 || list_edits(&attempt->aka, all, err) < 0)
		return -1;
	if (all->count == 0)
		return take_files(attempt, attempt->candidate_fd, err);
	base = evaluator_file(attempt->folder_fd, err);
	if (base < 0 || take_files(attempt, base, err) < 0)
		return -1;
	return carry(attempt, base, all, err);
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

/* A candidate that its jail could not even unpack is no failure of ours. */
static bool fits(const struct attempt *attempt, char *why, size_t room)
{
	const struct stream_limits limits = compose_evaluator_limits(&attempt->run->policy);

	return build_takes(&limits, &attempt->changes.counts, "evaluator", why, room);
}

int attempt_aka_compile(struct attempt *attempt, struct err *err)
{
	const struct evaluation_job job = job_of(attempt);

	attempt->evaluation = evaluation_new();
	attempt->times.built_ns = clock_wall_ns();
	if (!fits(attempt, attempt->build_why, sizeof(attempt->build_why))) {
		evaluation_refuse(attempt->evaluation, attempt->build_why);
		return 0;
	}
	if (evaluation_compile(&job, attempt->evaluation, err) < 0) {
		attempt->times.built_ns = 0;
		return -1;
	}
	attempt->is_built = attempt->evaluation->compile_error == NULL;
	if (!attempt->is_built)
		snprintf(attempt->build_why, sizeof(attempt->build_why), "compile: %.200s",
			 attempt->evaluation->why);
	attempt->times.built_ns = clock_wall_ns();
	return 0;
}

/* Where the plan has shapes that the agent was not to know. */
static int mark_unseen(struct attempt *attempt, const struct evaluation_job *job, struct err *err)
{
	cleanup(aka_heldout_done) struct aka_heldout heldout = AKA_HELDOUT_INIT;
	cleanup(aka_unseen_done) struct aka_unseen unseen = AKA_UNSEEN_INIT;
	cleanup(str_done) struct str text = STR_INIT;

	if (io_read_file(attempt->task_fd, PLANNED_HELDOUT, STR_MAX - 1, &text, err) < 0)
		return -1;
	if (text.len == 0)
		return 0;
	if (aka_heldout_parse(PLANNED_HELDOUT, text.text, text.len, &heldout, err) < 0 ||
	    evaluation_unseen(job, attempt->evaluation, &heldout, &unseen, err) < 0)
		return -1;
	return outcome_aka_unseen(&unseen, &attempt->run->arena, attempt->folder_fd,
				  &attempt->heldout, err);
}

int attempt_aka_mark(struct attempt *attempt, struct err *err)
{
	const struct evaluation_job job = job_of(attempt);

	if (evaluation_mark(&job, attempt->evaluation, err) < 0 ||
	    mark_unseen(attempt, &job, err) < 0)
		return -1;
	attempt->times.judged_ns = clock_wall_ns();
	return 0;
}
