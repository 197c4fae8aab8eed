/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/base/err.h"
#include "sandbox/base/str.h"

/*
 * The helpers that measure, which AgentKernelArena puts into a workspace
 *
 * In a task's folder are stubs of them that raise an error. Before the baseline, and again before
 * the candidate is marked, the originals of the checkout take their places: a file beside tests of
 * pytest, and a marked part of scripts/task_runner.py.
 */
enum aka_helper {
	AKA_HELPER_PYTEST = 1, /* AKA_HELPER_FILE is written */
	AKA_HELPER_RUNNER = 2, /* the marked part of AKA_HELPER_SCRIPT is replaced */
};

#define AKA_HELPER_FILE   "performance_utils_pytest.py"
#define AKA_HELPER_SCRIPT "scripts/task_runner.py"

/* The originals. */
struct aka_helpers {
	struct str file;  /* all of AKA_HELPER_FILE */
	struct str block; /* what goes between the marks */
};

#define AKA_HELPERS_INIT ((struct aka_helpers){ .file = STR_INIT, .block = STR_INIT })

/**
 * aka_helper_read() - read the originals of a checkout
 * @folder_fd: the checkout's folder
 * @out:       aka_helper_done() frees it; untouched on failure
 */
int aka_helper_read(int folder_fd, struct aka_helpers *out, struct err *err) must_check;

/**
 * aka_helper_done() - free them; AKA_HELPERS_INIT again
 */
void aka_helper_done(struct aka_helpers *helpers);

/**
 * aka_helper_find() - which helpers a task's folder takes
 * @out: receives bits of enum aka_helper
 *
 * Return: 0, or -1 with an ERR_INPUT error: marks that do not belong together, or helpers in a
 * runner that has no marks.
 */
int aka_helper_find(int folder_fd, unsigned int *out, struct err *err) must_check;

/**
 * aka_helper_replace() - append a runner's text with the original between its marks
 */
int aka_helper_replace(const struct aka_helpers *helpers, const char *text, size_t len,
		       struct str *out, struct err *err) must_check;
