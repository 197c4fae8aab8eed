/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/record_read.h"

#include <math.h>
#include <string.h>

enum { TEXT_MAX = 4096, FLAGS_MAX = 256 };

/* A text or null. */
static int get_text(const struct json_value *object, const char *key, struct arena *arena,
		    const char **out, struct err *err)
{
	const char *text = NULL;

	if (json_is_absent(json_member(object, key))) {
		*out = NULL;
		return 0;
	}
	if (json_get_text(object, key, TEXT_MAX, &text, err) < 0)
		return -1;
	*out = arena_copy(arena, text, strlen(text));
	return 0;
}

/* Nanoseconds, never before 1970: whoever subtracts two of them needs no check. */
static int get_time(const struct json_value *object, const char *key, int64_t *out, struct err *err)
{
	if (json_is_absent(json_member(object, key))) {
		*out = 0;
		return 0;
	}
	return json_get_int(object, key, 0, INT64_MAX, out, err);
}

/* An integer, or null for @unknown. */
static int get_int(const struct json_value *object, const char *key, int64_t unknown, int64_t *out,
		   struct err *err)
{
	if (json_is_absent(json_member(object, key))) {
		*out = unknown;
		return 0;
	}
	return json_get_int(object, key, INT64_MIN, INT64_MAX, out, err);
}

static int get_double(const struct json_value *object, const char *key, double unknown, double *out,
		      struct err *err)
{
	if (json_is_absent(json_member(object, key))) {
		*out = unknown;
		return 0;
	}
	return json_get_double(object, key, out, err);
}

int record_read_texts(const struct json_value *list, struct arena *arena, const char *const **out,
		      size_t *count, struct err *err)
{
	const char **texts;

	*count = json_count(list);
	if (*count > FLAGS_MAX)
		return err_set(err, ERR_INPUT, "a list of %zu words", *count);
	texts = arena_alloc(arena, *count + 1, sizeof(*texts));
	for (size_t i = 0; i < *count; i++) {
		const char *text = json_as_text(json_item(list, i));

		if (!text)
			return err_set(err, ERR_INPUT, "a list of words has something else");
		texts[i] = arena_copy(arena, text, strlen(text));
	}
	*out = texts;
	return 0;
}

static int read_usage(const struct json_value *usage, struct record_usage *out, struct err *err)
{
	const struct {
		const char *key;
		int64_t *at;
	} members[] = {
		{ "wall_ns", &out->wall_ns },           { "cpu_us", &out->cpu_us },
		{ "memory_peak", &out->memory_peak },   { "pids_peak", &out->pids_peak },
		{ "stdout_bytes", &out->stdout_bytes }, { "stderr_bytes", &out->stderr_bytes },
	};

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (get_int(usage, members[i].key, RECORD_UNKNOWN, members[i].at, err) < 0)
			return -1;
	return 0;
}

int record_read_ending(const struct json_value *object, struct arena *arena,
		       struct record_ending *ending, struct record_usage *usage, struct err *err)
{
	const struct json_value *value = json_member(object, "ending");

	*ending = (struct record_ending){ .code = RECORD_UNKNOWN, .signal = RECORD_UNKNOWN };
	if (read_usage(json_member(object, "usage"), usage, err) < 0)
		return err_wrap(err, "usage");
	if (json_is_absent(value))
		return 0;
	if (get_text(value, "how", arena, &ending->how, err) < 0 ||
	    get_int(value, "code", RECORD_UNKNOWN, &ending->code, err) < 0 ||
	    get_int(value, "signal", RECORD_UNKNOWN, &ending->signal, err) < 0 ||
	    record_read_texts(json_member(value, "flags"), arena, &ending->flags,
			      &ending->flag_count, err) < 0)
		return err_wrap(err, "ending");
	return 0;
}

static int read_timing(const struct json_value *timing, struct arena *arena,
		       struct record_mark *out, struct err *err)
{
	int64_t blocks = 0;

	if (json_is_absent(timing))
		return 0;
	if (get_text(timing, "verdict", arena, &out->verdict, err) < 0 ||
	    json_get_int(timing, "blocks", 1, UINT32_MAX, &blocks, err) < 0 ||
	    get_double(timing, "log_ratio", NAN, &out->ratio, err) < 0 ||
	    get_double(timing, "log_ratio_low", -INFINITY, &out->ratio_low, err) < 0 ||
	    get_double(timing, "log_ratio_high", INFINITY, &out->ratio_high, err) < 0 ||
	    get_double(timing, "margin", NAN, &out->margin, err) < 0 ||
	    json_get_bool(timing, "launch_bound", &out->launch_bound, err) < 0)
		return -1;
	out->blocks = (uint32_t) blocks;
	return 0;
}

static int read_place(const struct json_value *mark, struct arena *arena, struct record_mark *out,
		      struct err *err)
{
	if (get_text(mark, "case", arena, &out->case_name, err) < 0 ||
	    get_int(mark, "arg", RECORD_UNKNOWN, &out->arg, err) < 0 ||
	    get_int(mark, "index", RECORD_UNKNOWN, &out->index, err) < 0 ||
	    get_double(mark, "got", NAN, &out->got, err) < 0 ||
	    get_double(mark, "want", NAN, &out->want, err) < 0)
		return -1;
	out->has_values = !json_is_absent(json_member(mark, "got")) ||
			  !json_is_absent(json_member(mark, "want"));
	return 0;
}

/* Absent in records of earlier builds. */
static int read_cases(const struct json_value *mark, struct record_mark *out, struct err *err)
{
	int64_t cases = 0;

	if (!json_is_absent(json_member(mark, "cases")) &&
	    json_get_int(mark, "cases", 1, UINT32_MAX, &cases, err) < 0)
		return -1;
	out->cases = (uint32_t) cases;
	return 0;
}

static int read_mark(const struct json_value *record, const char *key, bool is_unseen,
		     struct arena *arena, struct record_mark *out, struct err *err)
{
	const struct json_value *mark = json_member(record, key);

	*out = RECORD_MARK_NONE;
	if (json_is_absent(mark))
		return 0;
	if (get_text(mark, "kind", arena, &out->kind, err) < 0 ||
	    get_text(mark, "stage", arena, &out->stage, err) < 0 ||
	    get_text(mark, "reason", arena, &out->reason, err) < 0 ||
	    get_text(mark, "role", arena, &out->role, err) < 0 ||
	    get_text(mark, "why", arena, &out->why, err) < 0 || read_cases(mark, out, err) < 0 ||
	    get_int(mark, "case_index", RECORD_UNKNOWN, &out->case_index, err) < 0 ||
	    get_int(mark, "call", RECORD_UNKNOWN, &out->call, err) < 0 ||
	    (!is_unseen && read_place(mark, arena, out, err) < 0) ||
	    read_timing(json_member(mark, "timing"), arena, out, err) < 0)
		return err_wrap(err, "mark '%s'", key);
	return 0;
}

/* Absent in records of earlier builds. */
static int read_aka(const struct json_value *aka, struct arena *arena, struct record_aka *out,
		    struct err *err)
{
	if (json_is_absent(aka))
		return 0;
	out->is_there = true;
	if (json_get_bool(aka, "compiles", &out->compiles, err) < 0 ||
	    json_get_bool(aka, "correct", &out->is_correct, err) < 0 ||
	    get_double(aka, "speedup", INFINITY, &out->speedup, err) < 0 ||
	    get_double(aka, "score", INFINITY, &out->score, err) < 0 ||
	    get_text(aka, "lost", arena, &out->lost, err) < 0 ||
	    get_double(aka, "strict_speedup", INFINITY, &out->strict_speedup, err) < 0 ||
	    get_double(aka, "strict_score", INFINITY, &out->strict_score, err) < 0 ||
	    get_text(aka, "reason", arena, &out->reason, err) < 0)
		return err_wrap(err, "aka");
	return 0;
}

/* Absent in records of earlier builds. */
static int read_heldout(const struct json_value *value, struct arena *arena,
			struct record_heldout *out, struct err *err)
{
	if (json_is_absent(value))
		return 0;
	out->is_there = true;
	if (get_text(value, "status", arena, &out->status, err) < 0 ||
	    json_get_bool(value, "compiles", &out->compiles, err) < 0 ||
	    json_get_bool(value, "correct", &out->is_correct, err) < 0 ||
	    json_get_bool(value, "original_compiles", &out->original_compiles, err) < 0 ||
	    json_get_bool(value, "original_correct", &out->original_is_correct, err) < 0 ||
	    get_double(value, "time_ms", INFINITY, &out->time_ms, err) < 0 ||
	    get_double(value, "original_time_ms", INFINITY, &out->original_time_ms, err) < 0 ||
	    get_double(value, "speedup", INFINITY, &out->speedup, err) < 0 ||
	    get_double(value, "score", INFINITY, &out->score, err) < 0 ||
	    get_text(value, "error", arena, &out->error, err) < 0)
		return err_wrap(err, "heldout");
	return 0;
}

static int read_times(const struct json_value *times, struct record_times *out, struct err *err)
{
	const struct {
		const char *key;
		int64_t *at;
	} members[] = {
		{ "leased_ns", &out->leased_ns }, { "agent_ns", &out->agent_ns },
		{ "frozen_ns", &out->frozen_ns }, { "built_ns", &out->built_ns },
		{ "judged_ns", &out->judged_ns }, { "recorded_ns", &out->recorded_ns },
	};

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (get_time(times, members[i].key, members[i].at, err) < 0)
			return err_wrap(err, "times");
	return 0;
}

static int read_names(const struct json_value *value, struct arena *arena, struct record *out,
		      struct err *err)
{
	const struct {
		const char *key;
		const char **at;
	} members[] = {
		{ "run", &out->run },     { "task", &out->task },
		{ "agent", &out->agent }, { "policy", &out->policy },
		{ "tier", &out->tier },   { "trust", &out->trust },
		{ "infra", &out->infra }, { "build_why", &out->build_why },
	};
	int64_t attempt = 0;

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (get_text(value, members[i].key, arena, members[i].at, err) < 0)
			return -1;
	if (json_get_int(value, "attempt", 1, UINT32_MAX, &attempt, err) < 0)
		return -1;
	out->attempt = (uint32_t) attempt;
	return 0;
}

static int read_total(const struct json_value *value, const char *key, struct record_entries *out,
		      struct err *err)
{
	int64_t total = 0;

	if (json_get_int(json_member(value, key), "total", 0, INT64_MAX, &total, err) < 0)
		return err_wrap(err, "%s", key);
	*out = (struct record_entries){ .total = (uint64_t) total };
	return 0;
}

int record_read(const struct json_value *value, struct arena *arena, struct record *out,
		struct err *err)
{
	struct record made = { .attempt = 0 };

	if (read_names(value, arena, &made, err) < 0 ||
	    json_get_bool(value, "committed_first", &made.is_committed_first, err) < 0 ||
	    json_get_bool(value, "built", &made.is_built, err) < 0 ||
	    record_read_ending(value, arena, &made.ending, &made.usage, err) < 0 ||
	    read_mark(value, "seen", false, arena, &made.seen, err) < 0 ||
	    read_mark(value, "unseen", true, arena, &made.unseen, err) < 0 ||
	    read_aka(json_member(value, "aka"), arena, &made.aka, err) < 0 ||
	    read_heldout(json_member(value, "heldout"), arena, &made.heldout, err) < 0 ||
	    record_read_texts(json_member(value, "labels"), arena, &made.labels, &made.label_count,
			      err) < 0 ||
	    /* Absent in records of earlier builds. */
	    record_read_texts(json_member(value, "weaker"), arena, &made.weaker, &made.weaker_count,
			      err) < 0 ||
	    record_read_texts(json_member(value, "images"), arena, &made.images, &made.image_count,
			      err) < 0 ||
	    read_times(json_member(value, "times"), &made.times, err) < 0 ||
	    read_total(value, "rejected", &made.rejected, err) < 0 ||
	    read_total(value, "unused", &made.unused, err) < 0)
		return -1;
	*out = made;
	return 0;
}
