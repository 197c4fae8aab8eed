/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "harness/config/types.h"
#include "sandbox/base/arena.h"

/*
 * A run plan: a file that says what a run is to do (proctor-run-plan(5))
 *
 * Once it has been read everything in it is typed, within its limits, and no task, agent or label
 * is there twice. Nothing that it names has been opened: paths are relative to the folder of the
 * plan, or absolute, and whoever opens them does it without privilege, since the plan's author may
 * be nobody whom root believes.
 */
enum {
	RUN_CONFIG_TASKS_MAX = 512,
	RUN_CONFIG_AGENTS_MAX = 64,
	RUN_CONFIG_REPEATS_MAX = 100,
	RUN_CONFIG_SEATS_MAX = 256,
	RUN_CONFIG_LABELS_MAX = 16,
	RUN_CONFIG_ATTEMPTS_MAX = 100000, /* tasks x agents x repeats */
	RUN_CONFIG_FILE_MAX = 256 * 1024,
};

#define RUN_CONFIG_SCHEMA     "proctor/run/1"
#define RUN_CONFIG_SET_SCHEMA "proctor/set/1"

/* retries of a plan that leaves them to the policy. */
#define RUN_CONFIG_AS_POLICY UINT64_MAX

struct run_config_task {
	const char *path; /* of the task's folder */
	const char *file; /* of the plan or set that names it, for messages, */
	int line;         /* and where */
};

/* Exactly one of solution and program is there. */
struct run_config_agent {
	const char *name;
	const char *solution; /* a folder of each task's solutions/ */
	const char *program;  /* path of a file */
	int line;
};

struct run_config_label {
	const char *key, *value;
};

struct run_config {
	struct arena arena; /* owns all text */
	int schema;         /* always 1 */
	const char *name;   /* NULL: none */
	struct run_config_task *tasks;
	struct run_config_agent *agents;
	struct run_config_label *labels; /* what journal and reports say of the run */
	uint64_t task_count, agent_count, label_count;
	uint64_t repeats;   /* attempts of each agent on each task; at least 1 */
	uint64_t seats;     /* attempts at one time; at least 1 */
	uint64_t retries;   /* of an attempt that ended INFRA; RUN_CONFIG_AS_POLICY: the policy's */
	const char *policy; /* a name, or the path of a file; NULL: the default policy */
	int policy_line;    /* where it is named */
	const char *set;    /* path of the file that names the tasks; NULL: the plan does */
};

/**
 * run_config_default() - what a plan means that says nothing: no task, no agent, one attempt of
 * each, one seat
 */
struct run_config run_config_default(void);

/**
 * run_config_parse() - read the text of a plan, and of the set that it may name
 * @file:     what messages call it
 * @read_set: called where the plan names a set, with its path; appends the file's text to @text
 * @out:      untouched on failure; the caller ends it with run_config_done()
 *
 * The paths of a set's tasks are relative to the folder of the set; in @out they are relative to
 * the folder of the plan, as all others. Whatever the texts say, a failure is ERR_INPUT:
 * "plan.yaml:7: key 'seats': …".
 */
int run_config_parse(const char *file, const struct str *text,
		     int (*read_set)(void *user, const char *path, struct str *text,
				     struct err *err),
		     void *user, struct run_config *out, struct err *err) must_check;

/**
 * run_config_load() - run_config_parse() of the files themselves
 * @folder_fd: the folder of the plan
 * @name:      the plan's name in it
 *
 * Links are followed: plan and set are the operator's. Call it without privilege.
 */
int run_config_load(int folder_fd, const char *name, struct run_config *out,
		    struct err *err) must_check;

/**
 * run_config_attempts() - how many attempts are planned, retries aside; at most
 * RUN_CONFIG_ATTEMPTS_MAX
 */
uint64_t run_config_attempts(const struct run_config *config);

/**
 * run_config_done() - free everything; the plan is run_config_default() again
 */
void run_config_done(struct run_config *config);

/* The keys of plans and of sets; for the key tables and tests. */
extern const struct schema run_config_schema, run_config_set_schema;
extern const struct key_tables run_config_keys, run_config_set_keys;

/**
 * run_config_check_set() - is this the text of a good set?
 */
int run_config_check_set(const char *file, const char *text, size_t len,
			 struct err *err) must_check;
