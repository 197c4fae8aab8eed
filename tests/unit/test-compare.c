/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/compare.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "harness/judge/poison.h"
#include "sandbox/base/compiler.h"
#include "tests/lib/check.h"

static const struct compare_poison poison = { .seed = 12345, .word = 1024 };

static bool is_right(float got, double want, double rel, double abs)
{
	return !compare_close_f32(&got, &want, 1, rel, abs, poison).wrong;
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
	CHECK(compare_close_f32(NULL, NULL, 0, 1, 1, poison).wrong);
	CHECK(compare_close_f64(NULL, NULL, 0, 1, 1, poison).wrong);
	CHECK(compare_exact_i32(NULL, NULL, 0, poison).wrong);
	CHECK(compare_exact_i64(NULL, NULL, 0, poison).wrong);
}

TEST(the_first_wrong_element_is_told_wherever_it_is)
{
	enum { COUNT = 5000 };
	static float got[COUNT];
	static double want[COUNT];
	static const int places[] = { 0, 1, 1023, 1024, 2500, COUNT - 1 };

	for (int i = 0; i < COUNT; i++)
		want[i] = got[i] = (float) i;
	CHECK(!compare_close_f32(got, want, COUNT, 0, 0, poison).wrong);
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		struct comparison found;
		float kept = got[places[i]];

		got[places[i]] += 3;
		found = compare_close_f32(got, want, COUNT, 0, 0.5, poison);
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
	struct comparison found = compare_close_f64(got, want, 3, 0, 0.5, poison);

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
	CHECK(!compare_close_f32(got, want, 2000, 0, 0, poison).wrong);
	poison_fill(got, sizeof(got), 0);
	for (uint32_t i = 0; i < 2000; i++) {
		uint32_t word = poison_word(poison.seed, poison.word + i);

		memcpy(&got[i], &word, sizeof(word));
	}
	found = compare_close_f32(got, want, 2000, 0, 0, poison);
	CHECK(found.wrong && found.unwritten);
	CHECK_INT(found.index, 0);
}

TEST(poison_of_doubles_is_recognised)
{
	uint32_t words[4];
	double got[2] = { 1, 0 }, want[2] = { 1, 2 };
	struct comparison found;

	for (uint32_t i = 0; i < 4; i++)
		words[i] = poison_word(poison.seed, poison.word + i);
	memcpy(&got[1], &words[2], sizeof(got[1]));
	found = compare_close_f64(got, want, 2, 0, 0, poison);
	CHECK(found.wrong && found.unwritten);
	CHECK_INT(found.index, 1);
}

TEST(integers_are_equal_or_wrong)
{
	int32_t small[] = { 1, -2, 3 }, wanted_small[] = { 1, -2, 3 };
	int64_t large[] = { 1, INT64_MAX }, wanted_large[] = { 1, INT64_MAX - 1 };
	struct comparison found;

	CHECK(!compare_exact_i32(small, wanted_small, 3, poison).wrong);
	small[2] = 4;
	found = compare_exact_i32(small, wanted_small, 3, poison);
	CHECK(found.wrong);
	CHECK_INT(found.index, 2);
	CHECK(found.got == 4 && found.want == 3);
	/* Two numbers that are the same double. */
	found = compare_exact_i64(large, wanted_large, 2, poison);
	CHECK(found.wrong);
	CHECK_INT(found.index, 1);
}

/* A softmax over many columns is smaller than a careless absolute tolerance. */
TEST(zeros_are_wrong_where_the_tolerance_is_relative)
{
	CHECK(!is_right(0.0f, 4e-6, 1e-4, 1e-9));
	CHECK(is_right(0.0f, 4e-6, 1e-4, 1e-4));
}
