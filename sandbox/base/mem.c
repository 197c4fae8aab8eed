/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/mem.h"

#include <stdlib.h>
#include <string.h>

void *mem_alloc(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size ? size : 1);

	if (!memory)
		abort();
	return memory;
}

void *mem_resize(void *old, size_t count, size_t size)
{
	void *memory = reallocarray(old, count ? count : 1, size ? size : 1);

	if (!memory)
		abort();
	return memory;
}

void mem_free(void *variable)
{
	void *memory;

	memcpy(&memory, variable, sizeof(memory));
	free(memory);
}
