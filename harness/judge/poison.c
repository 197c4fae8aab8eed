/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/poison.h"

#include <string.h>

#include "sandbox/base/compiler.h"

void poison_fill(void *at, uint64_t bytes, uint64_t seed)
{
	uint32_t *words = at;

	for (uint64_t i = 0; i < bytes / sizeof(*words); i++)
		words[i] = poison_word(seed, i);
}

void poison_fill_bytes(uint8_t *at, uint64_t bytes, uint64_t seed)
{
	for (uint64_t i = 0; i < bytes; i++)
		at[i] = poison_byte(seed, i);
}

/* The redzone that ends where buffer @index begins; @index == count: the last one. */
static void redzone(const struct protocol_layout *layout, uint32_t index, uint64_t *from,
		    uint64_t *to)
{
	*from = index == 0 ? 0 : layout->offset[index - 1] + layout->bytes[index - 1];
	*to = index == layout->count ? layout->span : layout->offset[index];
}

void poison_fill_redzones(uint8_t *span, const struct protocol_layout *layout, uint64_t seed)
{
	for (uint32_t zone = 0; zone <= layout->count; zone++) {
		uint64_t from, to;

		redzone(layout, zone, &from, &to);
		/* A zone may begin inside a word. */
		for (uint64_t at = from; at < to;) {
			uint32_t word = poison_word(seed, at / 4);
			uint64_t inside = at % 4;
			uint64_t len = MIN_OF(4 - inside, to - at);

			memcpy(span + at, (const char *) &word + inside, len);
			at += len;
		}
	}
}

bool poison_find_damage(const uint8_t *span, const struct protocol_layout *layout, uint64_t seed,
			uint64_t *offset)
{
	for (uint32_t zone = 0; zone <= layout->count; zone++) {
		uint64_t from, to;

		redzone(layout, zone, &from, &to);
		for (uint64_t at = from; at < to; at++) {
			uint32_t word = poison_word(seed, at / 4);

			if (span[at] != ((const uint8_t *) &word)[at % 4]) {
				*offset = at;
				return true;
			}
		}
	}
	return false;
}
