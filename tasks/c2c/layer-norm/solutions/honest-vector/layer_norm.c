/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define EPSILON 1e-3f

/* Long rows have their columns in lanes; of short ones, eight rows at a time are in lanes. */
enum { LANES = 8, STEP = 4 * LANES, SHORT = 2 * STEP };

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));

#define ALWAYS static inline __attribute__((always_inline))

struct norm {
	const float *x, *gain, *bias;
	float *y, *mean, *rstd;
	int64_t rows, cols;
};

ALWAYS float total(const vec *sums)
{
	vec sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);

	return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

/* The sum of in - less, or of its square: a constant of the caller. */
ALWAYS float sum_of(const float *in, int64_t cols, float less, int power)
{
	vec sums[4] = {};
	float rest = 0;
	int64_t c = 0;

	for (; c + STEP <= cols; c += STEP) {
#pragma GCC unroll 4
		for (int i = 0; i < 4; i++) {
			vec value;

			memcpy(&value, in + c + i * LANES, sizeof(value));
			value -= less;
			sums[i] += power == 2 ? value * value : value;
		}
	}
	for (; c < cols; c++)
		rest += power == 2 ? (in[c] - less) * (in[c] - less) : in[c] - less;
	return rest + total(sums);
}

ALWAYS void finish_row(const struct norm *norm, int64_t r)
{
	const float *in = norm->x + r * norm->cols;
	float *out = norm->y + r * norm->cols;
	float mean = norm->mean[r], rstd = norm->rstd[r];
	int64_t c = 0;

	for (; c + LANES <= norm->cols; c += LANES) {
		vec value, factor, offset;

		memcpy(&value, in + c, sizeof(value));
		memcpy(&factor, norm->gain + c, sizeof(factor));
		memcpy(&offset, norm->bias + c, sizeof(offset));
		value = (value - mean) * rstd * factor + offset;
		memcpy(out + c, &value, sizeof(value));
	}
	for (; c < norm->cols; c++)
		out[c] = (in[c] - mean) * rstd * norm->gain[c] + norm->bias[c];
}

ALWAYS void long_row(const struct norm *norm, int64_t r)
{
	const float *in = norm->x + r * norm->cols;
	float count = (float) norm->cols;

	norm->mean[r] = sum_of(in, norm->cols, 0, 1) / count;
	norm->rstd[r] = 1 / sqrtf(sum_of(in, norm->cols, norm->mean[r], 2) / count + EPSILON);
	finish_row(norm, r);
}

ALWAYS void short_rows(const struct norm *norm, int64_t first)
{
	const float *in = norm->x + first * norm->cols;
	int64_t cols = norm->cols;
	vec turned[SHORT], sum = {}, squares = {};

	for (int64_t c = 0; c < cols; c++) {
		const float *at = in + c;

		turned[c] = (vec){ at[0],        at[cols],     at[2 * cols], at[3 * cols],
				   at[4 * cols], at[5 * cols], at[6 * cols], at[7 * cols] };
		sum += turned[c];
	}
	sum /= (float) cols;
	for (int64_t c = 0; c < cols; c++)
		squares += (turned[c] - sum) * (turned[c] - sum);
	squares = squares / (float) cols + EPSILON;
	for (int i = 0; i < LANES; i++) {
		norm->mean[first + i] = sum[i];
		norm->rstd[first + i] = 1 / sqrtf(squares[i]);
		finish_row(norm, first + i);
	}
}

ALWAYS void all_rows(const struct norm *norm)
{
	int64_t r = 0;

	if (norm->cols < SHORT)
		for (; r + LANES <= norm->rows; r += LANES)
			short_rows(norm, r);
	for (; r < norm->rows; r++)
		long_row(norm, r);
}

#ifdef __x86_64__
__attribute__((target("avx2,fma"))) static void all_rows_avx2(const struct norm *norm)
{
	all_rows(norm);
}

static int has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
#define all_rows_avx2 all_rows
static int has_avx2(void)
{
	return 0;
}
#endif

void layer_norm(const float *x, const float *gain, const float *bias, float *y, float *mean,
		float *rstd, int64_t rows, int64_t cols)
{
	const struct norm norm = { x, gain, bias, y, mean, rstd, rows, cols };

	if (has_avx2())
		all_rows_avx2(&norm);
	else
		all_rows(&norm);
}
