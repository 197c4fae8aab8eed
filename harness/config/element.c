/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/element.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/config/schema.h"

const struct name element_names[] = {
	{ "f64", ELEMENT_F64 },
	{ "f32", ELEMENT_F32 },
	{ "f16", ELEMENT_F16 },
	{ "bf16", ELEMENT_BF16 },
	{ "i64", ELEMENT_I64 },
	{ "i32", ELEMENT_I32 },
	{ "i8", ELEMENT_I8 },
	{ "u8", ELEMENT_U8 },
	{ "i4", ELEMENT_I4 },
	{ "u4", ELEMENT_U4 },
	{ "f8e4m3", WORD_LATER },
	{ "f8e5m2", WORD_LATER },
	{ "i16", WORD_LATER },
	{ "u16", WORD_LATER },
	{ "u32", WORD_LATER },
	{ "bool", WORD_LATER },
	{ NULL },
};

/* clang-format off */
static const struct facts {
	uint8_t bits;
	bool is_real;
	double largest;
	int64_t least_whole, most_whole;
} facts[] = {
	[ELEMENT_F64]  = { 64, true,  DBL_MAX,              -(INT64_C(1) << 53), INT64_C(1) << 53 },
	[ELEMENT_F32]  = { 32, true,  (double) FLT_MAX,     -(1 << 24),          1 << 24 },
	[ELEMENT_F16]  = { 16, true,  65504,                -(1 << 11),          1 << 11 },
	[ELEMENT_BF16] = { 16, true,  0x1.fep127,           -(1 << 8),           1 << 8 },
	[ELEMENT_I64]  = { 64, false, 9223372036854774784., INT64_MIN,           INT64_MAX },
	[ELEMENT_I32]  = { 32, false, INT32_MAX,            INT32_MIN,           INT32_MAX },
	[ELEMENT_I8]   = { 8,  false, INT8_MAX,             INT8_MIN,            INT8_MAX },
	[ELEMENT_U8]   = { 8,  false, UINT8_MAX,            0,                   UINT8_MAX },
	[ELEMENT_I4]   = { 4,  false, 7,                    -8,                  7 },
	[ELEMENT_U4]   = { 4,  false, 15,                   0,                   15 },
};
/* clang-format on */

/* A real type of 16 bits: how many of them are the mantissa's, and its least exponent. */
struct half {
	int mantissa, least;
};

static const struct half half_f16 = { 10, -14 }, half_bf16 = { 7, -126 };

bool element_is_real(uint32_t element)
{
	return facts[element].is_real;
}

bool element_is_packed(uint32_t element)
{
	return facts[element].bits < 8;
}

uint64_t element_size(uint32_t element)
{
	return (facts[element].bits + 7) / 8;
}

uint64_t element_bytes(uint32_t element, uint64_t count)
{
	return element_is_packed(element) ? count / 2 + count % 2 : count * element_size(element);
}

double element_largest(uint32_t element)
{
	return facts[element].largest;
}

int64_t element_least_whole(uint32_t element)
{
	return facts[element].least_whole;
}

int64_t element_most_whole(uint32_t element)
{
	return facts[element].most_whole;
}

/* 2^exponent, of a normal double. */
static double power(int exponent)
{
	uint64_t bits = (uint64_t) (exponent + 1023) << 52;
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/*
 * The value in units of the last place is a whole number, and the code of a number is that plus
 * what its exponent adds: a subnormal number, and a carry into the next exponent, need no case of
 * their own.
 */
static uint16_t narrow_half(const struct half *half, double value)
{
	uint16_t infinite = (uint16_t) (0x7fff >> half->mantissa << half->mantissa);
	double size = fabs(value), units;
	uint64_t bits;
	uint32_t code;
	int exponent;
	uint16_t sign;

	memcpy(&bits, &value, sizeof(bits));
	sign = (uint16_t) (bits >> 63 << 15);
	if (isnan(value))
		return sign | infinite | (uint16_t) (1 << (half->mantissa - 1));
	exponent = (int) (bits >> 52 & 0x7ff) - 1023;
	if (exponent > 1 - half->least)
		return sign | infinite;
	exponent = MAX_OF(exponent, half->least);
	/* Nothing but the rounding of this addition is left of the fraction. */
	units = size / power(exponent - half->mantissa) + 0x1p52 - 0x1p52;
	code = ((uint32_t) (exponent - half->least) << half->mantissa) + (uint32_t) units;
	return sign | (uint16_t) MIN_OF(code, (uint32_t) infinite);
}

static double widen_half(const struct half *half, uint16_t code)
{
	uint32_t fraction = code & ((1u << half->mantissa) - 1);
	int field = (code & 0x7fff) >> half->mantissa, most = 0x7fff >> half->mantissa;
	double sign = code & 0x8000 ? -1 : 1;

	if (field == most)
		return fraction ? copysign(NAN, sign) : sign * INFINITY;
	if (field > 0)
		fraction |= 1u << half->mantissa;
	return sign * (double) fraction *
	       power(MAX_OF(field, 1) - 1 + half->least - half->mantissa);
}

double element_round(uint32_t element, double value)
{
	if (element == ELEMENT_F32)
		return (double) (float) value;
	if (element == ELEMENT_F16)
		return widen_half(&half_f16, narrow_half(&half_f16, value));
	if (element == ELEMENT_BF16)
		return widen_half(&half_bf16, narrow_half(&half_bf16, value));
	return value;
}

int64_t element_order(uint32_t element, double value)
{
	double size = fabs(value);
	float single = (float) size;
	uint32_t bits = 0;
	int64_t order = 0;

	if (element == ELEMENT_F64) {
		memcpy(&order, &size, sizeof(order));
	} else if (element == ELEMENT_F32) {
		memcpy(&bits, &single, sizeof(bits));
		order = bits;
	} else {
		order = narrow_half(element == ELEMENT_F16 ? &half_f16 : &half_bf16, size);
	}
	return value < 0 ? -order : order;
}

static void widen_halves(const struct half *half, const uint16_t *from, uint64_t count, double *to)
{
	for (uint64_t i = 0; i < count; i++)
		to[i] = widen_half(half, from[i]);
}

static void narrow_halves(const struct half *half, const double *from, uint64_t count, uint16_t *to)
{
	for (uint64_t i = 0; i < count; i++)
		to[i] = narrow_half(half, from[i]);
}

/* A lower half that counts 8 and more is negative: i4 in two's complement. */
static void widen_packed(const uint8_t *from, uint64_t first, uint64_t count, bool is_signed,
			 int64_t *to)
{
	for (uint64_t i = 0; i < count; i++) {
		int value = from[(first + i) / 2] >> ((first + i) % 2 * 4) & 15;

		to[i] = is_signed && value > 7 ? value - 16 : value;
	}
}

static void narrow_packed(const int64_t *from, uint8_t *to, uint64_t first, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		unsigned int shift = (first + i) % 2 * 4;
		uint8_t *byte = &to[(first + i) / 2];

		*byte = (uint8_t) ((*byte & ~(15u << shift)) | ((uint8_t) from[i] & 15u) << shift);
	}
}

/* One loop for each type, so that the compiler knows both ends and makes vectors of it. */
#define CONVERT(type, from, to, count)            \
	for (uint64_t i_ = 0; i_ < (count); i_++) \
	(to)[i_] = (type) (from)[i_]

static void widen_reals(uint32_t element, const void *from, uint64_t first, uint64_t count,
			double *wide)
{
	if (element == ELEMENT_F64)
		memcpy(wide, (const double *) from + first, count * sizeof(*wide));
	else if (element == ELEMENT_F32)
		CONVERT(double, (const float *) from + first, wide, count);
	else if (element == ELEMENT_F16)
		widen_halves(&half_f16, (const uint16_t *) from + first, count, wide);
	else
		widen_halves(&half_bf16, (const uint16_t *) from + first, count, wide);
}

static void widen_wholes(uint32_t element, const void *from, uint64_t first, uint64_t count,
			 int64_t *wide)
{
	if (element == ELEMENT_I64)
		memcpy(wide, (const int64_t *) from + first, count * sizeof(*wide));
	else if (element == ELEMENT_I32)
		CONVERT(int64_t, (const int32_t *) from + first, wide, count);
	else if (element == ELEMENT_I8)
		CONVERT(int64_t, (const int8_t *) from + first, wide, count);
	else if (element == ELEMENT_U8)
		CONVERT(int64_t, (const uint8_t *) from + first, wide, count);
	else
		widen_packed(from, first, count, element == ELEMENT_I4, wide);
}

void element_widen(uint32_t element, const void *from, uint64_t first, uint64_t count, void *wide)
{
	if (element_is_real(element))
		widen_reals(element, from, first, count, wide);
	else
		widen_wholes(element, from, first, count, wide);
}

static void narrow_reals(uint32_t element, const double *wide, void *to, uint64_t first,
			 uint64_t count)
{
	if (element == ELEMENT_F64)
		memcpy((double *) to + first, wide, count * sizeof(*wide));
	else if (element == ELEMENT_F32)
		CONVERT(float, wide, (float *) to + first, count);
	else if (element == ELEMENT_F16)
		narrow_halves(&half_f16, wide, count, (uint16_t *) to + first);
	else
		narrow_halves(&half_bf16, wide, count, (uint16_t *) to + first);
}

static void narrow_wholes(uint32_t element, const int64_t *wide, void *to, uint64_t first,
			  uint64_t count)
{
	if (element == ELEMENT_I64)
		memcpy((int64_t *) to + first, wide, count * sizeof(*wide));
	else if (element == ELEMENT_I32)
		CONVERT(int32_t, wide, (int32_t *) to + first, count);
	else if (element == ELEMENT_I8)
		CONVERT(int8_t, wide, (int8_t *) to + first, count);
	else if (element == ELEMENT_U8)
		CONVERT(uint8_t, wide, (uint8_t *) to + first, count);
	else
		narrow_packed(wide, to, first, count);
}

void element_narrow(uint32_t element, const void *wide, void *to, uint64_t first, uint64_t count)
{
	if (element_is_real(element))
		narrow_reals(element, wide, to, first, count);
	else
		narrow_wholes(element, wide, to, first, count);
}

const char *element_show(uint32_t element, double value, char room[ELEMENT_SHOWN])
{
	for (int digits = 1; digits <= DBL_DECIMAL_DIG; digits++) {
		snprintf(room, ELEMENT_SHOWN, "%.*g", digits, value);
		if (element_round(element, strtod(room, NULL)) == value)
			break;
	}
	/* Which of its bits a NaN has set tells nobody anything. */
	if (isnan(value))
		snprintf(room, ELEMENT_SHOWN, "nan");
	return room;
}
