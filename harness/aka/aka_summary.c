/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/aka/pyjson.h"
#include "harness/aka/pystats.h"
#include "sandbox/base/mem.h"

struct aka_line aka_line_of(const struct aka_result *result)
{
	return (struct aka_line){
		.task_name = result->task_name,
		.agent_name = result->agent_name,
		.compiles = result->compiles,
		.is_correct = result->is_correct,
		.score = aka_score(result),
		.speedup = aka_score_speedup(result),
	};
}

struct aka_line aka_line_strict(const struct aka_result *result, const struct aka_strict *strict)
{
	struct aka_line line = aka_line_of(result);

	line.compiles = result->has_compiled;
	line.is_correct = result->has_passed;
	line.score = strict->score;
	line.speedup = strict->speedup;
	memcpy(line.reason, strict->reason, sizeof(line.reason));
	return line;
}

void aka_task_type(struct str *out, const char *task_name)
{
	const char *slash = strchr(task_name, '/');

	if (slash != NULL)
		str_add(out, task_name, (size_t) (slash - task_name));
}

static double percent(size_t part, size_t count)
{
	return count > 0 ? (double) part / (double) count * 100 : 0;
}

/* What the reference leaves out: its percentiles of one value are that value. */
static void describe(struct aka_figures *out, double *speedups, size_t count)
{
	double logs = 0;

	out->valid = count;
	if (count == 0)
		return;
	out->average = pystats_sum(speedups, count) / (double) count;
	for (size_t i = 0; i < count; i++)
		logs += log(speedups[i]);
	out->geometric = exp(logs / (double) count);
	pystats_sort(speedups, count);
	out->median = pystats_median(speedups, count);
	out->p25 = out->p75 = out->p90 = speedups[0];
	if (count == 1)
		return;
	out->deviation = pystats_stdev(speedups, count);
	out->p25 = pystats_percentile(speedups, count, 25);
	out->p75 = pystats_percentile(speedups, count, 75);
	out->p90 = pystats_percentile(speedups, count, 90);
}

static bool is_of_type(const struct aka_line *line, const char *type)
{
	cleanup(str_done) struct str own = STR_INIT;

	if (type == NULL)
		return true;
	aka_task_type(&own, line->task_name);
	return strcmp(own.len > 0 ? own.text : "unknown", type) == 0;
}

/* @type: NULL for all. */
static void count_lines(struct aka_figures *out, const struct aka_summary *summary,
			const char *type)
{
	cleanup(mem_free) double *speedups = mem_alloc(summary->line_count + 1, sizeof(*speedups));
	size_t valid = 0, over_2 = 0;

	for (size_t i = 0; i < summary->line_count; i++) {
		const struct aka_line *line = &summary->lines[i];

		if (!is_of_type(line, type))
			continue;
		out->count++;
		out->total_score += line->score;
		out->compiled += line->compiles;
		out->correct += line->is_correct;
		if (!line->compiles || !line->is_correct)
			continue;
		out->faster += line->speedup > 1.0;
		over_2 += line->speedup > 2.0;
		if (line->speedup > 0)
			speedups[valid++] = line->speedup;
	}
	if (out->count > 0) {
		out->average_score = out->total_score / (double) out->count;
		out->fast_1 = (double) out->faster / (double) out->count;
		out->fast_2 = (double) over_2 / (double) out->count;
	}
	out->compiled_rate = percent(out->compiled, out->count);
	out->correct_rate = percent(out->correct, out->count);
	out->faster_rate = percent(out->faster, out->count);
	describe(out, speedups, valid);
}

static struct aka_type *add_type(struct aka_summary *summary, const char *name, size_t len)
{
	struct aka_type *type;
	char *copy;

	summary->types =
		mem_resize(summary->types, summary->type_count + 1, sizeof(*summary->types));
	type = &summary->types[summary->type_count++];
	copy = mem_alloc(len + 1, 1);
	memcpy(copy, name, len);
	*type = (struct aka_type){ .name = copy };
	return type;
}

static void count_types(struct aka_summary *summary)
{
	for (size_t i = 0; i < summary->line_count; i++) {
		cleanup(str_done) struct str name = STR_INIT;
		size_t at = 0;

		aka_task_type(&name, summary->lines[i].task_name);
		if (name.len == 0)
			str_addf(&name, "unknown");
		while (at < summary->type_count && strcmp(summary->types[at].name, name.text) != 0)
			at++;
		if (at == summary->type_count)
			count_lines(&add_type(summary, name.text, name.len)->figures, summary,
				    name.text);
	}
}

/* "workspace_GPU_AGENT" and "run_TIME". */
static void read_names(struct aka_summary *out, const char *workspace, const char *run)
{
	static const char begin[] = "workspace_";
	const char *gpu = workspace + strlen(begin), *end;

	str_addf(&out->timestamp, "%s", strncmp(run, "run_", 4) == 0 ? run + 4 : "unknown");
	end = strncmp(workspace, begin, strlen(begin)) == 0 ? strchr(gpu, '_') : NULL;
	if (end == NULL) {
		str_addf(&out->gpu, "unknown");
		str_addf(&out->agent, "unknown");
		return;
	}
	str_add(&out->gpu, gpu, (size_t) (end - gpu));
	str_addf(&out->agent, "%s", end + 1);
}

void aka_summary_make(struct aka_summary *out, const struct aka_line *lines, size_t count,
		      const char *workspace, const char *run)
{
	out->lines = mem_alloc(count + 1, sizeof(*lines));
	out->line_count = count;
	for (size_t i = 0; i < count; i++)
		out->lines[i] = lines[i];
	read_names(out, workspace, run);
	count_lines(&out->all, out, NULL);
	count_types(out);
}

void aka_summary_done(struct aka_summary *summary)
{
	for (size_t i = 0; i < summary->type_count; i++) {
		char *name = NULL;

		memcpy(&name, &summary->types[i].name, sizeof(name));
		free(name);
	}
	free(summary->types);
	free(summary->lines);
	str_done(&summary->timestamp);
	str_done(&summary->agent);
	str_done(&summary->gpu);
	*summary = AKA_SUMMARY_INIT;
}

static int read_number(const struct pyvalue *from, const char *key, double *out, struct err *err)
{
	const struct pyvalue *value = pyvalue_member(from, key);

	if (value == NULL)
		return 0;
	if (value->kind == PYVALUE_FLOAT)
		*out = value->number;
	else if (value->kind == PYVALUE_INT)
		*out = strtod(value->text, NULL);
	else
		return err_set(err, ERR_INPUT, "'%s' is no number", key);
	return 0;
}

static int read_count(const struct pyvalue *from, const char *key, size_t *out, struct err *err)
{
	double value = 0;

	if (read_number(from, key, &value, err) < 0)
		return -1;
	if (!(value >= 0 && value <= 1e9))
		return err_set(err, ERR_INPUT, "'%s' is no count of tasks", key);
	*out = (size_t) value;
	return 0;
}

static int read_figures(struct aka_figures *out, const struct pyvalue *from, const char *count_key,
			struct err *err)
{
	const struct {
		const char *key;
		double *to;
	} rows[] = {
		{ "total_score", &out->total_score },
		{ "average_score", &out->average_score },
		{ "compilation_pass_rate", &out->compiled_rate },
		{ "correctness_pass_rate", &out->correct_rate },
		{ "speedup_gt_1_rate", &out->faster_rate },
		{ "average_speedup", &out->average },
		{ "median_speedup", &out->median },
		{ "std_dev_speedup", &out->deviation },
		{ "p25_speedup", &out->p25 },
		{ "p75_speedup", &out->p75 },
		{ "p90_speedup", &out->p90 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (read_number(from, rows[i].key, rows[i].to, err) < 0)
			return -1;
	if (read_count(from, count_key, &out->count, err) < 0 ||
	    read_count(from, "compilation_pass_count", &out->compiled, err) < 0 ||
	    read_count(from, "correctness_pass_count", &out->correct, err) < 0 ||
	    read_count(from, "speedup_gt_1_count", &out->faster, err) < 0)
		return -1;
	return read_count(from, "valid_speedup_count", &out->valid, err);
}

static void read_text(struct str *out, const struct pyvalue *from, const char *key)
{
	const struct pyvalue *value = pyvalue_member(from, key);

	if (value == NULL)
		str_addf(out, "unknown");
	else
		pyvalue_add_str(out, value);
}

int aka_summary_read(struct aka_summary *out, const void *bytes, size_t len, struct err *err)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(aka_summary_done) struct aka_summary made = AKA_SUMMARY_INIT;
	const struct pyvalue *types;
	struct pyjson json;

	if (pyjson_parse(&json, &arena, bytes, len, err) < 0)
		return err_wrap(err, "task_type_breakdown.json");
	if (json.root->kind != PYVALUE_DICT)
		return err_set(err, ERR_INPUT, "task_type_breakdown.json: no object");
	read_text(&made.timestamp, json.root, "run_timestamp");
	read_text(&made.agent, json.root, "agent");
	read_text(&made.gpu, json.root, "target_gpu");
	if (read_figures(&made.all, pyvalue_member(json.root, "overall"), "total_tasks", err) < 0)
		return err_wrap(err, "task_type_breakdown.json: overall");
	types = pyvalue_member(json.root, "task_types");
	if (types != NULL && types->kind != PYVALUE_DICT)
		return err_set(err, ERR_INPUT, "task_type_breakdown.json: task_types: no object");
	for (const struct pymember *member = types != NULL ? types->first : NULL; member != NULL;
	     member = member->next) {
		struct aka_type *type = add_type(&made, member->key->text, member->key->len);

		if (read_figures(&type->figures, member->value, "count", err) < 0)
			return err_wrap(err, "task_type_breakdown.json: %s", type->name);
	}
	*out = take(made, AKA_SUMMARY_INIT);
	return 0;
}
