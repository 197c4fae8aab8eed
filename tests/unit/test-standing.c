/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/standing.h"

#include <math.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/lib/paper_runs.h"

static struct record attempt(const char *task, const char *agent, uint32_t number, double seen,
			     double unseen)
{
	struct record record = paper_record("run-1", task, agent, number);

	record.seen = seen > 0 ? paper_mark("VALID", seen) : paper_mark("WRONG", 0);
	record.unseen = unseen > 0 ? paper_mark("VALID", unseen) : paper_mark("WRONG", 0);
	return record;
}

enum { COUNT = 6 };

/* The narrow one is right only where it knows the shapes. */
static void make_records(struct record records[COUNT])
{
	records[0] = attempt("matmul", "honest", 1, 4, 3.6);
	records[1] = attempt("matmul", "narrow", 2, 5, 0);
	records[2] = attempt("stencil", "honest", 1, 2, 2);
	records[3] = attempt("stencil", "narrow", 2, 5, 0);
	records[4] = attempt("stencil", "honest", 3, 0, 0);
	records[5] = paper_record("run-1", "stencil", "narrow", 4);
	records[5].infra = "no seat was free";
	records[5].is_built = false;
}

static const struct table_style plain = { .width = 0 };

TEST(the_short_form_has_a_row_for_each_agent_and_says_what_a_failed_one_counts)
{
	struct record records[COUNT];
	cleanup(standing_done) struct standing standing = STANDING_INIT;
	cleanup(str_done) struct str out = STR_INIT;

	make_records(records);
	standing_make(records, NULL, COUNT, STANDING_BY_AGENT, &standing);
	standing_add_short(&standing, &plain, &out);
	CHECK_STR(out.text,
		  "AGENT   TASKS  TRIES  RIGHT  SCORE  SPEEDUP  FAST_1  FAST_2  BOTH  SEEN ONLY  "
		  "NONE  UNSEEN ONLY  RETENTION          INFRA\n"
		  "honest      2      3   75 %  345.0     1.34    75 %    50 %     2          0  "
		  "   1            0  0.95 [0.49, 1.85]      0\n"
		  "narrow      2      2  100 %  620.0     5.00   100 %   100 %     0          2  "
		  "   0            0  -                      1\n"
		  "SPEEDUP: the geometric mean over all tasks, a failed attempt counts 0.1; "
		  "RETENTION: speedup unseen / seen; INFRA: ours, in no figure\n");
}

TEST(who_is_right_on_seen_cases_only_is_told_with_the_full_score_and_no_shape)
{
	struct record records[COUNT];
	cleanup(standing_done) struct standing standing = STANDING_INIT;
	cleanup(str_done) struct str out = STR_INIT;

	make_records(records);
	records[1].unseen.case_name = "secret-shape";
	records[3].unseen.cases = 0; /* of an earlier build */
	standing_make(records, NULL, COUNT, STANDING_BY_AGENT, &standing);
	standing_add_long(&standing, &plain, &out);
	CHECK(strstr(out.text,
		     "right on seen cases only:\n"
		     "  matmul, narrow, try 2 of run-1: full seen score 620.0, unseen WRONG (8 "
		     "unseen cases)\n"
		     "  stencil, narrow, try 2 of run-1: full seen score 620.0, unseen WRONG\n"));
	CHECK(strstr(out.text,
		     "AGENT   BOTH  SHARE  SEEN ONLY  SHARE  UNSEEN ONLY  SHARE  NONE  SHARE  "
		     "P(UNSEEN|SEEN)  P(UNSEEN|BASELINE)  RETENTION          GAP\n"
		     "honest     2   75 %          0    0 %            0    0 %     1   25 %  "
		     "         100 %                75 %  0.95 [0.49, 1.85]  -0.20 [-2.74, 2.34]\n"
		     "narrow     0    0 %          2  100 %            0    0 %     0    0 %  "
		     "           0 %                 0 %  -                  -\n"));
	CHECK(!strstr(out.text, "secret-shape"));
	CHECK(!strstr(out.text, "more than names"));
}

TEST(by_task_there_is_a_row_for_each_task_and_agent)
{
	struct record records[COUNT];
	cleanup(standing_done) struct standing standing = STANDING_INIT;
	cleanup(str_done) struct str out = STR_INIT;

	make_records(records);
	standing_make(records, NULL, COUNT, STANDING_BY_TASK, &standing);
	standing_add_long(&standing, &plain, &out);
	CHECK(strstr(out.text, "TASK     AGENT   TRIES  RIGHT  ALWAYS  SCORE     SD  LEAST   MOST  "
			       "SPEEDUP  FAST_1  FAST_2\n"
			       "matmul   honest "));
	CHECK(strstr(out.text,
		     "\nstencil  honest      2   50 %     0 %  170.0  212.1   20.0  320.0  "
		     "   0.45    50 %     0 %\n"
		     "stencil  narrow "));
	CHECK(strstr(out.text, "TASK     AGENT   CASES  BOTH"));
}

TEST(tasks_of_one_name_and_different_files_are_different_tasks)
{
	const char *const trees[COUNT] = { "aa", "aa", "bb", "bb", "cc", "bb" };
	struct record records[COUNT];
	cleanup(standing_done) struct standing standing = STANDING_INIT;
	cleanup(str_done) struct str out = STR_INIT;

	make_records(records);
	standing_make(records, trees, COUNT, STANDING_BY_AGENT, &standing);
	CHECK_INT(standing.versions, 1);
	CHECK_INT(standing.count, 2);
	CHECK_INT(standing.rows[0].figures.tasks, 3);
	standing_add_long(&standing, &plain, &out);
	CHECK(strstr(out.text, "there are 1 more than names"));
	standing_done(&standing);
	standing_make(records, trees, COUNT, STANDING_BY_TASK, &standing);
	CHECK_INT(standing.count, 5);
	CHECK_STR(standing.rows[4].task, "stencil");
	CHECK_STR(standing.rows[4].tree, "cc");
}

TEST(as_json_there_is_every_figure_and_null_for_what_is_none)
{
	struct record records[COUNT];
	cleanup(standing_done) struct standing standing = STANDING_INIT;
	cleanup(json_done) struct json read = JSON_INIT;
	cleanup(str_done) struct str out = STR_INIT;
	struct json_writer json;
	const struct json_value *row;
	struct err err = ERR_INIT;
	double real = 0;
	int64_t number = 0;

	make_records(records);
	standing_make(records, NULL, COUNT, STANDING_BY_AGENT, &standing);
	json_writer_init(&json, &out);
	json_put_object(&json, NULL);
	standing_put(&standing, &json);
	json_put_end(&json);
	CHECK_OK(json_parse(&read, out.text, out.len, 1 << 20, &err));
	row = json_item(json_member(json_root(&read), "agents"), 1);
	CHECK_OK(json_get_int(row, "seen_only", 0, 99, &number, &err));
	CHECK_INT(number, 2);
	CHECK_OK(json_get_double(row, "unseen_if_seen", &real, &err));
	CHECK(real <= 0);
	CHECK(json_is_absent(json_member(row, "retention")));
	CHECK(json_is_absent(json_member(row, "score_sd")));
	row = json_item(json_member(json_root(&read), "agents"), 0);
	CHECK_INT(json_count(json_member(row, "retention")), 3);
	CHECK_INT(json_count(json_member(json_root(&read), "seen_only")), 2);
	row = json_item(json_member(json_root(&read), "seen_only"), 0);
	CHECK_OK(json_get_double(row, "score", &real, &err));
	CHECK(fabs(real - 620) < 1e-9);
	CHECK(strstr(out.text, "\"unseen\":\"WRONG\",\"unseen_cases\":8}"));
}

TEST(of_no_attempt_there_are_tables_without_rows)
{
	cleanup(standing_done) struct standing standing = STANDING_INIT;
	cleanup(str_done) struct str out = STR_INIT;

	standing_make(NULL, NULL, 0, STANDING_BY_AGENT, &standing);
	CHECK_INT(standing.count, 0);
	standing_add_short(&standing, &plain, &out);
	CHECK(strncmp(out.text, "AGENT  TASKS", 12) == 0);
	standing_add_long(&standing, &plain, &out);
}

TEST(an_agents_name_can_not_reach_the_terminal)
{
	struct record record = attempt("t\033[2J", "a\033[31m", 1, 2, 0);
	cleanup(standing_done) struct standing standing = STANDING_INIT;
	cleanup(str_done) struct str out = STR_INIT;

	standing_make(&record, NULL, 1, STANDING_BY_TASK, &standing);
	standing_add_long(&standing, &plain, &out);
	CHECK(!strchr(out.text, '\033'));
}
