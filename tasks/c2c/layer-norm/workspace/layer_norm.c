/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

/* Keeps a row without any spread from a division by zero. */
#define EPSILON 1e-3f

/*
 * For each row of x its mean, the inverse of its standard deviation, and in y the row itself:
 * centred, scaled to a deviation of 1, times gain, plus bias.
 */
void layer_norm(const float *x, const float *gain, const float *bias, float *y, float *mean,
		float *rstd, int64_t rows, int64_t cols)
{
	for (int64_t r = 0; r < rows; r++) {
		const float *in = x + r * cols;
		float *out = y + r * cols;
		float sum = 0, squares = 0;

		for (int64_t c = 0; c < cols; c++)
			sum += in[c];
		mean[r] = sum / (float) cols;
		for (int64_t c = 0; c < cols; c++)
			squares += (in[c] - mean[r]) * (in[c] - mean[r]);
		rstd[r] = 1 / sqrtf(squares / (float) cols + EPSILON);
		for (int64_t c = 0; c < cols; c++)
			out[c] = (in[c] - mean[r]) * rstd[r] * gain[c] + bias[c];
	}
}
