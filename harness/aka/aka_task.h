/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/aka/aka_command.h"
#include "harness/config/yaml.h"
#include "sandbox/base/names.h"

/*
 * A task of AgentKernelArena, as it is planned
 *
 * Both formats of its config.yaml, the first and `schema_version: 2`, become the same: what may be
 * edited, which commands each step runs and for how long at most, what is brought from elsewhere,
 * on which GPUs it may run. What was written is kept where prompts and scores need it.
 */

/* The steps, in the order in which they can be run. One without commands is not taken. */
enum aka_step {
	AKA_VALIDATE,
	AKA_BASELINE_COMPILE,
	AKA_BASELINE_CORRECTNESS,
	AKA_BASELINE_PERFORMANCE,
	AKA_COMPILE,
	AKA_CORRECTNESS,
	AKA_PERFORMANCE,
	AKA_STEPS,
};
extern const struct name aka_step_names[];

struct aka_action {
	const struct aka_command *commands;
	size_t count;
	uint64_t wall_s;   /* for each command; format 2: for all of them together */
	const char *extra; /* one more word behind each command; NULL: none */
};

/* How much of what the agent leaves at a path is carried over. */
enum aka_scope {
	AKA_SCOPE_FILE,    /* the file */
	AKA_SCOPE_SYMBOLS, /* these functions or classes of it: the rest is the task's, its tests
			      too */
	AKA_SCOPE_TREE,    /* all below the folder */
};
extern const struct name aka_scope_names[];

struct aka_edit {
	const char *path; /* in the workspace */
	enum aka_scope scope;
	struct argv symbols;    /* AKA_SCOPE_SYMBOLS */
	bool allow_new_helpers; /* AKA_SCOPE_SYMBOLS: functions and classes of other names as well
				 */
};

/* What is put into the workspace beside the task's folder. */
enum aka_origin { AKA_ORIGIN_IMAGE, AKA_ORIGIN_GIT };

struct aka_source {
	enum aka_origin origin;
	const char *from;     /* a folder of the image; a URL */
	const char *to;       /* the folder in the workspace */
	const char *revision; /* of git; NULL: nothing pins it */
	struct argv exclude;  /* of an image: what is left out, beside .git */
};

struct aka_platform {
	bool is_skipped;           /* status: skip */
	const char *reason;        /* why; NULL: not said */
	const char *required_arch; /* the one GPU architecture it runs on; NULL: any */
};

/* A function, builder, class or program that the harness calls (format 2). */
struct aka_entrypoint {
	const char *file, *kind;
	const char *symbol; /* NULL: an executable */
};

/* Format 2 alone. */
struct aka_contract {
	const char *description, *initial_state, *initial_language;
	const char *baseline, *baseline_language; /* "initial_candidate" or "provided" */
	const char *correctness_policy, *diagnostic_reason;
	struct argv baseline_sources, instructions;
	const char *workloads;
	const struct aka_entrypoint *entrypoints;
	size_t entrypoint_count;
	const struct yaml_node *exports, *evaluation_profile, *evaluation_tools;
};

/* Format 1 alone. */
struct aka_prompt {
	const char *instructions, *cheatsheet, *source_code, *output_format; /* NULL: not given */
	const char *task_type;
};

struct aka_task {
	struct arena arena;   /* holds all that is below */
	const char *name;     /* the folder's path below tasks/ */
	int version;          /* of the format: 1 or 2 */
	const char *type;     /* task_type; format 2: the top folder */
	const char *from;     /* the language of what is given: torch, triton, hip… */
	const char *language; /* the language of what is to be written */

	struct argv sources;   /* source_file_path, or the paths of candidate.editable */
	struct argv functions; /* target_kernel_functions, or the symbols of the entry points */
	const char *target;    /* target_file_path; NULL: not given */
	const struct aka_edit *edits;
	size_t edit_count;

	struct aka_action steps[AKA_STEPS];
	const struct aka_source *brought;
	size_t brought_count;
	struct aka_action setup; /* run in the workspace before all others; commands of a shell */
	bool sets_up_each_time;  /* and not only where a source was brought anew */

	unsigned int helpers; /* enum aka_helper: what is put into the workspace; format 1 alone */
	struct aka_platform platform;
	struct aka_prompt prompt;
	struct aka_contract contract;
	const char *logical_operator, *source_owner, *kernel_kind; /* kernel_identity */
	const char *harness_path;
	struct argv supported_archs;  /* told, and not looked at there either */
	const struct yaml_node *root; /* all of the file, for what is only carried along */
	const char **remarks;         /* what is odd, and does not keep it from running */
	size_t remark_count;
};

#define AKA_TASK_INIT ((struct aka_task){ .version = 0 })

enum { AKA_REMARKS_MAX = 16 };

/* The wall time that AgentKernelArena gives a command where the task says none. */
enum { AKA_WALL_S = 3600, AKA_SETUP_WALL_S = 7200 };

/**
 * aka_task_load() - read and plan a task
 * @tasks_fd: the folder tasks/
 * @name:     the task's folder below it
 * @out:      aka_task_done() frees it; untouched on failure
 *
 * Return: 0, or -1 with an ERR_INPUT error that names file, line, key and value.
 */
int aka_task_load(int tasks_fd, const char *name, struct aka_task *out, struct err *err) must_check;

/**
 * aka_task_parse() - the same of a text
 * @text: borrowed for the call
 *
 * Nothing of the folder is looked at.
 */
int aka_task_parse(const char *name, const char *text, size_t len, struct aka_task *out,
		   struct err *err) must_check;

/**
 * aka_task_done() - free it; the task is AKA_TASK_INIT again
 */
void aka_task_done(struct aka_task *task);

/**
 * aka_task_remark() - note that something is odd
 */
void aka_task_remark(struct aka_task *task, const char *format, ...) printf_like(2, 3);

/**
 * aka_task_is_colocated() - does an editable file also hold the tests that are run
 */
bool aka_task_is_colocated(const struct aka_task *task) must_check;
