/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/evaluation_unseen.h"

#include <string.h>

#include "harness/evidence/tree.h"
#include "harness/evidence/tree_files.h"
#include "harness/run/evaluation_command.h"
#include "harness/run/evaluation_timing.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"

#define TORCH2HIP "torch2hip"

/* The files that shapes are put into, in the order of a stream. */
struct injecting {
	struct tree_file files[TREE_FILES_MAX];
	size_t count;
};

static void injecting_done(struct injecting *injecting)
{
	tree_files_done(injecting->files, injecting->count);
}

static void list_file(struct injecting *all, const char *path)
{
	size_t at = 0;

	for (; at < all->count; at++) {
		const char *other = all->files[at].path;
		const int order = stream_compare(path, strlen(path), other, strlen(other));

		if (order == 0)
			return;
		if (order < 0)
			break;
	}
	memmove(&all->files[at + 1], &all->files[at], (all->count - at) * sizeof(all->files[0]));
	all->files[at] = (struct tree_file){ .path = path, .bytes = STR_INIT };
	all->count++;
}

/* Return: 0; 1 if it can not be, with the reason in @why. */
static int inject_file(struct tree_file *file, const struct aka_heldout *heldout,
		       struct arena *arena, const char **why)
{
	cleanup(str_done) struct str made = STR_INIT;
	enum aka_injected outcome = AKA_INJECT_TOO_LARGE;

	if (!file->is_there) {
		*why = arena_printf(arena, "%s: there is no such file", file->path);
		return 1;
	}
	if (!file->is_too_large)
		outcome = aka_heldout_apply(&made, heldout, file->path, file->bytes.text,
					    file->bytes.len);
	if (outcome != AKA_INJECTED) {
		*why = arena_printf(arena, "%s: %s", file->path, aka_inject_text(outcome));
		return 1;
	}
	str_clear(&file->bytes);
	str_add(&file->bytes, made.text, made.len);
	return 0;
}

/* A tree, and what it is with other shapes. */
struct injected {
	int base_fd;         /* borrowed */
	int fd;              /* owned; -1: it can not have them, */
	const char *why;     /* for this reason */
	struct arena *arena; /* borrowed: holds that */
};

static void injected_done(struct injected *injected)
{
	fd_close(&injected->fd);
}

static int inject(const struct evaluation_job *job, const struct aka_heldout *heldout,
		  struct injected *out, struct err *err)
{
	const struct stream_limits limits = tree_own_limits();
	cleanup(injecting_done) struct injecting all = { .count = 0 };

	for (size_t i = 0; i < heldout->count; i++)
		list_file(&all, heldout->injections[i].file);
	if (tree_files_read(out->base_fd, &limits, all.files, all.count, AKA_INJECT_FILE_MAX, err) <
	    0)
		return -1;
	for (size_t i = 0; i < all.count; i++)
		if (inject_file(&all.files[i], heldout, out->arena, &out->why) != 0)
			return 0;
	out->fd = evaluator_file(job->folder_fd, err);
	if (out->fd < 0)
		return -1;
	return tree_files_put(out->base_fd, &limits, all.files, all.count, out->fd, err);
}

/* Both kernels over other shapes. Of PyTorch nothing compiles, and its times say if it is right. */
static int run_both(const struct evaluation_job *job, struct evaluation *both,
		    const struct pyvalue **original_error, struct err *err)
{
	if (evaluation_compile(job, both, err) < 0)
		return -1;
	if (both->has_baseline && strcmp(job->task->type, TORCH2HIP) != 0 &&
	    evaluation_check(job, "baseline-correctness", both->baseline_fd, both, original_error,
			     err) < 0)
		return -1;
	if (!both->compile_error && evaluation_check(job, "correctness", both->candidate_fd, both,
						     &both->correct_error, err) < 0)
		return -1;
	both->run_count = 1;
	if (both->has_baseline && !*original_error && evaluation_time_once(job, both, 0, err) < 0)
		return -1;
	if (both->compile_error || both->correct_error)
		return 0;
	return evaluation_time_once(job, both, 1, err);
}

static struct aka_seen seen_of(const struct evaluation *seen)
{
	return (struct aka_seen){
		.is_correct = seen->result.is_correct,
		.speedup = aka_score_speedup(&seen->result),
		.score = aka_score(&seen->result),
	};
}

int evaluation_unseen(const struct evaluation_job *job, const struct evaluation *seen,
		      const struct aka_heldout *heldout, struct aka_unseen *out, struct err *err)
{
	cleanup(evaluation_free) struct evaluation *both = evaluation_new();
	struct evaluation_job other = *job;
	struct aka_unseen_attempt attempt = {
		.task_name = job->task_name,
		.is_torch2hip = strcmp(job->task->type, TORCH2HIP) == 0,
		.seen = seen_of(seen),
	};
	cleanup(injected_done) struct injected pristine = { .base_fd = job->pristine_fd,
							    .fd = -1,
							    .arena = &both->arena };
	cleanup(injected_done) struct injected candidate = { .base_fd = job->candidate_fd,
							     .fd = -1,
							     .arena = &both->arena };

	if (inject(job, heldout, &pristine, err) < 0 || inject(job, heldout, &candidate, err) < 0)
		return -1;
	attempt.error = pristine.why ? pristine.why : candidate.why;
	other.prefix = "unseen-";
	other.pristine_fd = pristine.fd;
	other.candidate_fd = candidate.fd;
	if (!attempt.error && run_both(&other, both, &attempt.original.correct_error, err) < 0)
		return -1;
	attempt.original.compile_error = both->baseline_error;
	attempt.original.cases = both->runs[0].cases.count > 0 ? &both->runs[0].cases : NULL;
	attempt.optimized = (struct aka_unseen_side){
		.compile_error = both->compile_error,
		.correct_error = both->correct_error,
		.cases = both->run_count > 1 ? &both->runs[1].cases : NULL,
	};
	aka_unseen_make(out, &attempt);
	return 0;
}
