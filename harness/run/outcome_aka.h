/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/aka/aka_unseen.h"
#include "harness/run/evaluation.h"
#include "harness/run/record.h"

/*
 * What AgentKernelArena's harness came to, for the journal, for the record and in files
 */
#define OUTCOME_AKA_SAMPLES_SCHEMA "proctor/aka-samples/1"

/**
 * outcome_aka_tell() - the members of the line of the journal
 */
void outcome_aka_tell(const struct evaluation *evaluation, struct json_writer *json);

/**
 * outcome_aka_fill() - marks, labels and scores; texts live in @arena or as long as the program
 */
void outcome_aka_fill(const struct evaluation *evaluation, struct arena *arena, struct record *out);

/**
 * outcome_aka_unseen() - held-out shapes as the record has them, and heldout_task_result.yaml in
 * the folder
 * @out: texts live in @arena
 */
int outcome_aka_unseen(const struct aka_unseen *unseen, struct arena *arena, int folder_fd,
		       struct record_heldout *out, struct err *err) must_check;

/**
 * outcome_aka_fill_unseen() - the mark of the unseen cases, where the task's own kernel is right on
 * them
 */
void outcome_aka_fill_unseen(struct record *record);

/**
 * outcome_aka_write() - the three files that the reference leaves for a task, and the raw times
 * @samples: receives the digest of these, RECORD_SAMPLES_FILE
 */
int outcome_aka_write(const struct evaluation *evaluation, int folder_fd, struct digest *samples,
		      struct err *err) must_check;
