/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "harness/check/confine.h"
#include "harness/check/scratch.h"
#include "harness/config/task.h"
#include "harness/evidence/tree.h"

/*
 * The candidate that the judge would make of a workspace: the task's own files, and of the
 * workspace the editable ones only; built with the task's command.
 */
struct candidate_job {
	const struct task *task;
	int workspace_fd;                      /* what the agent has */
	int pristine_fd;                       /* the task's own */
	struct scratch *in;                    /* where it is made: src/ and out/ */
	int stop_fd;                           /* readable: the build is ended; -1 for none */
	const struct given_limits *limits;     /* of what is built and left; NULL: any */
	const struct confinement *confinement; /* of the build; NULL: none */
};

struct candidate {
	bool is_built, stopped;
	char why[256];             /* if it is not built */
	struct tree_report report; /* what of the workspace counts, and what does not */
};

#define CANDIDATE_INIT ((struct candidate){ .report = TREE_REPORT_INIT })

/**
 * candidate_make() - make and build it; what the command prints goes to standard error
 *
 * A build that fails is a result.
 */
int candidate_make(const struct candidate_job *job, struct candidate *out,
		   struct err *err) must_check;

/**
 * candidate_done() - release the report
 */
void candidate_done(struct candidate *candidate);
