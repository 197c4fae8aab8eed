/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/run/attempt.h"
#include "harness/run/run.h"
#include "tests/lib/jails.h"

/*
 * A run of programs on one small task (tests/data/tasks/known-ratio), in the folder "run" of
 * check_folder(), by way of the real launcher, as root
 *
 * An attempt that is INFRA is not tried again, unless a test plans retries.
 */
struct runs {
	struct jails jails;
	struct run_place place;
	struct run_plan plan;
	struct progress progress;
	struct run run;
	const char *policy; /* text of a policy's file; NULL: the built-in one */
};

#define RUNS_TASK "known-ratio"

/* What the journal has before the first attempt, as runs_journal() tells it. */
#define RUNS_BEGUN "journal.opened\nrun.committed\nrun.planned\n"

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

/*
 * The task that runs_aka() makes: two files, whose commands are `/bin/sh run.sh STEP`, with STEP
 * one of compile, correctness and performance. The agent may edit "kernel".
 */
#define RUNS_AKA_TASK    "triton2triton/own"
#define RUNS_AKA_FOLDER  "triton2triton+own"
#define RUNS_AKA_ATTEMPT "run/attempts/" RUNS_AKA_FOLDER "-0001/"

/* Of performance: one case, whose time is what @TIME prints. */
#define RUNS_AKA_REPORT(TIME)                                                                  \
	"mkdir -p build; echo '[{\"test_case_id\": \"one\", \"execution_time_ms\": '\"$(" TIME \
	")\"'}]' "                                                                             \
	">build/performance_report.json\n"

/**
 * runs_aka() - start the launcher and plan such a task of a checkout, which is "aka" in
 * check_folder()
 * @config: more lines of its config.yaml; NULL: none
 */
void runs_aka(struct runs *runs, const char *runner, const char *kernel, const char *config);

/**
 * runs_aka_task() - one more task of the checkout, "triton2triton/NAME"
 */
void runs_aka_task(const char *name, const char *runner, const char *kernel, const char *config);

/**
 * runs_add() - plan an agent that is this script; it runs in the workspace
 */
void runs_add(struct runs *runs, const char *script);

/**
 * runs_open() - run_create(), which must work
 */
void runs_open(struct runs *runs);

/**
 * runs_resume() - run_done(), and run_resume(), which must work
 */
void runs_resume(struct runs *runs);

/**
 * runs_carry_out() - schedule_run(), which must work and leave no child but launcher and keeper
 *
 * Return: the record of the first slot, which must have one; its texts are the run's.
 */
struct record runs_carry_out(struct runs *runs);

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
 * runs_count() - how often @what is in @text
 */
size_t runs_count(const char *text, const char *what);

/**
 * runs_record() - the text of the record file of an attempt, valid until the next call
 */
const char *runs_record(uint32_t number);

/**
 * runs_later() - a process that waits until a file of the run's folder has @text in it, then acts
 */
struct process runs_later(struct runs *runs, const char *file, const char *text,
			  void (*act)(struct runs *runs, pid_t test));

/* What it can do. */
void runs_kill_launcher(struct runs *runs, pid_t test); /* and its only monitor */
void runs_kill_monitor(struct runs *runs, pid_t test);
void runs_kill_keeper(struct runs *runs, pid_t test);
void runs_kill_seat(struct runs *runs, pid_t test);
void runs_stop(struct runs *runs, pid_t test); /* the operator wants the end; see runs_can_stop() */

/**
 * runs_can_stop() - give the run a stop_fd that runs_stop() makes readable
 */
void runs_can_stop(struct runs *runs);

/**
 * runs_acted() - wait for what runs_later() began; it must have worked
 */
void runs_acted(struct process *process);
