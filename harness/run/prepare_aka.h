/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/run/run.h"

/**
 * prepare_aka() - choose the tasks of AgentKernelArena that a run was told, and copy them into its
 * folder
 *
 * Nothing is built before its agents begin: the baseline is compiled and timed beside the
 * candidate. A task that these GPUs can not run, or whose sources have to be fetched first, is
 * noted in the plan as dropped; one that can not be read is an error.
 */
int prepare_aka(struct run *run, const struct run_plan *plan, struct err *err) must_check;
