/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/flush.h"

#include <string.h>

#include "harness/judge/raw_clock.h"
#include "tests/lib/check.h"

enum { LINE = 64, LINES = 2048 };

static uint8_t memory[LINES * LINE];

/* One dependent load a line, in an order that no prefetcher follows. */
static int64_t read_ns(void)
{
	int64_t began = raw_clock_ns();
	uint32_t at = 1;

	for (int i = 0; i < LINES; i++)
		at = (at * 1021 + 7 + ((volatile uint8_t *) memory)[at * LINE]) % LINES;
	return raw_clock_ns() - began;
}

TEST(what_was_flushed_is_still_there)
{
	for (size_t i = 0; i < sizeof(memory); i++)
		memory[i] = (uint8_t) (i * 31);
	flush_caches(memory, sizeof(memory), false);
	flush_caches(memory, sizeof(memory), flush_probe());
	for (size_t i = 0; i < sizeof(memory); i++)
		CHECK_INT(memory[i], (uint8_t) (i * 31));
}

/* No threshold of time: of two interleaved kinds of reading, one is slower. */
TEST(flushed_memory_is_read_more_slowly)
{
	int slower = 0;

	memset(memory, 0, sizeof(memory));
	for (int i = 0; i < 21; i++) {
		int64_t warm;

		best_effort(read_ns()); /* into the caches */
		warm = read_ns();
		flush_caches(memory, sizeof(memory), flush_probe());
		slower += read_ns() > warm;
	}
	CHECK(slower > 14);
}
