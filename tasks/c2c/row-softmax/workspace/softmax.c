/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

/*
 * y[r][c] = exp(x[r][c]) / sum over k of exp(x[r][k]), for each row r. The largest element of the
 * row is subtracted first, so that nothing overflows.
 */
void row_softmax(const float *x, float *y, int64_t rows, int64_t cols)
{
	for (int64_t r = 0; r < rows; r++) {
		const float *in = x + r * cols;
		float *out = y + r * cols;
		float largest = in[0];
		float sum = 0;

		for (int64_t c = 1; c < cols; c++)
			if (in[c] > largest)
				largest = in[c];
		for (int64_t c = 0; c < cols; c++)
			sum += expf(in[c] - largest);
		for (int64_t c = 0; c < cols; c++)
			out[c] = expf(in[c] - largest) / sum;
	}
}
