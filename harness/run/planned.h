/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/evidence/digest.h"
#include "harness/evidence/json.h"
#include "sandbox/base/arena.h"
#include "sandbox/base/err.h"

/*
 * What a run is to do, as it stands in the run's folder before anything is done
 *
 * The folder has everything that the run will need, so that it can be resumed wherever the
 * tasks have gone meanwhile:
 *
 *	planned.json			this
 *	policy.yaml
 *	agents/N.tree			a program, as a tree of one file; N from 1
 *	tasks/NAME/task.yaml
 *	tasks/NAME/pristine.tree	the workspace
 *	tasks/NAME/baseline.tree	what was built of it, and of
 *	tasks/NAME/oracle.tree		the oracle
 *	tasks/NAME/given.tree		what an agent is given beside the workspace: given.h
 *	tasks/NAME/agent-N.tree		a solution
 *
 * and of a task of AgentKernelArena, where NAME is its name with '+' in the place of '/':
 *
 *	tasks/NAME/config.yaml
 *	tasks/NAME/pristine.tree	the workspace, with the helpers that measure put in
 *	tasks/NAME/held_out_shapes.yaml	what its agent is not to know; empty: there is nothing
 *
 * planned.json has the digest of each, and the journal has the digest of planned.json.
 */
#define PLANNED_FILE    "planned.json"
#define PLANNED_SCHEMA  "proctor/planned/1"
#define PLANNED_POLICY  "policy.yaml"
#define PLANNED_HELDOUT "held_out_shapes.yaml"

enum {
	PLANNED_PATH_MAX = 512,
	PLANNED_NAME_MAX = 255, /* bytes of an agent's name */
};

/* All tasks of a run are of one kind. */
enum planned_kind {
	PLANNED_NATIVE, /* a folder with a task.yaml: marked by the judge */
	PLANNED_AKA,    /* of AgentKernelArena: marked by its own harness, in jails */
};

/* The files of a task that have a digest; a kind has not all of them. */
enum planned_file {
	PLANNED_TASK,
	PLANNED_PRISTINE,
	PLANNED_BASELINE,
	PLANNED_ORACLE,
	PLANNED_GIVEN, /* the native kind's agent is given it, AgentKernelArena's is not */
	PLANNED_FILES
};

/**
 * planned_file_name() - of a kind of tasks; NULL: it has no such file
 */
const char *planned_file_name(enum planned_kind kind, enum planned_file file);

struct planned_task {
	const char *name;
	const char *folder;  /* of the run, below tasks/ */
	struct digest tree;  /* of the task's whole folder */
	struct digest built; /* root of what the baseline became; of the native kind */
	struct digest files[PLANNED_FILES]; /* bytes of the run's own copies */
	struct digest *agents;              /* of each agent's tree for this task */
};

struct planned_agent {
	const char *name;
	bool is_solution; /* a tree in each task's folder; otherwise one in agents/ */
};

struct planned_label {
	const char *key, *value;
};

/* A selected task that is not run, and why. */
struct planned_dropped {
	const char *name, *why;
};

/* Of a run of AgentKernelArena's tasks. */
struct planned_aka {
	const char *python; /* what takes the place of a leading python3, python or pytest */
	const char *gpu;    /* the model, for the reports; NULL: not said */
	uint32_t rounds;    /* of the timing, at most: aka_timing.h */
	const struct planned_dropped *dropped;
	size_t dropped_count;
};

struct planned {
	struct arena arena; /* owns all of it */
	enum planned_kind kind;
	struct planned_aka aka;
	const char *run;
	const char *name; /* NULL: none */
	struct planned_label *labels;
	size_t label_count;
	struct digest policy; /* of PLANNED_POLICY */
	struct digest judge;  /* of the program that planned it */
	struct planned_task *tasks;
	struct planned_agent *agents;
	size_t task_count, agent_count;
	uint32_t repeats;        /* attempts of each agent on each task */
	uint32_t retries;        /* further ones, where an attempt was INFRA */
	uint32_t seats;          /* attempts at one time, unless told otherwise */
	const char *const *gpus; /* by seat: those that its jails use, one after the other */
	size_t gpu_count;        /* 0: any that are free */
};

#define PLANNED_INIT ((struct planned){ .arena = ARENA_INIT })

/**
 * planned_folder() - the name of a task's folder in the run, in @arena
 *
 * Return: NULL if the task's name can not become one.
 */
const char *planned_folder(enum planned_kind kind, const char *name, struct arena *arena);

/**
 * planned_path() - where an agent's tree for a task is, beneath the run's folder
 */
void planned_path(const struct planned *planned, size_t task, size_t agent,
		  char out[PLANNED_PATH_MAX]);

/**
 * planned_digest_file() - the digest of all bytes of a file beneath a folder
 */
int planned_digest_file(int folder_fd, const char *path, struct digest *out,
			struct err *err) must_check;

/**
 * planned_digest_fd() - the digest of all bytes of a file from where it stands
 * @what: what messages call it
 */
int planned_digest_fd(int fd, const char *what, struct digest *out, struct err *err) must_check;

/**
 * planned_put_labels() - write the members "name" and "labels" of the object that is open
 */
void planned_put_labels(struct json_writer *json, const struct planned *planned);

/**
 * planned_put() - write the plan as members of the object that is open
 */
void planned_put(struct json_writer *json, const struct planned *planned);

/**
 * planned_write() - write PLANNED_FILE into the run's folder, in one step
 * @digest_out: of the file
 */
int planned_write(const struct planned *planned, int folder_fd, struct digest *digest_out,
		  struct err *err) must_check;

/**
 * planned_read() - read it again, and see that every file is as it was (ERR_INPUT if not)
 * @expected: the digest that the journal has of it; NULL: none yet
 * @out:      planned_done() frees it
 */
int planned_read(int folder_fd, const struct digest *expected, struct planned *out,
		 struct digest *digest_out, struct err *err) must_check;

/**
 * planned_done() - free everything; it is PLANNED_INIT again
 */
void planned_done(struct planned *planned);
