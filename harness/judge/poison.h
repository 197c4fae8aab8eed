/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "harness/judge/protocol.h"

/*
 * What outputs, scratch, padding and redzones hold before a call: another pattern for each call,
 * each word another.
 *
 * Every word is a NaN, read as f32 or as the upper half of an f64, and so is each half of it, read
 * as f16 or bf16, so that no tolerance can accept it; payload bits that no arithmetic sets by
 * itself tell it from an honest NaN. To a whole type it is a number like others.
 */

/**
 * poison_word() - what the 32-bit word at @index holds
 */
static inline uint32_t poison_word(uint64_t seed, uint64_t index)
{
	uint32_t mixed = (uint32_t) seed + (uint32_t) index * UINT32_C(0x9e3779b1);

	return UINT32_C(0x7ff87f82) | (mixed & UINT32_C(0x8007807d));
}

/**
 * poison_byte() - what the byte at @offset of a span holds
 */
static inline uint8_t poison_byte(uint64_t seed, uint64_t offset)
{
	return (uint8_t) (poison_word(seed, offset / 4) >> offset % 4 * 8);
}

/**
 * poison_fill() - poison @bytes (a multiple of 4) at @at
 */
void poison_fill(void *at, uint64_t bytes, uint64_t seed);

/**
 * poison_fill_bytes() - poison any number of bytes
 */
void poison_fill_bytes(uint8_t *at, uint64_t bytes, uint64_t seed);

/**
 * poison_fill_redzones() - poison all of a span that is no buffer
 */
void poison_fill_redzones(uint8_t *span, const struct protocol_layout *layout, uint64_t seed);

/**
 * poison_find_damage() - look for a redzone byte that is not what was put there
 * @span:   all of a layout's bytes, poisoned with @seed before
 * @offset: receives where the first one is
 */
bool poison_find_damage(const uint8_t *span, const struct protocol_layout *layout, uint64_t seed,
			uint64_t *offset);
