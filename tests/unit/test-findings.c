/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check/findings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"

static struct task task = { .name = "t" };
static struct candidate candidate;
static struct checked checked;
static struct findings findings = { &task, &candidate, &checked, true };
static struct tree_change changes[8];

static void prepare(void)
{
	candidate = (struct candidate){ .is_built = true };
	checked = (struct checked){
		.case_count = 2,
		.cases = { { .name = "n=1", .mark = { .kind = MARK_VALID }, .why = "VALID" },
			   { .name = "n=2",
			     .mark = { .kind = MARK_WRONG },
			     .why = "WRONG: it is" } },
		.set = { .mark = { .kind = MARK_WRONG } },
		.why = "WRONG: it is",
		.wall_ns = 1500 * NS_PER_MS,
	};
}

static void make_valid(void)
{
	prepare();
	checked.cases[1].mark.kind = MARK_VALID;
	for (size_t i = 0; i < 2; i++)
		checked.cases[i].stats =
			(struct stats_case){ .baseline_ns = 3000, .candidate_ns = 2000 };
	checked.set = (struct marking_set){
		.mark = { .kind = MARK_VALID },
		.stats = { .blocks = 10,
			   .ratio = { log(1.5), log(1.25), log(2) },
			   .verdict = VERDICT_FAST },
	};
	snprintf(checked.why, sizeof(checked.why), "VALID");
}

static const char *print(void)
{
	static struct str out = STR_INIT;

	str_clear(&out);
	findings_print(&findings, &(struct table_style){ .has_color = false }, &out);
	return out.text;
}

static const char *put(void)
{
	static struct str out = STR_INIT;
	struct json_writer json;

	str_clear(&out);
	json_writer_init(&json, &out);
	findings_put(&findings, &json);
	CHECK(json_writer_is_whole(&json));
	return out.text;
}

TEST(each_case_has_its_mark_and_the_whole_the_first_that_is_not_valid)
{
	prepare();
	CHECK(strstr(print(), "\nn=1   VALID"));
	CHECK(strstr(print(), "\nn=2   WRONG"));
	CHECK(strstr(print(), "\nWRONG: it is  (1.50 s, seen cases only)\n") ||
	      strstr(print(), "\nWRONG: it is  (1.5 s, seen cases only)\n"));
	CHECK(strstr(put(), "\"mark\":\"WRONG\",\"why\":\"WRONG: it is\",\"blocks\":0,"));
	CHECK(!strstr(put(), "speedup_low"));
}

TEST(where_nothing_is_hidden_from_a_candidate_that_is_told)
{
	make_valid();
	CHECK(!strstr(print(), "Landlock"));
	findings.is_confined = false;
	CHECK(strstr(print(), "this kernel has no Landlock: what reads files of this jail is right "
			      "here, and will not be with the judge\n"));
	CHECK(strstr(put(), "\"confined\":false"));
}

TEST(times_come_with_speedup_interval_and_verdict)
{
	make_valid();
	CHECK(strstr(print(), "VALID         3.00          2.00     1.50"));
	CHECK(strstr(print(), "VALID, FAST: 1.500 times the baseline's speed [1.250, 2.000] after "
			      "10 blocks"));
	CHECK(!strstr(print(), "LAUNCH_BOUND"));
	CHECK(strstr(put(), "\"verdict\":\"FAST\",\"launch_bound\":false,"));
	checked.set.stats.launch_bound = true;
	CHECK(strstr(print(), "after 10 blocks; too short to be resolved here (LAUNCH_BOUND)"));
	CHECK(strstr(put(), "\"launch_bound\":true,"));
	checked.set.stats.launch_bound = false;
	CHECK(strstr(put(), "{\"case\":\"n=1\",\"mark\":\"VALID\",\"baseline_us\":3"));
}

TEST(a_candidate_that_was_not_built_has_no_cases)
{
	prepare();
	candidate.is_built = false;
	snprintf(candidate.why, sizeof(candidate.why), "the build ended with code 1");
	findings.checked = NULL;
	CHECK_STR(print(), "NOT BUILT: the build ended with code 1\n");
	CHECK_STR(put(), "{\"task\":\"t\",\"built\":false,\"build_why\":\"the build ended with "
			 "code 1\",\"confined\":true,\"lost\":\"\"}");
}

TEST(what_a_task_calls_its_files_stays_on_its_line)
{
	prepare();
	candidate.is_built = false;
	snprintf(candidate.why, sizeof(candidate.why), "the build left no 'a\033[2J\nVALID'");
	findings.checked = NULL;
	CHECK_STR(print(), "NOT BUILT: the build left no 'a\\x1b[2J\\x0aVALID'\n");
}

TEST(work_that_has_no_effect_is_named_and_what_was_only_added_is_not)
{
	make_valid();
	for (size_t i = 0; i < ARRAY_LEN(changes); i++)
		changes[i] =
			(struct tree_change){ .kind = TREE_CHANGED, .path = "b\nh", .path_len = 3 };
	changes[0].kind = TREE_ADDED;
	candidate.report.changes = changes;
	candidate.report.count = 2;
	CHECK(strncmp(print(), "without effect, since not editable or no plain file: b\\x0ah\nCASE",
		      60) == 0);
	CHECK(strstr(put(), "\"lost\":\"without effect"));
	candidate.report.count = 8;
	CHECK(strstr(print(), " and 2 more\n"));
	candidate.report.count = 1;
	CHECK(strncmp(print(), "CASE", 4) == 0);
	changes[0] = (struct tree_change){
		.kind = TREE_REFUSED, .has_effect = true, .path = "a", .path_len = 1
	};
	CHECK(strstr(print(), "no plain file: a\n"));
}
