/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "harness/aka/pysource.h"

/*
 * The names that a file of Python uses
 *
 * Each name in its code that does not follow a dot, bound or looked up, keywords too, and each
 * string that is a name and nothing else, as getattr() may get it. A definition of another name
 * changes nothing of what the file itself does.
 */
struct pynames {
	struct arena arena;
	const char **items; /* sorted, each one once */
	size_t count;
};

#define PYNAMES_INIT ((struct pynames){ .items = NULL })

/**
 * pynames_read() - gather them
 * @out: pynames_done() frees it
 */
void pynames_read(const struct pysource *source, struct pynames *out);

/**
 * pynames_done() - free it; it is PYNAMES_INIT again
 */
void pynames_done(struct pynames *names);

/**
 * pynames_has() - is the name used
 */
bool pynames_has(const struct pynames *names, const char *name) must_check;
