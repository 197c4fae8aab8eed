/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/aka/aka_verdict.h"
#include "harness/config/types.h"
#include "harness/run/run.h"

/*
 * One command of AgentKernelArena's harness, in a jail of its own
 *
 * A tree goes in, the command runs in it, and the workspace that it leaves comes out. Nothing of
 * one command is there for the next one but what whoever calls puts into its tree: no process, no
 * cache, no file elsewhere.
 */
struct evaluator_job {
	const struct run *run;
	const char *name; /* of its two logs */
	int folder_fd;    /* for them */
	int tree_fd;      /* read from its beginning */
	struct argv argv; /* as it is executed */
	uint64_t wall_s;  /* the task's limit; the policy's may be tighter */
	int left_fd;      /* an empty file: receives the tree of the workspace */
};

struct evaluator_result {
	struct aka_said said; /* what it printed, and whether that is a success */
	char why[256];        /* how it ended, where that was no exit with 0; for people */
	int64_t wall_ns;
	bool has_left; /* left_fd has a whole tree */
	bool stopped;  /* by the operator: the rest says nothing */
};

#define EVALUATOR_RESULT_INIT ((struct evaluator_result){ .said = AKA_SAID_INIT })

/**
 * evaluator_run() - run one command
 * @out: EVALUATOR_RESULT_INIT; evaluator_result_done() frees it
 *
 * A command that fails, takes too long, prints too much or is killed is a result. Return: -1 only
 * for a failure of ours, to which belongs an interpreter that the jail does not have; a program
 * that belongs into the workspace and can not be executed is a command that fails.
 */
int evaluator_run(const struct evaluator_job *job, struct evaluator_result *out,
		  struct err *err) must_check;

/**
 * evaluator_result_done() - free what is in it
 */
void evaluator_result_done(struct evaluator_result *result);

/**
 * evaluator_file() - an empty file beside others of a folder, without a name
 */
int evaluator_file(int folder_fd, struct err *err) must_check;
