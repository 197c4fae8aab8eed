/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/kernels/kernels.h"

#include <math.h>
#include <string.h>

enum { CHAIN_MAX = 1024 };

/* e^x for x <= 0 to a few units in the last place, in a form that becomes vectors. */
static inline float exp_negative(float x)
{
	float clamped = x < -87.0f ? -87.0f : x;
	float n = (float) (int32_t) (clamped * 1.44269504f - 0.5f);
	float r = clamped - n * 0.693359375f + n * 2.12194440e-4f;
	float p = 1.9875691e-4f;
	int32_t bits = ((int32_t) n + 127) << 23;
	float power;

	p = p * r + 1.3981999e-3f;
	p = p * r + 8.3334519e-3f;
	p = p * r + 4.1665795e-2f;
	p = p * r + 1.6666665e-1f;
	p = p * r + 5.0000001e-1f;
	p = p * r * r + r + 1.0f;
	memcpy(&power, &bits, sizeof(power));
	return p * power;
}

static void softmax_row(const float *in, float *out, int32_t cols)
{
	float largest = in[0], sum = 0;

	for (int32_t i = 1; i < cols; i++)
		largest = in[i] > largest ? in[i] : largest;
	for (int32_t i = 0; i < cols; i++) {
		float value = exp_negative(in[i] - largest);

		out[i] = value;
		sum += value;
	}
	for (int32_t i = 0; i < cols; i++)
		out[i] /= sum;
}

void softmax_rows(const float *in, float *out, int32_t from, int32_t to, int32_t cols)
{
	for (int32_t row = from; row < to; row++)
		softmax_row(in + (int64_t) row * cols, out + (int64_t) row * cols, cols);
}

void softmax(const float *in, float *out, int32_t rows, int32_t cols)
{
	softmax_rows(in, out, 0, rows, cols);
}

void softmax_oracle(const double *in, double *out, int64_t rows, int64_t cols)
{
	for (int64_t row = 0; row < rows; row++, in += cols, out += cols) {
		double largest = in[0], sum = 0;

		for (int64_t i = 1; i < cols; i++)
			largest = fmax(largest, in[i]);
		for (int64_t i = 0; i < cols; i++) {
			out[i] = exp(in[i] - largest);
			sum += out[i];
		}
		for (int64_t i = 0; i < cols; i++)
			out[i] /= sum;
	}
}

__attribute__((noinline)) static void steps_of(float *values, int32_t count, int32_t steps)
{
	for (int32_t step = 0; step < steps; step++) {
		for (int32_t i = 0; i < count; i++)
			values[i] = values[i] * 0.9999f + 0.0001f;
		/* Each step is done, whatever the compiler knows about its use. */
		__asm__ volatile("" ::"r"(values) : "memory");
	}
}

/* Wasted steps are the same steps on the same memory. */
__attribute__((noinline)) static void chain_with_waste(const float *in, float *out, int32_t count,
						       int32_t steps, int32_t waste)
{
	_Alignas(64) float values[CHAIN_MAX];

	memcpy(values, in, (size_t) count * sizeof(*values));
	steps_of(values, count, steps);
	memcpy(out, values, (size_t) count * sizeof(*values));
	steps_of(values, count, waste);
}

void chain(const float *in, float *out, int32_t count, int32_t steps)
{
	chain_with_waste(in, out, count, steps, 0);
}

void chain_twice(const float *in, float *out, int32_t count, int32_t steps)
{
	chain_with_waste(in, out, count, steps, steps);
}

void chain_slower(const float *in, float *out, int32_t count, int32_t steps)
{
	chain_with_waste(in, out, count, steps, steps / 20);
}

void chain_oracle(const double *in, double *out, int64_t count, int64_t steps)
{
	for (int64_t i = 0; i < count; i++) {
		double value = in[i];

		for (int64_t step = 0; step < steps; step++)
			value = value * 0.9999 + 0.0001;
		out[i] = value;
	}
}

void curve_rows(const float *in, float *out, int32_t from, int32_t to, int32_t cols)
{
	for (int64_t i = (int64_t) from * cols; i < (int64_t) to * cols; i++)
		out[i] = 1 + 2 * in[i] + in[i] * in[i] / 2;
}

void curve(const float *in, float *out, int32_t rows, int32_t cols)
{
	curve_rows(in, out, 0, rows, cols);
}

void curve_oracle(const double *in, double *out, int64_t rows, int64_t cols)
{
	for (int64_t i = 0; i < rows * cols; i++)
		out[i] = 1 + 2 * in[i] + in[i] * in[i] / 2;
}
