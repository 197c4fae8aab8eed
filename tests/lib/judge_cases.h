/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "harness/judge/marking_plan.h"

/*
 * Plans over tests/kernels for tests and benchmarks of the judge.
 */

/**
 * judge_plan() - an empty plan for this machine: CPU 0 judges, CPU 1 works
 */
void judge_plan(struct marking_plan *plan);

/**
 * judge_add_softmax() - add a case of softmax(in, out, rows, cols)
 */
void judge_add_softmax(struct marking_plan *plan, int rows, int cols, bool unseen);

/**
 * judge_add_chain() - add a case of chain(in, out, count, steps)
 */
void judge_add_chain(struct marking_plan *plan, int count, int steps);

/**
 * judge_add_curve() - add a case of curve(in, out, rows, cols)
 */
void judge_add_curve(struct marking_plan *plan, int rows, int cols);

/**
 * judge_has_cpus() - may this process use CPUs 0 and 1; it is on CPU 0 then
 */
bool judge_has_cpus(void);
