/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/base/mem.h"

struct arena_block {
	struct arena_block *older;
	size_t used, room;
	alignas(max_align_t) unsigned char bytes[];
};

void *arena_alloc(struct arena *arena, size_t count, size_t size)
{
	const size_t align = alignof(max_align_t);
	struct arena_block *block = arena->newest;
	size_t need;

	if (__builtin_mul_overflow(count, size, &need) || need > SIZE_MAX / 2)
		abort();
	need = (MAX_OF(need, (size_t) 1) + align - 1) / align * align;
	if (!block || block->room - block->used < need) {
		size_t room = MAX_OF(need, (size_t) (16 * KIB));

		block = mem_alloc(1, sizeof(*block) + room);
		block->older = arena->newest;
		block->room = room;
		arena->newest = block;
	}
	block->used += need;
	arena->total += need;
	return block->bytes + block->used - need;
}

char *arena_copy(struct arena *arena, const void *bytes, size_t len)
{
	char *copy = arena_alloc(arena, len + 1, 1);

	if (len > 0)
		memcpy(copy, bytes, len);
	return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args, again;
	char *text;
	int len;

	va_start(args, format);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	text = arena_alloc(arena, (size_t) MAX_OF(len, 0) + 1, 1);
	if (len > 0)
		vsnprintf(text, (size_t) len + 1, format, again);
	va_end(again);
	return text;
}

void arena_done(struct arena *arena)
{
	while (arena->newest) {
		struct arena_block *older = arena->newest->older;

		free(arena->newest);
		arena->newest = older;
	}
	*arena = ARENA_INIT;
}
