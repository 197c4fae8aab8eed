/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_unseen_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/aka/pyfloat.h"
#include "harness/aka/pystats.h"
#include "harness/aka/pyyaml.h"
#include "sandbox/base/mem.h"

/* How many decimals round() leaves. */
enum { FIGURE_DIGITS = 4, SCORE_DIGITS = 2, RATE_DIGITS = 1 };

static double round_to(double value, int digits)
{
	cleanup(str_done) struct str text = STR_INIT;

	if (!isfinite(value))
		return value;
	pyfloat_add_fixed(&text, value, digits, false);
	return strtod(text.text, NULL);
}

static double geometric(const double *values, size_t count)
{
	double logs = 0;

	for (size_t i = 0; i < count; i++)
		logs += log(values[i]);
	return count > 0 ? exp(logs / (double) count) : 0;
}

/* @values come in the order of the tasks, and are sorted then. */
static void spread(struct aka_spread *out, double *values, size_t count)
{
	*out = (struct aka_spread){ .count = count };
	if (count == 0)
		return;
	out->mean = pystats_sum(values, count) / (double) count;
	out->geometric = geometric(values, count);
	if (count > 1)
		out->deviation = pystats_stdev(values, count);
	pystats_sort(values, count);
	out->median = pystats_median(values, count);
}

static void count_speedups(struct aka_unseen_figures *out, const struct aka_unseen *const *results,
			   size_t count)
{
	cleanup(mem_free) double *held_out = mem_alloc(count + 1, sizeof(double));
	cleanup(mem_free) double *seen = mem_alloc(count + 1, sizeof(double));
	cleanup(mem_free) double *ratios = mem_alloc(count + 1, sizeof(double));
	size_t held_out_count = 0, seen_count = 0;

	for (size_t i = 0; i < count; i++) {
		const struct aka_unseen *result = results[i];

		if (result->status != AKA_BOTH_PASS)
			continue;
		if (result->speedup > 0)
			held_out[held_out_count++] = result->speedup;
		if (result->seen.speedup > 0)
			seen[seen_count++] = result->seen.speedup;
		if (result->speedup > 0 && result->seen.speedup > 0 &&
		    isfinite(result->speedup / result->seen.speedup))
			ratios[out->retained_count++] = result->speedup / result->seen.speedup;
	}
	out->retained = geometric(ratios, out->retained_count);
	spread(&out->held_out, held_out, held_out_count);
	spread(&out->seen, seen, seen_count);
}

void aka_unseen_count(struct aka_unseen_figures *out, const struct aka_unseen *const *results,
		      size_t count)
{
	*out = (struct aka_unseen_figures){ .count = count };
	for (size_t i = 0; i < count; i++) {
		out->statuses[results[i]->status]++;
		out->original_correct += results[i]->original_is_correct;
		out->both_correct += results[i]->original_is_correct && results[i]->is_correct;
	}
	if (out->original_correct > 0)
		out->rate = (double) out->both_correct / (double) out->original_correct * 100;
	count_speedups(out, results, count);
}

/* A dictionary that is being filled. */
struct making {
	struct arena *arena;
	struct pyvalue *dict;
};

static struct making make_dict(struct arena *arena)
{
	return (struct making){ .arena = arena, .dict = pyvalue_new(arena, PYVALUE_DICT) };
}

static void put_float(const struct making *to, const char *key, double value, int digits)
{
	pyvalue_put(to->arena, to->dict, key,
		    pyvalue_new_float(to->arena, round_to(value, digits)));
}

static void put_int(const struct making *to, const char *key, size_t value)
{
	pyvalue_put(to->arena, to->dict, key, pyvalue_new_int(to->arena, value));
}

static void put_bool(const struct making *to, const char *key, bool value)
{
	pyvalue_put(to->arena, to->dict, key, pyvalue_new_bool(to->arena, value));
}

static void put_text(const struct making *to, const char *key, const char *text)
{
	pyvalue_put(to->arena, to->dict, key, pyvalue_new_text(to->arena, text, strlen(text)));
}

static void put_dict(const struct making *to, const char *key, const struct making *what)
{
	pyvalue_put(to->arena, to->dict, key, what->dict);
}

static void put_correctness(const struct making *to, const struct aka_unseen_figures *figures)
{
	const struct making inside = make_dict(to->arena);

	put_text(&inside, "description", "P(opt correct on held-out | orig correct on held-out)");
	put_int(&inside, "orig_correct_count", figures->original_correct);
	put_int(&inside, "opt_also_correct_count", figures->both_correct);
	put_float(&inside, "rate_pct", figures->rate, RATE_DIGITS);
	put_dict(to, "conditional_correctness", &inside);
}

static void put_spread(const struct making *to, const char *key, const char *description,
		       const struct aka_spread *spread)
{
	const struct making inside = make_dict(to->arena);

	put_text(&inside, "description", description);
	put_int(&inside, "count", spread->count);
	put_float(&inside, "mean", spread->mean, FIGURE_DIGITS);
	put_float(&inside, "median", spread->median, FIGURE_DIGITS);
	put_float(&inside, "std", spread->deviation, FIGURE_DIGITS);
	put_dict(to, key, &inside);
}

static void put_gap(const struct making *to, const struct aka_unseen_figures *figures)
{
	const struct making inside = make_dict(to->arena);

	put_float(&inside, "correctness_retention_pct", figures->rate, RATE_DIGITS);
	put_float(&inside, "speedup_mean_delta",
		  round_to(figures->held_out.mean, FIGURE_DIGITS) -
			  round_to(figures->seen.mean, FIGURE_DIGITS),
		  FIGURE_DIGITS);
	put_dict(to, "generalization_gap", &inside);
}

static const struct pyvalue *task_record(struct arena *arena, const struct aka_unseen *result)
{
	const struct making to = make_dict(arena);

	put_text(&to, "task_name", result->task_name);
	put_text(&to, "generalization_status",
		 names_text(aka_unseen_status_names, (int) result->status));
	put_bool(&to, "orig_heldout_correct", result->original_is_correct);
	put_bool(&to, "opt_heldout_correct", result->is_correct);
	put_float(&to, "heldout_speedup", result->speedup, FIGURE_DIGITS);
	put_float(&to, "original_run_speedup", result->seen.speedup, FIGURE_DIGITS);
	put_float(&to, "speedup_delta", result->speedup - result->seen.speedup, FIGURE_DIGITS);
	put_float(&to, "heldout_score", result->score, SCORE_DIGITS);
	put_float(&to, "original_run_score", result->seen.score, SCORE_DIGITS);
	pyvalue_put(arena, to.dict, "error",
		    result->error != NULL ? result->error : pyvalue_new(arena, PYVALUE_NONE));
	return to.dict;
}

bool aka_unseen_summary_file(struct str *out, const struct aka_unseen *const *results, size_t count)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	const struct making root = make_dict(&arena), statuses = make_dict(&arena);
	struct pyvalue *tasks = pyvalue_new(&arena, PYVALUE_LIST);
	struct aka_unseen_figures figures;

	if (count == 0)
		return false;
	aka_unseen_count(&figures, results, count);
	put_int(&root, "total_tasks", count);
	for (int i = 0; i < AKA_UNSEEN_STATUSES; i++)
		put_int(&statuses, names_text(aka_unseen_status_names, i), figures.statuses[i]);
	put_dict(&root, "quadrant_counts", &statuses);
	put_correctness(&root, &figures);
	put_spread(&root, "heldout_speedup_stats",
		   "Speedup on held-out shapes (both_pass tasks only)", &figures.held_out);
	put_spread(&root, "original_run_speedup_stats",
		   "Speedup from original run (both_pass tasks only, for reference)",
		   &figures.seen);
	put_gap(&root, &figures);
	for (size_t i = 0; i < count; i++)
		pyvalue_append(&arena, tasks, task_record(&arena, results[i]));
	pyvalue_put(&arena, root.dict, "per_task", tasks);
	pyyaml_dump(out, root.dict);
	return true;
}
