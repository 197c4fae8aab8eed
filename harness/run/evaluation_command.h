/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/run/evaluation.h"
#include "harness/run/evaluator.h"

/*
 * A command of an evaluation: where it runs, and what is known of it then
 */
struct command {
	const struct evaluation_job *job;
	enum aka_step step;
	size_t index;     /* in its step */
	const char *name; /* of its logs */
	int tree_fd;      /* what it runs over */
	int left_fd;      /* owned: what it left */
	struct evaluator_result result;
};

enum { COMMAND_NAME_MAX = 64 };

/**
 * command_name() - a name for the logs of a command, behind the prefix of the job; those of one
 * step are counted from the second on
 */
void command_name(const struct evaluation_job *job, const char *step, size_t index,
		  char out[COMMAND_NAME_MAX]);

/**
 * command_run() - run it, whatever becomes of it
 */
int command_run(struct command *command, struct err *err) must_check;

/**
 * command_done() - close and free what it left
 */
void command_done(struct command *command);
