/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define EPSILON 1e-3f

/*
 * Four floats at a time: what every x86-64 and every arm64 has. Long rows have their columns in
 * lanes; of short ones, four rows at a time are in lanes; those of a few elements have none.
 */
enum { LANES = 4, STEP = 4 * LANES, SHORT = 4 * STEP };

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));

struct norm {
	const float *x, *gain, *bias;
	float *y, *mean, *rstd;
	int64_t rows, cols;
};

static vec load(const float *at)
{
	vec value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static float total(vec a, vec b, vec c, vec d)
{
	vec sum = (a + b) + (c + d);

	return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static float sum_of(const float *in, int64_t cols)
{
	vec sums[4] = {};
	float rest = 0;
	int64_t c = 0;

	for (; c + STEP <= cols; c += STEP) {
#pragma GCC unroll 4
		for (int i = 0; i < 4; i++)
			sums[i] += load(in + c + i * LANES);
	}
	for (; c < cols; c++)
		rest += in[c];
	return rest + total(sums[0], sums[1], sums[2], sums[3]);
}

static float squares_of(const float *in, int64_t cols, float mean)
{
	vec sums[4] = {};
	float rest = 0;
	int64_t c = 0;

	for (; c + STEP <= cols; c += STEP) {
#pragma GCC unroll 4
		for (int i = 0; i < 4; i++) {
			vec value = load(in + c + i * LANES) - mean;

			sums[i] += value * value;
		}
	}
	for (; c < cols; c++)
		rest += (in[c] - mean) * (in[c] - mean);
	return rest + total(sums[0], sums[1], sums[2], sums[3]);
}

static void finish_row(const struct norm *norm, int64_t r)
{
	const float *in = norm->x + r * norm->cols;
	float *out = norm->y + r * norm->cols;
	float mean = norm->mean[r], rstd = norm->rstd[r];
	int64_t c = 0;

	for (; c + LANES <= norm->cols; c += LANES) {
		vec value = (load(in + c) - mean) * rstd;

		value = value * load(norm->gain + c) + load(norm->bias + c);
		memcpy(out + c, &value, sizeof(value));
	}
	for (; c < norm->cols; c++)
		out[c] = (in[c] - mean) * rstd * norm->gain[c] + norm->bias[c];
}

static void long_row(const struct norm *norm, int64_t r)
{
	const float *in = norm->x + r * norm->cols;
	float count = (float) norm->cols;

	norm->mean[r] = sum_of(in, norm->cols) / count;
	norm->rstd[r] = 1 / sqrtf(squares_of(in, norm->cols, norm->mean[r]) / count + EPSILON);
	finish_row(norm, r);
}

static void short_rows(const struct norm *norm, int64_t first)
{
	const float *in = norm->x + first * norm->cols;
	int64_t cols = norm->cols;
	vec turned[SHORT], mean = {}, squares = {};

	for (int64_t c = 0; c < cols; c++) {
		turned[c] = (vec){ in[c], in[c + cols], in[c + 2 * cols], in[c + 3 * cols] };
		mean += turned[c];
	}
	mean /= (float) cols;
	for (int64_t c = 0; c < cols; c++)
		squares += (turned[c] - mean) * (turned[c] - mean);
	for (int i = 0; i < LANES; i++) {
		norm->mean[first + i] = mean[i];
		norm->rstd[first + i] = 1 / sqrtf(squares[i] / (float) cols + EPSILON);
		finish_row(norm, first + i);
	}
}

static void tiny_row(const struct norm *norm, int64_t r)
{
	const float *in = norm->x + r * norm->cols;
	float sum = 0, squares = 0, mean;

	for (int64_t c = 0; c < norm->cols; c++)
		sum += in[c];
	mean = sum / (float) norm->cols;
	for (int64_t c = 0; c < norm->cols; c++)
		squares += (in[c] - mean) * (in[c] - mean);
	norm->mean[r] = mean;
	norm->rstd[r] = 1 / sqrtf(squares / (float) norm->cols + EPSILON);
	for (int64_t c = 0; c < norm->cols; c++)
		norm->y[r * norm->cols + c] =
			(in[c] - mean) * norm->rstd[r] * norm->gain[c] + norm->bias[c];
}

void layer_norm(const float *x, const float *gain, const float *bias, float *y, float *mean,
		float *rstd, int64_t rows, int64_t cols)
{
	const struct norm norm = { x, gain, bias, y, mean, rstd, rows, cols };
	int64_t r = 0;

	if (cols < 2 * LANES)
		for (; r < rows; r++)
			tiny_row(&norm, r);
	else if (cols < SHORT)
		for (; r + LANES <= rows; r += LANES)
			short_rows(&norm, r);
	for (; r < rows; r++)
		long_row(&norm, r);
}
