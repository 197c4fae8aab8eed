/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/aka/aka_heldout.h"
#include "harness/aka/aka_unseen.h"
#include "harness/run/evaluation.h"

/*
 * A candidate of AgentKernelArena on shapes that its agent did not know
 *
 * Both kernels, the task's own and the candidate, are compiled, checked and timed once over the
 * task's files in which the shapes have been replaced. No jail of the agent's has seen them, and
 * none of the evaluator's either until this one.
 */

/**
 * evaluation_unseen() - run them
 * @seen: marked
 * @out:  AKA_UNSEEN_INIT; aka_unseen_done() frees it
 *
 * Where shapes can not be put into a file, that is the result's error. Return: 0; -1 for a failure
 * of ours.
 */
int evaluation_unseen(const struct evaluation_job *job, const struct evaluation *seen,
		      const struct aka_heldout *heldout, struct aka_unseen *out,
		      struct err *err) must_check;
