/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/compare.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "harness/judge/poison.h"
#include "sandbox/base/compiler.h"
#include "tests/lib/check.h"

static const struct tensor nowhere = { .element = ELEMENT_F32 };
static const struct compare_poison poison = { .seed = 12345, .offset = 4096, .tensor = NULL };

static struct comparison compare_row(uint32_t element, struct comparer comparer, const void *got,
				     const void *want, uint64_t count)
{
	struct tensor tensor = tensor_of_row(element, count);
	struct compare_poison there = poison;

	there.tensor = &tensor;
	return compare_outputs(&comparer, &tensor, got, want, &there);
}

static struct comparer close_by(double rel, double abs)
{
	return (struct comparer){ .kind = COMPARER_CLOSE, .rel = rel, .abs = abs };
}

static const struct comparer exact = { .kind = COMPARER_EXACT };

static bool is_right(float got, double want, double rel, double abs)
{
	return !compare_row(ELEMENT_F32, close_by(rel, abs), &got, &want, 1).wrong;
}

/* One element of any real type. */
static bool is_right_as(uint32_t element, struct comparer comparer, double got, double want)
{
	uint64_t code = 0;

	element_narrow(element, &got, &code, 0, 1);
	return !compare_row(element, comparer, &code, &want, 1).wrong;
}

TEST(close_is_absolute_plus_relative)
{
	CHECK(is_right(1.0f, 1.0, 0, 0));
	CHECK(is_right(100.5f, 100.0, 0.005, 0.001));
	CHECK(!is_right(100.6f, 100.0, 0.005, 0.001));
	CHECK(is_right(-100.5f, -100.0, 0.005, 0.001));
	CHECK(is_right(0.001f, 0.0, 0.5, 0.0011));
	CHECK(!is_right(0.001f, 0.0, 0.5, 0.0009));
	CHECK(!is_right(1.0f, -1.0, 0.5, 0.5));
}

TEST(what_is_not_finite_is_never_a_matter_of_tolerance)
{
	static const float inf = __builtin_inff(), nan = __builtin_nanf("");

	CHECK(!is_right(nan, 1.0, 0.9, 1e30));
	CHECK(!is_right(inf, 1.0, 0.9, DBL_MAX));
	CHECK(!is_right(1.0f, (double) nan, 0.9, 1e30));
	CHECK(is_right(nan, (double) nan, 0, 0));
	CHECK(is_right(inf, (double) inf, 0, 0));
	CHECK(!is_right(-inf, (double) inf, 0.9, 1e30));
	CHECK(!is_right(FLT_MAX, (double) inf, 0.9, 1e30));
	CHECK(!is_right(nan, (double) inf, 0.9, 1e30));
	CHECK(is_right(inf, 1e39, 0, 0));
	CHECK(!is_right(FLT_MAX, 1e39, 0.9, 1e39));
}

TEST(both_zeros_are_one_number)
{
	CHECK(is_right(-0.0f, 0.0, 0, 0));
	CHECK(is_right(0.0f, -0.0, 0, 0));
}

TEST(nothing_to_compare_is_wrong)
{
	struct comparer comparer = close_by(0.5, 1);

	CHECK(compare_outputs(&comparer, &nowhere, NULL, NULL, &poison).wrong);
	for (uint32_t element = 0; element < ELEMENT_COUNT; element++)
		CHECK(compare_row(element, comparer, NULL, NULL, 0).wrong);
}

TEST(the_first_wrong_element_is_told_wherever_it_is)
{
	enum { COUNT = 5000 };
	static float got[COUNT];
	static double want[COUNT];
	static const int places[] = { 0, 1, 1023, 1024, 2500, COUNT - 1 };

	for (int i = 0; i < COUNT; i++)
		want[i] = got[i] = (float) i;
	CHECK(!compare_row(ELEMENT_F32, close_by(0, 0), got, want, COUNT).wrong);
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		struct comparison found;
		float kept = got[places[i]];

		got[places[i]] += 3;
		found = compare_row(ELEMENT_F32, close_by(0, 0.5), got, want, COUNT);
		CHECK(found.wrong && !found.unwritten);
		CHECK_INT(found.index, places[i]);
		CHECK(found.got == (double) kept + 3 && found.want == (double) kept);
		CHECK(found.max_error == 3);
		got[places[i]] = kept;
	}
}

TEST(the_largest_error_of_right_elements_is_told)
{
	double got[] = { 1, 2.25, 3 }, want[] = { 1, 2, 3.125 };
	struct comparison found = compare_row(ELEMENT_F64, close_by(0, 0.5), got, want, 3);

	CHECK(!found.wrong);
	CHECK(found.max_error == 0.25);
}

TEST(poison_is_unwritten_even_where_a_nan_is_wanted)
{
	static double want[2000];
	static float got[2000];
	struct comparison found;

	for (int i = 0; i < 2000; i++) {
		want[i] = (double) __builtin_nanf("");
		got[i] = __builtin_nanf("");
	}
	CHECK(!compare_row(ELEMENT_F32, close_by(0, 0), got, want, 2000).wrong);
	poison_fill(got, sizeof(got), 0);
	for (uint32_t i = 0; i < 2000; i++) {
		uint32_t word = poison_word(poison.seed, poison.offset / 4 + i);

		memcpy(&got[i], &word, sizeof(word));
	}
	found = compare_row(ELEMENT_F32, close_by(0, 0), got, want, 2000);
	CHECK(found.wrong && found.unwritten);
	CHECK_INT(found.index, 0);
}

TEST(poison_of_doubles_is_recognised)
{
	uint32_t words[4];
	double got[2] = { 1, 0 }, want[2] = { 1, 2 };
	struct comparison found;

	for (uint32_t i = 0; i < 4; i++)
		words[i] = poison_word(poison.seed, poison.offset / 4 + i);
	memcpy(&got[1], &words[2], sizeof(got[1]));
	found = compare_row(ELEMENT_F64, close_by(0, 0), got, want, 2);
	CHECK(found.wrong && found.unwritten);
	CHECK_INT(found.index, 1);
}

TEST(whole_numbers_are_equal_or_close)
{
	int32_t small[] = { 1, -2, 3 };
	int64_t wanted[] = { 1, -2, 3 };
	int64_t large[] = { 1, INT64_MAX }, wanted_large[] = { 1, INT64_MAX - 1 };
	struct comparison found;

	CHECK(!compare_row(ELEMENT_I32, exact, small, wanted, 3).wrong);
	small[2] = 4;
	found = compare_row(ELEMENT_I32, exact, small, wanted, 3);
	CHECK(found.wrong);
	CHECK_INT(found.index, 2);
	CHECK(found.got == 4 && found.want == 3);
	CHECK(!compare_row(ELEMENT_I32, close_by(0, 1), small, wanted, 3).wrong);
	CHECK(!compare_row(ELEMENT_I32, close_by(0.34, 0), small, wanted, 3).wrong);
	CHECK(compare_row(ELEMENT_I32, close_by(0.33, 0), small, wanted, 3).wrong);
	/* Two numbers that are the same double. */
	found = compare_row(ELEMENT_I64, exact, large, wanted_large, 2);
	CHECK(found.wrong);
	CHECK_INT(found.index, 1);
	CHECK_INT(found.got_whole, INT64_MAX);
	CHECK_INT(found.want_whole, INT64_MAX - 1);
	CHECK(!compare_row(ELEMENT_I64, close_by(0, 1), large, wanted_large, 2).wrong);
	wanted_large[1] = INT64_MIN;
	CHECK(compare_row(ELEMENT_I64, close_by(0, 1e19), large, wanted_large, 2).wrong);
	CHECK(!compare_row(ELEMENT_I64, close_by(0, 1.9e19), large, wanted_large, 2).wrong);
}

/* A hash has every value sooner or later: to be equal is to be right. */
TEST(a_whole_number_may_be_what_the_poison_was_by_chance)
{
	int32_t got[2] = { (int32_t) poison_word(poison.seed, poison.offset / 4), 7 };
	int64_t want[2] = { got[0], 7 };
	struct comparison found;

	CHECK(!compare_row(ELEMENT_I32, exact, got, want, 2).wrong);
	want[0]--;
	found = compare_row(ELEMENT_I32, exact, got, want, 2);
	CHECK(found.wrong && found.unwritten);
	got[0] ^= 2;
	found = compare_row(ELEMENT_I32, exact, got, want, 2);
	CHECK(found.wrong && !found.unwritten);
}

TEST(ulps_are_counted_from_what_is_wanted_in_the_type)
{
	static const uint32_t types[] = { ELEMENT_F64, ELEMENT_F32, ELEMENT_F16, ELEMENT_BF16 };
	static const double steps[] = { 0x1p-52, 0x1p-23, 0x1p-10, 0x1p-7 };
	static const struct comparer none = { .kind = COMPARER_ULP },
				     two = { .kind = COMPARER_ULP, .ulps = 2 };

	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		uint32_t type = types[i];

		CHECK(is_right_as(type, none, 1, 1));
		CHECK(is_right_as(type, none, 1, 1 + steps[i] * 0.49) || type == ELEMENT_F64);
		CHECK(!is_right_as(type, none, 1, 1 + steps[i] * 0.51));
		CHECK(is_right_as(type, two, 1 + 2 * steps[i], 1));
		CHECK(!is_right_as(type, two, 1 + 3 * steps[i], 1));
		/* Below 1 the steps are half as long. */
		CHECK(is_right_as(type, two, 1 - steps[i], 1));
		CHECK(!is_right_as(type, two, 1 - 2 * steps[i], 1));
		CHECK(is_right_as(type, two, -1, -1 - steps[i]));
		CHECK(!is_right_as(type, two, -1, 1));
		CHECK(is_right_as(type, none, 0.0, -0.0));
		CHECK(is_right_as(type, none, NAN, NAN));
		CHECK(!is_right_as(type, two, NAN, 1));
		CHECK(is_right_as(type, none, INFINITY, INFINITY));
		/* Next to it, and yet no infinity. */
		CHECK(!is_right_as(type, two, element_largest(type), INFINITY));
		CHECK(!is_right_as(type, two, INFINITY, element_largest(type)));
	}
	CHECK(!is_right_as(ELEMENT_F64, two, -DBL_MAX, DBL_MAX));
}

TEST(exact_is_the_nearest_number_of_the_type)
{
	CHECK(is_right_as(ELEMENT_F32, exact, (double) 0.1f, 0.1));
	CHECK(!is_right_as(ELEMENT_F32, exact, (double) nextafterf(0.1f, 1), 0.1));
	CHECK(is_right_as(ELEMENT_F16, exact, 65504, 65519));
	CHECK(is_right_as(ELEMENT_F16, exact, INFINITY, 65520));
	CHECK(!is_right_as(ELEMENT_F16, exact, 65504, 65520));
	CHECK(is_right_as(ELEMENT_BF16, exact, -0.0, 0.0));
	CHECK(is_right_as(ELEMENT_BF16, exact, NAN, NAN));
	CHECK(!is_right_as(ELEMENT_BF16, exact, NAN, 0));
}

/* What rounds to the largest number is no infinity: the honest result is that number. */
TEST(what_rounds_to_a_finite_number_is_finite)
{
	CHECK(is_right_as(ELEMENT_F16, close_by(1e-3, 0), 65504, 65510));
	CHECK(!is_right_as(ELEMENT_F16, close_by(1e-3, 0), INFINITY, 65510));
	CHECK(is_right_as(ELEMENT_F16, close_by(1e-3, 0), INFINITY, 65530));
	CHECK(!is_right_as(ELEMENT_F16, close_by(1e-3, 0), 65504, 65530));
}

TEST(packed_elements_are_told_apart)
{
	static const uint8_t got[] = { 0x21, 0x83 };
	int64_t want[] = { 1, 2, 3, -8 };
	struct comparison found;

	CHECK(!compare_row(ELEMENT_I4, exact, got, want, 4).wrong);
	want[3] = 7;
	found = compare_row(ELEMENT_I4, exact, got, want, 4);
	CHECK(found.wrong);
	CHECK_INT(found.index, 3);
	CHECK_INT(found.got_whole, -8);
}

/* A softmax over many columns is smaller than a careless absolute tolerance. */
TEST(zeros_are_wrong_where_the_tolerance_is_relative)
{
	CHECK(!is_right(0.0f, 4e-6, 1e-4, 1e-9));
	CHECK(is_right(0.0f, 4e-6, 1e-4, 1e-4));
}
