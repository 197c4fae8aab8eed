/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/config/task.h"
#include "harness/judge/marking_plan.h"
#include "harness/judge/verdict.h"
#include "harness/run/jail.h"
#include "sandbox/base/str.h"

/*
 * What an author did wrong, by what came of it: which key of the task it is about, and a way out
 */

/**
 * advice_prototype() - append the function as the task says it is called
 * @role: WORKER_ORACLE: as the oracle is; else as the entry is
 *
 *	void row_softmax(const float *x, float *y, int64_t rows, int64_t cols)
 */
void advice_prototype(const struct task *task, enum worker_role role, struct str *out);

/**
 * advice_on_mark() - raise what a mark of the task's own code means
 * @mark:  of a baseline or oracle (INFRA), or of the pristine workspace as a candidate
 * @where: the case in words, or NULL
 *
 * Return: -1 with an ERR_INPUT error.
 */
int advice_on_mark(const struct task *task, const struct mark *mark, const char *where,
		   struct err *err);

/**
 * advice_on_agent() - raise what the end of an agent's jail means, in which the task's `check` was
 * run over the workspace as it is
 * @said: the end of what it printed on standard error
 *
 * Return: 0 if all is well, or -1 with an error: ERR_INPUT where the task's limits are too small.
 */
int advice_on_agent(const struct task *task, const struct jail_outcome *outcome, const char *said,
		    struct err *err) must_check;
