/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "harness/console/table.h"
#include "harness/evidence/json.h"
#include "harness/report/generalisation.h"

/*
 * How agents stand: the figures of generalisation.h for each agent over all its tasks, or for each
 * agent on each task, as tables. Rows stand in the order in which their attempts were given.
 */
#define REPORT_SCHEMA "proctor/report/1"

enum standing_by { STANDING_BY_AGENT, STANDING_BY_TASK };

struct standing_row {
	const char *agent;
	const char *task; /* NULL by agent */
	const char *tree;
	uint32_t unseen_cases; /* of the task; 0: not known, or by agent */
	struct generalisation figures;
};

/* Borrows the records. */
struct standing {
	enum standing_by by;
	struct standing_row *rows; /* owned */
	size_t count;
	const struct record **narrow; /* owned: those right on seen cases only */
	size_t narrow_count;
	size_t versions; /* tasks that have the name of another one before them */
};

#define STANDING_INIT ((struct standing){ .rows = NULL })

/**
 * standing_make() - group the attempts and compute the figures of each group
 * @records: each with task and agent
 * @trees:   of each record the digest of its task's tree in hex, or NULL: tasks that have one name
 *           and different trees are different tasks; NULL: a name is a task
 * @out:     standing_done() frees it
 */
void standing_make(const struct record *records, const char *const *trees, size_t count,
		   enum standing_by by, struct standing *out);

/**
 * standing_table() - all figures, a row a group: the form for JSON and CSV
 * @out: table_done() frees it
 */
void standing_table(const struct standing *standing, struct table *out);

/**
 * standing_add_short() - append the most important figures and a line that explains them
 */
void standing_add_short(const struct standing *standing, const struct table_style *style,
			struct str *out);

/**
 * standing_add_long() - append all figures, the attempts that are right on seen cases only, and
 * what the figures mean
 */
void standing_add_long(const struct standing *standing, const struct table_style *style,
		       struct str *out);

/**
 * standing_put() - write the members "agents" or "tasks", and "seen_only", of the object that is
 * open
 */
void standing_put(const struct standing *standing, struct json_writer *json);

/**
 * standing_done() - free everything; it is STANDING_INIT again
 */
void standing_done(struct standing *standing);
