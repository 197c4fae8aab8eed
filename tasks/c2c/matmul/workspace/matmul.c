/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

/* c[i][j] = sum over p of a[i][p] * b[p][j]: a is m times k, b is k times n, c is m times n. */
void matmul(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k)
{
	for (int64_t i = 0; i < m; i++) {
		float *row = c + i * n;

		for (int64_t j = 0; j < n; j++)
			row[j] = 0;
		for (int64_t p = 0; p < k; p++) {
			float factor = a[i * k + p];

			for (int64_t j = 0; j < n; j++)
				row[j] += factor * b[p * n + j];
		}
	}
}
