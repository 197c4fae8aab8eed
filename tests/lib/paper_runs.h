/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "harness/evidence/journal.h"
#include "harness/run/record.h"

/*
 * Runs on paper: journals as a run writes them, of attempts that nobody has made.
 */

/* A record of an attempt that compiled and has no marks. */
struct record paper_record(const char *run, const char *task, const char *agent, uint32_t attempt);

/* A set of cases that was marked; VALID ones are timed: 10 blocks, FAST, SLOW or SAME. */
struct record_mark paper_mark(const char *kind, double speedup);

/* The journal of a new run and its plan. */
void paper_run_create(struct journal *out, int folder_fd, const char *run, int64_t tasks,
		      int64_t agents, int64_t repeats);

/*
 * The same of one attempt of agent "honest" on task "matmul", with planned.json, a name and labels.
 * @files: what the agent's program is
 */
void paper_run_create_named(struct journal *out, int folder_fd, const char *run, uint8_t files);

/* The lines of an attempt that has its record. */
void paper_run_add(struct journal *journal, int64_t slot, const struct record *record);

/* A line without keys, "run.finished" for instance. */
void paper_run_tell(struct journal *journal, const char *event);
