/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "harness/aka/aka_cases.h"
#include "harness/aka/pyvalue.h"
#include "sandbox/base/arena.h"
#include "sandbox/base/str.h"

/*
 * The result of one task, as the reference has it: figures, errors, and the three files that it
 * leaves for a task
 *
 * Where the reference has no result (its reader raised, the guard tripped, a clone failed), the
 * task is in none of its reports. Here it has a record all the same: one that does not compile,
 * with the reason, so that no task ever leaves the count.
 */
struct aka_attempt {
	const char *task_name;
	const char *agent_name;
	const struct pyvalue *compile_error; /* NULL: it compiles */
	const struct pyvalue *correct_error; /* NULL: it is correct, where it compiles */
	const char *correct_doubt;           /* see aka_verdict_doubt(); NULL: none */
	const struct aka_cases *baseline;
	const struct aka_cases *optimized; /* NULL: not measured */
};

struct aka_result {
	struct arena arena;
	const char *task_name;
	const char *agent_name;
	bool compiles;
	bool is_correct;
	const struct pyvalue *compile_error; /* NULL: none */
	const struct pyvalue *correct_error;
	const char *correct_doubt;
	double base_time; /* means of the valid cases, in milliseconds; 0 where there are none */
	double optimized_time;
	double speedup;                    /* 0: refused or not measured */
	struct pyvalue *base_methods;      /* sorted texts */
	struct pyvalue *optimized_methods; /* sorted texts */
	bool methods_agree;
	size_t valid_base;
	size_t valid_optimized;
	const char *speedup_error; /* NULL: none */
	const char *lost_why;      /* why the reference has no result; NULL: it has this one */
	bool has_compiled; /* what the commands came to, also where the reference has lost it */
	bool has_passed;   /* correct, and nothing doubtful about it */
};

#define AKA_RESULT_INIT ((struct aka_result){ .task_name = NULL })

/**
 * aka_result_make() - what the reference says of an attempt
 * @out: AKA_RESULT_INIT; the caller's to release with aka_result_done(); has copies of all but
 *       correct_doubt
 *
 * Where a reader of the reference would have raised, this is aka_result_lose(), but for what the
 * commands came to.
 */
void aka_result_make(struct aka_result *out, const struct aka_attempt *attempt);

/**
 * aka_result_lose() - the record of a task that the reference has no result of
 */
void aka_result_lose(struct aka_result *out, const char *task_name, const char *agent_name,
		     const char *why);

/**
 * aka_result_done() - release it
 */
void aka_result_done(struct aka_result *result);

/**
 * aka_result_file() - append task_result.yaml
 * @has_score: as it is after the reports were made, with aka_score()
 */
void aka_result_file(struct str *out, const struct aka_result *result, bool has_score);

/**
 * aka_perf_file() - append baseline_perf.yaml or optimized_perf.yaml
 */
void aka_perf_file(struct str *out, const struct aka_cases *cases);
