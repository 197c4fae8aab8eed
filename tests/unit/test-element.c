/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/element.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "sandbox/base/compiler.h"
#include "tests/lib/check.h"

TEST(each_type_has_its_size)
{
	static const struct {
		uint32_t element;
		uint64_t size, of_seven;
		bool is_real;
	} rows[] = {
		{ ELEMENT_F64, 8, 56, true },  { ELEMENT_F32, 4, 28, true },
		{ ELEMENT_F16, 2, 14, true },  { ELEMENT_BF16, 2, 14, true },
		{ ELEMENT_I64, 8, 56, false }, { ELEMENT_I32, 4, 28, false },
		{ ELEMENT_I8, 1, 7, false },   { ELEMENT_U8, 1, 7, false },
		{ ELEMENT_I4, 1, 4, false },   { ELEMENT_U4, 1, 4, false },
	};

	CHECK_INT(ARRAY_LEN(rows), ELEMENT_COUNT);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CHECK_INT(element_size(rows[i].element), rows[i].size);
		CHECK_INT(element_bytes(rows[i].element, 7), rows[i].of_seven);
		CHECK_INT(element_is_real(rows[i].element), rows[i].is_real);
		CHECK_INT(element_is_packed(rows[i].element), rows[i].of_seven == 4);
	}
}

static uint16_t narrow_one(uint32_t element, double value)
{
	uint16_t code = 0;

	element_narrow(element, &value, &code, 0, 1);
	return code;
}

static double widen_one(uint32_t element, uint16_t code)
{
	double value;

	element_widen(element, &code, 0, 1, &value);
	return value;
}

TEST(real_numbers_of_sixteen_bits_are_rounded_to_the_nearest_and_ties_to_even)
{
	static const struct {
		double value;
		uint16_t f16, bf16;
	} rows[] = {
		{ 0.0, 0x0000, 0x0000 },
		{ -0.0, 0x8000, 0x8000 },
		{ 1.0, 0x3c00, 0x3f80 },
		{ -2.0, 0xc000, 0xc000 },
		{ 65504.0, 0x7bff, 0x4780 },
		{ 65519.999, 0x7bff, 0x4780 },
		{ 65520.0, 0x7c00, 0x4780 },
		{ 1e300, 0x7c00, 0x7f80 },
		{ -INFINITY, 0xfc00, 0xff80 },
		{ NAN, 0x7e00, 0x7fc0 },
		{ 0x1p-14, 0x0400, 0x3880 },
		{ 0x1p-24, 0x0001, 0x3380 },
		{ 0x1p-25, 0x0000, 0x3300 },
		{ 0x1.8p-25, 0x0001, 0x3340 },
		{ 0x1.ff8p-15, 0x03ff, 0x3880 },
		{ 0x1.ffcp-15, 0x0400, 0x3880 },
		{ 0x1.002p0, 0x3c00, 0x3f80 },
		{ 0x1.006p0, 0x3c02, 0x3f80 },
		{ 0x1.01p0, 0x3c04, 0x3f80 },
		{ 0x1.03p0, 0x3c0c, 0x3f82 },
		{ 0x1.0100000001p0, 0x3c04, 0x3f81 },
		{ 0x1.fep127, 0x7c00, 0x7f7f },
		{ 0x1.ffp127, 0x7c00, 0x7f80 },
		{ 0x1p-133, 0x0000, 0x0001 },
		{ 0x1p-134, 0x0000, 0x0000 },
		{ 4.9e-324, 0x0000, 0x0000 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (narrow_one(ELEMENT_F16, rows[i].value) != rows[i].f16 ||
		    narrow_one(ELEMENT_BF16, rows[i].value) != rows[i].bf16)
			check_note("%a", rows[i].value);
		CHECK_INT(narrow_one(ELEMENT_F16, rows[i].value), rows[i].f16);
		CHECK_INT(narrow_one(ELEMENT_BF16, rows[i].value), rows[i].bf16);
	}
}

/* Every code, against what the compiler's own types and the definition say. */
TEST(every_number_of_sixteen_bits_comes_back_as_itself)
{
	for (uint32_t code = 0; code < 65536; code++) {
		uint32_t bits = code << 16;
		double value = widen_one(ELEMENT_BF16, (uint16_t) code);
		int exponent = (int) (code >> 10 & 31), fraction = (int) (code & 1023);
		float single;

		memcpy(&single, &bits, sizeof(single));
		CHECK(isnan(value) ? isnan(single) : value == (double) single);
		CHECK(signbit(value) == (code >> 15 == 1));
		if (!isnan(value))
			CHECK_INT(narrow_one(ELEMENT_BF16, value), code);

		value = widen_one(ELEMENT_F16, (uint16_t) code);
		if (exponent < 31)
			CHECK(fabs(value) == (exponent == 0
						      ? ldexp(fraction, -24)
						      : ldexp(1024 + fraction, exponent - 25)));
		CHECK(isnan(value) == (exponent == 31 && fraction != 0));
		CHECK((isinf(value) != 0) == (exponent == 31 && fraction == 0));
		if (!isnan(value))
			CHECK_INT(narrow_one(ELEMENT_F16, value), code);
	}
}

TEST(neighbours_of_a_type_differ_by_one_in_order)
{
	for (uint16_t code = 0; code < 0x7c00; code++) {
		double low = widen_one(ELEMENT_F16, code), high = widen_one(ELEMENT_F16, code + 1);

		CHECK_INT(element_order(ELEMENT_F16, high) - element_order(ELEMENT_F16, low), 1);
		CHECK_INT(element_order(ELEMENT_F16, -high), -element_order(ELEMENT_F16, high));
	}
	CHECK_INT(element_order(ELEMENT_F32, -0.0), 0);
	CHECK_INT(element_order(ELEMENT_F32, (double) nextafterf(1, 2)) -
			  element_order(ELEMENT_F32, 1),
		  1);
	CHECK_INT(element_order(ELEMENT_F64, nextafter(-1, -2)) - element_order(ELEMENT_F64, -1),
		  -1);
	CHECK_INT(element_order(ELEMENT_F64, DBL_TRUE_MIN) -
			  element_order(ELEMENT_F64, -DBL_TRUE_MIN),
		  2);
}

TEST(packed_values_lie_two_in_a_byte_the_first_in_its_lower_half)
{
	static const int64_t values[] = { 1, -8, 7, -1, 3 };
	uint8_t bytes[3] = { 0, 0, 0xa0 };
	int64_t back[5];

	element_narrow(ELEMENT_I4, values, bytes, 0, 5);
	CHECK_INT(bytes[0], 0x81);
	CHECK_INT(bytes[1], 0xf7);
	CHECK_INT(bytes[2], 0xa3);
	element_widen(ELEMENT_I4, bytes, 0, 5, back);
	CHECK(memcmp(values, back, sizeof(back)) == 0);
	element_widen(ELEMENT_U4, bytes, 1, 2, back);
	CHECK_INT(back[0], 8);
	CHECK_INT(back[1], 7);
	/* From the middle of a byte to the middle of another one. */
	element_narrow(ELEMENT_U4, (const int64_t[]){ 2, 3 }, bytes, 1, 2);
	CHECK_INT(bytes[0], 0x21);
	CHECK_INT(bytes[1], 0xf3);
}

TEST(every_type_keeps_its_ends)
{
	for (uint32_t element = 0; element < ELEMENT_COUNT; element++) {
		int64_t wholes[2] = { element_least_whole(element), element_most_whole(element) };
		double reals[3] = { element_largest(element), (double) wholes[0],
				    (double) wholes[1] };
		int64_t back[3];
		uint8_t bytes[24] = { 0 };

		if (element_is_real(element)) {
			element_narrow(element, reals, bytes, 0, 3);
			element_widen(element, bytes, 0, 3, back);
			CHECK(memcmp(back, reals, sizeof(reals)) == 0);
			CHECK(element_round(element, (double) (wholes[1] + 1)) == reals[2]);
			CHECK(isinf(element_round(element, reals[0] * 1.1)));
		} else {
			element_narrow(element, wholes, bytes, 0, 2);
			element_widen(element, bytes, 0, 2, back);
			CHECK(memcmp(back, wholes, sizeof(wholes)) == 0);
		}
	}
}

TEST(a_number_is_shown_in_the_digits_of_its_type)
{
	char room[ELEMENT_SHOWN];

	CHECK_STR(element_show(ELEMENT_F32, (double) 0.1f, room), "0.1");
	CHECK_STR(element_show(ELEMENT_F64, 0.1, room), "0.1");
	CHECK_STR(element_show(ELEMENT_F64, (double) 0.1f, room), "0.10000000149011612");
	CHECK_STR(element_show(ELEMENT_F16, element_round(ELEMENT_F16, 1.0 / 3), room), "0.3333");
	CHECK_STR(element_show(ELEMENT_BF16, element_round(ELEMENT_BF16, 3.14159), room), "3.14");
	CHECK_STR(element_show(ELEMENT_F32, -INFINITY, room), "-inf");
	CHECK_STR(element_show(ELEMENT_F32, -NAN, room), "nan");
	CHECK_STR(element_show(ELEMENT_F64, -0.0, room), "-0");
}
