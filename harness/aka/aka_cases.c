/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/aka/aka_stdout.h"
#include "harness/aka/pyfloat.h"
#include "harness/aka/pyjson.h"
#include "sandbox/base/mem.h"

/* From here on a time is taken for seconds. */
#define SECONDS_FROM 1000.0

static const char *const device_keys[] = {
	"device_time_ms",     "gpu_time_ms",        "kernel_time_ms",
	"cuda_event_time_ms", "cuda_graph_time_ms", "execution_time_ms",
};
static const char *const ambiguous_keys[] = { "execution_time", "time_ms", "time" };
static const char *const host_keys[] = {
	"host_time_ms", "wall_time_ms", "elapsed_time_ms", "total_time_ms", "end_to_end_time_ms",
};
/* A key of the task's own that has such a word in it is of a host's clock as well. */
static const char *const host_words[] = { "host", "wall", "elapsed", "total", "end_to_end", "cpu" };

static const char *const report_paths[AKA_REPORTS] = {
	[AKA_BUILD_PERFORMANCE_REPORT] = "build/performance_report.json",
	[AKA_PERFORMANCE_REPORT] = "performance_report.json",
	[AKA_BUILD_PERF_REPORT] = "build/perf_report.json",
	[AKA_PERF_REPORT] = "perf_report.json",
	[AKA_BENCHMARK_RESULTS] = "perf/benchmark_results.json",
};

const char *aka_report_path(enum aka_channel channel)
{
	return report_paths[channel];
}

const char *aka_channel_name(enum aka_channel channel)
{
	if (channel < AKA_REPORTS)
		return report_paths[channel];
	return channel == AKA_STDOUT ? "the output" : "nowhere";
}

const char *aka_doubt_text(enum aka_doubt doubt)
{
	static const struct {
		enum aka_doubt doubt;
		const char *text;
	} texts[] = {
		{ AKA_DOUBT_REPEATED_KEY, "the report has an object with two members of one name" },
		{ AKA_DOUBT_UNIT_GUESSED, "a time of 1000 and more without a unit" },
		{ AKA_DOUBT_HOST_TIME, "a time of the host's clock" },
		{ AKA_DOUBT_SKIPPED, "the report has an entry that is no test case with a time" },
		{ AKA_DOUBT_SEVERAL_REPORTS, "more than one report was written" },
		{ AKA_DOUBT_BROKEN_REPORT, "a report was written that has no test case" },
		{ AKA_DOUBT_REPEATED_OUTPUT, "the output has the one time more than once" },
		{ AKA_DOUBT_UNLABELLED_TIME, "the time is any number with a unit in the output" },
		{ AKA_DOUBT_NO_NUMBER, "the output has a time that is no number" },
		{ AKA_DOUBT_TOO_LARGE, "a report is too large" },
		{ AKA_DOUBT_NON_FINITE, "the report has NaN or Infinity" },
		{ AKA_DOUBT_TIME_FROM_TEXT, "a time is not a number but a text or a truth value" },
	};

	_Static_assert(ARRAY_LEN(texts) == AKA_DOUBTS, "each doubt has its text");
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (texts[i].doubt == doubt)
			return texts[i].text;
	return "unknown";
}

bool aka_case_is_valid(const struct aka_case *test_case)
{
	return test_case->time_ms > 0;
}

struct aka_case *aka_cases_add(struct aka_cases *cases, const struct pyvalue *id)
{
	struct aka_case *added;

	if (cases->count == AKA_CASES_MAX) {
		cases->doubts |= AKA_DOUBT_TOO_LARGE;
		return NULL;
	}
	cases->list = mem_resize(cases->list, cases->count + 1, sizeof(*cases->list));
	added = &cases->list[cases->count++];
	*added = (struct aka_case){ .id = id };
	return added;
}

void aka_cases_done(struct aka_cases *cases)
{
	free(cases->list);
	arena_done(&cases->arena);
	*cases = AKA_CASES_INIT;
}

struct reader {
	struct aka_cases *out;
	const struct aka_measured *measured;
};

enum outcome {
	FOUND,
	NOTHING,
	RAISED, /* a whole number that no double can hold: an OverflowError of Python's */
};

struct found_time {
	double ms;
	const char *source;
};

/* Python's float(); NOTHING is TypeError, ValueError and None. */
static enum outcome to_float(struct reader *in, const struct pyvalue *value, double *out)
{
	if (value == NULL)
		return NOTHING;
	switch (value->kind) {
	case PYVALUE_FLOAT:
		*out = value->number;
		return FOUND;
	case PYVALUE_BOOL:
		in->out->doubts |= AKA_DOUBT_TIME_FROM_TEXT;
		*out = value->truth;
		return FOUND;
	case PYVALUE_INT:
		*out = strtod(value->text, NULL);
		return isinf(*out) ? RAISED : FOUND;
	case PYVALUE_TEXT:
		if (!pyfloat_from_text(value->text, value->len, out))
			return NOTHING;
		in->out->doubts |= AKA_DOUBT_TIME_FROM_TEXT;
		return FOUND;
	case PYVALUE_NONE:
	case PYVALUE_LIST:
	case PYVALUE_DICT:
		break;
	}
	return NOTHING;
}

static enum outcome time_by_keys(struct reader *in, const struct pyvalue *dict,
				 const char *const *keys, size_t count, struct found_time *out)
{
	for (size_t i = 0; i < count; i++) {
		enum outcome outcome = to_float(in, pyvalue_member(dict, keys[i]), &out->ms);

		if (outcome == NOTHING)
			continue;
		out->source = keys[i];
		return outcome;
	}
	return NOTHING;
}

static enum outcome ambiguous_time(struct reader *in, const struct pyvalue *dict,
				   struct found_time *out)
{
	enum outcome outcome =
		time_by_keys(in, dict, ambiguous_keys, ARRAY_LEN(ambiguous_keys), out);

	if (outcome == FOUND && strcmp(out->source, "time_ms") != 0 && !(out->ms < SECONDS_FROM)) {
		in->out->doubts |= AKA_DOUBT_UNIT_GUESSED;
		out->ms *= 1000.0;
	}
	return outcome;
}

static bool has_any(const struct pyvalue *dict, const char *const *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (pyvalue_member(dict, keys[i]) != NULL)
			return true;
	return false;
}

/* The first of these that is there, whether it is a number or not. */
static enum outcome nested_time(struct reader *in, const struct pyvalue *dict,
				struct found_time *out)
{
	static const struct {
		const char *key;
		const char *source;
	} rows[] = {
		{ "mean", "timing_ms.mean" },
		{ "median", "timing_ms.median" },
		{ "min", "timing_ms.min" },
	};
	const struct pyvalue *timing = pyvalue_member(dict, "timing_ms");

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct pyvalue *value = pyvalue_member(timing, rows[i].key);

		if (value == NULL)
			continue;
		out->source = rows[i].source;
		return to_float(in, value, &out->ms);
	}
	return NOTHING;
}

static enum outcome throughput_time(struct reader *in, const struct pyvalue *dict,
				    struct found_time *out)
{
	double rate;
	enum outcome outcome = to_float(in, pyvalue_member(dict, "bytes_per_second_gs"), &rate);

	if (outcome != FOUND)
		return outcome;
	if (!(rate > 0))
		return NOTHING;
	*out = (struct found_time){ .ms = 1.0 / rate, .source = "bytes_per_second_gs" };
	return FOUND;
}

/* The order of all that a time can be named. */
static enum outcome find_time(struct reader *in, const struct pyvalue *dict, struct found_time *out)
{
	const char *own = in->measured->is_baseline ? "ori_time" : "opt_time";
	enum outcome outcome = NOTHING;

	if (strcmp(in->measured->task_type, "torch2hip") == 0) {
		outcome = time_by_keys(in, dict, &own, 1, out);
		out->source = "ori_time or opt_time"; /* the same of both sides */
	}
	if (outcome == NOTHING)
		outcome = time_by_keys(in, dict, device_keys, ARRAY_LEN(device_keys), out);
	if (outcome == NOTHING)
		outcome = ambiguous_time(in, dict, out);
	if (outcome == NOTHING && has_any(dict, host_keys, ARRAY_LEN(host_keys))) {
		in->out->doubts |= AKA_DOUBT_HOST_TIME;
		return NOTHING;
	}
	if (outcome == NOTHING)
		outcome = nested_time(in, dict, out);
	if (outcome == NOTHING)
		outcome = throughput_time(in, dict, out);
	return outcome;
}

static const struct pyvalue *shape_of(const struct pyvalue *dict)
{
	const struct pyvalue *shape = pyvalue_member(dict, "shape");

	if (!pyvalue_is_true(shape))
		shape = pyvalue_member(dict, "shapes");
	return pyvalue_is_true(shape) ? shape : NULL;
}

static const struct pyvalue *said(const struct pyvalue *dict, const char *key)
{
	const struct pyvalue *value = pyvalue_member(dict, key);

	return value != NULL && value->kind == PYVALUE_NONE ? NULL : value;
}

static struct aka_case *add_case(struct reader *in, const struct pyvalue *dict,
				 const struct pyvalue *id)
{
	struct aka_case *added = aka_cases_add(in->out, id);

	if (added == NULL)
		return NULL;
	added->shape = shape_of(dict);
	added->params = pyvalue_member(dict, "params");
	added->method = said(dict, "benchmark_method");
	added->fallback = said(dict, "benchmark_fallback_reason");
	return added;
}

static const struct pyvalue *numbered_id(struct reader *in, size_t index)
{
	char *text = arena_printf(&in->out->arena, "test_case_%zu", index);

	return pyvalue_new_text(&in->out->arena, text, strlen(text));
}

static enum outcome read_case(struct reader *in, const struct pyvalue *dict, size_t index)
{
	const struct pyvalue *id = pyvalue_member(dict, "test_case_id");
	struct found_time time = { .source = NULL };
	enum outcome outcome = find_time(in, dict, &time);
	struct aka_case *added;

	if (outcome != FOUND)
		return outcome;
	added = add_case(in, dict, id != NULL ? id : numbered_id(in, index));
	if (added == NULL)
		return NOTHING;
	added->id_is_made_up = id == NULL;
	added->time_ms = time.ms;
	added->source = time.source;
	return FOUND;
}

static void read_list(struct reader *in, const struct pyvalue *list)
{
	size_t index = 0;

	for (const struct pymember *item = list->first; item != NULL; item = item->next, index++)
		if (item->value->kind != PYVALUE_DICT || read_case(in, item->value, index) != FOUND)
			in->out->doubts |= AKA_DOUBT_SKIPPED;
}

static bool ends_in_ms(const struct pyvalue *key)
{
	return key->len >= 3 && memcmp(key->text + key->len - 3, "_ms", 3) == 0;
}

static bool is_host_key(const struct pyvalue *key)
{
	for (size_t i = 0; i < ARRAY_LEN(host_keys); i++)
		if (key->len == strlen(host_keys[i]) && strcmp(key->text, host_keys[i]) == 0)
			return true;
	return false;
}

static int compare_members(const void *a, const void *b)
{
	const struct pymember *left = a, *right = b;

	return pyvalue_compare_texts(left->key, right->key);
}

/* The key without any "_ms", and its number where there are several. */
static const struct pyvalue *id_of_key(struct reader *in, const struct pyvalue *key, size_t index,
				       size_t count)
{
	cleanup(str_done) struct str id = STR_INIT;

	for (size_t i = 0; i < key->len; i++) {
		if (key->len - i >= 3 && memcmp(key->text + i, "_ms", 3) == 0)
			i += 2;
		else
			str_add(&id, key->text + i, 1);
	}
	if (count > 1)
		str_addf(&id, "_%zu", index);
	return pyvalue_new_text(&in->out->arena, id.text, id.len);
}

/* Whatever else ends in _ms: each is a case. */
static void read_own_keys(struct reader *in, const struct pyvalue *dict)
{
	cleanup(mem_free) struct pymember *keys = mem_alloc(dict->count + 1, sizeof(*keys));
	size_t count = 0;

	for (const struct pymember *member = dict->first; member != NULL; member = member->next)
		if (ends_in_ms(member->key) && !is_host_key(member->key))
			keys[count++] = *member;
	qsort(keys, count, sizeof(*keys), compare_members);
	for (size_t i = 0; i < count; i++) {
		struct aka_case *added;
		double ms;
		enum outcome outcome = to_float(in, keys[i].value, &ms);

		if (outcome == RAISED)
			return;
		if (outcome == NOTHING) {
			in->out->doubts |= AKA_DOUBT_SKIPPED;
			continue;
		}
		for (size_t word = 0; word < ARRAY_LEN(host_words); word++)
			if (strstr(keys[i].key->text, host_words[word]) != NULL)
				in->out->doubts |= AKA_DOUBT_HOST_TIME;
		added = add_case(in, dict, id_of_key(in, keys[i].key, i, count));
		if (added == NULL)
			return;
		added->id_is_made_up = true;
		added->time_ms = ms;
		added->source = keys[i].key->text;
	}
}

static void read_report(struct reader *in, const struct pyvalue *root)
{
	const struct pyvalue *list = pyvalue_member(root, "test_cases");

	if (root->kind == PYVALUE_LIST)
		read_list(in, root);
	else if (list != NULL && list->kind == PYVALUE_LIST)
		read_list(in, list);
	else if (list == NULL && root->kind == PYVALUE_DICT && read_case(in, root, 0) == NOTHING)
		read_own_keys(in, root);
}

/* The last resort: one time out of a report that has no case. */
static bool read_single(struct reader *in, const struct pyvalue *root)
{
	struct found_time time = { .source = NULL };
	struct aka_case *added;

	if (root->kind == PYVALUE_LIST && root->count > 0)
		root = root->first->value;
	if (find_time(in, root, &time) != FOUND || !(time.ms > 0))
		return false;
	added = aka_cases_add(in->out, numbered_id(in, 0));
	if (added == NULL)
		return false;
	added->time_ms = time.ms;
	added->source = time.source;
	in->out->doubts |= AKA_DOUBT_SKIPPED;
	return true;
}

/* Its text as a tree, or NULL. */
static const struct pyvalue *parse_report(struct reader *in, const struct aka_bytes *report)
{
	struct err err = ERR_INIT;
	struct pyjson json;

	if (report->bytes == NULL)
		return NULL;
	if (pyjson_parse(&json, &in->out->arena, report->bytes, report->len, &err) < 0) {
		in->out->doubts |=
			json.is_too_large ? AKA_DOUBT_TOO_LARGE : AKA_DOUBT_BROKEN_REPORT;
		return NULL;
	}
	if (json.has_repeated_key)
		in->out->doubts |= AKA_DOUBT_REPEATED_KEY;
	if (json.has_non_finite)
		in->out->doubts |= AKA_DOUBT_NON_FINITE;
	return json.root;
}

/* Reports first, in the order of their places; the first that has a case ends it. */
static void read_reports(struct reader *in, const struct pyvalue **roots)
{
	const struct aka_bytes *reports = in->measured->reports;
	size_t there = 0;

	for (size_t i = 0; i < AKA_REPORTS; i++) {
		there += reports[i].bytes != NULL;
		roots[i] = in->out->count > 0 ? NULL : parse_report(in, &reports[i]);
		if (roots[i] == NULL)
			continue;
		read_report(in, roots[i]);
		if (in->out->count > 0)
			in->out->channel = (enum aka_channel) i;
		else
			in->out->doubts |= AKA_DOUBT_BROKEN_REPORT;
	}
	if (there > 1)
		in->out->doubts |= AKA_DOUBT_SEVERAL_REPORTS;
}

void aka_cases_read(struct aka_cases *out, const struct aka_measured *measured)
{
	struct reader in = { .out = out, .measured = measured };
	const struct pyvalue *roots[AKA_REPORTS];

	read_reports(&in, roots);
	if (out->count > 0)
		return;
	aka_stdout_cases(out, measured->output);
	if (out->count > 0)
		out->channel = AKA_STDOUT;
	for (size_t i = 0; i < AKA_REPORTS && out->count == 0 && out->lost_why == NULL; i++)
		if (roots[i] != NULL && read_single(&in, roots[i]))
			out->channel = (enum aka_channel) i;
	if (out->count > 0 || out->lost_why != NULL)
		return;
	aka_stdout_single(out, measured->output);
	if (out->count > 0)
		out->channel = AKA_STDOUT;
}
