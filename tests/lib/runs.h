/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/run/attempt.h"
#include "harness/run/run.h"
#include "tests/lib/jails.h"

/*
 * A run of programs on one small task (tests/data/tasks/known-ratio), in the folder "run" of
 * check_folder(), by way of the real launcher, as root
 */
struct runs {
	struct jails jails;
	struct run_plan plan;
	struct progress progress;
	struct run run;
	const char *policy; /* text of a policy's file; NULL: the built-in one */
};

#define RUNS_TASK "known-ratio"

/**
 * runs_copy_task() - make "task" in check_folder(), a copy of RUNS_TASK
 * @file: of it; in this one the first @from becomes @to
 */
void runs_copy_task(const char *file, const char *from, const char *to);

/**
 * runs_prepare() - start the launcher and plan @task, with no agent yet
 * @task: a folder, absolute or beneath check_folder(); NULL: RUNS_TASK
 */
void runs_prepare(struct runs *runs, const char *task);

/**
 * runs_add() - plan an agent that is this script; it runs in the workspace
 */
void runs_add(struct runs *runs, const char *script);

/**
 * runs_open() - run_open(), which must work
 */
void runs_open(struct runs *runs);

/**
 * runs_attempt() - attempt_run() of the first task, which must work
 * @number: of the attempt; agent @number - 1 makes it
 */
struct record runs_attempt(struct runs *runs, uint32_t number);

/**
 * runs_end() - run_done(), and everything is as it was before
 */
void runs_end(struct runs *runs);

/**
 * runs_journal() - the journal's lines, verified, an event each: "attempt.begun 1 AGENT\n" with
 * attempt and state where the line has them; valid until the next call
 */
const char *runs_journal(struct runs *runs);

/**
 * runs_record() - the text of the record file of an attempt, valid until the next call
 */
const char *runs_record(uint32_t number);

/**
 * runs_kill_later() - a process that waits until the agent of attempt @number has printed
 * "begun" and then kills its monitor
 * @launcher: the launcher, before that
 */
struct process runs_kill_later(struct runs *runs, uint32_t number, bool launcher);
