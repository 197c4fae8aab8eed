/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/aka/pyfloat.h"
#include "harness/aka/pytext.h"
#include "harness/evidence/json.h"
#include "sandbox/base/mem.h"

enum { RULE_WIDTH = 80, NAME_WIDTH = 40, SCORE_WIDTH = 6 };

static void add_rule(struct str *out, char mark)
{
	for (int i = 0; i < RULE_WIDTH; i++)
		str_add(out, &mark, 1);
	str_add(out, "\n", 1);
}

static void add_times(struct str *out, double value, const char *end)
{
	pyfloat_add_fixed(out, value, 2, false);
	str_addf(out, "x%s", end);
}

static void add_value(struct str *out, const char *label, double value, int digits, const char *end)
{
	str_addf(out, "%s", label);
	pyfloat_add_fixed(out, value, digits, false);
	str_addf(out, "%s\n", end);
}

static void add_percentiles(struct str *out, const char *label, const struct aka_figures *of)
{
	str_addf(out, "%s", label);
	add_times(out, of->p25, " / ");
	add_times(out, of->p75, " / ");
	add_times(out, of->p90, "\n");
}

static void add_overall(struct str *out, const struct aka_figures *of)
{
	str_addf(out, "OVERALL STATISTICS:\n  Total Tasks:           %zu\n", of->count);
	add_value(out, "  Total Score:           ", of->total_score, 2, "");
	add_value(out, "  Average Score:         ", of->average_score, 2, "");
	str_addf(out, "Compilation:\n  Pass Count:            %zu/%zu\n", of->compiled, of->count);
	add_value(out, "  Pass Rate:             ", of->compiled_rate, 1, "%");
	str_addf(out, "Correctness:\n  Pass Count:            %zu/%zu\n", of->correct, of->count);
	add_value(out, "  Pass Rate:             ", of->correct_rate, 1, "%");
	str_addf(out, "Performance:\n  Speedup > 1.0 Count:   %zu/%zu\n", of->faster, of->count);
	add_value(out, "  Speedup > 1.0 Rate:    ", of->faster_rate, 1, "%");
	add_value(out, "  Average Speedup:       ", of->average, 2, "x");
	add_value(out, "  Median Speedup:        ", of->median, 2, "x");
	add_value(out, "  Std Dev Speedup:       ", of->deviation, 2, "x");
	add_percentiles(out, "  P25/P75/P90 Speedup:   ", of);
	str_addf(out, "  Valid Speedup Count:   %zu\n", of->valid);
}

static void add_type(struct str *out, const struct aka_type *type)
{
	const struct aka_figures *of = &type->figures;

	str_addf(out, "  %s (%zu tasks):\n", type->name, of->count);
	add_value(out, "    Average Speedup:     ", of->average, 2, "x");
	add_value(out, "    Median Speedup:      ", of->median, 2, "x");
	add_value(out, "    Std Dev Speedup:     ", of->deviation, 2, "x");
	add_percentiles(out, "    P25/P75/P90 Speedup: ", of);
	str_addf(out, "    Compilation Pass:     %zu/%zu\n", of->compiled, of->count);
	add_value(out, "    Compilation Pass Rate: ", of->compiled_rate, 1, "%");
	str_addf(out, "    Correctness Pass:     %zu/%zu\n", of->correct, of->count);
	add_value(out, "    Correctness Pass Rate: ", of->correct_rate, 1, "%");
	str_addf(out, "    Speedup > 1.0:        %zu/%zu (", of->faster, of->count);
	add_value(out, "", of->faster_rate, 1, "%)");
	add_value(out, "    Average Score:        ", of->average_score, 2, "");
	str_addf(out, "\n");
}

static int compare_types(const void *a, const void *b)
{
	const struct aka_type *left = a, *right = b;

	return strcmp(left->name, right->name);
}

static void add_types(struct str *out, const struct aka_summary *summary)
{
	cleanup(mem_free) struct aka_type *sorted =
		mem_alloc(summary->type_count + 1, sizeof(*sorted));

	if (summary->type_count == 0)
		return;
	for (size_t i = 0; i < summary->type_count; i++)
		sorted[i] = summary->types[i];
	qsort(sorted, summary->type_count, sizeof(*sorted), compare_types);
	str_addf(out, "\nTASK TYPE BREAKDOWN:\n\n");
	for (size_t i = 0; i < summary->type_count; i++)
		add_type(out, &sorted[i]);
}

static bool counts(const struct aka_line *line)
{
	return line->compiles && line->is_correct && line->speedup > 0;
}

/* The first of equal ones, as max() and min() do. */
static void add_best_and_worst(struct str *out, const struct aka_summary *summary)
{
	const struct aka_line *best = NULL, *worst = NULL;

	for (size_t i = 0; i < summary->line_count; i++) {
		const struct aka_line *line = &summary->lines[i];

		if (!counts(line))
			continue;
		if (best == NULL || line->speedup > best->speedup)
			best = line;
		if (worst == NULL || line->speedup < worst->speedup)
			worst = line;
	}
	if (best == NULL)
		return;
	str_addf(out, "  Best Speedup:            ");
	add_times(out, best->speedup, "");
	str_addf(out, " (task: %s)\n  Worst Speedup:           ", best->task_name);
	add_times(out, worst->speedup, "");
	str_addf(out, " (task: %s)\n", worst->task_name);
}

static void add_line(struct str *out, const struct aka_line *line)
{
	cleanup(str_done) struct str score = STR_INIT;
	const char *status = line->is_correct ? "PASS" : line->compiles ? "PARTIAL" : "FAIL";

	pyfloat_add_fixed(&score, line->score, 1, false);
	str_addf(out, "%-8s ", status);
	pytext_add_padded(out, line->task_name, strlen(line->task_name), NAME_WIDTH);
	str_addf(out, " Score: %*s  Speedup: ", SCORE_WIDTH, score.text);
	add_times(out, line->speedup, "\n");
}

void aka_report_text(struct str *out, const struct aka_summary *summary)
{
	const struct aka_figures *all = &summary->all;

	add_rule(out, '=');
	str_addf(out, "AgentKernelArena Task Results Report\n");
	add_rule(out, '=');
	str_addf(out, "Run: %s\nAgent: %s\nTarget GPU: %s\n", summary->timestamp.text,
		 summary->agent.text, summary->gpu.text);
	add_rule(out, '=');
	add_overall(out, all);
	add_types(out, summary);
	add_value(out, "TOTAL PERFORMANCE SUMMARY:\n  Overall Average Speedup:  ", all->average, 2,
		  "x");
	str_addf(out, "  Tasks with Speedup > 1.0: %zu/%zu (", all->faster, all->count);
	add_value(out, "", all->faster_rate, 1, "%)");
	add_best_and_worst(out, summary);
	str_addf(out, "\nTASK DETAILS:\n");
	add_rule(out, '-');
	for (size_t i = 0; i < summary->line_count; i++)
		add_line(out, &summary->lines[i]);
	add_rule(out, '=');
}

/* One figure of the JSON file: a count or a number. */
static void add_figures(struct str *out, const struct aka_figures *of, const char *count_key,
			const char *indent)
{
	const struct {
		const char *key;
		const size_t *count;
		const double *number;
	} rows[] = {
		{ count_key, &of->count, NULL },
		{ "total_score", NULL, &of->total_score },
		{ "average_score", NULL, &of->average_score },
		{ "compilation_pass_count", &of->compiled, NULL },
		{ "compilation_pass_rate", NULL, &of->compiled_rate },
		{ "correctness_pass_count", &of->correct, NULL },
		{ "correctness_pass_rate", NULL, &of->correct_rate },
		{ "speedup_gt_1_count", &of->faster, NULL },
		{ "speedup_gt_1_rate", NULL, &of->faster_rate },
		{ "average_speedup", NULL, &of->average },
		{ "median_speedup", NULL, &of->median },
		{ "std_dev_speedup", NULL, &of->deviation },
		{ "p25_speedup", NULL, &of->p25 },
		{ "p75_speedup", NULL, &of->p75 },
		{ "p90_speedup", NULL, &of->p90 },
		{ "valid_speedup_count", &of->valid, NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		str_addf(out, "%s\n%s  \"%s\": ", i > 0 ? "," : "", indent, rows[i].key);
		if (rows[i].count != NULL)
			str_addf(out, "%zu", *rows[i].count);
		else
			pyfloat_add_json(out, *rows[i].number);
	}
	str_addf(out, "\n%s}", indent);
}

void aka_report_json(struct str *out, const struct aka_summary *summary)
{
	str_addf(out, "{\n  \"run_timestamp\": ");
	pytext_add_json(out, summary->timestamp.text, summary->timestamp.len);
	str_addf(out, ",\n  \"agent\": ");
	pytext_add_json(out, summary->agent.text, summary->agent.len);
	str_addf(out, ",\n  \"target_gpu\": ");
	pytext_add_json(out, summary->gpu.text, summary->gpu.len);
	str_addf(out, ",\n  \"overall\": {");
	add_figures(out, &summary->all, "total_tasks", "  ");
	str_addf(out, ",\n  \"task_types\": {");
	for (size_t i = 0; i < summary->type_count; i++) {
		str_addf(out, "%s\n    ", i > 0 ? "," : "");
		pytext_add_json(out, summary->types[i].name, strlen(summary->types[i].name));
		str_addf(out, ": {");
		add_figures(out, &summary->types[i].figures, "count", "    ");
	}
	str_addf(out, "%s}\n}", summary->type_count > 0 ? "\n  " : "");
}

static void add_field(struct str *out, const char *text, const char *end)
{
	if (strpbrk(text, ",\"\r\n") == NULL) {
		str_addf(out, "%s%s", text, end);
		return;
	}
	str_add(out, "\"", 1);
	for (; *text != '\0'; text++)
		str_add(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
	str_addf(out, "\"%s", end);
}

void aka_report_csv(struct str *out, const struct aka_summary *summary)
{
	str_addf(out, "Task Name,Task Type,Score,Speedup,Optimization_summary\r\n");
	for (size_t i = 0; i < summary->line_count; i++) {
		const struct aka_line *line = &summary->lines[i];
		cleanup(str_done) struct str type = STR_INIT, text = STR_INIT;

		aka_task_type(&type, line->task_name);
		add_field(out, line->task_name, ",");
		add_field(out, type.text, ",");
		pyfloat_add_fixed(out, line->score, 4, false);
		str_addf(out, ",");
		pyfloat_add_fixed(out, line->speedup, 4, false);
		str_addf(&text, "Optimized by %s using centralized evaluator", line->agent_name);
		str_addf(out, ",");
		add_field(out, text.text, "\r\n");
	}
}

static void put_mark(struct json_writer *json, const char *key, const struct aka_figures *of)
{
	json_put_object(json, key);
	json_put_double(json, "total_score", of->total_score);
	json_put_double(json, "average_score", of->average_score);
	json_put_double(json, "average_speedup", of->average);
	json_put_double(json, "geometric_mean_speedup", of->geometric);
	json_put_double(json, "fast_1", of->fast_1);
	json_put_double(json, "fast_2", of->fast_2);
	json_put_int(json, "tasks", (int64_t) of->count);
	json_put_int(json, "correct", (int64_t) of->correct);
	json_put_int(json, "with_speedup", (int64_t) of->valid);
	json_put_end(json);
}

static void put_task(struct json_writer *json, const struct aka_line *as_theirs,
		     const struct aka_line *strict)
{
	json_put_object(json, NULL);
	json_put_text(json, "task", as_theirs->task_name);
	json_put_double(json, "score_aka", as_theirs->score);
	json_put_double(json, "score_strict", strict->score);
	json_put_double(json, "speedup_aka", as_theirs->speedup);
	json_put_double(json, "speedup_strict", strict->speedup);
	json_put_text(json, "refused", strict->reason[0] != '\0' ? strict->reason : NULL);
	json_put_end(json);
}

void aka_report_marks(struct str *out, const struct aka_summary *as_theirs,
		      const struct aka_summary *strict)
{
	struct json_writer json;

	json_writer_init(&json, out);
	json_put_object(&json, NULL);
	put_mark(&json, "aka", &as_theirs->all);
	put_mark(&json, "strict", &strict->all);
	json_put_array(&json, "types");
	for (size_t i = 0; i < as_theirs->type_count; i++) {
		json_put_object(&json, NULL);
		json_put_text(&json, "type", as_theirs->types[i].name);
		put_mark(&json, "aka", &as_theirs->types[i].figures);
		put_mark(&json, "strict", &strict->types[i].figures);
		json_put_end(&json);
	}
	json_put_end(&json);
	json_put_array(&json, "tasks");
	for (size_t i = 0; i < as_theirs->line_count; i++)
		put_task(&json, &as_theirs->lines[i], &strict->lines[i]);
	json_put_end(&json);
	json_put_end(&json);
	str_add(out, "\n", 1);
}
