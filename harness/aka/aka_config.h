/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "harness/config/types.h"
#include "sandbox/base/arena.h"
#include "sandbox/base/err.h"
#include "sandbox/base/str.h"

/*
 * A run configuration of AgentKernelArena (its example_configs/): which agent sits down to which
 * tasks, for which GPU, and what its folders are called
 *
 * What its main.py ends with a KeyError for is an error here, with the line; what it does not read
 * is a remark. Its agents' own settings (model, effort, time) are not in such a file.
 */
enum { AKA_CONFIG_SELECTORS_MAX = 1024, AKA_CONFIG_REMARKS_MAX = 16, AKA_CONFIG_WORD_MAX = 64 };

struct aka_config {
	struct arena arena;     /* holds all that is below */
	const char *agent;      /* agent.template as its folders have it: "claude_code" */
	struct argv selectors;  /* at least one; each can match something */
	const char *gpu;        /* target_gpu_model: a part of a folder's name */
	const char *log_folder; /* log_directory */
	const char *prefix;     /* workspace_directory_prefix: a part of a folder's name */
	const char *gpu_ids;    /* "0,1"; NULL: not said */
	uint64_t parallel;      /* num_parallel; 0: not said */
	const char *mode;       /* run_mode, in small letters; NULL: not said */
	const char **remarks;   /* "FILE:LINE: key 'KEY': …": what has no effect */
	size_t remark_count;
};

#define AKA_CONFIG_INIT ((struct aka_config){ .agent = NULL })

/**
 * aka_config_is() - is a text such a file, and no run plan of proctor's: a mapping without `schema`
 * whose `agent` is a mapping with `template`
 *
 * A text that is no YAML is neither: whoever reads run plans says what is wrong with it.
 */
bool aka_config_is(const char *text, size_t len) must_check;

/**
 * aka_config_parse() - read such a text
 * @file: what messages call it
 * @out:  aka_config_done() frees it; untouched on failure
 *
 * Return: 0, or -1 with an ERR_INPUT error that names file, line, key and value.
 */
int aka_config_parse(const char *file, const char *text, size_t len, struct aka_config *out,
		     struct err *err) must_check;

/**
 * aka_config_done() - free it; AKA_CONFIG_INIT again
 */
void aka_config_done(struct aka_config *config);

/**
 * aka_config_workspace() - append the name of the folder that holds its runs: PREFIX_GPU_AGENT
 */
void aka_config_workspace(const struct aka_config *config, struct str *out);

/**
 * aka_config_run() - append the name of a run's folder: run_YYYYMMDD_HHMMSS, and _SUFFIX
 * @time:   where the operator is, as there
 * @suffix: letters, digits, '.', '_' and '-'; NULL: none
 */
void aka_config_run(const struct tm *time, const char *suffix, struct str *out);

/**
 * aka_config_task() - append the name of a task's folder in a run: a/b becomes a_b, and the run's
 * time follows
 */
void aka_config_task(const char *task, const struct tm *time, struct str *out);
