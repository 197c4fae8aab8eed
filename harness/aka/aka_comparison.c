/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_comparison.h"

#include <stdlib.h>
#include <string.h>

#include "harness/aka/pyfloat.h"
#include "harness/aka/pytext.h"
#include "sandbox/base/mem.h"

enum {
	RULE_WIDTH = 80,
	LABEL_WIDTH = 40,
	TYPE_LABEL_WIDTH = 35,
	VALUE_WIDTH = 15,
	CHANGE_WIDTH = 20
};

enum better { BETTER_NEITHER, BETTER_HIGHER, BETTER_LOWER };

struct row {
	const char *label;
	size_t offset; /* of a double of struct aka_figures */
	bool is_rate;
	int digits;
	enum better better;
};

/* clang-format off */
static const struct row overall_rows[] = {
	{ "Total Score",           offsetof(struct aka_figures, total_score),   false, 2, BETTER_NEITHER },
	{ "Average Score",         offsetof(struct aka_figures, average_score), false, 3, BETTER_HIGHER },
	{ "Compilation Pass Rate", offsetof(struct aka_figures, compiled_rate), true,  1, BETTER_HIGHER },
	{ "Correctness Pass Rate", offsetof(struct aka_figures, correct_rate),  true,  1, BETTER_HIGHER },
	{ "Speedup > 1.0 Rate",    offsetof(struct aka_figures, faster_rate),   true,  1, BETTER_HIGHER },
	{ "Average Speedup",       offsetof(struct aka_figures, average),       false, 3, BETTER_HIGHER },
	{ "Median Speedup",        offsetof(struct aka_figures, median),        false, 3, BETTER_HIGHER },
	{ "Std Dev Speedup",       offsetof(struct aka_figures, deviation),     false, 3, BETTER_LOWER },
	{ "P25 Speedup",           offsetof(struct aka_figures, p25),           false, 3, BETTER_HIGHER },
	{ "P75 Speedup",           offsetof(struct aka_figures, p75),           false, 3, BETTER_HIGHER },
	{ "P90 Speedup",           offsetof(struct aka_figures, p90),           false, 3, BETTER_HIGHER },
};
static const struct row type_rows[] = {
	{ "Average Speedup",       offsetof(struct aka_figures, average),       false, 3, BETTER_HIGHER },
	{ "Median Speedup",        offsetof(struct aka_figures, median),        false, 3, BETTER_HIGHER },
	{ "Std Dev Speedup",       offsetof(struct aka_figures, deviation),     false, 3, BETTER_LOWER },
	{ "P25 Speedup",           offsetof(struct aka_figures, p25),           false, 3, BETTER_HIGHER },
	{ "P75 Speedup",           offsetof(struct aka_figures, p75),           false, 3, BETTER_HIGHER },
	{ "P90 Speedup",           offsetof(struct aka_figures, p90),           false, 3, BETTER_HIGHER },
	{ "Compilation Pass Rate", offsetof(struct aka_figures, compiled_rate), true,  1, BETTER_HIGHER },
	{ "Correctness Pass Rate", offsetof(struct aka_figures, correct_rate),  true,  1, BETTER_HIGHER },
	{ "Speedup > 1.0 Rate",    offsetof(struct aka_figures, faster_rate),   true,  1, BETTER_HIGHER },
	{ "Average Score",         offsetof(struct aka_figures, average_score), false, 2, BETTER_HIGHER },
};
/* clang-format on */

static double figure(const struct aka_figures *of, const struct row *row)
{
	double value;

	memcpy(&value, (const char *) of + row->offset, sizeof(value));
	return value;
}

static void add_rule(struct str *out, char mark)
{
	for (int i = 0; i < RULE_WIDTH; i++)
		str_add(out, &mark, 1);
	str_add(out, "\n", 1);
}

static void add_cell(struct str *out, const char *text, size_t width)
{
	pytext_add_padded(out, text, strlen(text), width);
	str_add(out, " ", 1);
}

static void add_value(struct str *out, const struct row *row, double value)
{
	cleanup(str_done) struct str text = STR_INIT;

	pyfloat_add_fixed(&text, value, row->digits, false);
	if (row->is_rate)
		str_add(&text, "%", 1);
	add_cell(out, text.text, VALUE_WIDTH);
}

static void add_change(struct str *out, bool is_rate, double first, double second)
{
	cleanup(str_done) struct str text = STR_INIT;
	double change = second - first;
	bool from_zero = !(first < 0) && !(first > 0) && first - first >= 0;

	if (is_rate && from_zero && !(change < 0) && !(change > 0) && change - change >= 0) {
		add_cell(out, "0.0pp", CHANGE_WIDTH);
		return;
	}
	pyfloat_add_fixed(&text, change, is_rate ? 1 : 3, true);
	if (is_rate)
		str_addf(&text, "pp");
	if (!is_rate || !from_zero) {
		str_addf(&text, " (");
		pyfloat_add_fixed(&text, from_zero ? 0 : change / first * 100, 1, true);
		str_addf(&text, "%%)");
	}
	add_cell(out, text.text, CHANGE_WIDTH);
}

/* 1: better, -1: worse, 0: neither. */
static int direction(const struct row *row, double first, double second)
{
	int order = (second > first) - (second < first);

	return row->better == BETTER_LOWER ? -order : order;
}

static void add_overall(struct str *out, const struct aka_summary *first,
			const struct aka_summary *second)
{
	static const char *const arrows[] = { "↓", "=", "↑" };
	cleanup(str_done) struct str one = STR_INIT, two = STR_INIT;

	add_rule(out, '=');
	str_addf(out, "OVERALL STATISTICS COMPARISON\n");
	add_rule(out, '=');
	str_addf(out, "Run 1: %s (%s)\nRun 2: %s (%s)\n", first->timestamp.text, first->agent.text,
		 second->timestamp.text, second->agent.text);
	add_rule(out, '=');
	str_addf(out, "\n%-40s %-15s %-15s %-20s\n", "Metric", "Run 1", "Run 2", "Difference");
	add_rule(out, '-');
	add_cell(out, "Total Tasks", LABEL_WIDTH);
	str_addf(&one, "%zu", first->all.count);
	str_addf(&two, "%zu", second->all.count);
	add_cell(out, one.text, VALUE_WIDTH);
	add_cell(out, two.text, VALUE_WIDTH);
	add_change(out, false, (double) first->all.count, (double) second->all.count);
	str_addf(out, "\n");
	for (size_t i = 0; i < ARRAY_LEN(overall_rows); i++) {
		const struct row *row = &overall_rows[i];
		double a = figure(&first->all, row), b = figure(&second->all, row);

		add_cell(out, row->label, LABEL_WIDTH);
		add_value(out, row, a);
		add_value(out, row, b);
		add_change(out, row->is_rate, a, b);
		str_addf(out, "%s\n",
			 row->better == BETTER_NEITHER ? "" : arrows[direction(row, a, b) + 1]);
	}
	str_addf(out, "\n");
}

static void add_type_row(struct str *out, const struct row *row, const struct aka_figures *first,
			 const struct aka_figures *second)
{
	static const char *const arrows[] = { "↓ (regressed)", "= (same)", "↑ (improved)" };
	double a = figure(first, row), b = figure(second, row);

	str_addf(out, "  ");
	add_cell(out, row->label, TYPE_LABEL_WIDTH);
	if (first->count == 0) {
		add_cell(out, "N/A", VALUE_WIDTH);
		add_value(out, row, b);
		add_cell(out, "N/A (new)", CHANGE_WIDTH);
	} else if (second->count == 0) {
		add_value(out, row, a);
		add_cell(out, "N/A", VALUE_WIDTH);
		add_cell(out, "N/A (removed)", CHANGE_WIDTH);
	} else {
		add_value(out, row, a);
		add_value(out, row, b);
		add_change(out, row->is_rate, a, b);
		str_addf(out, "%s", arrows[direction(row, a, b) + 1]);
	}
	str_addf(out, "\n");
}

static const struct aka_figures *figures_of(const struct aka_summary *summary, const char *type)
{
	static const struct aka_figures none = { .count = 0 };

	for (size_t i = 0; i < summary->type_count; i++)
		if (strcmp(summary->types[i].name, type) == 0)
			return &summary->types[i].figures;
	return &none;
}

/* Names of task types are ASCII: no more of str.upper() is needed. */
static void add_type(struct str *out, const char *name, const struct aka_figures *first,
		     const struct aka_figures *second)
{
	for (const char *at = name; *at != '\0'; at++) {
		char letter = *at;

		if (letter >= 'a' && letter <= 'z')
			letter = (char) (letter - 'a' + 'A');
		str_add(out, &letter, 1);
	}
	str_addf(out, " (%zu tasks → %zu tasks):\n", first->count, second->count);
	add_rule(out, '-');
	if (first->count == 0 && second->count == 0)
		str_addf(out, "  No tasks in either run\n");
	else
		for (size_t i = 0; i < ARRAY_LEN(type_rows); i++)
			add_type_row(out, &type_rows[i], first, second);
	str_addf(out, "\n");
}

static int compare_names(const void *a, const void *b)
{
	const char *const *left = a, *const *right = b;

	return strcmp(*left, *right);
}

static void add_types(struct str *out, const struct aka_summary *first,
		      const struct aka_summary *second)
{
	size_t count = first->type_count + second->type_count;
	cleanup(mem_free) const char **names = mem_alloc(count + 1, sizeof(*names));

	if (count == 0) {
		str_addf(out, "No task type data available for comparison.\n");
		return;
	}
	for (size_t i = 0; i < count; i++)
		names[i] = i < first->type_count ? first->types[i].name
						 : second->types[i - first->type_count].name;
	qsort(names, count, sizeof(*names), compare_names);
	add_rule(out, '=');
	str_addf(out, "TASK TYPE BREAKDOWN COMPARISON\n");
	add_rule(out, '=');
	str_addf(out, "\n");
	for (size_t i = 0; i < count; i++)
		if (i == 0 || strcmp(names[i], names[i - 1]) != 0)
			add_type(out, names[i], figures_of(first, names[i]),
				 figures_of(second, names[i]));
}

void aka_comparison(struct str *out, const struct aka_summary *first,
		    const struct aka_summary *second)
{
	add_rule(out, '=');
	str_addf(out, "AgentKernelArena Run Comparison Report\n");
	add_rule(out, '=');
	str_addf(out, "\n");
	add_overall(out, first, second);
	add_types(out, first, second);
	add_rule(out, '=');
	str_addf(out, "Legend:\n"
		      "  ↑ = Improvement (higher is better)\n"
		      "  ↓ = Regression (lower is worse)\n"
		      "  = = No change\n"
		      "  pp = percentage points\n");
	for (int i = 0; i < RULE_WIDTH; i++)
		str_add(out, "=", 1);
}
