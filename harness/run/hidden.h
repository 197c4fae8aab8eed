/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/config/task.h"
#include "harness/judge/inputs.h"
#include "harness/judge/marking_plan.h"
#include "sandbox/base/str.h"

/*
 * The hidden draw: from a task and the key of one candidate to the cases of its marking
 *
 * Runs in the judge. Whoever has the key and the task gets the same cases again.
 */

/**
 * hidden_plan() - the seen cases of the task, and behind them the hidden ones, drawn by @key
 *
 * CPUs and floor are left for the caller to fill in, and the check that follows. A category from
 * which no case can be drawn is an ERR_INPUT error of the task.
 */
int hidden_plan(const struct task *task, const uint8_t key[INPUTS_KEY], struct marking_plan *out,
		struct err *err) must_check;

/**
 * hidden_dims() - the given dimensions of each case of that plan, for who may know them
 * @dims: receives them in the order of the plan, room for CASES_MAX
 */
int hidden_dims(const struct task *task, const uint8_t key[INPUTS_KEY],
		int64_t (*dims)[DIMS_MAX + 1], struct err *err) must_check;

/**
 * hidden_name_dims() - append "rows=256 cols=128"
 */
void hidden_name_dims(const struct dims *dims, const int64_t *values, struct str *out);
