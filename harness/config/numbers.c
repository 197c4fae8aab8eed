/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/numbers.h"

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/base/compiler.h"

static const char too_large[] = "the result does not fit in 64 bits";

const char *numbers_add(int64_t a, int64_t b, int64_t *out)
{
	int64_t result;

	if (__builtin_add_overflow(a, b, &result))
		return too_large;
	*out = result;
	return NULL;
}

const char *numbers_subtract(int64_t a, int64_t b, int64_t *out)
{
	int64_t result;

	if (__builtin_sub_overflow(a, b, &result))
		return too_large;
	*out = result;
	return NULL;
}

const char *numbers_multiply(int64_t a, int64_t b, int64_t *out)
{
	int64_t result;

	if (__builtin_mul_overflow(a, b, &result))
		return too_large;
	*out = result;
	return NULL;
}

const char *numbers_divide(int64_t a, int64_t b, int64_t *out)
{
	if (b == 0)
		return "division by zero";
	if (a == INT64_MIN && b == -1)
		return too_large;
	*out = a / b;
	return NULL;
}

const char *numbers_modulo(int64_t a, int64_t b, int64_t *out)
{
	if (b == 0)
		return "division by zero";
	*out = b == -1 ? 0 : a % b; /* the processor traps on INT64_MIN % -1 */
	return NULL;
}

const char *numbers_cdiv(int64_t a, int64_t b, int64_t *out)
{
	if (b <= 0)
		return "cdiv divides by a positive number only";
	*out = a / b + (a % b > 0);
	return NULL;
}

const char *numbers_is_prime(int64_t n, int64_t *out)
{
	bool is_prime = n > 1 && (n == 2 || n % 2 != 0);

	if (n > NUMBERS_PRIME_MAX)
		return "prime() knows numbers up to 16777216";
	for (int64_t d = 3; is_prime && d * d <= n; d += 2)
		is_prime = n % d != 0;
	*out = is_prime;
	return NULL;
}

/* floor(random * count / 2^64): below count, and from one random value always. */
static uint64_t choose(uint64_t random, uint64_t count)
{
	return (uint64_t) ((unsigned __int128) random * count >> 64);
}

const char *numbers_draw(int64_t least, int64_t most, uint64_t random, int64_t *out)
{
	uint64_t width = (uint64_t) most - (uint64_t) least;

	if (least > most)
		return "the interval to draw from is empty";
	if (width == UINT64_MAX)
		return "the interval to draw from is too wide";
	*out = (int64_t) ((uint64_t) least + choose(random, width + 1));
	return NULL;
}

/* Sieves [least, most]: is_composite[i] is about least + i. Returns how many primes there are. */
static uint64_t sieve(int64_t least, int64_t most, bool *is_composite)
{
	uint64_t count = 0;

	for (int64_t d = 2; d * d <= most; d += d == 2 ? 1 : 2)
		for (int64_t n = MAX_OF((least + d - 1) / d, d) * d; n <= most; n += d)
			is_composite[n - least] = true;
	for (int64_t n = least; n <= most; n++) {
		is_composite[n - least] |= n < 2;
		count += !is_composite[n - least];
	}
	return count;
}

const char *numbers_draw_prime(int64_t least, int64_t most, uint64_t random, int64_t *out)
{
	bool is_composite[NUMBERS_PRIME_WIDTH_MAX] = { false };
	uint64_t count, chosen;
	int64_t n = least;

	if (least > most)
		return "the interval to draw from is empty";
	if (most > NUMBERS_PRIME_MAX || least < 0 || most - least >= NUMBERS_PRIME_WIDTH_MAX)
		return "prime(least, most) draws from at most 16384 numbers of 0..16777216";
	count = sieve(least, most, is_composite);
	if (count == 0)
		return "there is no prime to draw";
	chosen = choose(random, count);
	while (is_composite[n - least] || chosen-- > 0)
		n++;
	*out = n;
	return NULL;
}

const char *numbers_draw_pow2(int64_t least, int64_t most, uint64_t random, int64_t *out)
{
	uint64_t low = (uint64_t) MAX_OF(least, INT64_C(1));
	int first = low == 1 ? 0 : 64 - __builtin_clzll(low - 1);
	int last = most < 1 ? -1 : 63 - __builtin_clzll((uint64_t) most);

	if (least > most)
		return "the interval to draw from is empty";
	if (first > last)
		return "there is no power of two to draw";
	*out = INT64_C(1) << (first + (int) choose(random, (uint64_t) (last - first + 1)));
	return NULL;
}
