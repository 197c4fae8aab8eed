/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

/*
 * STRIP columns of b are packed in panels of COLS; for each ROWS rows of a, a tile of c at a time
 * stays in registers while p runs. What the last panel lacks is packed as zeros and not stored, so
 * that only the last rows need another loop. MOST_DEPTH is what the task says of k.
 */
enum { COLS = 16, ROWS = 4, STRIP = 256, MOST_DEPTH = 600 };

/* Eight floats at a time where there is AVX2; four are what every x86-64 and every arm64 has. */
typedef float vec8 __attribute__((vector_size(8 * sizeof(float))));
typedef float vec4 __attribute__((vector_size(4 * sizeof(float))));

#define ALWAYS static inline __attribute__((always_inline))

struct sizes {
	int64_t m, n, k;
};

static int64_t least(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

/*
 * A tile of two vectors by four rows, or one: a constant of the caller, so that sums become
 * registers. Of its columns @width are stored.
 */
#define DEFINE_TILE(name, vec)                                                                   \
	ALWAYS void name(const float *a, const float *panel, float *c, const struct sizes *size, \
			 int64_t width, int rows)                                                \
	{                                                                                        \
		enum { LANES = sizeof(vec) / sizeof(float) };                                    \
		vec low[ROWS] = {}, high[ROWS] = {};                                             \
                                                                                                 \
		for (int64_t p = 0; p < size->k; p++) {                                          \
			vec left, right;                                                         \
                                                                                                 \
			memcpy(&left, panel + p * COLS, sizeof(left));                           \
			memcpy(&right, panel + p * COLS + LANES, sizeof(right));                 \
			_Pragma("GCC unroll 4") for (int i = 0; i < rows; i++)                   \
			{                                                                        \
				low[i] += a[i * size->k + p] * left;                             \
				high[i] += a[i * size->k + p] * right;                           \
			}                                                                        \
		}                                                                                \
		_Pragma("GCC unroll 4") for (int i = 0; i < rows; i++)                           \
		{                                                                                \
			float *out = c + i * size->n;                                            \
                                                                                                 \
			if (width >= 2 * LANES) {                                                \
				memcpy(out, &low[i], sizeof(low[i]));                            \
				memcpy(out + LANES, &high[i], sizeof(high[i]));                  \
				continue;                                                        \
			}                                                                        \
			for (int64_t j = 0; j < width; j++)                                      \
				out[j] = j < LANES ? low[i][j] : high[i][j - LANES];             \
		}                                                                                \
	}

DEFINE_TILE(tile8, vec8)
DEFINE_TILE(tile4, vec4)

ALWAYS void tile(const float *a, const float *panel, float *c, const struct sizes *size,
		 int64_t width, int rows, int lanes)
{
	if (lanes == 8) {
		tile8(a, panel, c, size, width, rows);
		return;
	}
	tile4(a, panel, c, size, width, rows);
	if (width > COLS / 2)
		tile4(a, panel + COLS / 2, c + COLS / 2, size, width - COLS / 2, rows);
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

ALWAYS void tiled(const float *a, const float *b, float *c, const struct sizes *size, int lanes)
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
				     least(COLS, to - j), ROWS, lanes);
		for (; i < size->m; i++)
			for (int64_t j = from; j < to; j += COLS)
				tile(a + i * k, panels + (j - from) * k, c + i * n + j, size,
				     least(COLS, to - j), 1, lanes);
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
			vec8 sums = {}, more = {};
			float sum = 0;
			int64_t p = 0;

			for (; p + 16 <= k; p += 16) {
				vec8 left, right;

				memcpy(&left, a + i * k + p, sizeof(left));
				memcpy(&right, column + p, sizeof(right));
				sums += left * right;
				memcpy(&left, a + i * k + p + 8, sizeof(left));
				memcpy(&right, column + p + 8, sizeof(right));
				more += left * right;
			}
			for (; p < k; p++)
				sum += a[i * k + p] * column[p];
			sums += more;
			for (int lane = 0; lane < 8; lane++)
				sum += sums[lane];
			c[i * size->n + j] = sum;
		}
	}
}

/* A few rows: b is read once, as it lies, which takes longer than all else. */
ALWAYS void few_rows(const float *a, const float *b, float *c, const struct sizes *size)
{
	int64_t n = size->n, whole = n - n % 8;

	memset(c, 0, (size_t) (size->m * n) * sizeof(float));
	for (int64_t p = 0; p < size->k; p++) {
		for (int64_t i = 0; i < size->m; i++) {
			float factor = a[i * size->k + p];
			float *out = c + i * n;

			for (int64_t j = 0; j < whole; j += 8) {
				vec8 sum, line;

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

ALWAYS void product(const float *a, const float *b, float *c, const struct sizes *size, int lanes)
{
	if (size->n < 8)
		few_columns(a, b, c, size);
	else if (size->m < 2 * ROWS)
		few_rows(a, b, c, size);
	else
		tiled(a, b, c, size, lanes);
}

#ifdef __x86_64__
__attribute__((target("avx2,fma"))) static void product_avx2(const float *a, const float *b,
							     float *c, const struct sizes *size)
{
	product(a, b, c, size, 8);
}
#endif

void matmul(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k)
{
	const struct sizes size = { m, n, k };

#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
		product_avx2(a, b, c, &size);
		return;
	}
#endif
	product(a, b, c, &size, 4);
}
