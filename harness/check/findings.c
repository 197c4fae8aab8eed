/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check/findings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct table_column columns[] = {
	/* clang-format off */
	{ "case",         "CASE",         TABLE_LEFT },
	{ "mark",         "MARK",         TABLE_LEFT },
	{ "baseline_us",  "BASELINE us",  TABLE_RIGHT },
	{ "candidate_us", "CANDIDATE us", TABLE_RIGHT },
	{ "speedup",      "SPEEDUP",      TABLE_RIGHT },
	{ "why",          "WHY",          TABLE_LEFT },
	/* clang-format on */
};

enum { EXAMPLES = 5 };

/* As a report says it. */
static const char too_short[] = "too short to be resolved here (LAUNCH_BOUND)";

static void add_time(struct table *table, double ns, int decimals)
{
	table_double(table, ns > 0 ? ns : NAN, decimals);
}

static const char *case_note(const struct checked_case *item)
{
	if (item->mark.kind != MARK_VALID)
		return item->why;
	return item->stats.launch_bound ? too_short : NULL;
}

static void add_case(struct table *table, const struct checked_case *item)
{
	const struct stats_case *stats = &item->stats;

	table_text(table, item->name);
	table_text(table, names_text(mark_kind_names, (int) item->mark.kind));
	table_tone(table, item->mark.kind == MARK_VALID ? TABLE_GOOD : TABLE_BAD);
	add_time(table, stats->baseline_ns / 1000, 2);
	add_time(table, stats->candidate_ns / 1000, 2);
	add_time(table, stats->candidate_ns > 0 ? stats->baseline_ns / stats->candidate_ns : 0, 2);
	table_text(table, case_note(item));
}

static void fill(const struct checked *checked, struct table *out)
{
	table_init(out, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < checked->case_count; i++)
		add_case(out, &checked->cases[i]);
}

/* What of the workspace is not what it is in the candidate. */
static bool is_lost(const struct tree_change *change)
{
	return (!change->has_effect && change->kind != TREE_ADDED) ||
	       (change->has_effect && change->kind == TREE_REFUSED);
}

static void add_lost(const struct candidate *candidate, struct str *out)
{
	const struct tree_report *report = &candidate->report;
	size_t told = 0, total = 0;

	for (size_t i = 0; i < report->count; i++)
		total += is_lost(&report->changes[i]);
	if (total == 0)
		return;
	str_addf(out, "without effect, since not editable or no plain file:");
	for (size_t i = 0; i < report->count && told < EXAMPLES; i++) {
		if (!is_lost(&report->changes[i]))
			continue;
		str_addf(out, "%s ", told++ == 0 ? "" : ",");
		str_add_shown(out, report->changes[i].path, report->changes[i].path_len);
	}
	str_addf(out, total > told ? " and %zu more\n" : "\n", total - told);
}

static void add_speed(const struct stats_mark *stats, struct str *out)
{
	str_addf(out, ", %s: ", names_text(verdict_names, (int) stats->verdict));
	table_add_double(out, exp(stats->ratio.center), 3);
	str_addf(out, " times the baseline's speed [");
	table_add_double(out, exp(stats->ratio.low), 3);
	str_addf(out, ", ");
	table_add_double(out, exp(stats->ratio.high), 3);
	str_addf(out, "] after %u blocks", stats->blocks);
	if (stats->launch_bound)
		str_addf(out, "; %s", too_short);
}

/* It may name what a task calls its files. */
static void add_shown(const char *text, struct str *out)
{
	str_add_shown(out, text, strlen(text));
}

void findings_print(const struct findings *findings, const struct table_style *style,
		    struct str *out)
{
	cleanup(table_done) struct table table = TABLE_INIT;
	const struct checked *checked = findings->checked;

	add_lost(findings->candidate, out);
	if (!checked) {
		str_addf(out, "NOT BUILT: ");
		add_shown(findings->candidate->why, out);
		str_addf(out, "\n");
		return;
	}
	fill(checked, &table);
	table_print(&table, style, out);
	add_shown(checked->why, out);
	if (checked->set.stats.blocks > 0)
		add_speed(&checked->set.stats, out);
	str_addf(out, "  (");
	table_add_duration(out, checked->wall_ns);
	str_addf(out, ", seen cases only)\n");
	if (!findings->is_confined)
		str_addf(
			out,
			"this kernel has no Landlock: what reads files of this jail is right here, "
			"and will not be with the judge\n");
	if (checked->busy > MARKING_BUSY)
		str_addf(out,
			 "this machine is busy: for %.0f %% of the time the CPU was others', and "
			 "the times are the noisier for it\n",
			 100 * checked->busy);
}

static void put_set(const struct checked *checked, struct json_writer *json)
{
	const struct stats_mark *stats = &checked->set.stats;

	json_put_text(json, "mark", names_text(mark_kind_names, (int) checked->set.mark.kind));
	json_put_text(json, "why", checked->why);
	json_put_int(json, "blocks", stats->blocks);
	if (stats->blocks > 0) {
		json_put_double(json, "speedup", exp(stats->ratio.center));
		json_put_double(json, "speedup_low", exp(stats->ratio.low));
		json_put_double(json, "speedup_high", exp(stats->ratio.high));
		json_put_text(json, "verdict", names_text(verdict_names, (int) stats->verdict));
		json_put_bool(json, "launch_bound", stats->launch_bound);
		json_put_double(json, "busy", checked->busy);
	}
	json_put_int(json, "wall_ns", checked->wall_ns);
}

void findings_put(const struct findings *findings, struct json_writer *json)
{
	cleanup(table_done) struct table table = TABLE_INIT;
	cleanup(str_done) struct str lost = STR_INIT;

	json_put_object(json, NULL);
	json_put_text(json, "task", findings->task->name);
	json_put_bool(json, "built", findings->candidate->is_built);
	json_put_text(json, "build_why",
		      findings->candidate->is_built ? NULL : findings->candidate->why);
	json_put_bool(json, "confined", findings->is_confined);
	add_lost(findings->candidate, &lost);
	json_put_bytes(json, "lost", lost.text, lost.len > 0 ? lost.len - 1 : 0);
	if (findings->checked) {
		fill(findings->checked, &table);
		table_put(&table, json, "cases");
		put_set(findings->checked, json);
	}
	json_put_end(json);
}
