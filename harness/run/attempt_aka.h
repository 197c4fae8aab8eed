/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/run/attempt.h"

/*
 * The transitions of an attempt on a task of AgentKernelArena, where they are not those of every
 * other one
 */

/**
 * attempt_aka_candidate() - the task's files and, of what the agent left, what the task lets it
 * edit: files, folders, or the functions of a file whose tests are the task's
 *
 * The manifest of the archive was read.
 */
int attempt_aka_candidate(struct attempt *attempt, struct err *err) must_check;

/**
 * attempt_aka_compile() - the transition to BUILT
 */
int attempt_aka_compile(struct attempt *attempt, struct err *err) must_check;

/**
 * attempt_aka_mark() - the transition to JUDGED
 */
int attempt_aka_mark(struct attempt *attempt, struct err *err) must_check;
