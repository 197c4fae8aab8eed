/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

/*
 * STRIP columns of b are packed in panels of COLS; for each ROWS rows of a, a tile of c at a time
 * stays in registers while p runs. What the last panel lacks is packed as zeros and not stored, so
 * that only the last rows need another loop. MOST_DEPTH is what the task says of k.
 */
enum { LANES = 4, COLS = 2 * LANES, ROWS = 4, STRIP = 256, MOST_DEPTH = 600 };

/* Four floats at a time: what every x86-64 and every arm64 has. */
typedef float vec __attribute__((vector_size(LANES * sizeof(float))));

struct sizes {
	int64_t m, n, k;
};

static int64_t least(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

static vec load(const float *at)
{
	vec value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/*
 * A tile of four rows, or one: a constant of the caller, so that sums become registers. Of its
 * columns @width are stored.
 */
static inline __attribute__((always_inline)) void tile(const float *a, const float *panel, float *c,
						       const struct sizes *size, int64_t width,
						       int rows)
{
	vec left[ROWS] = {}, right[ROWS] = {};

	for (int64_t p = 0; p < size->k; p++) {
		vec low = load(panel + p * COLS), high = load(panel + p * COLS + LANES);

#pragma GCC unroll 4
		for (int i = 0; i < rows; i++) {
			left[i] += a[i * size->k + p] * low;
			right[i] += a[i * size->k + p] * high;
		}
	}
#pragma GCC unroll 4
	for (int i = 0; i < rows; i++) {
		float *out = c + i * size->n;

		if (width == COLS) {
			memcpy(out, &left[i], sizeof(left[i]));
			memcpy(out + LANES, &right[i], sizeof(right[i]));
			continue;
		}
		for (int64_t j = 0; j < width; j++)
			out[j] = j < LANES ? left[i][j] : right[i][j - LANES];
	}
}

static void pack(const float *b, float *panel, const struct sizes *size, int64_t width)
{
	for (int64_t p = 0; p < size->k; p++) {
		float *line = panel + p * COLS;

		if (width == COLS) {
			memcpy(line, b + p * size->n, COLS * sizeof(float));
			continue;
		}
		memset(line, 0, COLS * sizeof(float));
		memcpy(line, b + p * size->n, (size_t) width * sizeof(float));
	}
}

static void tiled(const float *a, const float *b, float *c, const struct sizes *size)
{
	static _Alignas(64) float panels[STRIP * MOST_DEPTH];
	int64_t k = size->k, n = size->n;

	for (int64_t from = 0; from < n; from += STRIP) {
		int64_t to = least(from + STRIP, n), i = 0;

		for (int64_t j = from; j < to; j += COLS)
			pack(b + j, panels + (j - from) * k, size, least(COLS, to - j));
		for (; i + ROWS <= size->m; i += ROWS)
			for (int64_t j = from; j < to; j += COLS)
				tile(a + i * k, panels + (j - from) * k, c + i * n + j, size,
				     least(COLS, to - j), ROWS);
		for (; i < size->m; i++)
			for (int64_t j = from; j < to; j += COLS)
				tile(a + i * k, panels + (j - from) * k, c + i * n + j, size,
				     least(COLS, to - j), 1);
	}
}

static float dot(const float *x, const float *y, int64_t count)
{
	vec sums[4] = {}, sum;
	float rest = 0;
	int64_t i = 0;

	for (; i + 4 * LANES <= count; i += 4 * LANES) {
#pragma GCC unroll 4
		for (int part = 0; part < 4; part++)
			sums[part] += load(x + i + part * LANES) * load(y + i + part * LANES);
	}
	for (; i < count; i++)
		rest += x[i] * y[i];
	sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
	return rest + (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* A few columns: one at a time, with p in lanes. */
static void few_columns(const float *a, const float *b, float *c, const struct sizes *size)
{
	static _Alignas(64) float column[MOST_DEPTH];

	for (int64_t j = 0; j < size->n; j++) {
		for (int64_t p = 0; p < size->k; p++)
			column[p] = b[p * size->n + j];
		for (int64_t i = 0; i < size->m; i++)
			c[i * size->n + j] = dot(a + i * size->k, column, size->k);
	}
}

/* A few rows: b is read once, as it lies, which takes longer than all else. */
static void few_rows(const float *a, const float *b, float *c, const struct sizes *size)
{
	int64_t n = size->n, whole = n - n % LANES;

	memset(c, 0, (size_t) (size->m * n) * sizeof(float));
	for (int64_t p = 0; p < size->k; p++) {
		for (int64_t i = 0; i < size->m; i++) {
			float factor = a[i * size->k + p];
			float *out = c + i * n;

			for (int64_t j = 0; j < whole; j += LANES) {
				vec sum = load(out + j) + factor * load(b + p * n + j);

				memcpy(out + j, &sum, sizeof(sum));
			}
			for (int64_t j = whole; j < n; j++)
				out[j] += factor * b[p * n + j];
		}
	}
}

void matmul(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k)
{
	const struct sizes size = { m, n, k };

	if (n < COLS)
		few_columns(a, b, c, &size);
	else if (m < 2 * ROWS)
		few_rows(a, b, c, &size);
	else
		tiled(a, b, c, &size);
}
