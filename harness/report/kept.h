/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/base/err.h"

/*
 * Are the files of a run those that its journal speaks of?
 *
 * Reports are made of the journal alone. Who looks at anything else in the folder wants to know
 * first: the plan with all that it copied; of each attempt that is recorded the record, and what
 * this has digests of: samples, connections, and the trees that were left and marked.
 */

/**
 * kept_check() - verify the journal, and every file by it
 *
 * A run that still goes on is looked at as far as it is recorded.
 *
 * Return: 0, or -1 with the first file that is off (ERR_INPUT).
 */
int kept_check(int folder_fd, struct err *err) must_check;
