/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/aka/aka_cases.h"
#include "sandbox/base/compiler.h"
#include "sandbox/base/str.h"

/*
 * Times out of what a command prints, where it has left no report
 *
 * AgentKernelArena looks with regular expressions, without regard to case (which in Python lets the
 * long s stand for an s), for lines such as "Test case 3: 0.5 ms". A "number" there is any row of
 * digits and points: its float() raises for "...", and its task is lost. Here such a place is
 * passed over, and what it would have done is noted in `lost_why`.
 */

/**
 * aka_stdout_cases() - several times: "Test case N: X ms", "Shape [M, N]: X ms", "Performance: X
 * ms"
 */
void aka_stdout_cases(struct aka_cases *cases, const struct str *output);

/**
 * aka_stdout_single() - one time: the first pattern of a list that is anywhere in the output
 */
void aka_stdout_single(struct aka_cases *cases, const struct str *output);
