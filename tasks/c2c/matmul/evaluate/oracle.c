/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

/* The same in double precision: what a right answer is. */
void matmul_oracle(const double *a, const double *b, double *c, int64_t m, int64_t n, int64_t k)
{
	for (int64_t i = 0; i < m; i++) {
		double *row = c + i * n;

		for (int64_t j = 0; j < n; j++)
			row[j] = 0;
		for (int64_t p = 0; p < k; p++) {
			double factor = a[i * k + p];

			for (int64_t j = 0; j < n; j++)
				row[j] += factor * b[p * n + j];
		}
	}
}
