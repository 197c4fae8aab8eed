/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/pystats.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Numbers that hold every square of a double, and 2^40 of them: in units of 2^(the least exponent
 * of the values - UNIT_BITS), which leaves the midpoint between two results whole.
 */
enum { LIMBS = 160, LIMB_BITS = 32, UNIT_BITS = 80, MANTISSA_BITS = 53 };

struct big {
	uint32_t limb[LIMBS];
	size_t used; /* those above are zero */
};

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *) a, right = *(const double *) b;

	return (left > right) - (left < right);
}

void pystats_sort(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare_doubles);
}

double pystats_sum(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum;
}

double pystats_median(const double *sorted, size_t count)
{
	size_t middle = count / 2;

	return count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double pystats_percentile(const double *sorted, size_t count, size_t percent)
{
	size_t scaled = percent * (count + 1), at = scaled / 100;
	double delta;

	at = at < 1 ? 1 : at > count - 1 ? count - 1 : at;
	delta = (double) scaled - (double) (at * 100);
	return (sorted[at - 1] * (100 - delta) + sorted[at] * delta) / 100;
}

static void put_limb(struct big *to, size_t at, uint32_t value)
{
	to->limb[at] = value;
	if (value != 0 && at >= to->used)
		to->used = at + 1;
}

static void add(struct big *to, const struct big *what)
{
	uint64_t carry = 0;
	size_t end = to->used > what->used ? to->used : what->used;

	for (size_t i = 0; i < end || carry != 0; i++) {
		carry += (uint64_t) to->limb[i] + what->limb[i];
		put_limb(to, i, (uint32_t) carry);
		carry >>= LIMB_BITS;
	}
}

/* @what is not larger. */
static void subtract(struct big *from, const struct big *what)
{
	int64_t borrow = 0;

	for (size_t i = 0; i < from->used; i++) {
		borrow += (int64_t) from->limb[i] - what->limb[i];
		from->limb[i] = (uint32_t) borrow;
		borrow >>= LIMB_BITS;
	}
	while (from->used > 0 && from->limb[from->used - 1] == 0)
		from->used--;
}

static void multiply_small(struct big *number, uint32_t by)
{
	uint64_t carry = 0;
	size_t end = number->used;

	for (size_t i = 0; i < end || carry != 0; i++) {
		carry += (uint64_t) number->limb[i] * by;
		put_limb(number, i, (uint32_t) carry);
		carry >>= LIMB_BITS;
	}
}

static void square(struct big *out, const struct big *of)
{
	*out = (struct big){ .used = 0 };
	for (size_t i = 0; i < of->used; i++) {
		uint64_t carry = 0;

		for (size_t j = 0; j < of->used || carry != 0; j++) {
			carry += (uint64_t) of->limb[i] * of->limb[j] + out->limb[i + j];
			put_limb(out, i + j, (uint32_t) carry);
			carry >>= LIMB_BITS;
		}
	}
}

static int compare(const struct big *a, const struct big *b)
{
	if (a->used != b->used)
		return a->used > b->used ? 1 : -1;
	for (size_t i = a->used; i-- > 0;)
		if (a->limb[i] != b->limb[i])
			return a->limb[i] > b->limb[i] ? 1 : -1;
	return 0;
}

/* A value as a whole number and a power of two. */
static uint64_t split(double value, int *exponent)
{
	int e;
	double fraction = frexp(value, &e);

	*exponent = value > 0 ? e - MANTISSA_BITS : INT32_MIN;
	if (*exponent < DBL_MIN_EXP - MANTISSA_BITS) {
		fraction = ldexp(fraction, e - DBL_MIN_EXP);
		*exponent = DBL_MIN_EXP - MANTISSA_BITS;
	}
	return (uint64_t) ldexp(fraction, MANTISSA_BITS);
}

static void set_shifted(struct big *out, uint64_t whole, unsigned int shift)
{
	size_t at = shift / LIMB_BITS;
	unsigned int bits = shift % LIMB_BITS;

	*out = (struct big){ .used = 0 };
	put_limb(out, at, (uint32_t) (whole << bits));
	put_limb(out, at + 1, (uint32_t) (whole >> (LIMB_BITS - bits)));
	if (bits > 0)
		put_limb(out, at + 2, (uint32_t) (whole >> LIMB_BITS >> (LIMB_BITS - bits)));
}

/* A variance: the exact value is above / (count * (count - 1)), in units of 2^(2 * unit). */
struct variance {
	struct big above;
	uint32_t count;
	int unit;
};

static void measure(struct variance *out, const double *values, size_t count)
{
	struct big sum = { .used = 0 }, squares = { .used = 0 }, one, one_squared;
	int least = INT32_MAX;

	for (size_t i = 0; i < count; i++) {
		int exponent;

		split(values[i], &exponent);
		least = exponent < least ? exponent : least;
	}
	out->count = (uint32_t) count;
	out->unit = least - UNIT_BITS;
	for (size_t i = 0; i < count; i++) {
		int exponent;
		uint64_t whole = split(values[i], &exponent);

		set_shifted(&one, whole, (unsigned int) (exponent - out->unit));
		square(&one_squared, &one);
		add(&sum, &one);
		add(&squares, &one_squared);
	}
	multiply_small(&squares, out->count);
	square(&one_squared, &sum);
	subtract(&squares, &one_squared);
	out->above = squares;
}

/* Order of (whole * 2^exponent)^2 and the variance. What is less than a unit is less than its root.
 */
static int compare_root(const struct variance *variance, uint64_t whole, int exponent)
{
	struct big root, squared;

	if (exponent < variance->unit)
		return -1;
	set_shifted(&root, whole, (unsigned int) (exponent - variance->unit));
	square(&squared, &root);
	multiply_small(&squared, variance->count);
	multiply_small(&squared, variance->count - 1);
	return compare(&squared, &variance->above);
}

static double from_bits(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

double pystats_stdev(const double *values, size_t count)
{
	struct variance variance;
	uint64_t low = 0, high, whole;
	double most = DBL_MAX;
	int exponent, order;

	for (size_t i = 0; i < count; i++)
		if (isinf(values[i]))
			return HUGE_VAL;
	measure(&variance, values, count);
	if (variance.above.used == 0)
		return 0;
	/* Doubles above zero are ordered as their bits: the largest that is not over the root. */
	memcpy(&high, &most, sizeof(high));
	while (low < high) {
		uint64_t middle = low + (high - low + 1) / 2;

		whole = split(from_bits(middle), &exponent);
		if (compare_root(&variance, whole, exponent) <= 0)
			low = middle;
		else
			high = middle - 1;
	}
	whole = split(from_bits(low), &exponent);
	order = compare_root(&variance, 2 * whole + 1, exponent - 1);
	if (order < 0 || (order == 0 && low % 2 == 1))
		low++;
	return from_bits(low);
}
