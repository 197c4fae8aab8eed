/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "harness/config/task.h"
#include "harness/console/table.h"

/*
 * Tasks, shown: a row each in a list, and all of one
 */

/* A task and what its folder has beside task.yaml. */
struct tasks_shown {
	const struct task *task;
	const char *folder;           /* as it was given */
	const char *const *solutions; /* folders of solutions/, sorted */
	size_t solution_count;
};

/**
 * tasks_table() - fill an empty table, without rows
 * @out: table_done() frees it
 */
void tasks_table(struct table *out);

/**
 * tasks_add() - a row
 */
void tasks_add(struct table *table, const struct tasks_shown *shown);

/**
 * tasks_print() - append all of one task as text
 */
void tasks_print(const struct tasks_shown *shown, const struct table_style *style, struct str *out);

/**
 * tasks_put() - write all of one task as a JSON object
 */
void tasks_put(const struct tasks_shown *shown, struct json_writer *json);
