/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "harness/console/table.h"
#include "harness/run/record.h"
#include "harness/run/score.h"

/*
 * The attempts of a run, or of several: a row an attempt. Every record gives one row, whatever
 * became of it. TRY is the attempt's number within its task, all agents, repeats and retries of
 * the run counted through: that of its folder.
 */

/**
 * attempts_table() - fill an empty table
 * @has_run: with a column that says which run
 * @out:     table_done() frees it
 */
void attempts_table(const struct record *records, size_t count, bool has_run, struct table *out);

/**
 * attempts_put_summary() - write the figures as a JSON object
 */
void attempts_put_summary(const struct score_summary *summary, struct json_writer *json,
			  const char *key);
