/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/base/names.h"

/*
 * The types of a task's values, and how they are converted
 *
 * A type is real or whole. *Wide* values are what the oracle computes with: double for a real type,
 * int64_t for a whole one; both hold every value of every such type exactly. i4 and u4 are packed:
 * two in a byte, the first in its lower half.
 */
enum element {
	ELEMENT_F64,
	ELEMENT_F32,
	ELEMENT_F16,
	ELEMENT_BF16,
	ELEMENT_I64,
	ELEMENT_I32,
	ELEMENT_I8,
	ELEMENT_U8,
	ELEMENT_I4,
	ELEMENT_U4,
	ELEMENT_COUNT,
};

enum { ELEMENT_WIDE = 8, ELEMENT_SHOWN = 32 };

/* With the words of the format that this version has no code for: WORD_LATER. */
extern const struct name element_names[];

/**
 * element_is_real() - is it a floating-point type
 */
bool element_is_real(uint32_t element);

/**
 * element_is_packed() - does it take less than a byte
 */
bool element_is_packed(uint32_t element);

/**
 * element_size() - bytes of one element; of a packed type 1, the byte that holds it
 */
uint64_t element_size(uint32_t element);

/**
 * element_bytes() - bytes of @count elements that lie side by side
 */
uint64_t element_bytes(uint32_t element, uint64_t count);

/**
 * element_largest() - the largest finite value; of i64 as near as a double comes
 */
double element_largest(uint32_t element);

/**
 * element_least_whole() - the smallest value of a whole type; of a real type the smallest number
 * from which on it has every whole one up to 0
 */
int64_t element_least_whole(uint32_t element);

/**
 * element_most_whole() - the largest value of a whole type; of a real type the largest number up
 * to which it has every whole one
 */
int64_t element_most_whole(uint32_t element);

/**
 * element_round() - the nearest value of a real type, to even where two are as near; infinite where
 * @value is beyond the largest by half a step
 */
double element_round(uint32_t element, double value);

/**
 * element_order() - the place of a value among those of its real type: neighbours differ by 1, both
 * zeros have 0
 * @value: of the type, and not NaN
 */
int64_t element_order(uint32_t element, double value);

/**
 * element_widen() - read elements as wide values
 * @from:  where element 0 lies
 * @first: the first to be read
 * @wide:  receives @count of them
 */
void element_widen(uint32_t element, const void *from, uint64_t first, uint64_t count, void *wide);

/**
 * element_narrow() - write wide values as elements; real ones are rounded, of whole ones the upper
 * bits are dropped
 * @to:    where element 0 lies; neighbours that share a byte stay as they are
 * @first: the first to be written
 */
void element_narrow(uint32_t element, const void *wide, void *to, uint64_t first, uint64_t count);

/**
 * element_show() - the shortest decimal number that reads as this value of a real type
 *
 * Return: @room.
 */
const char *element_show(uint32_t element, double value, char room[ELEMENT_SHOWN]);
