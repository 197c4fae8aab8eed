/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/*
 * Heap memory that is there or ends the program: nobody tests the other branch of malloc. In
 * exchange every size that outsiders choose has a limit, checked before it gets here.
 */

/**
 * mem_alloc() - @count objects of @size bytes, zeroed; abort()s when there is no memory
 */
void *mem_alloc(size_t count, size_t size);

/**
 * mem_resize() - realloc() to @count objects of @size bytes; new bytes are not zeroed
 */
void *mem_resize(void *old, size_t count, size_t size);

/**
 * mem_free() - for cleanup(mem_free): frees what the variable points to
 */
void mem_free(void *variable);
