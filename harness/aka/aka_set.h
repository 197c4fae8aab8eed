/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/config/types.h"
#include "sandbox/base/err.h"
#include "sandbox/base/str.h"

/*
 * Sets of tasks: the names of tasks, a line each; blank lines and what is behind a # do not count
 *
 * Two come with proctor, under the names that they have where they were published; they are names
 * and nothing else of those tasks.
 */
enum { AKA_SET_FILE_MAX = 1 << 20 };

/**
 * aka_set_shipped() - the text of a set that came with proctor
 *
 * Return: its first byte (no zero byte ends it), NULL if there is no such set.
 */
const char *aka_set_shipped(const char *name, size_t *len);

/**
 * aka_set_names() - append the names of those sets, with commas between them
 */
void aka_set_names(struct str *out);

/**
 * aka_set_parse() - read a set
 * @file:  what it is called in messages
 * @arena: holds @out: names of tasks, none twice, at least one
 */
int aka_set_parse(const char *file, const char *text, size_t len, struct arena *arena,
		  struct argv *out, struct err *err) must_check;
