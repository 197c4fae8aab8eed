/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/run/run.h"

/*
 * Carrying out a run: seats for what is left to do, so many at one time, until nothing is
 */

/**
 * schedule_run() - give every slot of the run a record that counts
 *
 * The operator's wish to stop ends agents, and lets all else rest as it is; run->stopped is set
 * then. Return: 0, also where attempts failed; -1 if the run itself can not go on (a full disk, a
 * launcher that died): no seat is left then, and the run can be resumed.
 */
int schedule_run(struct run *run, struct err *err) must_check;
