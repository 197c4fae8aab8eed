/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "harness/aka/pyvalue.h"
#include "sandbox/base/arena.h"
#include "sandbox/base/compiler.h"
#include "sandbox/base/err.h"

/*
 * JSON as Python's json.load() reads it
 *
 * More lax than harness/evidence/json.h, and that is what it is for: reports that a task has
 * written have to mean to us what they mean to AgentKernelArena. NaN, Infinity, numbers of any
 * size, any value at the outermost level, lone surrogates, and names given twice (the last one
 * counts) are read; the outcome says where a stricter reader would have stopped. Ours are the
 * limits alone.
 */
enum {
	PYJSON_BYTES_MAX = 4 << 20,
	PYJSON_DEPTH_MAX = 64,
	PYJSON_VALUES_MAX = 100000,
	PYJSON_MEMBERS_MAX = 1024, /* of one object: each is looked for among those before it */
};

struct pyjson {
	const struct pyvalue *root;
	bool has_repeated_key;
	bool has_non_finite; /* NaN or Infinity by name */
	bool is_too_large;   /* set on failure: one of our limits, not a fault of the text */
};

/**
 * pyjson_parse() - read a whole text; it lives in @arena
 *
 * Return: -1 with ERR_INPUT if json.load() would have raised, or a limit was met; of @out nothing
 * but is_too_large has been set then.
 */
int pyjson_parse(struct pyjson *out, struct arena *arena, const void *bytes, size_t len,
		 struct err *err) must_check;
