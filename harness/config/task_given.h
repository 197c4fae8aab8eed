/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "harness/config/yaml.h"
#include "sandbox/base/str.h"

/*
 * A task.yaml as its agent is given it: all that the agent is marked by, and neither the hidden
 * cases nor a comment. It is made of the values, never of the file's text, and each of its keys
 * is one of a list: what is not known to be harmless stays away. task_parse_given() reads it.
 */

/**
 * task_given_text() - append the task.yaml for the agent
 * @file: what messages call the task.yaml that is read
 *
 * A text that is no YAML is an ERR_INPUT error.
 */
int task_given_text(const char *file, const char *text, size_t len, struct str *out,
		    struct err *err) must_check;

/**
 * task_given_has() - is an agent given this key of a task.yaml?
 */
bool task_given_has(const char *key);
