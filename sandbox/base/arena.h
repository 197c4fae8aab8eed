/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "sandbox/base/compiler.h"

/*
 * An arena: memory for everything that lives as long as its owner (a run, a task) and is freed
 * with it at once. Nothing in it is freed alone.
 */
struct arena_block;

struct arena {
	struct arena_block *newest;
	size_t total; /* bytes handed out */
};

#define ARENA_INIT ((struct arena){ .newest = NULL })

/**
 * arena_alloc() - @count zeroed objects of @size bytes, aligned for any type
 */
void *arena_alloc(struct arena *arena, size_t count, size_t size);

/**
 * arena_copy() - a copy of @len bytes with a zero byte behind it
 */
char *arena_copy(struct arena *arena, const void *bytes, size_t len);

/**
 * arena_printf() - formatted text in the arena
 */
char *arena_printf(struct arena *arena, const char *format, ...) printf_like(2, 3);

/**
 * arena_done() - free all of it; the arena is ARENA_INIT again
 */
void arena_done(struct arena *arena);
