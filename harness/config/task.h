/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "harness/config/cases.h"
#include "harness/config/types.h"
#include "sandbox/base/arena.h"

/*
 * A task, as its task.yaml says it (tasks/README.md has the format)
 *
 * Everything is typed, within its limits and consistent once task_load() has succeeded: every seen
 * case resolves, every hidden category can be drawn from, and the files that the task names are
 * there. The task owns all text in it.
 */
enum task_kind { TASK_C2C };

enum task_cache { TASK_CACHE_COLD };

/* One run of a compiler in a build jail. */
struct task_build {
	struct argv argv; /* may hold "{out}": see task_build_argv() */
	struct argv out;  /* files that it leaves in {out}; the first is the library to load */
	uint64_t wall_ms;
};

struct task_entry {
	const char *symbol;
	int abi;  /* c */
	int init; /* none */
};

/* C in evaluate/: takes what the entry takes, with wide values (element.h). */
struct task_oracle {
	struct task_build build; /* run in evaluate/ */
	const char *symbol;
};

struct task_mark {
	uint64_t call_wall_ms; /* one call of the entry */
	uint64_t wall_ms;      /* the whole marking */
	int cache;             /* enum task_cache: state before each call */
};

/* What the agent's jail needs; 0: as the policy says. The smaller of both holds. */
struct task_limits {
	uint64_t wall_ms, memory, pids, workspace, inodes, output;
};

struct task {
	struct arena arena;
	uint64_t schema;
	const char *name;
	int kind; /* enum task_kind */
	const char *summary;
	struct argv editable;    /* files below workspace/ */
	struct task_build build; /* of the candidate, run in the workspace */
	struct task_build baseline;
	struct task_entry entry;
	struct task_oracle oracle;
	struct argv check; /* what the agent runs to try its work */
	struct cases cases;
	struct task_mark mark;
	struct task_limits limits;
};

#define TASK_INIT ((struct task){ .arena = { .newest = NULL } })

enum { TASK_FILE_MAX = 256 * 1024 };

/**
 * task_parse() - read the text of a task.yaml; the files that it names are not looked at
 * @file: what messages call it
 * @out:  untouched on failure; the caller ends it with task_done()
 *
 * Whatever the text says, a failure is ERR_INPUT: "task.yaml:7: key 'pids': …".
 */
int task_parse(const char *file, const char *text, size_t len, struct task *out,
	       struct err *err) must_check;

/**
 * task_parse_given() - the same for a task.yaml as an agent is given it: it may lack hidden cases,
 * see task_given.h
 */
int task_parse_given(const char *file, const char *text, size_t len, struct task *out,
		     struct err *err) must_check;

/**
 * task_load() - read the task in a folder: task.yaml, and whether the files are there that it
 * names, and README.md, and whether the folder has the task's name
 */
int task_load(int folder_fd, struct task *out, struct err *err) must_check;

/**
 * task_done() - free everything; the task is TASK_INIT again
 */
void task_done(struct task *task);

/**
 * task_build_argv() - the command of a build, "{out}" replaced by @out_folder
 *
 * Return: an array with a NULL behind the last, in @arena.
 */
const char *const *task_build_argv(const struct task_build *build, const char *out_folder,
				   struct arena *arena);

/* The keys of the format; for the key tables and tests. */
extern const struct schema task_schema;
extern const struct key_tables task_keys;
