/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/inputs.h"

#include <string.h>

#include "sandbox/base/compiler.h"
#include "tests/lib/check.h"

static const uint8_t key[INPUTS_KEY] = { 1, 2, 3 };
static const uint64_t first[INPUTS_NUMBERS] = { 1, 0, 2, 3 };

static void open_stream(struct inputs *stream, const uint8_t *from, const char *label,
			const uint64_t *numbers)
{
	struct err err = ERR_INIT;

	CHECK_OK(inputs_open(stream, from, label, numbers, &err));
}

static uint64_t first_draw(const uint8_t *from, const char *label, const uint64_t *numbers)
{
	cleanup(inputs_done) struct inputs stream = INPUTS_INIT;

	open_stream(&stream, from, label, numbers);
	return inputs_u64(&stream);
}

TEST(the_same_name_gives_the_same_values)
{
	cleanup(inputs_done) struct inputs stream = INPUTS_INIT;
	float a[5000], b[5000];

	open_stream(&stream, key, "x", first);
	inputs_f32(&stream, a, ARRAY_LEN(a), -1, 1);
	open_stream(&stream, key, "x", first);
	inputs_f32(&stream, b, ARRAY_LEN(b), -1, 1);
	CHECK(memcmp(a, b, sizeof(a)) == 0);
}

/*
 * Fixed for ever: records made today are judged again by later versions. Computed apart from
 * this code: HMAC-SHA256 of the label (64 bytes) and the numbers, then AES-128-CTR of zeros.
 */
TEST(the_stream_is_the_one_that_records_were_made_with)
{
	CHECK_INT(first_draw(key, "proctor/inputs/1", first),
		  (int64_t) UINT64_C(0xeff0b3f98c454037));
}

TEST(key_label_and_every_number_matter)
{
	static const uint8_t other_key[INPUTS_KEY] = { 1, 2, 4 };
	uint64_t draw = first_draw(key, "x", first);

	CHECK(first_draw(other_key, "x", first) != draw);
	CHECK(first_draw(key, "y", first) != draw);
	for (int i = 0; i < INPUTS_NUMBERS; i++) {
		uint64_t numbers[INPUTS_NUMBERS];

		memcpy(numbers, first, sizeof(numbers));
		numbers[i]++;
		CHECK(first_draw(key, "x", numbers) != draw);
	}
}

TEST(floats_fill_their_range_evenly)
{
	enum { COUNT = 100000, BINS = 10 };
	static float values[COUNT];
	cleanup(inputs_done) struct inputs stream = INPUTS_INIT;
	int bins[BINS] = { 0 };

	open_stream(&stream, key, "x", first);
	inputs_f32(&stream, values, COUNT, -3, 7);
	for (int i = 0; i < COUNT; i++) {
		CHECK(values[i] >= -3 && values[i] <= 7);
		bins[(int) ((double) (values[i] + 3) * 0.99999)]++;
	}
	/* Six standard deviations of a bin. */
	for (int i = 0; i < BINS; i++)
		CHECK(bins[i] > COUNT / BINS - 570 && bins[i] < COUNT / BINS + 570);
}

TEST(doubles_stay_in_their_range_and_use_all_their_bits)
{
	static double values[3000];
	cleanup(inputs_done) struct inputs stream = INPUTS_INIT;
	int fine = 0;

	open_stream(&stream, key, "x", first);
	inputs_f64(&stream, values, ARRAY_LEN(values), 0, 1);
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		CHECK(values[i] >= 0 && values[i] < 1);
		fine += values[i] * 0x1p40 != (double) (int64_t) (values[i] * 0x1p40);
	}
	CHECK(fine > 2900);
}

TEST(a_range_of_one_value_gives_it)
{
	cleanup(inputs_done) struct inputs stream = INPUTS_INIT;
	float single[10];
	int32_t whole[10];
	int64_t wide[10];

	open_stream(&stream, key, "x", first);
	inputs_f32(&stream, single, 10, 2.5f, 2.5f);
	inputs_i32(&stream, whole, 10, -7, -7);
	inputs_i64(&stream, wide, 10, 9, 9);
	for (int i = 0; i < 10; i++)
		CHECK(single[i] == 2.5f && whole[i] == -7 && wide[i] == 9);
}

TEST(integers_reach_both_ends_and_no_further)
{
	static int32_t values[20000];
	static int64_t wide[20000];
	cleanup(inputs_done) struct inputs stream = INPUTS_INIT;
	int low = 0, high = 0;

	open_stream(&stream, key, "x", first);
	inputs_i32(&stream, values, ARRAY_LEN(values), -2, 3);
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		CHECK(values[i] >= -2 && values[i] <= 3);
		low += values[i] == -2;
		high += values[i] == 3;
	}
	CHECK(low > 3000 && high > 3000);
	inputs_i32(&stream, values, ARRAY_LEN(values), INT32_MIN, INT32_MAX);
	inputs_i64(&stream, wide, ARRAY_LEN(wide), INT64_MIN, INT64_MAX);
	low = high = 0;
	for (size_t i = 0; i < ARRAY_LEN(wide); i++) {
		low += wide[i] < 0;
		high += values[i] < 0;
	}
	CHECK(low > 9000 && low < 11000 && high > 9000 && high < 11000);
}

TEST(a_number_below_a_limit_is_below_it)
{
	cleanup(inputs_done) struct inputs stream = INPUTS_INIT;
	int seen[3] = { 0 };

	open_stream(&stream, key, "x", first);
	for (int i = 0; i < 3000; i++)
		seen[inputs_below(&stream, 3)]++;
	CHECK(seen[0] > 800 && seen[1] > 800 && seen[2] > 800);
	CHECK_INT(inputs_below(&stream, 1), 0);
	CHECK(inputs_below(&stream, UINT64_C(1) << 63) < UINT64_C(1) << 63);
}

TEST(shuffling_keeps_every_index)
{
	cleanup(inputs_done) struct inputs stream = INPUTS_INIT;
	uint32_t order[1000], moved = 0;
	bool seen[1000] = { false };

	for (uint32_t i = 0; i < 1000; i++)
		order[i] = i;
	open_stream(&stream, key, "x", first);
	inputs_shuffle(&stream, order, 1000);
	for (uint32_t i = 0; i < 1000; i++) {
		CHECK(!seen[order[i]]);
		seen[order[i]] = true;
		moved += order[i] != i;
	}
	CHECK(moved > 950);
}
