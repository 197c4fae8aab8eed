/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/outcome_aka.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>

#include "sandbox/base/io.h"
#include "tests/lib/check.h"

static struct arena arena;
static struct record record;
static struct err err;

/* Compiles, is correct, and was timed. */
static struct evaluation *new_evaluation(const char *verdict)
{
	struct evaluation *made = evaluation_new();

	made->result.task_name = "a/b";
	made->result.agent_name = "agent";
	made->result.compiles = made->result.has_compiled = true;
	made->result.is_correct = made->result.has_passed = true;
	made->result.speedup = 1.5;
	made->result.base_methods = pyvalue_new(&made->result.arena, PYVALUE_LIST);
	made->result.optimized_methods = pyvalue_new(&made->result.arena, PYVALUE_LIST);
	made->strict = (struct aka_strict){ .speedup = 1.25, .score = 245 };
	made->timing = (struct aka_timing){
		.rounds = 2, .verdict = verdict, .ratio = log(1.25), .low = 0.1, .high = 0.3
	};
	return made;
}

static void fill(struct evaluation *evaluation)
{
	record = (struct record){ .attempt = 1 };
	outcome_aka_fill(evaluation, &arena, &record);
}

TEST(a_timed_candidate_has_both_marks)
{
	cleanup(evaluation_free) struct evaluation *evaluation = new_evaluation("FAST");

	evaluation->timing.labels = 1U << AKA_LABEL_WALL_UNMOVED;
	fill(evaluation);
	CHECK_STR(record.seen.kind, "VALID");
	CHECK_STR(record.seen.verdict, "FAST");
	CHECK_INT(record.seen.blocks, 2);
	CHECK(record.aka.speedup == 1.5 && record.aka.score == 270);
	CHECK(record.aka.strict_speedup == 1.25 && record.aka.strict_score == 245);
	CHECK(!record.aka.reason && !record.aka.lost);
	CHECK_INT(record.label_count, 1);
	CHECK_STR(record.labels[0], "WALL_UNMOVED");
}

TEST(labels_that_it_has_stay)
{
	cleanup(evaluation_free) struct evaluation *evaluation = new_evaluation("FAST");
	static const char *const before[] = { "JUDGED_AGAIN" };

	evaluation->timing.labels = 1U << AKA_LABEL_SAME_FIGURES;
	record = (struct record){ .attempt = 1, .labels = before, .label_count = 1 };
	outcome_aka_fill(evaluation, &arena, &record);
	CHECK_INT(record.label_count, 2);
	CHECK_STR(record.labels[0], "JUDGED_AGAIN");
	CHECK_STR(record.labels[1], "SAME_FIGURES");
}

TEST(a_doubtful_pass_is_wrong_with_its_reason)
{
	cleanup(evaluation_free) struct evaluation *evaluation = new_evaluation("SAME");

	evaluation->result.has_passed = false;
	evaluation->correct_doubt = "it skipped";
	fill(evaluation);
	CHECK_STR(record.seen.kind, "WRONG");
	CHECK_STR(record.seen.why, "it skipped");
	CHECK_INT(record.seen.blocks, 0);
	CHECK(record.aka.is_correct);
}

TEST(what_does_not_compile_has_no_mark_of_its_cases)
{
	cleanup(evaluation_free) struct evaluation *evaluation = new_evaluation("SAME");

	evaluation->result.compiles = evaluation->result.has_compiled = false;
	fill(evaluation);
	CHECK(!record.seen.kind);
	CHECK(record.aka.is_there && record.aka.score == 0);
}

TEST(the_files_of_the_reference_and_the_raw_times_are_written)
{
	cleanup(evaluation_free) struct evaluation *evaluation = new_evaluation("SAME");
	cleanup(str_done) struct str text = STR_INIT;
	struct aka_case *one;
	struct digest digest, is;

	one = aka_cases_add(&evaluation->runs[0].cases,
			    pyvalue_new_text(&evaluation->runs[0].cases.arena, "c", 1));
	one->time_ms = 0.5;
	evaluation->run_count = 1;
	CHECK_OK(outcome_aka_write(evaluation, check_folder(), &digest, &err));
	CHECK_OK(io_read_file(check_folder(), "samples.json", MIB, &text, &err));
	is = digest_sha256(text.text, text.len);
	CHECK(digest_equal(&is, &digest));
	CHECK_STR(text.text,
		  "{\"schema\":\"proctor/aka-samples/1\",\"runs\":[{\"side\":\"baseline\","
		  "\"wall_ns\":0,\"from\":\"nowhere\",\"times\":[{\"case\":\"c\",\"ms\":0."
		  "5}]}]}\n");
	str_clear(&text);
	CHECK_OK(io_read_file(check_folder(), "baseline_perf.yaml", MIB, &text, &err));
	CHECK_STR(text.text, "test_cases:\n- test_case_id: c\n  execution_time_ms: 0.5\n");
	str_clear(&text);
	CHECK_OK(io_read_file(check_folder(), "optimized_perf.yaml", MIB, &text, &err));
	CHECK_STR(text.text, "test_cases: []\n");
	str_clear(&text);
	CHECK_OK(io_read_file(check_folder(), "task_result.yaml", MIB, &text, &err));
	CHECK(strstr(text.text, "task_name: a/b\n") && strstr(text.text, "score: 270.0\n"));
}
