/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

/*
 * STRIP columns of b are packed in panels of COLS; for each ROWS rows of a, a tile of c at a time
 * stays in registers while p runs. What the last panel lacks is packed as zeros and not stored, so
 * that only the last rows need another loop. MOST_DEPTH is what the task says of k.
 */
enum { LANES = 8, COLS = 16, ROWS = 4, STRIP = 256, MOST_DEPTH = 600 };

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));

#define ALWAYS static inline __attribute__((always_inline))

struct sizes {
	int64_t m, n, k;
};

/* A tile of four rows, or of one: a constant of the caller. Of its columns, @width are stored. */
ALWAYS void tile(const float *a, const float *panel, float *c, const struct sizes *size,
		 int64_t width, int rows)
{
	vec low[ROWS] = {}, high[ROWS] = {};

	for (int64_t p = 0; p < size->k; p++) {
		vec left, right;

		memcpy(&left, panel + p * COLS, sizeof(left));
		memcpy(&right, panel + p * COLS + LANES, sizeof(right));
#pragma GCC unroll 4
		for (int i = 0; i < rows; i++) {
			low[i] += a[i * size->k + p] * left;
			high[i] += a[i * size->k + p] * right;
		}
	}
#pragma GCC unroll 4
	for (int i = 0; i < rows; i++) {
		float *out = c + i * size->n;

		if (width == COLS) {
			memcpy(out, &low[i], sizeof(low[i]));
			memcpy(out + LANES, &high[i], sizeof(high[i]));
			continue;
		}
		for (int64_t j = 0; j < width; j++)
			out[j] = j < LANES ? low[i][j] : high[i][j - LANES];
	}
}

ALWAYS void pack(const float *b, float *panel, const struct sizes *size, int64_t width)
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

static int64_t least(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

ALWAYS void tiled(const float *a, const float *b, float *c, const struct sizes *size)
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

/* A few columns: one at a time, with p in lanes. */
ALWAYS void few_columns(const float *a, const float *b, float *c, const struct sizes *size)
{
	static _Alignas(64) float column[MOST_DEPTH];
	int64_t k = size->k;

	for (int64_t j = 0; j < size->n; j++) {
		for (int64_t p = 0; p < k; p++)
			column[p] = b[p * size->n + j];
		for (int64_t i = 0; i < size->m; i++) {
			vec sums = {}, more = {};
			float sum = 0;
			int64_t p = 0;

			for (; p + 2 * LANES <= k; p += 2 * LANES) {
				vec left, right;

				memcpy(&left, a + i * k + p, sizeof(left));
				memcpy(&right, column + p, sizeof(right));
				sums += left * right;
				memcpy(&left, a + i * k + p + LANES, sizeof(left));
				memcpy(&right, column + p + LANES, sizeof(right));
				more += left * right;
			}
			for (; p < k; p++)
				sum += a[i * k + p] * column[p];
			sums += more;
			for (int lane = 0; lane < LANES; lane++)
				sum += sums[lane];
			c[i * size->n + j] = sum;
		}
	}
}

/* A few rows: b is read once, as it lies, which takes longer than all else. */
ALWAYS void few_rows(const float *a, const float *b, float *c, const struct sizes *size)
{
	int64_t n = size->n, whole = n - n % LANES;

	memset(c, 0, (size_t) (size->m * n) * sizeof(float));
	for (int64_t p = 0; p < size->k; p++) {
		for (int64_t i = 0; i < size->m; i++) {
			float factor = a[i * size->k + p];
			float *out = c + i * n;

			for (int64_t j = 0; j < whole; j += LANES) {
				vec sum, line;

				memcpy(&sum, out + j, sizeof(sum));
				memcpy(&line, b + p * n + j, sizeof(line));
				sum += factor * line;
				memcpy(out + j, &sum, sizeof(sum));
			}
			for (int64_t j = whole; j < n; j++)
				out[j] += factor * b[p * n + j];
		}
	}
}

ALWAYS void product(const float *a, const float *b, float *c, const struct sizes *size)
{
	if (size->n < LANES)
		few_columns(a, b, c, size);
	else if (size->m < ROWS)
		few_rows(a, b, c, size);
	else
		tiled(a, b, c, size);
}

#ifdef __x86_64__
__attribute__((target("avx2,fma"))) static void product_avx2(const float *a, const float *b,
							     float *c, const struct sizes *size)
{
	product(a, b, c, size);
}

static int has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
#define product_avx2 product
static int has_avx2(void)
{
	return 0;
}
#endif

void matmul(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k)
{
	const struct sizes size = { m, n, k };

	if (has_avx2())
		product_avx2(a, b, c, &size);
	else
		product(a, b, c, &size);
}
