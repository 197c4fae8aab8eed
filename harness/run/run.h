/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/config/policy.h"
#include "harness/config/task.h"
#include "harness/evidence/digest.h"
#include "harness/judge/keeper.h"
#include "harness/run/journal.h"
#include "harness/run/launcher.h"
#include "harness/run/progress.h"
#include "harness/run/record.h"

/*
 * A run: some agents on some tasks, each so many times
 *
 * What was opened while proctor was root is given to it as descriptors; it parses, builds and
 * judges without privilege. Everything that happens stands in the journal before anything else
 * depends on it.
 */
enum { RUN_TASKS_MAX = 512, RUN_AGENTS_MAX = 64, RUN_ATTEMPTS_MAX = 100 };

/* An agent that is a script: a solution folder of the task that is copied over the workspace, or a
 * program that is run in it. */
struct run_agent {
	const char *name;     /* "scripted:honest-vector" */
	const char *solution; /* of the task's solutions/; NULL: the program */
	int program_fd;       /* borrowed; -1: the solution */
};

struct run_task {
	int folder_fd; /* borrowed */
	struct task task;
	struct digest digest; /* of the whole folder */
	/* Tree streams, owned: the workspace, what building it and the oracle gave. */
	int pristine_fd, baseline_fd, oracle_fd;
	struct digest baseline_digest;
};

/* What a run is to do. */
struct run_plan {
	const char *id;
	const char *programs; /* the folder of proctor's programs, see launcher.h */
	int folder_fd;        /* of the run: empty, ours; borrowed */
	int policy_fd;        /* the policy's file; -1: the default policy; borrowed */
	const char *policy_path;
	size_t task_count, agent_count;
	int task_fds[RUN_TASKS_MAX]; /* borrowed */
	struct run_agent agents[RUN_AGENTS_MAX];
	uint32_t repeats; /* attempts of each agent on each task */
	int stop_fd;      /* readable: the operator wants the end; borrowed, -1 for none */
};

struct run {
	const struct run_plan *plan;
	const struct launcher *launcher; /* borrowed */
	struct policy policy;
	struct digest policy_digest, judge_digest;
	struct run_task *tasks; /* owned: plan->task_count */
	struct journal journal;
	struct keeper keeper;
	struct progress *progress; /* borrowed */
	int null_fd, worker_fd;    /* owned */
	uint32_t judge_cpu, worker_cpu;
	struct arena arena; /* texts of the records */
	struct record *records;
	size_t record_count;
	bool stopped;
};

/**
 * run_open() - load policy and tasks, build baselines and oracles, open journal and keeper, and
 * write down what is going to be done
 * @launcher: started before root was dropped; must outlive the run
 *
 * After a failure nothing of an agent has run. run_done() in any case.
 */
int run_open(struct run *run, const struct run_plan *plan, const struct launcher *launcher,
	     struct progress *progress, struct err *err) must_check;

/**
 * run_attempts() - carry out every planned attempt; run->records has one for each
 *
 * Return: 0, also where attempts failed; -1 if the run itself can not go on (a full disk).
 */
int run_attempts(struct run *run, struct err *err) must_check;

/**
 * run_done() - end the keeper and close everything
 */
void run_done(struct run *run);
