/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/numbers.h"

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/base/compiler.h"
#include "tests/lib/check.h"

/* The result, or 424242 where the operation has none. */
static int64_t result(const char *(*op)(int64_t, int64_t, int64_t *), int64_t a, int64_t b)
{
	int64_t out = 424242;
	bool is_refused = op(a, b, &out) != NULL;

	CHECK_INT(is_refused, out == 424242);
	return out;
}

TEST(arithmetic_is_exact_or_refused)
{
	enum { NONE = 424242 };

	CHECK_INT(result(numbers_add, INT64_MAX, -1), INT64_MAX - 1);
	CHECK_INT(result(numbers_add, INT64_MAX, 1), NONE);
	CHECK_INT(result(numbers_subtract, INT64_MIN, -1), INT64_MIN + 1);
	CHECK_INT(result(numbers_subtract, INT64_MIN, 1), NONE);
	CHECK_INT(result(numbers_multiply, INT64_C(1) << 31, INT64_C(1) << 31), INT64_C(1) << 62);
	CHECK_INT(result(numbers_multiply, INT64_C(1) << 32, INT64_C(1) << 31), NONE);
	CHECK_INT(result(numbers_multiply, INT64_MIN, -1), NONE);
}

TEST(division_truncates_towards_zero)
{
	enum { NONE = 424242 };

	CHECK_INT(result(numbers_divide, 7, 2), 3);
	CHECK_INT(result(numbers_divide, -7, 2), -3);
	CHECK_INT(result(numbers_divide, 7, -2), -3);
	CHECK_INT(result(numbers_divide, 1, 0), NONE);
	CHECK_INT(result(numbers_divide, INT64_MIN, -1), NONE);
	CHECK_INT(result(numbers_modulo, 7, 2), 1);
	CHECK_INT(result(numbers_modulo, -7, 2), -1);
	CHECK_INT(result(numbers_modulo, 7, -2), 1);
	CHECK_INT(result(numbers_modulo, 1, 0), NONE);
	CHECK_INT(result(numbers_modulo, INT64_MIN, -1), 0);
}

TEST(cdiv_rounds_up)
{
	enum { NONE = 424242 };

	CHECK_INT(result(numbers_cdiv, 0, 4), 0);
	CHECK_INT(result(numbers_cdiv, 1, 4), 1);
	CHECK_INT(result(numbers_cdiv, 4, 4), 1);
	CHECK_INT(result(numbers_cdiv, 5, 4), 2);
	CHECK_INT(result(numbers_cdiv, -5, 4), -1);
	CHECK_INT(result(numbers_cdiv, INT64_MAX, 1), INT64_MAX);
	CHECK_INT(result(numbers_cdiv, INT64_MAX, 2), INT64_C(1) << 62);
	CHECK_INT(result(numbers_cdiv, 1, 0), NONE);
	CHECK_INT(result(numbers_cdiv, 1, -1), NONE);
}

static bool divides_nothing(int64_t n)
{
	for (int64_t d = 2; d * d <= n; d++)
		if (n % d == 0)
			return false;
	return n > 1;
}

TEST(primes_are_those_that_trial_division_finds)
{
	int64_t is_prime;

	for (int64_t n = -3; n < 20000; n++) {
		CHECK(!numbers_is_prime(n, &is_prime));
		CHECK_INT(is_prime, divides_nothing(n));
	}
	for (int64_t n = NUMBERS_PRIME_MAX - 200; n <= NUMBERS_PRIME_MAX; n++) {
		CHECK(!numbers_is_prime(n, &is_prime));
		CHECK_INT(is_prime, divides_nothing(n));
	}
	CHECK(numbers_is_prime(NUMBERS_PRIME_MAX + 1, &is_prime));
}

TEST(a_draw_reaches_both_ends_and_nothing_beyond)
{
	enum { PARTS = 1000 };
	int64_t seen[7] = { 0 };

	for (uint64_t i = 0; i < PARTS; i++) {
		int64_t value;

		CHECK(!numbers_draw(-3, 3, UINT64_MAX / PARTS * i, &value));
		CHECK(value >= -3 && value <= 3);
		seen[value + 3]++;
	}
	for (size_t i = 0; i < ARRAY_LEN(seen); i++)
		CHECK(seen[i] >= PARTS / 7 && seen[i] <= PARTS / 7 + 1);
}

TEST(a_draw_takes_the_part_of_the_interval_that_the_random_value_names)
{
	int64_t value = 0;

	CHECK(!numbers_draw(5, 5, UINT64_MAX, &value));
	CHECK_INT(value, 5);
	CHECK(!numbers_draw(INT64_MIN + 1, INT64_MAX, 0, &value));
	CHECK_INT(value, INT64_MIN + 1);
	CHECK(!numbers_draw(INT64_MIN + 1, INT64_MAX, UINT64_MAX, &value));
	CHECK_INT(value, INT64_MAX);
	CHECK_STR(numbers_draw(1, 0, 0, &value), "the interval to draw from is empty");
	CHECK_STR(numbers_draw(INT64_MIN, INT64_MAX, 0, &value),
		  "the interval to draw from is too wide");
}

TEST(only_primes_are_drawn_and_all_of_them)
{
	uint64_t seen = 0;
	int64_t value;

	for (uint64_t i = 0; i < 1000; i++) {
		CHECK(!numbers_draw_prime(3, 61, UINT64_MAX / 1000 * i, &value));
		CHECK(divides_nothing(value) && value >= 3 && value <= 61);
		seen |= UINT64_C(1) << value;
	}
	CHECK_INT(__builtin_popcountll(seen), 17);
	CHECK_STR(numbers_draw_prime(24, 28, 0, &value), "there is no prime to draw");
	CHECK_STR(numbers_draw_prime(9, 8, 0, &value), "the interval to draw from is empty");
	CHECK(!numbers_draw_prime(0, 16383, 1, &value));
	CHECK_STR(numbers_draw_prime(0, 16384, 1, &value),
		  "prime(least, most) draws from at most 16384 numbers of 0..16777216");
	CHECK(!numbers_draw_prime(NUMBERS_PRIME_MAX - 100, NUMBERS_PRIME_MAX, UINT64_MAX, &value));
	CHECK_INT(value, 16777213);
	CHECK(numbers_draw_prime(-1, 5, 1, &value));
	CHECK(!numbers_draw_prime(0, 2, 0, &value));
	CHECK_INT(value, 2);
	CHECK(numbers_draw_prime(INT64_MIN, INT64_MAX, 1, &value));
}

TEST(only_powers_of_two_are_drawn_and_all_of_them)
{
	uint64_t seen = 0;
	int64_t value;

	for (uint64_t i = 0; i < 100; i++) {
		CHECK(!numbers_draw_pow2(3, 65, UINT64_MAX / 100 * i, &value));
		CHECK((value & (value - 1)) == 0 && value >= 3 && value <= 65);
		seen |= (uint64_t) value;
	}
	CHECK_INT(seen, 4 + 8 + 16 + 32 + 64);
	CHECK(!numbers_draw_pow2(-5, 1, 0, &value));
	CHECK_INT(value, 1);
	CHECK(!numbers_draw_pow2(1, INT64_MAX, UINT64_MAX, &value));
	CHECK_INT(value, INT64_C(1) << 62);
	CHECK_STR(numbers_draw_pow2(5, 7, 0, &value), "there is no power of two to draw");
	CHECK_STR(numbers_draw_pow2(-5, 0, 0, &value), "there is no power of two to draw");
	CHECK_STR(numbers_draw_pow2(8, 7, 0, &value), "the interval to draw from is empty");
	CHECK(numbers_draw_pow2(INT64_MAX, INT64_MAX, 0, &value));
}
