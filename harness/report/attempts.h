/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "harness/report/table.h"
#include "harness/run/record.h"
#include "harness/run/score.h"

/*
 * The report of a run: a row an attempt. Every record gives one row, whatever became of it.
 */

/**
 * attempts_table() - fill an empty table
 * @out: table_done() frees it
 */
void attempts_table(const struct record *records, size_t count, struct table *out);

/**
 * attempts_add_summary() - append two lines: how many attempts, how many correct, the figures
 *
 * fast_1 and fast_2 are shares of all attempts: those whose verdict is FAST, and of these those
 * with a speedup of more than 2.
 */
void attempts_add_summary(const struct score_summary *summary, struct str *out);

/**
 * attempts_put_summary() - write the figures as a JSON object
 */
void attempts_put_summary(const struct score_summary *summary, struct json_writer *json,
			  const char *key);
