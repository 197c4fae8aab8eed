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

static uint64_t power_modulo(uint64_t base, uint64_t exponent, uint64_t modulus)
{
	uint64_t result = 1;

	for (; exponent > 0; exponent >>= 1) {
		if (exponent & 1)
			result = result * base % modulus;
		base = base * base % modulus;
	}
	return result;
}

/* Miller-Rabin; these three bases decide every odd n below 4,759,123,141. */
static bool is_odd_prime(uint64_t n)
{
	static const uint64_t bases[] = { 2, 7, 61 };
	int twos = __builtin_ctzll(n - 1);

	for (size_t i = 0; i < ARRAY_LEN(bases); i++) {
		uint64_t x = power_modulo(bases[i] % n, (n - 1) >> twos, n);
		bool is_witness = bases[i] % n != 0 && x != 1 && x != n - 1;

		for (int k = 1; k < twos && is_witness; k++) {
			x = x * x % n;
			is_witness = x != n - 1;
		}
		if (is_witness)
			return false;
	}
	return true;
}

static bool is_prime(uint64_t n)
{
	if (n < 2 || n % 2 == 0)
		return n == 2;
	return is_odd_prime(n);
}

const char *numbers_is_prime(int64_t n, int64_t *out)
{
	if (n > UINT32_MAX)
		return "prime() knows numbers up to 4294967295";
	*out = n > 0 && is_prime((uint64_t) n);
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

const char *numbers_draw_prime(int64_t least, int64_t most, uint64_t random, int64_t *out)
{
	uint64_t count = 0, chosen;

	if (least > most)
		return "the interval to draw from is empty";
	if (most > UINT32_MAX || least < 0 || most - least >= NUMBERS_PRIME_WIDTH_MAX)
		return "prime(least, most) draws from at most 16384 numbers of 0..4294967295";
	for (int64_t n = least; n <= most; n++)
		count += is_prime((uint64_t) n);
	if (count == 0)
		return "there is no prime to draw";
	chosen = choose(random, count);
	for (int64_t n = least; n <= most; n++) {
		if (is_prime((uint64_t) n) && chosen-- == 0) {
			*out = n;
			return NULL;
		}
	}
	return "there is no prime to draw";
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
