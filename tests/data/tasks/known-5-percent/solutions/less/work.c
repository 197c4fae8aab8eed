/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

/* Not inlined and not merged: each call is as much work as any other. */
__attribute__((noinline, noclone, noipa)) static void pass(const float *x, float *y, int64_t count)
{
	for (int64_t i = 0; i < count; i++) {
		float value = x[i];

		for (int step = 0; step < 26; step++)
			value = value * 0.75f + x[i] * 0.25f;
		y[i] = value;
	}
}

void work(const float *x, float *y, int64_t rows, int64_t cols)
{
	for (int i = 0; i < 20; i++)
		pass(x, y, rows * cols);
}
