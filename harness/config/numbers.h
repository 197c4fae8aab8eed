/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/*
 * Checked 64-bit arithmetic and drawing, for expressions
 *
 * Every function puts its result into @out and returns NULL, or returns what is wrong as a
 * constant text and leaves @out alone. @out may be where an operand came from: they are values.
 */

/* Limits that keep the search for primes below a tenth of a millisecond. */
enum {
	NUMBERS_PRIME_MAX = 1 << 24,
	NUMBERS_PRIME_WIDTH_MAX =
		16384, /* of the interval that is drawn from, both ends included */
};

/**
 * numbers_add() - @a + @b
 */
const char *numbers_add(int64_t a, int64_t b, int64_t *out);

/**
 * numbers_subtract() - @a - @b
 */
const char *numbers_subtract(int64_t a, int64_t b, int64_t *out);

/**
 * numbers_multiply() - @a * @b
 */
const char *numbers_multiply(int64_t a, int64_t b, int64_t *out);

/**
 * numbers_divide() - @a / @b, truncated towards zero
 */
const char *numbers_divide(int64_t a, int64_t b, int64_t *out);

/**
 * numbers_modulo() - what numbers_divide() leaves; it has the sign of @a
 */
const char *numbers_modulo(int64_t a, int64_t b, int64_t *out);

/**
 * numbers_cdiv() - @a / @b rounded up; @b has to be positive
 */
const char *numbers_cdiv(int64_t a, int64_t b, int64_t *out);

/**
 * numbers_is_prime() - 1 or 0; @n may be at most NUMBERS_PRIME_MAX
 */
const char *numbers_is_prime(int64_t n, int64_t *out);

/**
 * numbers_draw() - a value of [@least, @most]
 * @random: a uniform 64-bit value. Of n values in order the one at floor(@random * n / 2^64) is
 *          taken: one random value a draw, whatever comes, so that a draw can be repeated by others
 *
 * An empty interval is an error.
 */
const char *numbers_draw(int64_t least, int64_t most, uint64_t random, int64_t *out);

/**
 * numbers_draw_prime() - a prime of [@least, @most], chosen among them as numbers_draw() does
 */
const char *numbers_draw_prime(int64_t least, int64_t most, uint64_t random, int64_t *out);

/**
 * numbers_draw_pow2() - a power of two of [@least, @most], chosen in the same way
 */
const char *numbers_draw_pow2(int64_t least, int64_t most, uint64_t random, int64_t *out);
