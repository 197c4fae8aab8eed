/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_unseen.h"

#include <string.h>

#include "harness/aka/aka_match.h"
#include "harness/aka/aka_results.h"
#include "harness/aka/aka_score.h"
#include "harness/aka/pyyaml.h"
#include "sandbox/base/mem.h"

const struct name aka_unseen_status_names[] = {
	{ "both_pass", AKA_BOTH_PASS },
	{ "opt_regression", AKA_OPT_REGRESSION },
	{ "both_fail", AKA_BOTH_FAIL },
	{ "opt_improvement", AKA_OPT_IMPROVEMENT },
	{ NULL, 0 },
};

/* The cases of a side that have a time; the list is ours, what is in it is borrowed. */
struct valid {
	struct aka_cases cases;
};

#define VALID_INIT ((struct valid){ .cases = AKA_CASES_INIT })

static void valid_done(struct valid *valid)
{
	mem_free(&valid->cases.list);
	*valid = VALID_INIT;
}

static void keep_valid(struct valid *out, const struct aka_cases *from)
{
	if (from == NULL)
		return;
	out->cases.list = mem_alloc(from->count + 1, sizeof(*out->cases.list));
	for (size_t i = 0; i < from->count; i++)
		if (aka_case_is_valid(&from->list[i]))
			out->cases.list[out->cases.count++] = from->list[i];
}

/* sum() / len(), 0 where there are none. */
static double mean(const struct valid *valid)
{
	double sum = 0;

	for (size_t i = 0; i < valid->cases.count; i++)
		sum += valid->cases.list[i].time_ms;
	return valid->cases.count > 0 ? sum / (double) valid->cases.count : 0;
}

static enum aka_unseen_status classify(bool original, bool optimized)
{
	if (original)
		return optimized ? AKA_BOTH_PASS : AKA_OPT_REGRESSION;
	return optimized ? AKA_OPT_IMPROVEMENT : AKA_BOTH_FAIL;
}

static void set_error(struct aka_unseen *out, const char *text)
{
	out->error = pyvalue_new_text(&out->arena, text, strlen(text));
}

static const struct pyvalue *copy_of(struct arena *arena, const struct pyvalue *text)
{
	return pyvalue_new_text(arena, text->text, text->len);
}

static void mark_original(struct aka_unseen *out, const struct aka_unseen_attempt *attempt,
			  const struct valid *valid)
{
	const struct aka_unseen_side *side = &attempt->original;

	if (!attempt->is_torch2hip) {
		out->original_compiles = side->compile_error == NULL;
		out->original_is_correct = out->original_compiles && side->correct_error == NULL;
		return;
	}
	out->original_compiles = true;
	out->original_is_correct = valid->cases.count > 0;
	if (!out->original_is_correct)
		set_error(out, "PyTorch baseline failed on held-out shapes");
}

static void mark_optimized(struct aka_unseen *out, const struct aka_unseen_side *side)
{
	const struct pyvalue *error = side->compile_error;

	out->compiles = error == NULL;
	if (out->compiles)
		error = side->correct_error;
	out->is_correct = error == NULL;
	if (error != NULL)
		out->error = copy_of(&out->arena, error);
}

/* Cases whose reader raises there count as none here. */
static const struct aka_cases *readable(struct aka_unseen *out, const struct aka_cases *cases)
{
	if (cases == NULL || cases->lost_why == NULL)
		return cases;
	if (out->lost_why == NULL)
		out->lost_why = arena_printf(&out->arena, "%s", cases->lost_why);
	return NULL;
}

static void measure(struct aka_unseen *out, const struct valid *original,
		    const struct aka_cases *optimized_cases)
{
	cleanup(valid_done) struct valid optimized = VALID_INIT;

	if (out->original_is_correct)
		out->original_time_ms = mean(original);
	if (out->is_correct)
		keep_valid(&optimized, readable(out, optimized_cases));
	out->time_ms = mean(&optimized);
	if (out->status == AKA_BOTH_PASS && original->cases.count > 0 && optimized.cases.count > 0)
		out->speedup = aka_match_speedup(&original->cases, &optimized.cases);
}

static double score(const struct aka_unseen *unseen)
{
	const struct aka_result result = {
		.compiles = unseen->compiles,
		.is_correct = unseen->is_correct,
		.base_time = unseen->original_time_ms,
		.optimized_time = unseen->time_ms,
		.speedup = unseen->speedup,
	};

	return aka_score(&result);
}

void aka_unseen_make(struct aka_unseen *out, const struct aka_unseen_attempt *attempt)
{
	cleanup(valid_done) struct valid original = VALID_INIT;

	out->task_name = arena_printf(&out->arena, "%s", attempt->task_name);
	out->seen = attempt->seen;
	if (attempt->error != NULL) {
		set_error(out, attempt->error);
		return;
	}
	if (attempt->is_torch2hip ||
	    (attempt->original.compile_error == NULL && attempt->original.correct_error == NULL))
		keep_valid(&original, readable(out, attempt->original.cases));
	mark_original(out, attempt, &original);
	mark_optimized(out, &attempt->optimized);
	out->status = classify(out->original_is_correct, out->is_correct);
	measure(out, &original, attempt->optimized.cases);
	out->score = score(out);
	if (out->lost_why != NULL)
		set_error(out, arena_printf(&out->arena, "no result: %s", out->lost_why));
}

void aka_unseen_done(struct aka_unseen *unseen)
{
	arena_done(&unseen->arena);
	*unseen = AKA_UNSEEN_INIT;
}

void aka_unseen_file(struct str *out, const struct aka_unseen *unseen)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct pyvalue *root = pyvalue_new(&arena, PYVALUE_DICT);
	const char *status = names_text(aka_unseen_status_names, (int) unseen->status);
	const struct {
		const char *key;
		const struct pyvalue *value;
	} rows[] = {
		{ "task_name",
		  pyvalue_new_text(&arena, unseen->task_name, strlen(unseen->task_name)) },
		{ "heldout", pyvalue_new_bool(&arena, true) },
		{ "opt_pass_compilation", pyvalue_new_bool(&arena, unseen->compiles) },
		{ "opt_pass_correctness", pyvalue_new_bool(&arena, unseen->is_correct) },
		{ "opt_execution_time", pyvalue_new_float(&arena, unseen->time_ms) },
		{ "orig_heldout_pass_compilation",
		  pyvalue_new_bool(&arena, unseen->original_compiles) },
		{ "orig_heldout_pass_correctness",
		  pyvalue_new_bool(&arena, unseen->original_is_correct) },
		{ "orig_heldout_execution_time",
		  pyvalue_new_float(&arena, unseen->original_time_ms) },
		{ "generalization_status", pyvalue_new_text(&arena, status, strlen(status)) },
		{ "speedup_ratio", pyvalue_new_float(&arena, unseen->speedup) },
		{ "score", pyvalue_new_float(&arena, unseen->score) },
		{ "original_run_pass_correctness",
		  pyvalue_new_bool(&arena, unseen->seen.is_correct) },
		{ "original_run_speedup_ratio", pyvalue_new_float(&arena, unseen->seen.speedup) },
		{ "original_run_score", pyvalue_new_float(&arena, unseen->seen.score) },
		{ "error",
		  unseen->error != NULL ? unseen->error : pyvalue_new(&arena, PYVALUE_NONE) },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		pyvalue_put(&arena, root, rows[i].key, rows[i].value);
	pyyaml_dump(out, root);
}

bool aka_unseen_perf_file(struct str *out, const struct aka_cases *cases)
{
	cleanup(valid_done) struct valid valid = VALID_INIT;

	keep_valid(&valid, cases);
	if (valid.cases.count > 0)
		aka_perf_file(out, &valid.cases);
	return valid.cases.count > 0;
}
