/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/draw.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/base/mem.h"
#include "tests/lib/check.h"

enum { COUNT = 100000 };

/* Draws into a row of @count elements and gives them back wide. */
static void draw(uint32_t element, const struct values_plan *plan, struct tensor tensor, void *wide)
{
	static const uint64_t numbers[INPUTS_NUMBERS] = { 7 };
	cleanup(inputs_done) struct inputs stream = INPUTS_INIT;
	cleanup(mem_free) uint8_t *plain = mem_alloc(tensor.count, ELEMENT_WIDE);
	struct err err = ERR_INIT;

	CHECK(!values_fault(plan, &tensor));
	CHECK_OK(inputs_open(&stream, (const uint8_t[INPUTS_KEY]){ 1 }, "x", numbers, &err));
	draw_values(&stream, plan, &tensor, plain);
	element_widen(element, plain, 0, tensor.count, wide);
}

static struct tensor rows_of(uint32_t element, uint64_t rows, uint64_t row)
{
	struct tensor tensor = { element, 2, rows * row, { rows, row }, { row, 1 } };

	return tensor;
}

static struct values_plan reals(uint32_t kind, uint32_t count, double a, double b)
{
	return (struct values_plan){ .kind = kind, .count = count, .reals = { a, b } };
}

static struct values_plan wholes(uint32_t kind, uint32_t count, int64_t a, int64_t b)
{
	return (struct values_plan){ .kind = kind, .count = count, .wholes = { a, b } };
}

/* Seeded with another number than anything else, so that it is no part of what is tested. */
static double random_part(unsigned int *state)
{
	return (double) rand_r(state) / RAND_MAX;
}

TEST(logarithm_and_power_agree_with_the_c_library)
{
	unsigned int state = 5;

	for (int i = 0; i < 100000; i++) {
		double x = exp(1400 * random_part(&state) - 700);
		double y = 1380 * random_part(&state) - 690;

		CHECK(fabs(draw_log(x) - log(x)) <= 1e-14 * fmax(1, fabs(log(x))));
		CHECK(fabs(draw_exp(y) - exp(y)) <= 1e-14 * exp(y) * fmax(1, fabs(y)));
	}
	CHECK(draw_log(1) == 0 && draw_exp(0) == 1);
}

TEST(a_pair_of_normal_values_is_what_box_and_muller_say)
{
	unsigned int state = 6;

	for (int i = 0; i < 100000; i++) {
		uint64_t bits[2] = { 0 };
		double pair[2], radius, angle;

		for (int k = 0; k < 4; k++) {
			bits[0] = bits[0] << 16 ^ (uint64_t) rand_r(&state);
			bits[1] = bits[1] << 16 ^ (uint64_t) rand_r(&state);
		}
		radius = sqrt(-2 * log((double) ((bits[0] >> 11) + 1) * 0x1p-53));
		angle = (double) (bits[1] >> 11) * 0x1p-53 * 2 * M_PI;
		draw_normal(bits, pair);
		CHECK(fabs(pair[0] - radius * cos(angle)) < 1e-13);
		CHECK(fabs(pair[1] - radius * sin(angle)) < 1e-13);
	}
}

/* The farthest values that there are, and none that is no number. */
TEST(the_ends_of_a_normal_distribution_are_finite)
{
	double pair[2];

	draw_normal((const uint64_t[]){ 0, 0 }, pair);
	CHECK(pair[0] > 8.5 && pair[0] < 8.6 && pair[1] == 0);
	draw_normal((const uint64_t[]){ UINT64_MAX, UINT64_MAX }, pair);
	CHECK(fabs(pair[0]) < 1e-7 && fabs(pair[1]) < 1e-7);
}

static void check_moments(const double *values, double mean, double sd, double tolerance)
{
	double sum = 0, squares = 0;

	for (int i = 0; i < COUNT; i++)
		sum += values[i];
	sum /= COUNT;
	for (int i = 0; i < COUNT; i++)
		squares += (values[i] - sum) * (values[i] - sum);
	CHECK(fabs(sum - mean) < tolerance);
	CHECK(fabs(sqrt(squares / COUNT) - sd) < tolerance);
}

TEST(normal_values_have_their_mean_and_deviation_in_every_real_type)
{
	static const uint32_t types[] = { ELEMENT_F64, ELEMENT_F32, ELEMENT_F16, ELEMENT_BF16 };
	static double values[COUNT];

	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		struct values_plan plan = reals(VALUES_NORMAL, 2, 3, 0.5);
		int inside = 0;

		draw(types[i], &plan, tensor_of_row(types[i], COUNT), values);
		check_moments(values, 3, 0.5, 0.01);
		for (int k = 0; k < COUNT; k++)
			inside += fabs(values[k] - 3) < 0.5;
		CHECK(inside > 68268 - 900 && inside < 68268 + 900);
	}
}

TEST(uniform_values_fill_their_range_in_every_type)
{
	static double values[COUNT];
	static int64_t whole[COUNT];

	for (uint32_t type = 0; type < ELEMENT_COUNT; type++) {
		struct values_plan plan = element_is_real(type) ? reals(VALUES_UNIFORM, 2, 1, 7)
								: wholes(VALUES_UNIFORM, 2, 1, 7);

		if (element_is_real(type)) {
			draw(type, &plan, tensor_of_row(type, COUNT), values);
		} else {
			draw(type, &plan, tensor_of_row(type, COUNT), whole);
			for (int i = 0; i < COUNT; i++)
				values[i] = (double) whole[i];
		}
		for (int i = 0; i < COUNT; i++)
			CHECK(values[i] >= 1 && values[i] <= 7);
		check_moments(values, 4, element_is_real(type) ? 6 / sqrt(12) : 2, 0.03);
	}
}

TEST(the_logarithm_of_loguniform_values_is_uniform)
{
	static double values[COUNT];
	struct values_plan plan = reals(VALUES_LOGUNIFORM, 2, 0.01, 100);

	draw(ELEMENT_F64, &plan, tensor_of_row(ELEMENT_F64, COUNT), values);
	for (int i = 0; i < COUNT; i++) {
		CHECK(values[i] >= 0.01 && values[i] <= 100);
		values[i] = log10(values[i]);
	}
	check_moments(values, 0, 4 / sqrt(12), 0.03);
}

TEST(integers_in_a_real_type_are_whole_and_reach_both_ends)
{
	static double values[COUNT];
	struct values_plan plan = reals(VALUES_RANDINT, 2, -2, 2);
	int ends[2] = { 0 };

	draw(ELEMENT_BF16, &plan, tensor_of_row(ELEMENT_BF16, COUNT), values);
	for (int i = 0; i < COUNT; i++) {
		CHECK(values[i] == floor(values[i]) && fabs(values[i]) <= 2);
		ends[0] += values[i] == -2;
		ends[1] += values[i] == 2;
	}
	CHECK(ends[0] > 19000 && ends[0] < 21000 && ends[1] > 19000 && ends[1] < 21000);
}

TEST(a_choice_takes_each_of_its_values_as_often)
{
	static int64_t values[COUNT];
	struct values_plan plan = wholes(VALUES_CHOICE, 3, -8, 7);
	int counts[3] = { 0 };

	plan.wholes[2] = 0;
	draw(ELEMENT_I4, &plan, tensor_of_row(ELEMENT_I4, COUNT), values);
	for (int i = 0; i < COUNT; i++)
		counts[values[i] == -8 ? 0 : values[i] == 7 ? 1 : 2]++;
	for (int i = 0; i < 3; i++)
		CHECK(counts[i] > 33333 - 1000 && counts[i] < 33333 + 1000);
	plan.count = 1;
	draw(ELEMENT_I4, &plan, tensor_of_row(ELEMENT_I4, COUNT), values);
	for (int i = 0; i < COUNT; i++)
		CHECK_INT(values[i], -8);
}

TEST(a_list_is_taken_as_it_is)
{
	struct values_plan plan = reals(VALUES_LIST, 4, 1, 2);
	double values[4];

	plan.reals[3] = -4;
	draw(ELEMENT_F16, &plan, rows_of(ELEMENT_F16, 2, 2), values);
	CHECK(values[0] == 1 && values[1] == 2 && values[2] == 0 && values[3] == -4);
}

/* Rows of an odd length: packed ones begin in the middle of a byte. */
TEST(each_row_is_a_permutation)
{
	static const uint32_t types[] = { ELEMENT_I64, ELEMENT_I32, ELEMENT_I8, ELEMENT_U4 };
	int moved = 0;

	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		struct values_plan plan = { .kind = VALUES_PERMUTATION };
		int64_t values[40 * 15];

		draw(types[i], &plan, rows_of(types[i], 40, 15), values);
		for (int row = 0; row < 40; row++) {
			int seen = 0;

			for (int k = 0; k < 15; k++) {
				seen |= 1 << values[row * 15 + k];
				moved += values[row * 15 + k] != k;
			}
			CHECK_INT(seen, (1 << 15) - 1);
		}
	}
	CHECK(moved > 2000);
}

TEST(each_row_has_one_hot_element)
{
	struct values_plan plan = { .kind = VALUES_ONEHOT };
	int64_t whole[100 * 7];
	double values[100 * 7];
	int places[7] = { 0 };

	draw(ELEMENT_I4, &plan, rows_of(ELEMENT_I4, 100, 7), whole);
	draw(ELEMENT_F32, &plan, rows_of(ELEMENT_F32, 100, 7), values);
	for (int row = 0; row < 100; row++) {
		int64_t sum = 0;
		double real_sum = 0;

		for (int k = 0; k < 7; k++) {
			sum += whole[row * 7 + k];
			real_sum += values[row * 7 + k];
			CHECK(whole[row * 7 + k] == 0 || whole[row * 7 + k] == 1);
			places[k] += whole[row * 7 + k] == 1;
		}
		CHECK(sum == 1 && real_sum == 1);
	}
	for (int k = 0; k < 7; k++)
		CHECK(places[k] > 1);
}

TEST(each_row_is_sorted)
{
	struct values_plan plan = reals(VALUES_NORMAL, 2, 0, 1);
	static double values[10 * 999];
	int64_t whole[30 * 11];

	plan.is_sorted = 1;
	draw(ELEMENT_F16, &plan, rows_of(ELEMENT_F16, 10, 999), values);
	for (int i = 0; i < 10 * 999; i++)
		CHECK(i % 999 == 0 || values[i] >= values[i - 1]);
	CHECK(values[999] < values[998]);
	plan = wholes(VALUES_UNIFORM, 2, -8, 7);
	plan.is_sorted = 1;
	draw(ELEMENT_I4, &plan, rows_of(ELEMENT_I4, 30, 11), whole);
	for (int i = 0; i < 30 * 11; i++)
		CHECK(i % 11 == 0 || whole[i] >= whole[i - 1]);
}

/*
 * Fixed for ever: records made today are judged again by later versions, and by other machines.
 */
TEST(the_same_stream_gives_the_same_bytes_for_ever)
{
	static const struct {
		uint32_t element;
		struct values_plan plan;
		uint64_t sum;
	} rows[] = {
		{ ELEMENT_F64,
		  { .kind = VALUES_NORMAL, .count = 2, .reals = { 0, 1 } },
		  UINT64_C(0x640c8133cfad3105) },
		{ ELEMENT_F64,
		  { .kind = VALUES_LOGUNIFORM, .count = 2, .reals = { 0.5, 9 } },
		  UINT64_C(0xaf5b7b6b1df0910a) },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		static uint64_t bits[1000];
		uint64_t sum = 0;

		draw(rows[i].element, &rows[i].plan, tensor_of_row(rows[i].element, 1000), bits);
		for (int k = 0; k < 1000; k++)
			sum = (sum ^ bits[k]) * UINT64_C(0x100000001b3);
		CHECK_INT(sum, rows[i].sum);
	}
}
