/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/aka/aka_results.h"
#include "harness/aka/aka_score.h"
#include "harness/aka/aka_task.h"
#include "harness/aka/aka_timing.h"
#include "harness/run/run.h"

/*
 * A candidate of AgentKernelArena, marked by that benchmark's own harness
 *
 * Its order: compile, check, time. What differs is where: each command runs in a jail of its own,
 * over the task's files and the candidate's and nothing else that an agent left. The baseline is
 * not timed once before the agent but in turns with the candidate. The harness runs in the
 * candidate's process, as it was written to: what that process does to its own checks and clocks no
 * jail undoes. So the tier of every such mark is IN-PROCESS.
 *
 * Each reader of what a command left is this process, a seat: it has neither a secret nor
 * privilege.
 */
struct evaluation {
	struct arena arena;
	const struct pyvalue *compile_error; /* NULL: it compiles */
	const struct pyvalue *correct_error;
	const char *correct_doubt;
	char why[256];   /* how the step that failed ended */
	int baseline_fd; /* trees that the steps behind compiling begin with; owned */
	int candidate_fd;
	bool has_baseline;                    /* it compiles */
	const struct pyvalue *baseline_error; /* if not, what it said */
	struct aka_run runs[AKA_RUNS_MAX];
	size_t run_count;
	struct aka_timing timing;
	struct aka_result result; /* of the first run of each side: what the reference would say */
	struct aka_strict strict;
};

struct evaluation_job {
	const struct run *run;
	const struct aka_task *task;
	const char *task_name, *agent_name;
	int folder_fd;                             /* the attempt's: logs and reports */
	const char *prefix;                        /* of their names; NULL: none */
	int pristine_fd, candidate_fd;             /* trees */
	void (*say)(void *user, const char *what); /* what is being done */
	void *user;
	bool *stopped; /* set where the operator wanted the end */
};

/**
 * evaluation_new() - nothing was done; evaluation_free() frees it
 */
struct evaluation *evaluation_new(void);

/**
 * evaluation_free() - close and free; *evaluation is NULL then
 */
void evaluation_free(struct evaluation **evaluation);

/**
 * evaluation_compile() - compile baseline and candidate
 *
 * Return: 0, whether or not they compile; -1 for a failure of ours.
 */
int evaluation_compile(const struct evaluation_job *job, struct evaluation *out,
		       struct err *err) must_check;

/**
 * evaluation_refuse() - it was not even tried to compile
 */
void evaluation_refuse(struct evaluation *evaluation, const char *why);

/**
 * evaluation_check() - run the correctness commands over a tree that was compiled
 * @name: of their logs
 * @out:  its arena holds the error
 * @error: NULL: it is correct, as the reference says
 *
 * Return: 0; -1 for a failure of ours.
 */
int evaluation_check(const struct evaluation_job *job, const char *name, int tree_fd,
		     struct evaluation *out, const struct pyvalue **error,
		     struct err *err) must_check;

/**
 * evaluation_mark() - check and time what was compiled, and score it
 *
 * Also of what does not compile: it has a mark then. Return: 0; -1 for a failure of ours.
 */
int evaluation_mark(const struct evaluation_job *job, struct evaluation *out,
		    struct err *err) must_check;
