/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/base/arena.h"
#include "sandbox/base/err.h"

/*
 * A file of Python, cut into its top-level statements
 *
 * A block is such a statement with its decorators and its body: whole lines, from that of its first
 * token to that of its last one, a comment behind it included. Several simple statements with `;`
 * between them are one block, as they share a line. Comments and blank lines between blocks belong
 * to none. So blocks never overlap, and a block that is put into the place of another one changes
 * nothing else of the file.
 *
 * No parser: a file may be cut that Python refuses. One that Python reads is cut as Python cuts it.
 */
enum pysource_kind { PYSOURCE_OTHER, PYSOURCE_DEF, PYSOURCE_ASYNC_DEF, PYSOURCE_CLASS };

struct pysource_block {
	enum pysource_kind kind;
	const char *name;       /* of a function or class; else NULL */
	size_t from, to;        /* bytes of the file; its last line break included, if it has one */
	size_t line, last_line; /* from 1 */
	size_t decorators;      /* how many from pysource.decorators[first_decorator] on */
	size_t first_decorator;
};

struct pysource {
	struct arena arena;
	const char *bytes; /* borrowed */
	size_t len;
	struct pysource_block *blocks;
	size_t count;
	/* "triton.jit" of @triton.jit and of @triton.jit(…); NULL for any other expression */
	const char **decorators;
	size_t decorator_count;
};

#define PYSOURCE_INIT ((struct pysource){ .bytes = NULL })

#define PYSOURCE_BYTES_MAX (4 * MIB)
enum { PYSOURCE_BLOCKS_MAX = 1 << 16, PYSOURCE_DOTTED_MAX = 128 };

/**
 * pysource_split() - cut a file
 * @path:  for the error
 * @bytes: borrowed: has to live as long as @out
 * @out:   pysource_done() frees it; untouched on failure
 *
 * Return: 0, or -1 with an ERR_INPUT error that names file and line: a string or bracket is not
 * closed, a zero byte, a decorator in front of nothing, more than the limits above…
 */
int pysource_split(const char *path, const void *bytes, size_t len, struct pysource *out,
		   struct err *err) must_check;

/**
 * pysource_done() - free it; it is PYSOURCE_INIT again
 */
void pysource_done(struct pysource *source);

/**
 * pysource_is_function() - is the block a def, or an async def
 */
bool pysource_is_function(const struct pysource_block *block) must_check;

/**
 * pysource_is_ascii() - are the file's bytes below 0x80 what ASCII says they are
 *
 * A comment in the first two lines can name an encoding in which they are not; it is then no text
 * that we can cut. No encoding, or one of those that contain ASCII, is fine.
 */
bool pysource_is_ascii(const void *bytes, size_t len) must_check;
