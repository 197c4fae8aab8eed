/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "harness/aka/aka_match.h"
#include "harness/aka/aka_results.h"
#include "harness/aka/aka_score.h"
#include "harness/aka/aka_summary.h"
#include "harness/aka/aka_verdict.h"
#include "harness/aka/pyjson.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		__builtin_trap();
}

/* A report means the same each time, and is alike to itself unless it is NaN. */
static void read_twice(const uint8_t *data, size_t size)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct pyjson first, second;

	if (pyjson_parse(&first, &arena, data, size, &err) < 0) {
		require(err.kind == ERR_INPUT);
		return;
	}
	require(pyjson_parse(&second, &arena, data, size, &err) == 0);
	if (first.root->kind == PYVALUE_FLOAT)
		return;
	require(pyvalue_is_equal(first.root, second.root));
	require(pyvalue_is_alike(first.root, second.root));
}

static void read_cases(struct aka_cases *out, const uint8_t *data, size_t size, bool is_report)
{
	cleanup(aka_said_done) struct aka_said said = AKA_SAID_INIT;
	cleanup(str_done) struct str output = STR_INIT;
	struct aka_measured measured = { .task_type = "torch2hip", .output = &output };

	if (is_report) {
		measured.reports[AKA_PERF_REPORT] =
			(struct aka_bytes){ .bytes = data, .len = size };
	} else {
		aka_said_read(&said,
			      &(struct aka_streams){ .out = data, .out_len = size, .err = "" },
			      true);
		aka_said_all(&output, &said);
	}
	aka_cases_read(out, &measured);
}

/* Whatever was measured has a result, whose strict mark is never above the other, and files. */
static void mark(const uint8_t *data, size_t size, bool is_report)
{
	cleanup(aka_cases_done) struct aka_cases base = AKA_CASES_INIT, optimized = AKA_CASES_INIT;
	cleanup(aka_result_done) struct aka_result result = AKA_RESULT_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	struct aka_strict strict;

	read_cases(&base, data, size, is_report);
	read_cases(&optimized, data, size, is_report);
	aka_result_make(&result, &(struct aka_attempt){
					 .task_name = "a/b",
					 .agent_name = "c",
					 .baseline = &base,
					 .optimized = &optimized,
				 });
	aka_score_strict(&strict, &result, &base, &optimized);
	require(result.lost_why != NULL || !(strict.score > aka_score(&result)));
	require(strict.speedup > 0 || strict.reason[0] != '\0');
	aka_result_file(&text, &result, true);
	aka_perf_file(&text, &base);
	require(text.len > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(aka_summary_done) struct aka_summary summary = AKA_SUMMARY_INIT;
	struct err err = ERR_INIT;

	read_twice(data, size);
	mark(data, size, true);
	mark(data, size, false);
	if (aka_summary_read(&summary, data, size, &err) < 0)
		require(err.kind == ERR_INPUT && summary.type_count == 0);
	return 0;
}
