/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/aka/aka_task.h"
#include "harness/console/table.h"

/*
 * Tasks of AgentKernelArena, shown: a row each, how many of each type, and all of one as it is
 * planned
 */

/* What Python's interpreter is called where none is named. */
#define AKA_PYTHON "python3"

/**
 * aka_list_table() - fill an empty table, without rows
 * @out: table_done() frees it
 */
void aka_list_table(struct table *out);

/**
 * aka_list_add() - a row
 */
void aka_list_add(struct table *table, const struct aka_task *task);

/* How many tasks there are of each type; in the order of their names. */
enum { AKA_TYPES_MAX = 64 };

struct aka_counts {
	size_t types, total;
	struct {
		char type[64];
		size_t count;
	} items[AKA_TYPES_MAX]; /* the last one counts what is beyond */
};

/**
 * aka_counts_add() - one more
 */
void aka_counts_add(struct aka_counts *counts, const char *type);

/**
 * aka_counts_table() - fill an empty table with a row a type
 */
void aka_counts_table(const struct aka_counts *counts, struct table *out);

/**
 * aka_list_print() - append all of one task as text
 * @python: the interpreter of its commands
 */
void aka_list_print(const struct aka_task *task, const char *python, struct str *out);

/**
 * aka_list_put() - write all of one task as a JSON object
 */
void aka_list_put(const struct aka_task *task, const char *python, struct json_writer *json);
