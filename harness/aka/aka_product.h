/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/**
 * aka_product_is_kept() - may a file that the compile step has made go on to the steps behind it
 *
 * A harness may need what was compiled. What tells Python, pytest or a reader of results what to do
 * is no product: the candidate's code runs while it is compiled, and would leave it for the step
 * that checks it. Files of the task and of the candidate stay as they are in any case.
 */
bool aka_product_is_kept(const char *path, size_t path_len);
