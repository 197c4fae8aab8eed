/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

/* The same in double precision: what a right answer is. */
void row_softmax_oracle(const double *x, double *y, int64_t rows, int64_t cols)
{
	for (int64_t r = 0; r < rows; r++) {
		const double *in = x + r * cols;
		double *out = y + r * cols;
		double largest = in[0];
		double sum = 0;

		for (int64_t c = 1; c < cols; c++)
			largest = fmax(largest, in[c]);
		for (int64_t c = 0; c < cols; c++) {
			out[c] = exp(in[c] - largest);
			sum += out[c];
		}
		for (int64_t c = 0; c < cols; c++)
			out[c] /= sum;
	}
}
