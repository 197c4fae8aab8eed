/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/attempts.h"

#include <math.h>
#include <string.h>

/* The first one only where it is asked for. */
static const struct table_column columns[] = {
	/* clang-format off */
	{ "run",            "RUN",       TABLE_LEFT },
	{ "task",           "TASK",      TABLE_LEFT },
	{ "agent",          "AGENT",     TABLE_LEFT },
	{ "attempt",        "TRY",       TABLE_RIGHT },
	{ "ending",         "ENDING",    TABLE_LEFT },
	{ "seen",           "SEEN",      TABLE_LEFT },
	{ "unseen",         "UNSEEN",    TABLE_LEFT },
	{ "speedup",        "SPEEDUP",   TABLE_LEFT, true },
	{ "verdict",        "VERDICT",   TABLE_LEFT },
	{ "unseen_speedup", "ON UNSEEN", TABLE_RIGHT },
	{ "unseen_verdict", "VERDICT",   TABLE_LEFT },
	{ "score",          "SCORE",     TABLE_RIGHT },
	{ "wall_ns",        "TIME",      TABLE_RIGHT },
	{ "why",            "WHY",       TABLE_LEFT },
	/* clang-format on */
};

static enum table_tone tone_of(const char *text)
{
	static const struct {
		const char *text;
		enum table_tone tone;
	} tones[] = {
		/* clang-format off */
		{ "VALID",     TABLE_GOOD },
		{ "FAST",      TABLE_GOOD },
		{ "WRONG",     TABLE_BAD },
		{ "VIOLATION", TABLE_BAD },
		{ "RESOURCE",  TABLE_BAD },
		{ "SLOW",      TABLE_BAD },
		{ "INFRA",     TABLE_DOUBTFUL },
		{ "SUSPECT",   TABLE_DOUBTFUL },
		{ "AMBG",      TABLE_DOUBTFUL },
		/* clang-format on */
	};

	for (size_t i = 0; text && i < ARRAY_LEN(tones); i++)
		if (strcmp(text, tones[i].text) == 0)
			return tones[i].tone;
	return text ? TABLE_PLAIN : TABLE_DIM;
}

static void add_toned(struct table *table, const char *text)
{
	table_text(table, text);
	table_tone(table, tone_of(text));
}

static bool is_good(const struct record_mark *mark)
{
	return mark->kind && strcmp(mark->kind, "VALID") == 0;
}

/* What is most worth knowing: our own failure, then what came first in the attempt's life. */
static const char *why(const struct record *record)
{
	if (record->infra)
		return record->infra;
	if (!record->is_built)
		return record->build_why ? record->build_why : "it does not compile";
	if (record->seen.kind && !is_good(&record->seen))
		return record->seen.why ? record->seen.why : record->seen.reason;
	if (record->aka.reason)
		return record->aka.reason;
	if (record->unseen.kind && !is_good(&record->unseen))
		return record->unseen.why ? record->unseen.why : record->unseen.reason;
	if (record->seen.launch_bound)
		return "too short to be resolved here (LAUNCH_BOUND)";
	if (record->unseen.launch_bound)
		return "unseen cases: too short to be resolved here (LAUNCH_BOUND)";
	return NULL;
}

static void add_ending(struct table *table, const struct record_ending *ending)
{
	cleanup(str_done) struct str text = STR_INIT;

	if (!ending->how) {
		add_toned(table, NULL);
		return;
	}
	str_addf(&text, "%s", ending->how);
	if (ending->code != RECORD_UNKNOWN && ending->code != 0)
		str_addf(&text, " %lld", (long long) ending->code);
	if (ending->signal != RECORD_UNKNOWN)
		str_addf(&text, " by %lld", (long long) ending->signal);
	for (size_t i = 0; i < ending->flag_count; i++)
		str_addf(&text, " %s", ending->flags[i]);
	table_bytes(table, text.text, text.len);
}

static void add_row(struct table *table, const struct record *record, bool has_run)
{
	const struct record_mark *seen = &record->seen, *unseen = &record->unseen;
	const struct score_result result = record_result(record);
	const bool is_timed = seen->blocks > 0;

	if (has_run)
		table_text(table, record->run);
	table_text(table, record->task);
	table_text(table, record->agent);
	table_int(table, record->attempt);
	add_ending(table, &record->ending);
	add_toned(table, record_is_marked(record) ? seen->kind : "INFRA");
	add_toned(table, unseen->kind);
	table_interval(table, is_timed ? exp(seen->ratio) : NAN, exp(seen->ratio_low),
		       exp(seen->ratio_high));
	add_toned(table, is_timed ? seen->verdict : NULL);
	table_double(table, unseen->blocks > 0 ? exp(unseen->ratio) : NAN, 2);
	add_toned(table, unseen->blocks > 0 ? unseen->verdict : NULL);
	table_double(table, record_is_marked(record) ? score_attempt(&result) : NAN, 1);
	table_duration(table, record->times.leased_ns == 0
				      ? RECORD_UNKNOWN
				      : record->times.recorded_ns - record->times.leased_ns);
	table_text(table, why(record));
}

void attempts_table(const struct record *records, size_t count, bool has_run, struct table *out)
{
	const size_t skipped = has_run ? 0 : 1;

	table_init(out, columns + skipped, ARRAY_LEN(columns) - skipped);
	for (size_t i = 0; i < count; i++)
		add_row(out, &records[i], has_run);
}

void attempts_put_summary(const struct score_summary *summary, struct json_writer *json,
			  const char *key)
{
	json_put_object(json, key);
	json_put_int(json, "attempts", (int64_t) summary->tasks);
	json_put_int(json, "compiled", (int64_t) summary->compiled);
	json_put_int(json, "correct", (int64_t) summary->correct);
	json_put_double(json, "total_score", summary->total_score);
	json_put_double(json, "mean_score", summary->mean_score);
	json_put_double(json, "mean_speedup", summary->mean_speedup);
	json_put_double(json, "geometric", summary->geometric);
	json_put_double(json, "geometric_correct", summary->geometric_correct);
	json_put_double(json, "fast_1", summary->fast_1);
	json_put_double(json, "fast_2", summary->fast_2);
	json_put_end(json);
}
