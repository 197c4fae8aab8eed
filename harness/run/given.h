/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/config/policy.h"
#include "sandbox/base/err.h"

/*
 * What an agent is given beside its workspace, as one tree
 *
 *	README.md		the task in words
 *	task.yaml		without the hidden cases (harness/config/task_given.h)
 *	workspace/		as the agent found it: what a candidate is made of where it is
 *				not editable
 *	evaluate/		the oracle, to be read
 *	baseline/ oracle/	both as the judge runs them
 *	limits.yaml		what the judge allows (harness/run/given_limits.h)
 *	bin/			proctor-check, and the worker program that it takes
 *
 * It is a copy, and unpacked anew for each attempt: nothing that an agent does to it reaches
 * whoever marks.
 */
#define GIVEN_FILE "given.tree"

struct given {
	int task_fd;          /* the task's folder */
	int trees_fd;         /* has pristine.tree, evaluate.tree, baseline.tree, oracle.tree */
	const char *programs; /* the folder of proctor's programs, see launcher.h */
	const struct policy *policy;
};

/**
 * given_pack() - write the tree
 * @out_fd: an empty file
 */
int given_pack(const struct given *what, int out_fd, struct err *err) must_check;
