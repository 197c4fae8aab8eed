/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

/* Not inlined and not merged: two calls are two times the work. */
__attribute__((noinline, noclone, noipa)) static void pass(const float *x, float *y, int64_t count)
{
	for (int64_t i = 0; i < count; i++) {
		float value = x[i];

		for (int step = 0; step < 256; step++)
			value = value * 0.75f + x[i] * 0.25f;
		y[i] = value;
	}
}

void work(const float *x, float *y, int64_t rows, int64_t cols)
{
	pass(x, y, rows * cols);
}
