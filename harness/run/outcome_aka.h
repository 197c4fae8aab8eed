/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

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
 * outcome_aka_write() - the three files that the reference leaves for a task, and the raw times
 * @samples: receives the digest of these, RECORD_SAMPLES_FILE
 */
int outcome_aka_write(const struct evaluation *evaluation, int folder_fd, struct digest *samples,
		      struct err *err) must_check;
