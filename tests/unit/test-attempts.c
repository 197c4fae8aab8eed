/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/attempts.h"

#include <math.h>
#include <string.h>

#include "tests/lib/check.h"

static struct record plain_record(const char *task)
{
	return (struct record){ .task = task,
				.agent = "script",
				.attempt = 1,
				.ending = { "exited", 0, RECORD_UNKNOWN, NULL, 0 },
				.is_built = true,
				.seen = RECORD_MARK_NONE,
				.unseen = RECORD_MARK_NONE,
				.times = { .leased_ns = NS_PER_S, .recorded_ns = 66 * NS_PER_S } };
}

TEST(each_record_is_a_row_whatever_became_of_it)
{
	static const char *const flags[] = { "oom_hit" };
	struct record records[4] = { plain_record("good"), plain_record("wrong"),
				     plain_record("broken"), plain_record("lost") };
	cleanup(table_done) struct table table = TABLE_INIT;
	cleanup(str_done) struct str out = STR_INIT;

	records[0].seen.kind = records[0].unseen.kind = "VALID";
	records[0].seen.blocks = 10;
	records[0].seen.verdict = "FAST";
	records[0].seen.ratio = log(1.5);
	records[0].seen.ratio_low = log(1.25);
	records[0].seen.ratio_high = log(1.75);
	records[0].unseen.blocks = 10;
	records[0].unseen.verdict = "AMBG";
	records[0].unseen.ratio = log(1.2);
	records[1].seen.kind = "WRONG";
	records[1].seen.why = "case small: y[3] is 1, not 2";
	records[1].ending = (struct record_ending){ "signaled", RECORD_UNKNOWN, 9, flags, 1 };
	records[2].is_built = false;
	records[2].ending = (struct record_ending){ "exited", 3, RECORD_UNKNOWN, NULL, 0 };
	records[3].is_built = false;
	records[3].ending = (struct record_ending){ .how = NULL };
	records[3].infra = "no seat was free";
	records[3].times.leased_ns = 0; /* it did not come to that */
	attempts_table(records, 4, false, &table);
	table_print(&table, &(struct table_style){ .width = 0 }, &out);
	CHECK_STR(out.text,
		  "TASK    AGENT   TRY  ENDING                 SEEN   UNSEEN  SPEEDUP            "
		  "VERDICT  ON UNSEEN  VERDICT  SCORE  TIME  WHY\n"
		  "good    script    1  exited                 VALID  VALID   1.50 [1.25, 1.75]  "
		  "FAST          1.20  AMBG     270.0  1:05  -\n"
		  "wrong   script    1  signaled by 9 oom_hit  WRONG  -       -                  "
		  "-                -  -         20.0  1:05  case small: y[3] is 1, not 2\n"
		  "broken  script    1  exited 3               -      -       -                  "
		  "-                -  -          0.0  1:05  it does not compile\n"
		  "lost    script    1  -                      INFRA  -       -                  "
		  "-                -  -            -     -  no seat was free\n");
}

TEST(unseen_cases_that_are_too_short_are_told)
{
	struct record record = plain_record("t");
	cleanup(table_done) struct table table = TABLE_INIT;
	cleanup(str_done) struct str out = STR_INIT;

	record.seen.kind = "VALID";
	record.unseen.kind = "VALID";
	record.unseen.blocks = 10;
	record.unseen.launch_bound = true;
	attempts_table(&record, 1, false, &table);
	table_print(&table, &(struct table_style){ .width = 0 }, &out);
	CHECK(strstr(out.text, "unseen cases: too short to be resolved here (LAUNCH_BOUND)\n"));
}

TEST(an_unseen_failure_is_told_when_the_seen_cases_are_right)
{
	struct record record = plain_record("t");
	cleanup(table_done) struct table table = TABLE_INIT;
	cleanup(str_done) struct str out = STR_INIT;

	record.seen.kind = "VALID";
	record.unseen.kind = "WRONG";
	record.unseen.why = "unseen case 2 is wrong";
	attempts_table(&record, 1, false, &table);
	table_print(&table, &(struct table_style){ .width = 0 }, &out);
	CHECK(strstr(out.text, "120.0  1:05  unseen case 2 is wrong\n"));
}

TEST(of_several_runs_each_row_says_which)
{
	struct record records[2] = { plain_record("t"), plain_record("t") };
	cleanup(table_done) struct table table = TABLE_INIT;
	cleanup(str_done) struct str out = STR_INIT;

	records[0].run = "run-1";
	records[1].run = "run-2";
	attempts_table(records, 2, true, &table);
	table_print(&table, &(struct table_style){ .width = 0 }, &out);
	CHECK(strncmp(out.text, "RUN    TASK  AGENT", 18) == 0);
	CHECK(strstr(out.text, "\nrun-2  t     script    1"));
}

TEST(the_summary_counts_every_attempt)
{
	static const struct score_result results[] = { { true, true, 4, true },
						       { false, false, 0, false } };
	const struct score_summary summary = score_summarise(results, 2);
	cleanup(str_done) struct str out = STR_INIT;
	struct json_writer json;

	json_writer_init(&json, &out);
	attempts_put_summary(&summary, &json, NULL);
	CHECK(strstr(out.text, "{\"attempts\":2,\"compiled\":1,\"correct\":1,\"total_score\":520.0,"
			       "\"mean_score\":260.0,\"mean_speedup\":2.0,\"geometric\":0.63"));
}
