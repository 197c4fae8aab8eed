/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/outcome.h"

#include <string.h>

#include "harness/run/outcome_aka.h"
#include "sandbox/base/mem.h"

void outcome_tell_agent(const struct attempt *attempt, struct json_writer *json)
{
	record_put_ending(json, &attempt->ending, &attempt->usage);
	json_put_digest(json, "services", attempt->has_services ? &attempt->services : NULL);
}

void outcome_tell_frozen(const struct attempt *attempt, struct json_writer *json)
{
	json_put_digest(json, "frozen", &attempt->frozen.root);
	/* The keeper reads this key, see keeper.h. */
	json_put_digest(json, "candidate", &attempt->candidate_root);
}

void outcome_tell_built(const struct attempt *attempt, struct json_writer *json)
{
	json_put_bool(json, "built", attempt->is_built);
	if (!attempt->is_built)
		json_put_text(json, "why", attempt->build_why);
}

void outcome_tell_judged(const struct attempt *attempt, struct json_writer *json)
{
	const struct judging_result *judged = attempt->judged;

	if (attempt->evaluation) {
		outcome_aka_tell(attempt->evaluation, json);
		return;
	}
	json_put_bool(json, "judged", judged != NULL);
	if (!judged)
		return;
	json_put_text(json, "seen", names_text(mark_kind_names, (int) judged->seen.mark.kind));
	json_put_text(json, "unseen", names_text(mark_kind_names, (int) judged->unseen.mark.kind));
	json_put_text(json, "verdict", names_text(verdict_names, (int) judged->seen.stats.verdict));
}

/* --- the record --- */

/* Only the seen cases' values are told; of an unseen one its number. */
static void fill_place(const struct judging_result *judged, const struct mark *mark, bool is_seen,
		       struct run *run, struct record_mark *out)
{
	if (!mark->has_case)
		return;
	out->case_index = mark->case_index;
	out->call = mark->call;
	if (mark->reason == REASON_VALUE || mark->reason == REASON_UNWRITTEN)
		out->arg = mark->arg;
	if (!is_seen)
		return;
	out->case_name = arena_copy(&run->arena, judged->names[mark->case_index],
				    strlen(judged->names[mark->case_index]));
	out->index = (int64_t) mark->index;
	out->has_values = mark->reason == REASON_VALUE;
	out->got = mark->got;
	out->want = mark->want;
}

static uint32_t count_cases(const struct judging_result *judged, bool is_seen)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < judged->case_count; i++)
		count += is_seen == !judged->is_unseen[i];
	return count;
}

static struct record_mark mark_of(const struct judging_result *judged,
				  const struct marking_set *set, const char *why, bool is_seen,
				  struct run *run)
{
	struct record_mark out = RECORD_MARK_NONE;
	const struct mark *mark = &set->mark;

	if (mark->kind == MARK_NONE)
		return out;
	out.kind = names_text(mark_kind_names, (int) mark->kind);
	out.cases = count_cases(judged, is_seen);
	if (mark->kind != MARK_VALID) {
		out.stage = names_text(mark_stage_names, (int) mark->stage);
		out.reason = names_text(mark_reason_names, (int) mark->reason);
		out.role = names_text(worker_role_names, (int) mark->role);
		out.why = arena_copy(&run->arena, why, strlen(why));
		fill_place(judged, mark, is_seen, run, &out);
	}
	out.blocks = set->stats.blocks;
	if (out.blocks > 0) {
		out.verdict = names_text(verdict_names, (int) set->stats.verdict);
		out.ratio = set->stats.ratio.center;
		out.ratio_low = set->stats.ratio.low;
		out.ratio_high = set->stats.ratio.high;
		out.margin = set->stats.margin;
		out.launch_bound = set->stats.launch_bound;
	}
	return out;
}

void outcome_take_ending(struct attempt *attempt, const struct jail_outcome *outcome)
{
	const struct jail_result *result = &outcome->last.result;
	struct record_ending *ending = &attempt->ending;
	struct relaying_flag services[RELAYING_FLAGS_MAX];
	struct jail_flag flags[JAIL_FLAGS_MAX];
	size_t count, more;
	const char **texts;

	if (outcome->last.kind != EVENT_ENDED && outcome->last.kind != EVENT_LOST)
		return;
	ending->how = names_text(ending_names, (int) result->ending);
	if (result->ending == ENDING_EXITED)
		ending->code = result->code;
	if (result->ending == ENDING_SIGNALED)
		ending->signal = result->code;
	count = jail_result_flags(result, flags);
	more = relaying_flags(&attempt->run->policy.services, &outcome->services, services);
	texts = arena_alloc(&attempt->run->arena, count + more, sizeof(*texts));
	for (size_t i = 0; i < count; i++)
		texts[i] = arena_printf(&attempt->run->arena, "%s", flags[i].text);
	for (size_t i = 0; i < more; i++)
		texts[count + i] = arena_printf(&attempt->run->arena, "%s", services[i].text);
	ending->flags = texts;
	ending->flag_count = count + more;
	attempt->usage = (struct record_usage){
		.wall_ns = result->wall_ns,
		.cpu_us = (int64_t) result->cpu_us,
		.memory_peak = (int64_t) result->memory_peak,
		.pids_peak = (int64_t) result->pids_peak,
		.stdout_bytes = (int64_t) outcome->stdout_bytes,
		.stderr_bytes = (int64_t) outcome->stderr_bytes,
	};
}

static void fill_marks(struct attempt *attempt, struct record *out)
{
	const struct judging_result *judged = attempt->judged;
	const char **labels = arena_alloc(&attempt->run->arena, 4, sizeof(*labels));

	out->seen = RECORD_MARK_NONE;
	out->unseen = RECORD_MARK_NONE;
	out->labels = labels;
	if (attempt->was_judged)
		labels[out->label_count++] = "JUDGED_AGAIN";
	if (!judged || judged->has_error)
		return;
	out->is_committed_first = judged->committed_first != 0;
	out->seen = mark_of(judged, &judged->seen, judged->seen_why, true, attempt->run);
	out->unseen = mark_of(judged, &judged->unseen, judged->unseen_why, false, attempt->run);
	if (judged->seen.stats.blocks > 0 && judged->seen.stats.launch_bound)
		labels[out->label_count++] = "LAUNCH_BOUND";
	if (judged->unseen.stats.blocks > 0 && judged->unseen.stats.launch_bound)
		labels[out->label_count++] = "LAUNCH_BOUND_UNSEEN";
	for (uint32_t i = 0; i < judged->case_count; i++) {
		if (judged->cases[i].clock_mismatch) {
			labels[out->label_count++] = "CLOCK_MISMATCH";
			break;
		}
	}
}

static void add_entry(struct record_entries *entries, struct record_entry *list, const char *path,
		      size_t path_len, const char *reason, struct arena *arena)
{
	entries->total++;
	if (entries->count == RECORD_LISTED_MAX)
		return;
	list[entries->count++] = (struct record_entry){
		.path = arena_copy(arena, path, path_len),
		.path_len = path_len,
		.reason = reason,
	};
	entries->list = list;
}

/* Of what the report does not list, the numbers at least. */
static uint64_t count_unused(const struct tree_report *changes)
{
	uint64_t count = 0;

	for (size_t kind = 0; kind < TREE_CHANGE_KINDS; kind++)
		count += changes->ignored[kind];
	return count;
}

static void fill_entries(struct attempt *attempt, struct arena *arena, struct record *out)
{
	struct record_entry *rejected = arena_alloc(arena, RECORD_LISTED_MAX, sizeof(*rejected));
	struct record_entry *unused = arena_alloc(arena, RECORD_LISTED_MAX, sizeof(*unused));

	for (size_t i = 0; i < attempt->frozen.count; i++) {
		const struct manifest_entry *entry = &attempt->frozen.entries[i];

		if (entry->kind == STREAM_REFUSED)
			add_entry(&out->rejected, rejected, entry->path, entry->path_len,
				  names_text(stream_reason_names, (int) entry->reason), arena);
	}
	for (size_t i = 0; i < attempt->changes.count; i++) {
		const struct tree_change *change = &attempt->changes.changes[i];

		if (!change->has_effect)
			add_entry(&out->unused, unused, change->path, change->path_len,
				  names_text(tree_change_names, (int) change->kind), arena);
	}
	out->unused.total = count_unused(&attempt->changes);
}

static int write_samples(const struct attempt *attempt, struct digest *out, struct err *err)
{
	static const char *const roles[] = { "null", "store", "baseline", "candidate" };
	const struct judging_result *judged = attempt->judged;
	cleanup(mem_free) struct record_sample *list =
		mem_alloc(attempt->samples.count, sizeof(*list));
	struct record_case cases[MARKING_CASES_MAX];
	struct record_samples samples = {
		.roles = roles,
		.role_count = ARRAY_LEN(roles),
		.cases = cases,
		.case_count = judged->case_count,
		.list = list,
		.count = attempt->samples.count,
	};

	for (uint32_t i = 0; i < judged->case_count; i++)
		cases[i] = (struct record_case){ .name = judged->names[i],
						 .is_unseen = judged->is_unseen[i] };
	for (uint32_t i = 0; i < attempt->samples.count; i++) {
		const struct sample *from = &attempt->samples.list[i];

		list[i] = (struct record_sample){
			.block = from->block,
			.half = from->half,
			.role = from->role,
			.case_index = from->case_index,
			.call = from->call,
			.flags = from->flags,
			.sealed_ns = from->sealed_ns,
			.claimed_ns = from->claimed_ns,
		};
	}
	return record_write_samples(&samples, attempt->folder_fd, out, err);
}

static int write_files(struct attempt *attempt, struct record *record, struct err *err)
{
	struct digest samples;

	if (record->aka.is_there) {
		if (outcome_aka_write(attempt->evaluation, attempt->folder_fd, &samples, err) < 0)
			return -1;
		record->digests.samples = &samples;
	}
	if (attempt->judged && !attempt->judged->has_error) {
		if (write_samples(attempt, &samples, err) < 0)
			return -1;
		record->digests.samples = &samples;
	}
	if (record_write(record, attempt->folder_fd, &attempt->record_file, err) < 0)
		return -1;
	attempt->has_file = true;
	return 0;
}

int outcome_record(struct attempt *attempt, struct record *out, struct err *err)
{
	cleanup(arena_done) struct arena entries = ARENA_INIT;
	struct run *run = attempt->run;
	const bool is_aka = run->planned.kind == PLANNED_AKA;

	*out = (struct record){
		.run = run->planned.run,
		.task = attempt->planned->name,
		.agent = attempt->agent->name,
		.policy = run->policy.name,
		.weaker = run->weaker,
		.weaker_count = run->weaker_count,
		.images = run->images.items,
		.image_count = run->images.count,
		.attempt = attempt->slot->attempt,
		.tier = is_aka ? "IN-PROCESS" : "T2",
		.trust = "OPERATOR-TRUSTED",
		.is_built = attempt->is_built,
		.times = attempt->times,
		.ending = attempt->ending,
		.usage = attempt->usage,
		.digests = {
			.task = &attempt->planned->tree,
			.policy = &run->planned.policy,
			.judge = &run->planned.judge,
			.baseline = is_aka ? NULL : &attempt->planned->built,
		},
	};
	if (!attempt->is_built && attempt->times.built_ns != 0)
		out->build_why =
			arena_copy(&run->arena, attempt->build_why, strlen(attempt->build_why));
	if (attempt->infra.kind != ERR_NONE)
		out->infra =
			arena_copy(&run->arena, attempt->infra.text, strlen(attempt->infra.text));
	if (attempt->times.frozen_ns != 0) {
		out->digests.frozen = &attempt->frozen.root;
		out->digests.candidate = &attempt->candidate_root;
	}
	if (attempt->is_built && !is_aka)
		out->digests.artifact = &attempt->artifact;
	if (attempt->has_services)
		out->digests.services = &attempt->services;
	fill_marks(attempt, out);
	if (attempt->times.judged_ns != 0 && attempt->evaluation)
		outcome_aka_fill(attempt->evaluation, &run->arena, out);
	out->carried = attempt->carried;
	out->heldout = attempt->heldout;
	if (out->heldout.is_there)
		outcome_aka_fill_unseen(out);
	fill_entries(attempt, &entries, out);
	/* Without a folder the journal alone has it. */
	if (attempt->folder_fd >= 0 && write_files(attempt, out, err) < 0)
		return -1;
	/* They belong to the attempt, which ends before the report is made. */
	out->digests = (struct record_digests){ .task = &attempt->planned->tree };
	/* Of files the file has the names; kept for each attempt, they would fill the memory. */
	out->rejected = (struct record_entries){ .total = out->rejected.total };
	out->unused = (struct record_entries){ .total = out->unused.total };
	return 0;
}
