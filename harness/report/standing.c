/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/standing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/base/mem.h"

/* ---- groups ---- */

struct task_id {
	const char *name, *tree;
};

/* What attempts are about, by number; numbers are given as they come. */
struct names {
	struct task_id *tasks; /* owned, as the next one; room for every attempt */
	const char **agents;
	size_t task_count, agent_count;
};

struct entry {
	size_t agent, task, index;
};

static bool is_same_text(const char *left, const char *right)
{
	return left && right ? strcmp(left, right) == 0 : left == right;
}

static size_t number_task(struct names *names, const char *task, const char *tree, size_t *versions)
{
	bool has_namesake = false;

	for (size_t i = 0; i < names->task_count; i++) {
		if (strcmp(names->tasks[i].name, task) != 0)
			continue;
		if (is_same_text(names->tasks[i].tree, tree))
			return i;
		has_namesake = true;
	}
	*versions += has_namesake;
	names->tasks[names->task_count] = (struct task_id){ task, tree };
	return names->task_count++;
}

static size_t number_agent(struct names *names, const char *agent)
{
	for (size_t i = 0; i < names->agent_count; i++)
		if (strcmp(names->agents[i], agent) == 0)
			return i;
	names->agents[names->agent_count] = agent;
	return names->agent_count++;
}

static int compare(size_t left, size_t right)
{
	return (left > right) - (left < right);
}

static int compare_by_agent(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;

	if (left->agent != right->agent)
		return compare(left->agent, right->agent);
	if (left->task != right->task)
		return compare(left->task, right->task);
	return compare(left->index, right->index);
}

static int compare_by_task(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;

	return left->task != right->task ? compare(left->task, right->task)
					 : compare_by_agent(a, b);
}

static bool is_one_row(enum standing_by by, const struct entry *left, const struct entry *right)
{
	return left->agent == right->agent &&
	       (by == STANDING_BY_AGENT || left->task == right->task);
}

/* The row that begins with the first of these entries. Return: how many it takes. */
static size_t take_row(struct standing *standing, const struct record *records,
		       const struct entry *entries, size_t count, const struct names *names)
{
	struct standing_row *row = &standing->rows[standing->count++];
	cleanup(mem_free) struct generalisation_attempt *list = NULL;
	size_t end = 1;

	while (end < count && is_one_row(standing->by, &entries[0], &entries[end]))
		end++;
	list = mem_alloc(end, sizeof(*list));
	*row = (struct standing_row){ .agent = names->agents[entries[0].agent] };
	for (size_t i = 0; i < end; i++) {
		const struct record *record = &records[entries[i].index];

		list[i] = generalisation_attempt(record, (uint32_t) entries[i].task);
		if (standing->by == STANDING_BY_TASK && record->unseen.cases > 0)
			row->unseen_cases = record->unseen.cases;
		if (list[i].is_marked && list[i].quadrant == QUADRANT_SEEN)
			standing->narrow[standing->narrow_count++] = record;
	}
	row->figures = generalisation_of(list, end);
	if (standing->by == STANDING_BY_TASK) {
		row->task = names->tasks[entries[0].task].name;
		row->tree = names->tasks[entries[0].task].tree;
	}
	return end;
}

void standing_make(const struct record *records, const char *const *trees, size_t count,
		   enum standing_by by, struct standing *out)
{
	cleanup(mem_free) struct task_id *tasks = mem_alloc(count + 1, sizeof(*tasks));
	cleanup(mem_free) const char **agents = mem_alloc(count + 1, sizeof(*agents));
	cleanup(mem_free) struct entry *entries = mem_alloc(count + 1, sizeof(*entries));
	struct names names = { .tasks = tasks, .agents = agents };

	*out = (struct standing){
		.by = by,
		.rows = mem_alloc(count + 1, sizeof(*out->rows)),
		.narrow = mem_alloc(count + 1, sizeof(const struct record *)),
	};
	for (size_t i = 0; i < count; i++)
		entries[i] = (struct entry){
			.agent = number_agent(&names, records[i].agent),
			.task = number_task(&names, records[i].task, trees ? trees[i] : NULL,
					    &out->versions),
			.index = i,
		};
	qsort(entries, count, sizeof(*entries),
	      by == STANDING_BY_AGENT ? compare_by_agent : compare_by_task);
	for (size_t at = 0; at < count;)
		at += take_row(out, records, entries + at, count - at, &names);
}

void standing_done(struct standing *standing)
{
	mem_free(&standing->rows);
	mem_free(&standing->narrow);
	*standing = STANDING_INIT;
}

/* ---- all figures ---- */

/* By task the first two as well. */
static const struct table_column columns[] = {
	/* clang-format off */
	{ "task",               "TASK",          TABLE_LEFT },
	{ "tree",               "TREE",          TABLE_LEFT },
	{ "agent",              "AGENT",         TABLE_LEFT },
	{ "tasks",              "TASKS",         TABLE_RIGHT },
	{ "attempts",           "TRIES",         TABLE_RIGHT },
	{ "infra_attempts",     "INFRA",         TABLE_RIGHT },
	{ "unmarked_tasks",     "NO MARK",       TABLE_RIGHT },
	{ "compiled",           "COMPILED",      TABLE_RIGHT },
	{ "right",              "RIGHT",         TABLE_RIGHT },
	{ "right_once",         "ONCE",          TABLE_RIGHT },
	{ "right_always",       "ALWAYS",        TABLE_RIGHT },
	{ "score",              "SCORE",         TABLE_RIGHT },
	{ "score_sd",           "SD",            TABLE_RIGHT },
	{ "score_least",        "LEAST",         TABLE_RIGHT },
	{ "score_most",         "MOST",          TABLE_RIGHT },
	{ "geometric",          "SPEEDUP",       TABLE_RIGHT },
	{ "geometric_right",    "OF RIGHT",      TABLE_RIGHT },
	{ "mean_speedup",       "MEAN",          TABLE_RIGHT },
	{ "fast_1",             "FAST_1",        TABLE_RIGHT },
	{ "fast_2",             "FAST_2",        TABLE_RIGHT },
	{ "fast",               "FAST",          TABLE_RIGHT },
	{ "slow",               "SLOW",          TABLE_RIGHT },
	{ "same",               "SAME",          TABLE_RIGHT },
	{ "ambg",               "AMBG",          TABLE_RIGHT },
	{ "launch_bound",       "LAUNCH_BOUND",  TABLE_RIGHT },
	{ "untimed",            "NOT TIMED",     TABLE_RIGHT },
	{ "both",               "BOTH",          TABLE_RIGHT },
	{ "both_share",         "SHARE",         TABLE_RIGHT },
	{ "seen_only",          "SEEN ONLY",     TABLE_RIGHT },
	{ "seen_only_share",    "SHARE",         TABLE_RIGHT },
	{ "unseen_only",        "UNSEEN ONLY",   TABLE_RIGHT },
	{ "unseen_only_share",  "SHARE",         TABLE_RIGHT },
	{ "none",               "NONE",          TABLE_RIGHT },
	{ "none_share",         "SHARE",         TABLE_RIGHT },
	{ "unseen_not_marked",  "NOT MARKED",    TABLE_RIGHT },
	{ "unseen_cases",       "CASES",         TABLE_RIGHT },
	{ "unseen_if_seen",     "P(UNSEEN|SEEN)", TABLE_RIGHT },
	{ "unseen_if_baseline", "P(UNSEEN|BASELINE)", TABLE_RIGHT },
	{ "resolved_tasks",     "RESOLVED",      TABLE_RIGHT },
	{ "retention",          "RETENTION",     TABLE_LEFT, true },
	{ "gap",                "GAP",           TABLE_LEFT, true },
	/* clang-format on */
};

enum { BY_TASK_COLUMNS = 2 };

static void add_marks(struct table *table, const struct generalisation *figures)
{
	table_int(table, (int64_t) figures->tasks);
	table_int(table, (int64_t) figures->attempts);
	table_int(table, (int64_t) figures->infra);
	table_tone(table, figures->infra > 0 ? TABLE_DOUBTFUL : TABLE_PLAIN);
	table_int(table, (int64_t) figures->unmarked);
	table_tone(table, figures->unmarked > 0 ? TABLE_DOUBTFUL : TABLE_PLAIN);
	table_share(table, figures->compiled);
	table_share(table, figures->right);
	table_share(table, figures->once);
	table_share(table, figures->always);
	table_double(table, figures->score, 1);
	table_double(table, figures->score_sd, 1);
	table_double(table, figures->score_least, 1);
	table_double(table, figures->score_most, 1);
	table_double(table, figures->geometric, 2);
	table_double(table, figures->geometric_right, 2);
	table_double(table, figures->speedup, 2);
	table_share(table, figures->fast_1);
	table_share(table, figures->fast_2);
}

static void add_timed(struct table *table, const struct generalisation *figures)
{
	static const enum timed order[] = { TIMED_FAST, TIMED_SLOW,         TIMED_SAME,
					    TIMED_AMBG, TIMED_LAUNCH_BOUND, TIMED_NOT };

	for (size_t i = 0; i < ARRAY_LEN(order); i++)
		table_int(table, (int64_t) figures->timed[order[i]]);
}

static void add_unseen(struct table *table, const struct standing_row *row)
{
	const struct generalisation *figures = &row->figures;

	for (size_t i = 0; i < QUADRANTS; i++) {
		table_int(table, (int64_t) figures->quadrant_attempts[i]);
		if (i == QUADRANT_SEEN && figures->quadrant_attempts[i] > 0)
			table_tone(table, TABLE_BAD);
		table_share(table, figures->quadrants[i]);
	}
	table_int(table, (int64_t) figures->quadrant_attempts[QUADRANT_UNKNOWN]);
	if (row->unseen_cases > 0)
		table_int(table, row->unseen_cases);
	else
		table_text(table, NULL);
	table_share(table, figures->unseen_if_seen);
	table_share(table, figures->unseen_if_baseline);
	table_int(table, (int64_t) figures->retention.count);
	table_interval(table, figures->retention.mean, figures->retention.low,
		       figures->retention.high);
	table_interval(table, figures->gap.mean, figures->gap.low, figures->gap.high);
}

void standing_table(const struct standing *standing, struct table *out)
{
	const size_t skipped = standing->by == STANDING_BY_TASK ? 0 : BY_TASK_COLUMNS;

	table_init(out, columns + skipped, ARRAY_LEN(columns) - skipped);
	for (size_t i = 0; i < standing->count; i++) {
		const struct standing_row *row = &standing->rows[i];

		if (skipped == 0) {
			table_text(out, row->task);
			table_text(out, row->tree);
		}
		table_text(out, row->agent);
		add_marks(out, &row->figures);
		add_timed(out, &row->figures);
		add_unseen(out, row);
	}
}

/* ---- as text ---- */

/* What stands in one table of a terminal; without "task" where there is none. */
static const char *const in_short[] = { "agent",     "tasks",         "attempts", "right",
					"score",     "geometric",     "fast_1",   "fast_2",
					"both",      "seen_only",     "none",     "unseen_only",
					"retention", "infra_attempts" };
static const char *const of_marks[] = { "task",     "agent",       "tasks",        "attempts",
					"right",    "right_once",  "right_always", "score",
					"score_sd", "score_least", "score_most",   "geometric",
					"fast_1",   "fast_2" };
static const char *const of_unseen[] = { "task",
					 "agent",
					 "unseen_cases",
					 "both",
					 "both_share",
					 "seen_only",
					 "seen_only_share",
					 "unseen_only",
					 "unseen_only_share",
					 "none",
					 "none_share",
					 "unseen_if_seen",
					 "unseen_if_baseline",
					 "retention",
					 "gap" };
static const char *const of_timing[] = { "task",           "agent",         "fast",
					 "slow",           "same",          "ambg",
					 "launch_bound",   "untimed",       "unseen_not_marked",
					 "infra_attempts", "unmarked_tasks" };

/* Without the columns that say nothing of rows of this kind. */
static void print_view(const struct standing *standing, const struct table *table,
		       const char *const *keys, size_t count, const struct table_style *style,
		       struct str *out)
{
	static const char *const of_agents[] = { "tasks", "unmarked_tasks", "right_once" };
	const char *shown[ARRAY_LEN(columns)];
	size_t shown_count = 0;

	for (size_t i = 0; i < count; i++) {
		bool is_shown =
			standing->by == STANDING_BY_TASK || strcmp(keys[i], "unseen_cases") != 0;

		for (size_t j = 0; j < ARRAY_LEN(of_agents); j++)
			if (standing->by == STANDING_BY_TASK && strcmp(keys[i], of_agents[j]) == 0)
				is_shown = false;
		if (is_shown)
			shown[shown_count++] = keys[i];
	}
	table_print_some(table, shown, shown_count, style, out);
}

void standing_add_short(const struct standing *standing, const struct table_style *style,
			struct str *out)
{
	cleanup(table_done) struct table table = TABLE_INIT;

	standing_table(standing, &table);
	print_view(standing, &table, in_short, ARRAY_LEN(in_short), style, out);
	str_addf(out,
		 "SPEEDUP: the geometric mean over all tasks, a failed attempt counts %.1f; "
		 "RETENTION: speedup unseen / seen; INFRA: ours, in no figure\n",
		 SCORE_SPEEDUP_FLOOR);
}

static void add_narrow(const struct standing *standing, struct str *out)
{
	if (standing->narrow_count == 0)
		return;
	str_addf(out, "\nright on seen cases only:\n");
	for (size_t i = 0; i < standing->narrow_count; i++) {
		const struct record *record = standing->narrow[i];
		const struct score_result result = record_result(record);

		str_addf(out, "  ");
		str_add_shown(out, record->task, strlen(record->task));
		str_addf(out, ", ");
		str_add_shown(out, record->agent, strlen(record->agent));
		str_addf(out, ", try %u", record->attempt);
		if (record->run) {
			str_addf(out, " of ");
			str_add_shown(out, record->run, strlen(record->run));
		}
		str_addf(out, ": full seen score ");
		table_add_double(out, score_attempt(&result), 1);
		str_addf(out, ", unseen ");
		str_add_shown(out, record->unseen.kind, strlen(record->unseen.kind));
		if (record->unseen.cases > 0)
			str_addf(out, " (%u unseen cases)", record->unseen.cases);
		str_addf(out, "\n");
	}
}

static void add_legend(const struct standing *standing, struct str *out)
{
	str_addf(out,
		 "\nFigures are means over tasks, of the mean over a task's attempts; counts are "
		 "of attempts; INFRA is ours, in no figure.\n"
		 "SPEEDUP: geometric mean over all tasks, a failed attempt counts %.1f. FAST_1, "
		 "FAST_2: right, FAST, and more than 1, 2 times as fast.\n"
		 "SD: of repeats. P(UNSEEN|BASELINE): the baseline is right on every case, or the "
		 "attempt is INFRA.\n"
		 "RETENTION: speedup unseen / seen, GAP: unseen - seen, of those right and "
		 "resolved on both, with 95 %% intervals over tasks.\n",
		 SCORE_SPEEDUP_FLOOR);
	if (standing->versions > 0)
		str_addf(out,
			 "Tasks of one name that are not the same files count as different tasks; "
			 "there are %zu more than names.\n",
			 standing->versions);
}

void standing_add_long(const struct standing *standing, const struct table_style *style,
		       struct str *out)
{
	cleanup(table_done) struct table table = TABLE_INIT;

	standing_table(standing, &table);
	print_view(standing, &table, of_marks, ARRAY_LEN(of_marks), style, out);
	str_addf(out, "\n");
	print_view(standing, &table, of_unseen, ARRAY_LEN(of_unseen), style, out);
	str_addf(out, "\n");
	print_view(standing, &table, of_timing, ARRAY_LEN(of_timing), style, out);
	add_narrow(standing, out);
	add_legend(standing, out);
}

/* ---- as JSON ---- */

static void put_narrow(const struct standing *standing, struct json_writer *json)
{
	json_put_array(json, "seen_only");
	for (size_t i = 0; i < standing->narrow_count; i++) {
		const struct record *record = standing->narrow[i];
		const struct score_result result = record_result(record);

		json_put_object(json, NULL);
		json_put_text(json, "run", record->run);
		json_put_text(json, "task", record->task);
		json_put_text(json, "agent", record->agent);
		json_put_int(json, "attempt", record->attempt);
		json_put_double(json, "score", score_attempt(&result));
		json_put_text(json, "unseen", record->unseen.kind);
		if (record->unseen.cases > 0)
			json_put_int(json, "unseen_cases", record->unseen.cases);
		else
			json_put_null(json, "unseen_cases");
		json_put_end(json);
	}
	json_put_end(json);
}

void standing_put(const struct standing *standing, struct json_writer *json)
{
	cleanup(table_done) struct table table = TABLE_INIT;

	standing_table(standing, &table);
	json_put_double(json, "failed_counts", SCORE_SPEEDUP_FLOOR);
	table_put(&table, json, standing->by == STANDING_BY_TASK ? "tasks" : "agents");
	put_narrow(standing, json);
}
