/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/outcome_aka.h"

#include <math.h>
#include <string.h>

#include "harness/aka/pyvalue.h"
#include "sandbox/base/io.h"

/* ---- the record ---- */

enum { WHY_MAX = 400 };

static const char *const valid = "VALID", *const wrong = "WRONG";

static const char *mark_of(const struct aka_result *result)
{
	return result->has_passed ? valid : wrong;
}

void outcome_aka_tell(const struct evaluation *evaluation, struct json_writer *json)
{
	const struct aka_result *result = &evaluation->result;

	json_put_bool(json, "judged", result->has_compiled);
	if (!result->has_compiled)
		return;
	json_put_text(json, "seen", mark_of(result));
	json_put_text(json, "verdict",
		      evaluation->timing.rounds > 0 ? evaluation->timing.verdict : NULL);
}

/* The first line of what its evaluator says, or why a pass is not believed. */
static const char *why_wrong(const struct evaluation *evaluation, struct arena *arena)
{
	const struct pyvalue *error = evaluation->correct_error;
	size_t len;

	if (!error)
		return evaluation->correct_doubt;
	len = MIN_OF(error->len, (size_t) WHY_MAX);
	for (size_t i = 0; i < len; i++)
		if (error->text[i] == '\n')
			len = i;
	return arena_printf(arena, "%.*s%s%s", (int) len, error->text,
			    evaluation->why[0] ? ": " : "", evaluation->why);
}

static void fill_mark(const struct evaluation *evaluation, struct arena *arena,
		      struct record_mark *out)
{
	const struct aka_timing *timing = &evaluation->timing;

	*out = RECORD_MARK_NONE;
	if (!evaluation->result.has_compiled)
		return;
	out->kind = mark_of(&evaluation->result);
	out->cases = (uint32_t) evaluation->runs[0].cases.count;
	if (!evaluation->result.has_passed) {
		out->stage = "correctness";
		out->role = "candidate";
		out->why = why_wrong(evaluation, arena);
		return;
	}
	out->blocks = (uint32_t) timing->rounds;
	if (timing->rounds == 0)
		return;
	out->verdict = timing->verdict;
	out->ratio = timing->ratio;
	out->ratio_low = timing->low;
	out->ratio_high = timing->high;
	out->margin = AKA_MARGIN;
}

/* Behind those that it has already. */
static void fill_labels(const struct evaluation *evaluation, struct arena *arena,
			struct record *out)
{
	const char **labels = arena_alloc(arena, out->label_count + AKA_LABELS, sizeof(*labels));

	for (size_t i = 0; i < out->label_count; i++)
		labels[i] = out->labels[i];
	for (int label = 0; label < AKA_LABELS; label++)
		if (evaluation->timing.labels & 1U << label)
			labels[out->label_count++] = aka_label_name((enum aka_label) label);
	out->labels = labels;
}

static const char *copy(struct arena *arena, const char *text)
{
	return text && text[0] ? arena_copy(arena, text, strlen(text)) : NULL;
}

void outcome_aka_fill(const struct evaluation *evaluation, struct arena *arena, struct record *out)
{
	const struct aka_result *result = &evaluation->result;

	fill_mark(evaluation, arena, &out->seen);
	fill_labels(evaluation, arena, out);
	out->aka = (struct record_aka){
		.is_there = true,
		.compiles = result->compiles,
		.is_correct = result->is_correct,
		.speedup = aka_score_speedup(result),
		.score = aka_score(result),
		.lost = copy(arena, result->lost_why),
		.strict_speedup = evaluation->strict.speedup,
		.strict_score = evaluation->strict.score,
		.reason = copy(arena, evaluation->strict.reason),
	};
}

/* Shapes that the task's own kernel fails on say nothing of the candidate. */
void outcome_aka_fill_unseen(struct record *record)
{
	const struct record_heldout *heldout = &record->heldout;

	record->unseen = RECORD_MARK_NONE;
	if (!heldout->original_is_correct)
		return;
	record->unseen.kind = heldout->is_correct ? valid : wrong;
	if (heldout->is_correct)
		return;
	record->unseen.stage = "correctness";
	record->unseen.role = "candidate";
	record->unseen.why = heldout->error;
}

/* The first line of an error. */
static const char *first_line(struct arena *arena, const struct pyvalue *error)
{
	size_t len = error ? MIN_OF(error->len, (size_t) WHY_MAX) : 0;

	for (size_t i = 0; i < len; i++)
		if (error->text[i] == '\n')
			len = i;
	return error ? arena_copy(arena, error->text, len) : NULL;
}

int outcome_aka_unseen(const struct aka_unseen *unseen, struct arena *arena, int folder_fd,
		       struct record_heldout *out, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;

	*out = (struct record_heldout){
		.is_there = true,
		.status = names_text(aka_unseen_status_names, (int) unseen->status),
		.compiles = unseen->compiles,
		.is_correct = unseen->is_correct,
		.original_compiles = unseen->original_compiles,
		.original_is_correct = unseen->original_is_correct,
		.time_ms = unseen->time_ms,
		.original_time_ms = unseen->original_time_ms,
		.speedup = unseen->speedup,
		.score = unseen->score,
		.error = first_line(arena, unseen->error),
	};
	aka_unseen_file(&text, unseen);
	return io_replace_file(folder_fd, "heldout_task_result.yaml", text.text, text.len, 0644,
			       err);
}

/* ---- files ---- */

/* Of a name; all of them, each byte an escape, have to fit into one string. */
enum { ID_MAX = 120, TIME_MAX = 64 };
_Static_assert(AKA_RUNS_MAX *AKA_CASES_MAX *(6 * ID_MAX + TIME_MAX) < STR_MAX,
	       "the file of samples has room for all");

static void put_id(struct json_writer *json, const struct pyvalue *id)
{
	cleanup(str_done) struct str text = STR_INIT;

	if (id)
		pyvalue_add_str(&text, id);
	json_put_bytes(json, "case", text.text, MIN_OF(text.len, (size_t) ID_MAX));
}

static void put_run(struct json_writer *json, const struct aka_run *run, size_t index)
{
	json_put_object(json, NULL);
	json_put_text(json, "side",
		      aka_timing_side(index) == AKA_SIDE_BASELINE ? "baseline" : "candidate");
	json_put_int(json, "wall_ns", run->wall_ns);
	json_put_text(json, "from", aka_channel_name(run->cases.channel));
	json_put_array(json, "times");
	for (size_t i = 0; i < run->cases.count; i++) {
		json_put_object(json, NULL);
		put_id(json, run->cases.list[i].id);
		json_put_double(json, "ms", run->cases.list[i].time_ms);
		json_put_end(json);
	}
	json_put_end(json);
	json_put_end(json);
}

static int write_samples(const struct evaluation *evaluation, int folder_fd, struct digest *out,
			 struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct json_writer json;

	json_writer_init(&json, &text);
	json_put_object(&json, NULL);
	json_put_text(&json, "schema", OUTCOME_AKA_SAMPLES_SCHEMA);
	json_put_array(&json, "runs");
	for (size_t i = 0; i < evaluation->run_count; i++)
		put_run(&json, &evaluation->runs[i], i);
	json_put_end(&json);
	json_put_end(&json);
	str_add(&text, "\n", 1);
	*out = digest_sha256(text.text, text.len);
	return io_replace_file(folder_fd, RECORD_SAMPLES_FILE, text.text, text.len, 0644, err);
}

/* Half of one would be another one, or none that can be read. */
static int write_whole(int folder_fd, const char *name, struct str *text, struct err *err)
{
	if (text->truncated) {
		str_clear(text);
		str_addf(text, "# it is left out: it takes more than %d MiB\n",
			 (int) (STR_MAX / MIB));
	}
	return io_replace_file(folder_fd, name, text->text, text->len, 0644, err);
}

int outcome_aka_write(const struct evaluation *evaluation, int folder_fd, struct digest *samples,
		      struct err *err)
{
	static const struct aka_cases none = { .channel = AKA_NOWHERE };
	const struct aka_cases *sides[] = { &evaluation->runs[0].cases,
					    evaluation->run_count > 1 ? &evaluation->runs[1].cases
								      : &none };
	static const char *const names[] = { "baseline_perf.yaml", "optimized_perf.yaml" };
	cleanup(str_done) struct str result = STR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
		cleanup(str_done) struct str text = STR_INIT;

		aka_perf_file(&text, sides[i]);
		if (write_whole(folder_fd, names[i], &text, err) < 0)
			return -1;
	}
	aka_result_file(&result, &evaluation->result, true);
	if (write_whole(folder_fd, "task_result.yaml", &result, err) < 0)
		return -1;
	return write_samples(evaluation, folder_fd, samples, err);
}
