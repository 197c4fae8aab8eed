/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "harness/aka/pysource.h"

/*
 * The blocks of a file, to look up: the last definition of a name, which is the one that Python
 * binds, and whether a text is one of the blocks
 */
struct pyindex {
	const struct pysource *source; /* borrowed */
	const struct pysource_block **by_name, **by_text;
	size_t names;
};

#define PYINDEX_INIT ((struct pyindex){ .source = NULL })

/**
 * pyindex_make() - index a file
 * @out: pyindex_done() frees it
 */
void pyindex_make(const struct pysource *source, struct pyindex *out);

/**
 * pyindex_done() - free it; it is PYINDEX_INIT again
 */
void pyindex_done(struct pyindex *index);

/**
 * pyindex_find() - the last function or class of this name, NULL if there is none
 */
const struct pysource_block *pyindex_find(const struct pyindex *index, const char *name) must_check;

/**
 * pyindex_is_last() - is this the function or class of its name that counts
 */
bool pyindex_is_last(const struct pyindex *index, const struct pysource_block *block) must_check;

/**
 * pyindex_has_text() - is a block of another file, line breaks at its end aside, one of this file
 */
bool pyindex_has_text(const struct pyindex *index, const struct pysource *other,
		      const struct pysource_block *block) must_check;
