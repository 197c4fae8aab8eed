/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/vetted.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/judge/constants.h"

/* What tasks/README.md advises: a call of the baseline is no longer, one of a candidate no shorter.
 */
#define LONG_NS     300000
#define RESOLVED_NS 40000
#define ROOM        4 /* what a good candidate may well gain */

static const struct table_column case_columns[] = {
	/* clang-format off */
	{ "case",        "CASE",        TABLE_LEFT },
	{ "unseen",      "UNSEEN",      TABLE_LEFT },
	{ "baseline_us", "BASELINE us", TABLE_RIGHT },
	{ "note",        "NOTE",        TABLE_LEFT },
	/* clang-format on */
};

static const struct table_column solution_columns[] = {
	/* clang-format off */
	{ "solution",        "SOLUTION",  TABLE_LEFT },
	{ "expected",        "OK",        TABLE_LEFT },
	{ "seen",            "SEEN",      TABLE_LEFT },
	{ "unseen",          "UNSEEN",    TABLE_LEFT },
	{ "expected_seen",   "EXPECTED",  TABLE_LEFT },
	{ "expected_unseen", "ON UNSEEN", TABLE_LEFT },
	{ "why",             "WHY",       TABLE_LEFT },
	/* clang-format on */
};

/* It is not only the baseline that has to be long enough: what counts is the shorter of both. */
static const char *note_of(const struct vetted_case *item, bool is_busy, char *room, size_t size)
{
	const double resolved = fmax(is_busy ? 0 : item->floor_ns, RESOLVED_NS);

	if (item->baseline_ns <= item->floor_ns && !is_busy)
		return "too short to be told from a call: no candidate can be FAST here";
	if (item->baseline_ns <= resolved)
		return "shorter than 40 us: whatever is faster may be LAUNCH_BOUND";
	if (item->baseline_ns >= ROOM * resolved)
		return item->baseline_ns > LONG_NS ? "longer than 300 us" : NULL;
	snprintf(room, size, "what is more than %.1f times as fast may be LAUNCH_BOUND",
		 item->baseline_ns / resolved);
	return room;
}

static void fill_cases(const struct vetted *vetted, struct table *out)
{
	table_init(out, case_columns, ARRAY_LEN(case_columns));
	for (size_t i = 0; i < vetted->case_count; i++) {
		const struct vetted_case *item = &vetted->cases[i];
		char room[80];

		table_text(out, item->name);
		table_text(out, item->is_unseen ? "unseen" : NULL);
		table_double(out, item->baseline_ns / 1000, 1);
		table_text(out, note_of(item, vetted->busy > MARKING_BUSY, room, sizeof(room)));
		table_tone(out, TABLE_DOUBTFUL);
	}
}

static const char *kind_text(enum mark_kind kind)
{
	return kind == MARK_NONE ? NULL : names_text(mark_kind_names, (int) kind);
}

static void fill_solutions(const struct vetted *vetted, struct table *out)
{
	table_init(out, solution_columns, ARRAY_LEN(solution_columns));
	for (size_t i = 0; i < vetted->solution_count; i++) {
		const struct vetted_solution *item = &vetted->solutions[i];

		table_text(out, item->name);
		table_text(out, item->is_expected ? "yes" : "NO");
		table_tone(out, item->is_expected ? TABLE_GOOD : TABLE_BAD);
		table_text(out, item->is_built ? kind_text(item->seen) : "not built");
		table_text(out, kind_text(item->unseen));
		table_text(out, kind_text(item->expected.seen));
		table_text(out, kind_text(item->expected.unseen));
		table_text(out, item->why[0] ? item->why : NULL);
	}
}

static const char *shown_name(const struct vetted *vetted, const char *folder)
{
	return vetted->name[0] ? vetted->name : folder;
}

/* A folder is called as somebody else likes, and so is what an error quotes. */
static void add_shown(const char *text, struct str *out)
{
	str_add_shown(out, text, strlen(text));
}

void vetted_print(const struct vetted *vetted, const char *folder, const struct table_style *style,
		  struct str *out)
{
	cleanup(table_done) struct table cases = TABLE_INIT, solutions = TABLE_INIT;

	add_shown(shown_name(vetted, folder), out);
	str_addf(out, ": %s", vetted_is_good(vetted) ? "good" : "NOT GOOD");
	if (vetted->marking_ns > 0) {
		str_addf(out, "; a marking of %d blocks takes about ", JUDGE_BLOCKS);
		table_add_duration(out, vetted->marking_ns);
		str_addf(out, " here, mark.wall is ");
		table_add_duration(out, vetted->mark_wall_ns);
	}
	str_addf(out, "\n");
	if (vetted->busy > MARKING_BUSY)
		str_addf(out,
			 "this machine is busy: for %.0f %% of the time the CPU was others', and "
			 "all times are too long\n",
			 100 * vetted->busy);
	if (vetted->problem.kind != ERR_NONE) {
		add_shown(vetted->problem.text, out);
		str_addf(out, "\n");
	}
	fill_cases(vetted, &cases);
	if (vetted->case_count > 0)
		table_print(&cases, style, out);
	fill_solutions(vetted, &solutions);
	if (vetted->solution_count > 0)
		table_print(&solutions, style, out);
}

void vetted_put(const struct vetted *vetted, const char *folder, struct json_writer *json)
{
	cleanup(table_done) struct table cases = TABLE_INIT, solutions = TABLE_INIT;

	json_put_object(json, NULL);
	json_put_text(json, "folder", folder);
	json_put_text(json, "task", vetted->name[0] ? vetted->name : NULL);
	json_put_bool(json, "good", vetted_is_good(vetted));
	json_put_text(json, "problem",
		      vetted->problem.kind == ERR_NONE ? NULL : vetted->problem.text);
	json_put_int(json, "marking_ns", vetted->marking_ns);
	json_put_int(json, "mark_wall_ns", vetted->mark_wall_ns);
	json_put_double(json, "busy", vetted->busy);
	json_put_int(json, "wall_ns", vetted->wall_ns);
	fill_cases(vetted, &cases);
	table_put(&cases, json, "cases");
	fill_solutions(vetted, &solutions);
	table_put(&solutions, json, "solutions");
	json_put_end(json);
}
