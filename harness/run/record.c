/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/record.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "sandbox/base/io.h"

bool record_is_right(const struct record_mark *mark)
{
	return mark->kind &&
	       (strcmp(mark->kind, "VALID") == 0 || strcmp(mark->kind, "SUSPECT") == 0);
}

static bool is_fast(const struct record_mark *mark)
{
	return record_is_right(mark) && mark->blocks > 0 && mark->verdict &&
	       strcmp(mark->verdict, "FAST") == 0;
}

double record_speedup(const struct record_mark *mark)
{
	return record_is_right(mark) && mark->blocks > 0 ? exp(mark->ratio) : 0;
}

bool record_is_marked(const struct record *record)
{
	return record->seen.kind ? strcmp(record->seen.kind, "INFRA") != 0 : !record->infra;
}

struct score_result record_result(const struct record *record)
{
	/* Of ours, no part is the candidate's: not even that it compiled. */
	if (!record_is_marked(record))
		return (struct score_result){ .is_compiled = false };
	return (struct score_result){ .is_compiled = record->is_built,
				      .is_correct = record_is_right(&record->seen),
				      .speedup = record->aka.is_there
						       ? record->aka.strict_speedup
						       : record_speedup(&record->seen),
				      .is_fast = is_fast(&record->seen) };
}

/* ---- parts of the JSON object ---- */

static void put_known(struct json_writer *json, const char *key, int64_t value)
{
	if (value == RECORD_UNKNOWN)
		json_put_null(json, key);
	else
		json_put_int(json, key, value);
}

static void put_time(struct json_writer *json, const char *key, int64_t value)
{
	put_known(json, key, value == 0 ? RECORD_UNKNOWN : value);
}

void record_put_texts(struct json_writer *json, const char *key, const char *const *texts,
		      size_t count)
{
	json_put_array(json, key);
	for (size_t i = 0; i < count; i++)
		json_put_text(json, NULL, texts[i]);
	json_put_end(json);
}

static void put_ending(struct json_writer *json, const struct record_ending *ending)
{
	if (!ending->how) {
		json_put_null(json, "ending");
		return;
	}
	json_put_object(json, "ending");
	json_put_text(json, "how", ending->how);
	put_known(json, "code", ending->code);
	put_known(json, "signal", ending->signal);
	record_put_texts(json, "flags", ending->flags, ending->flag_count);
	json_put_end(json);
}

static void put_timing(struct json_writer *json, const struct record_mark *mark)
{
	if (mark->blocks == 0) {
		json_put_null(json, "timing");
		return;
	}
	json_put_object(json, "timing");
	json_put_text(json, "verdict", mark->verdict);
	json_put_int(json, "blocks", mark->blocks);
	json_put_double(json, "speedup", exp(mark->ratio));
	json_put_double(json, "speedup_low", exp(mark->ratio_low));
	json_put_double(json, "speedup_high", exp(mark->ratio_high));
	json_put_double(json, "log_ratio", mark->ratio);
	json_put_double(json, "log_ratio_low", mark->ratio_low);
	json_put_double(json, "log_ratio_high", mark->ratio_high);
	json_put_double(json, "margin", mark->margin);
	json_put_bool(json, "launch_bound", mark->launch_bound);
	json_put_end(json);
}

/* Of an unseen case neither name nor values are written, whatever the mark holds. */
static void put_mark(struct json_writer *json, const char *key, const struct record_mark *mark,
		     bool is_unseen)
{
	if (!mark->kind) {
		json_put_null(json, key);
		return;
	}
	json_put_object(json, key);
	json_put_text(json, "kind", mark->kind);
	json_put_text(json, "stage", mark->stage);
	json_put_text(json, "reason", mark->reason);
	json_put_text(json, "role", mark->role);
	json_put_text(json, "why", mark->why);
	put_known(json, "cases", mark->cases > 0 ? (int64_t) mark->cases : RECORD_UNKNOWN);
	put_known(json, "case_index", mark->case_index);
	put_known(json, "call", mark->call);
	if (!is_unseen) {
		json_put_text(json, "case", mark->case_name);
		put_known(json, "arg", mark->arg);
		put_known(json, "index", mark->index);
		json_put_double(json, "got", mark->has_values ? mark->got : NAN);
		json_put_double(json, "want", mark->has_values ? mark->want : NAN);
	}
	put_timing(json, mark);
	json_put_end(json);
}

/* What is infinite is null. */
static void put_aka(struct json_writer *json, const struct record_aka *aka)
{
	if (!aka->is_there) {
		json_put_null(json, "aka");
		return;
	}
	json_put_object(json, "aka");
	json_put_bool(json, "compiles", aka->compiles);
	json_put_bool(json, "correct", aka->is_correct);
	json_put_double(json, "speedup", aka->speedup);
	json_put_double(json, "score", aka->score);
	json_put_text(json, "lost", aka->lost);
	json_put_double(json, "strict_speedup", aka->strict_speedup);
	json_put_double(json, "strict_score", aka->strict_score);
	json_put_text(json, "reason", aka->reason);
	json_put_end(json);
}

static void put_carried(struct json_writer *json, const struct record_carried *carried)
{
	if (!carried->is_there) {
		json_put_null(json, "carried");
		return;
	}
	json_put_object(json, "carried");
	json_put_int(json, "replaced", (int64_t) carried->replaced);
	json_put_int(json, "added", (int64_t) carried->added);
	json_put_int(json, "missing", (int64_t) carried->missing);
	json_put_int(json, "idle", (int64_t) carried->idle);
	json_put_int(json, "hosted", (int64_t) carried->hosted);
	json_put_text(json, "why", carried->why);
	json_put_end(json);
}

static void put_heldout(struct json_writer *json, const struct record_heldout *heldout)
{
	if (!heldout->is_there) {
		json_put_null(json, "heldout");
		return;
	}
	json_put_object(json, "heldout");
	json_put_text(json, "status", heldout->status);
	json_put_bool(json, "compiles", heldout->compiles);
	json_put_bool(json, "correct", heldout->is_correct);
	json_put_bool(json, "original_compiles", heldout->original_compiles);
	json_put_bool(json, "original_correct", heldout->original_is_correct);
	json_put_double(json, "time_ms", heldout->time_ms);
	json_put_double(json, "original_time_ms", heldout->original_time_ms);
	json_put_double(json, "speedup", heldout->speedup);
	json_put_double(json, "score", heldout->score);
	json_put_text(json, "error", heldout->error);
	json_put_end(json);
}

static void put_times(struct json_writer *json, const struct record_times *times)
{
	json_put_object(json, "times");
	put_time(json, "leased_ns", times->leased_ns);
	put_time(json, "agent_ns", times->agent_ns);
	put_time(json, "frozen_ns", times->frozen_ns);
	put_time(json, "built_ns", times->built_ns);
	put_time(json, "judged_ns", times->judged_ns);
	put_time(json, "recorded_ns", times->recorded_ns);
	json_put_end(json);
}

static void put_usage(struct json_writer *json, const struct record_usage *usage)
{
	json_put_object(json, "usage");
	put_known(json, "wall_ns", usage->wall_ns);
	put_known(json, "cpu_us", usage->cpu_us);
	put_known(json, "memory_peak", usage->memory_peak);
	put_known(json, "pids_peak", usage->pids_peak);
	put_known(json, "stdout_bytes", usage->stdout_bytes);
	put_known(json, "stderr_bytes", usage->stderr_bytes);
	json_put_end(json);
}

void record_put_ending(struct json_writer *json, const struct record_ending *ending,
		       const struct record_usage *usage)
{
	put_ending(json, ending);
	put_usage(json, usage);
}

static void put_digests(struct json_writer *json, const struct record_digests *digests)
{
	json_put_object(json, "digests");
	json_put_digest(json, "task", digests->task);
	json_put_digest(json, "policy", digests->policy);
	json_put_digest(json, "judge", digests->judge);
	json_put_digest(json, "frozen", digests->frozen);
	json_put_digest(json, "candidate", digests->candidate);
	json_put_digest(json, "baseline", digests->baseline);
	json_put_digest(json, "artifact", digests->artifact);
	json_put_digest(json, "samples", digests->samples);
	json_put_digest(json, "services", digests->services);
	json_put_end(json);
}

static void put_entries(struct json_writer *json, const char *key,
			const struct record_entries *entries)
{
	json_put_object(json, key);
	json_put_int(json, "total", (int64_t) entries->total);
	json_put_array(json, "first");
	for (size_t i = 0; i < entries->count && i < RECORD_LISTED_MAX; i++) {
		json_put_object(json, NULL);
		json_put_bytes(json, "path", entries->list[i].path, entries->list[i].path_len);
		json_put_text(json, "reason", entries->list[i].reason);
		json_put_end(json);
	}
	json_put_end(json);
	json_put_end(json);
}

void record_put(struct json_writer *json, const char *key, const struct record *record)
{
	const struct score_result result = record_result(record);

	json_put_object(json, key);
	json_put_text(json, "schema", RECORD_SCHEMA);
	json_put_text(json, "run", record->run);
	json_put_text(json, "task", record->task);
	json_put_text(json, "agent", record->agent);
	json_put_text(json, "policy", record->policy);
	record_put_texts(json, "weaker", record->weaker, record->weaker_count);
	record_put_texts(json, "images", record->images, record->image_count);
	json_put_int(json, "attempt", record->attempt);
	json_put_text(json, "tier", record->tier);
	json_put_text(json, "trust", record->trust);
	json_put_bool(json, "committed_first", record->is_committed_first);
	put_ending(json, &record->ending);
	json_put_bool(json, "built", record->is_built);
	json_put_text(json, "build_why", record->build_why);
	put_mark(json, "seen", &record->seen, false);
	put_mark(json, "unseen", &record->unseen, true);
	put_aka(json, &record->aka);
	put_carried(json, &record->carried);
	put_heldout(json, &record->heldout);
	json_put_double(json, "score", record_is_marked(record) ? score_attempt(&result) : NAN);
	json_put_text(json, "infra", record->infra);
	record_put_texts(json, "labels", record->labels, record->label_count);
	put_times(json, &record->times);
	put_usage(json, &record->usage);
	put_digests(json, &record->digests);
	put_entries(json, "rejected", &record->rejected);
	put_entries(json, "unused", &record->unused);
	json_put_end(json);
}

/* ---- files ---- */

static int write_file(int dir_fd, const char *name, const struct json_writer *json, struct err *err)
{
	struct str *text = json->out;

	str_add(text, "\n", 1);
	if (!json_writer_is_whole(json))
		return err_set(err, ERR_INPUT, "'%s' would be larger than %llu bytes", name,
			       (unsigned long long) STR_MAX);
	if (io_replace_file(dir_fd, name, text->text, text->len, 0644, err) < 0) {
		if (err->sys == ENOSPC || err->sys == EDQUOT)
			err->kind = ERR_HOST;
		return -1;
	}
	return 0;
}

int record_write(const struct record *record, int dir_fd, struct digest *digest_out,
		 struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct json_writer json;

	json_writer_init(&json, &text);
	record_put(&json, NULL, record);
	if (write_file(dir_fd, RECORD_FILE, &json, err) < 0)
		return -1;
	*digest_out = digest_sha256(text.text, text.len);
	return 0;
}

static void put_sample(struct json_writer *json, const struct record_sample *sample)
{
	json_put_array(json, NULL);
	json_put_int(json, NULL, sample->block);
	json_put_int(json, NULL, sample->half);
	json_put_int(json, NULL, sample->role);
	json_put_int(json, NULL, sample->case_index);
	json_put_int(json, NULL, sample->call);
	json_put_int(json, NULL, sample->flags);
	json_put_int(json, NULL, sample->sealed_ns);
	json_put_int(json, NULL, sample->claimed_ns);
	json_put_end(json);
}

int record_write_samples(const struct record_samples *samples, int dir_fd,
			 struct digest *digest_out, struct err *err)
{
	static const char *const columns[] = { "block", "half",  "role",      "case",
					       "call",  "flags", "sealed_ns", "claimed_ns" };
	cleanup(str_done) struct str text = STR_INIT;
	struct json_writer json;

	json_writer_init(&json, &text);
	json_put_object(&json, NULL);
	json_put_text(&json, "schema", RECORD_SAMPLES_SCHEMA);
	json_put_int(&json, "floor_ppm", samples->floor_ppm);
	json_put_array(&json, "cases");
	for (size_t i = 0; i < samples->case_count; i++) {
		json_put_object(&json, NULL);
		json_put_text(&json, "name", samples->cases[i].name);
		json_put_bool(&json, "unseen", samples->cases[i].is_unseen);
		json_put_end(&json);
	}
	json_put_end(&json);
	record_put_texts(&json, "roles", samples->roles, samples->role_count);
	record_put_texts(&json, "columns", columns, ARRAY_LEN(columns));
	json_put_array(&json, "samples");
	for (size_t i = 0; i < samples->count; i++)
		put_sample(&json, &samples->list[i]);
	json_put_end(&json);
	json_put_end(&json);
	if (write_file(dir_fd, RECORD_SAMPLES_FILE, &json, err) < 0)
		return -1;
	*digest_out = digest_sha256(text.text, text.len);
	return 0;
}
