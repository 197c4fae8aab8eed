/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "harness/config/types.h"
#include "sandbox/base/arena.h"

/*
 * A command of a task, as AgentKernelArena writes it: one text for /bin/sh
 *
 * All that its tasks have is words with quotes, so they become an argument vector and no shell is
 * needed. One that does need it (a pipe, a variable, a pattern…) is planned as what it is:
 * /bin/sh -c TEXT, in the jail like every other. An interpreter takes the place of a leading
 * python3, python or pytest, under the same conditions as there: the first thing in the text, with
 * a blank or nothing behind it.
 */
enum aka_tool { AKA_TOOL_OTHER, AKA_TOOL_PYTHON, AKA_TOOL_PYTEST };

struct aka_command {
	const char *text;
	struct argv argv; /* its words, nothing substituted; none if it needs a shell */
	enum aka_tool tool;
	bool needs_shell;
};

/**
 * aka_command_parse() - read a command
 * @text: borrowed: it has to live as long as @out
 *
 * Return: NULL, or why it is no command ("a quote does not close").
 */
const char *aka_command_parse(const char *text, struct arena *arena,
			      struct aka_command *out) must_check;

/**
 * aka_command_of() - a command that is an argument vector already, of at least one word; an
 * interpreter takes the place of the same first words
 */
struct aka_command aka_command_of(struct argv argv);

/**
 * aka_command_plan() - what is executed
 * @interpreter: of Python; NULL: nothing is substituted
 * @extra:       one more word at the end; NULL: none
 */
struct argv aka_command_plan(const struct aka_command *command, const char *interpreter,
			     const char *extra, struct arena *arena);

/**
 * aka_command_runs() - is the file at @path itself what Python, or pytest, is told to run
 */
bool aka_command_runs(const struct aka_command *command, const char *path);

/**
 * aka_command_file() - the first Python file that it runs, NULL if it does not say
 */
const char *aka_command_file(const struct aka_command *command, struct arena *arena);
