/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

enum { LANES = 4, COLS = 8, ROWS = 4 };

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));

/* Four rows and eight columns, in registers while p runs. */
static void tile(const float *a, const float *b, float *c, int64_t n, int64_t k)
{
	vec sums[ROWS][2] = {};

	for (int64_t p = 0; p < k; p++) {
		vec line[2];

		memcpy(line, b + p * n, sizeof(line));
#pragma GCC unroll 4
		for (int i = 0; i < ROWS; i++) {
			sums[i][0] += a[i * k + p] * line[0];
			sums[i][1] += a[i * k + p] * line[1];
		}
	}
	for (int i = 0; i < ROWS; i++)
		memcpy(c + i * n, sums[i], sizeof(sums[i]));
}

void matmul(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k)
{
	for (int64_t j = 0; j + COLS <= n; j += COLS)
		for (int64_t i = 0; i + ROWS <= m; i += ROWS)
			tile(a + i * k, b + j, c + i * n + j, n, k);
}
