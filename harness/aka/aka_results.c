/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_results.h"

#include <string.h>

#include "harness/aka/aka_match.h"
#include "harness/aka/aka_score.h"
#include "harness/aka/pyyaml.h"

void aka_result_done(struct aka_result *result)
{
	arena_done(&result->arena);
	*result = AKA_RESULT_INIT;
}

static double mean_of_valid(const struct aka_cases *cases, size_t *count)
{
	double sum = 0;

	*count = 0;
	for (size_t i = 0; i < cases->count; i++) {
		if (!aka_case_is_valid(&cases->list[i]))
			continue;
		sum += cases->list[i].time_ms;
		++*count;
	}
	return *count > 0 ? sum / (double) *count : 0;
}

/* Puts a text into its place of a sorted list, once. */
static struct pyvalue *with_text(struct arena *arena, const struct pyvalue *list,
				 const struct str *text)
{
	struct pyvalue *made = pyvalue_new(arena, PYVALUE_LIST);
	const struct pyvalue *added = pyvalue_new_text(arena, text->text, text->len);
	bool is_placed = false;

	for (const struct pymember *item = list->first; item != NULL; item = item->next) {
		int order = pyvalue_compare_texts(added, item->value);

		if (order < 0 && !is_placed)
			pyvalue_append(arena, made, added);
		is_placed |= order <= 0;
		pyvalue_append(arena, made, item->value);
	}
	if (!is_placed)
		pyvalue_append(arena, made, added);
	return made;
}

static bool has_text(const struct pyvalue *list, const struct str *text)
{
	for (const struct pymember *item = list->first; item != NULL; item = item->next)
		if (item->value->len == text->len &&
		    memcmp(item->value->text, text->text, text->len) == 0)
			return true;
	return false;
}

static struct pyvalue *collect_methods(struct arena *arena, const struct aka_cases *cases)
{
	struct pyvalue *methods = pyvalue_new(arena, PYVALUE_LIST);

	for (size_t i = 0; i < cases->count; i++) {
		cleanup(str_done) struct str text = STR_INIT;

		if (!pyvalue_is_true(cases->list[i].method))
			continue;
		pyvalue_add_str(&text, cases->list[i].method);
		if (!has_text(methods, &text))
			methods = with_text(arena, methods, &text);
	}
	return methods;
}

static bool methods_agree(const struct pyvalue *a, const struct pyvalue *b)
{
	return a->count == 1 && b->count == 1 &&
	       pyvalue_compare_texts(a->first->value, b->first->value) == 0;
}

/* Only asked where the candidate has at least one valid case. */
static void compare_sides(struct aka_result *out, const struct aka_attempt *attempt)
{
	const struct aka_cases *base = attempt->baseline, *optimized = attempt->optimized;

	if (base->count == 0) {
		out->speedup_error = "Baseline not available, cannot calculate speedup";
	} else if (out->valid_base == 0) {
		out->speedup_error =
			"Baseline data exists but has no valid performance samples "
			"(execution_time_ms <= 0 or invalid). Cannot calculate speedup.";
	} else if (out->valid_base != base->count || out->valid_optimized != optimized->count) {
		out->speedup_error = arena_printf(
			&out->arena,
			"Cannot calculate speedup because performance results contain invalid "
			"test case timings: baseline_valid=%zu/%zu, optimized_valid=%zu/%zu",
			out->valid_base, base->count, out->valid_optimized, optimized->count);
	} else {
		double speedup = aka_match_speedup(base, optimized);

		if (speedup > 0)
			out->speedup = speedup;
		else
			out->speedup_error =
				"Cannot calculate speedup because baseline and optimized "
				"test cases did not match completely";
	}
}

static const struct pyvalue *copy_text(struct arena *arena, const struct pyvalue *text)
{
	return text == NULL ? NULL : pyvalue_new_text(arena, text->text, text->len);
}

static const char *why_lost(const struct aka_attempt *attempt)
{
	const struct aka_cases *optimized = attempt->optimized;

	if (attempt->baseline->lost_why != NULL)
		return attempt->baseline->lost_why;
	return optimized != NULL ? optimized->lost_why : NULL;
}

void aka_result_make(struct aka_result *out, const struct aka_attempt *attempt)
{
	struct arena *arena = &out->arena;

	out->has_compiled = attempt->compile_error == NULL;
	out->has_passed = out->has_compiled && attempt->correct_error == NULL &&
			  attempt->correct_doubt == NULL;
	if (why_lost(attempt) != NULL) {
		aka_result_lose(out, attempt->task_name, attempt->agent_name, why_lost(attempt));
		return;
	}
	out->task_name = arena_printf(arena, "%s", attempt->task_name);
	out->agent_name = arena_printf(arena, "%s", attempt->agent_name);
	out->compile_error = copy_text(arena, attempt->compile_error);
	out->correct_error = copy_text(arena, attempt->correct_error);
	out->correct_doubt = attempt->correct_doubt;
	out->compiles = out->has_compiled;
	out->is_correct = out->compiles && attempt->correct_error == NULL;
	out->base_time = mean_of_valid(attempt->baseline, &out->valid_base);
	out->base_methods = collect_methods(arena, attempt->baseline);
	out->optimized_methods = pyvalue_new(arena, PYVALUE_LIST);
	if (out->is_correct && attempt->optimized != NULL && attempt->optimized->count > 0) {
		out->optimized_methods = collect_methods(arena, attempt->optimized);
		out->optimized_time = mean_of_valid(attempt->optimized, &out->valid_optimized);
		if (out->valid_optimized > 0)
			compare_sides(out, attempt);
	}
	out->methods_agree = methods_agree(out->base_methods, out->optimized_methods);
}

void aka_result_lose(struct aka_result *out, const char *task_name, const char *agent_name,
		     const char *why)
{
	const char *error = arena_printf(&out->arena, "no result: %s", why);

	out->task_name = arena_printf(&out->arena, "%s", task_name);
	out->agent_name = arena_printf(&out->arena, "%s", agent_name);
	out->compile_error = pyvalue_new_text(&out->arena, error, strlen(error));
	out->base_methods = pyvalue_new(&out->arena, PYVALUE_LIST);
	out->optimized_methods = pyvalue_new(&out->arena, PYVALUE_LIST);
	out->lost_why = arena_printf(&out->arena, "%s", why);
}

static const struct pyvalue *or_none(struct arena *arena, const struct pyvalue *value)
{
	return value != NULL ? value : pyvalue_new(arena, PYVALUE_NONE);
}

static const struct pyvalue *text_of(struct arena *arena, const char *text)
{
	return text == NULL ? pyvalue_new(arena, PYVALUE_NONE)
			    : pyvalue_new_text(arena, text, strlen(text));
}

void aka_result_file(struct str *out, const struct aka_result *result, bool has_score)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct pyvalue *root = pyvalue_new(&arena, PYVALUE_DICT);
	const struct {
		const char *key;
		const struct pyvalue *value;
	} rows[] = {
		{ "task_name", text_of(&arena, result->task_name) },
		{ "pass_compilation", pyvalue_new_bool(&arena, result->compiles) },
		{ "compilation_error_message", or_none(&arena, result->compile_error) },
		{ "pass_correctness", pyvalue_new_bool(&arena, result->is_correct) },
		{ "correctness_error_message", or_none(&arena, result->correct_error) },
		{ "base_execution_time", pyvalue_new_float(&arena, result->base_time) },
		{ "best_optimized_execution_time",
		  pyvalue_new_float(&arena, result->optimized_time) },
		{ "speedup_ratio", pyvalue_new_float(&arena, result->speedup) },
		{ "baseline_benchmark_methods", result->base_methods },
		{ "optimized_benchmark_methods", result->optimized_methods },
		{ "benchmark_method_consistent", pyvalue_new_bool(&arena, result->methods_agree) },
		{ "valid_baseline_cases", pyvalue_new_int(&arena, result->valid_base) },
		{ "valid_optimized_cases", pyvalue_new_int(&arena, result->valid_optimized) },
		{ "speedup_calculation_error_message", text_of(&arena, result->speedup_error) },
		{ "optimization_summary",
		  text_of(&arena,
			  arena_printf(&arena, "Optimized by %s using centralized evaluator",
				       result->agent_name)) },
		{ "score", pyvalue_new_float(&arena, aka_score(result)) },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows) - !has_score; i++)
		pyvalue_put(&arena, root, rows[i].key, rows[i].value);
	pyyaml_dump(out, root);
}

static struct pyvalue *case_record(struct arena *arena, const struct aka_case *test_case)
{
	struct pyvalue *record = pyvalue_new(arena, PYVALUE_DICT);

	pyvalue_put(arena, record, "test_case_id", test_case->id);
	pyvalue_put(arena, record, "execution_time_ms",
		    pyvalue_new_float(arena, test_case->time_ms));
	if (test_case->shape != NULL)
		pyvalue_put(arena, record, "shape", test_case->shape);
	if (test_case->params != NULL)
		pyvalue_put(arena, record, "params", test_case->params);
	if (test_case->method != NULL)
		pyvalue_put(arena, record, "benchmark_method", test_case->method);
	if (test_case->fallback != NULL)
		pyvalue_put(arena, record, "benchmark_fallback_reason", test_case->fallback);
	return record;
}

void aka_perf_file(struct str *out, const struct aka_cases *cases)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct pyvalue *root = pyvalue_new(&arena, PYVALUE_DICT);
	struct pyvalue *list = pyvalue_new(&arena, PYVALUE_LIST);

	for (size_t i = 0; i < cases->count; i++)
		pyvalue_append(&arena, list, case_record(&arena, &cases->list[i]));
	pyvalue_put(&arena, root, "test_cases", list);
	pyyaml_dump(out, root);
}
