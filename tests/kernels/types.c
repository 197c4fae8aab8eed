/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel for each thing that an argument can be: honest, as the oracle has it with wide values,
 * and wrong in the way that this kind of argument invites. tests/unit/test-marking_types.c has the
 * task of each, and with it what it computes.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

/* One exported function. */
#define KERNEL(name, parameters) \
	void name parameters;    \
	void name parameters

/* --- bf16: y = a x --- */

static float from_bf16(uint16_t code)
{
	uint32_t bits = (uint32_t) code << 16;
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

KERNEL(bf16_scale, (const uint16_t *x, uint16_t *y, float a, int64_t n))
{
	for (int64_t i = 0; i < n; i++) {
		uint32_t bits = bits_of(a * from_bf16(x[i]));

		y[i] = (uint16_t) ((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
	}
}

KERNEL(bf16_scale_cut, (const uint16_t *x, uint16_t *y, float a, int64_t n))
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (uint16_t) (bits_of(a * from_bf16(x[i])) >> 16);
}

KERNEL(bf16_scale_oracle, (const double *x, double *y, double a, int64_t n))
{
	for (int64_t i = 0; i < n; i++)
		y[i] = a * x[i];
}

/* --- f16: y = -x --- */

KERNEL(f16_negate, (const uint16_t *x, uint16_t *y, int64_t n))
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] ^ 0x8000;
}

KERNEL(f16_negative, (const uint16_t *x, uint16_t *y, int64_t n))
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] | 0x8000;
}

KERNEL(f16_negate_oracle, (const double *x, double *y, int64_t n))
{
	for (int64_t i = 0; i < n; i++)
		y[i] = -x[i];
}

/* --- f64: y = sqrt(x) --- */

KERNEL(f64_root, (const double *x, double *y, int64_t n))
{
	for (int64_t i = 0; i < n; i++)
		y[i] = sqrt(x[i]);
}

KERNEL(f64_root_single, (const double *x, double *y, int64_t n))
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (double) sqrtf((float) x[i]);
}

/* --- i8: z = x + y, held within the type --- */

KERNEL(i8_add, (const int8_t *x, const int8_t *y, int8_t *z, int64_t n))
{
	for (int64_t i = 0; i < n; i++) {
		int sum = x[i] + y[i];

		z[i] = (int8_t) (sum > 127 ? 127 : sum < -128 ? -128 : sum);
	}
}

KERNEL(i8_add_wrapped, (const int8_t *x, const int8_t *y, int8_t *z, int64_t n))
{
	for (int64_t i = 0; i < n; i++)
		z[i] = (int8_t) (x[i] + y[i]);
}

KERNEL(i8_add_oracle, (const int64_t *x, const int64_t *y, int64_t *z, int64_t n))
{
	for (int64_t i = 0; i < n; i++) {
		int64_t sum = x[i] + y[i];

		z[i] = sum > 127 ? 127 : sum < -128 ? -128 : sum;
	}
}

/* --- u8: y = x a, to the nearest, one more or less is as good --- */

KERNEL(u8_dim, (const uint8_t *x, uint8_t *y, float a, int64_t n))
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (uint8_t) ((float) x[i] * a);
}

KERNEL(u8_dim_twice, (const uint8_t *x, uint8_t *y, float a, int64_t n))
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (uint8_t) ((float) x[i] * a * a);
}

KERNEL(u8_dim_oracle, (const int64_t *x, int64_t *y, double a, int64_t n))
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (int64_t) (a * (double) x[i] + 0.5);
}

/* --- i4 to f32: y = s w, rows of w padded --- */

static int low_nibble(uint8_t byte)
{
	return (byte & 15) < 8 ? byte & 15 : (byte & 15) - 16;
}

KERNEL(i4_unpack,
       (const uint8_t *w, const float *s, float *y, int64_t rows, int64_t cols, int64_t ld))
{
	for (int64_t r = 0; r < rows; r++) {
		for (int64_t c = 0; c < cols; c += 2) {
			uint8_t byte = w[(r * ld + c) / 2];

			y[r * cols + c] = s[r] * (float) low_nibble(byte);
			y[r * cols + c + 1] = s[r] * (float) low_nibble(byte >> 4);
		}
	}
}

KERNEL(i4_unpack_swapped,
       (const uint8_t *w, const float *s, float *y, int64_t rows, int64_t cols, int64_t ld))
{
	for (int64_t r = 0; r < rows; r++) {
		for (int64_t c = 0; c < cols; c += 2) {
			uint8_t byte = w[(r * ld + c) / 2];

			y[r * cols + c] = s[r] * (float) low_nibble(byte >> 4);
			y[r * cols + c + 1] = s[r] * (float) low_nibble(byte);
		}
	}
}

KERNEL(i4_unpack_dense,
       (const uint8_t *w, const float *s, float *y, int64_t rows, int64_t cols, int64_t ld))
{
	(void) ld;
	i4_unpack(w, s, y, rows, cols, cols);
}

KERNEL(i4_unpack_oracle,
       (const int64_t *w, const double *s, double *y, int64_t rows, int64_t cols, int64_t ld))
{
	(void) ld;
	for (int64_t i = 0; i < rows * cols; i++)
		y[i] = s[i / cols] * (double) w[i];
}

/* --- u4: y = 15 - x, packed on both sides, of any number --- */

KERNEL(u4_complement, (const uint8_t *x, uint8_t *y, int64_t n))
{
	for (int64_t i = 0; i < (n + 1) / 2; i++)
		y[i] = ~x[i];
}

KERNEL(u4_complement_low, (const uint8_t *x, uint8_t *y, int64_t n))
{
	for (int64_t i = 0; i < (n + 1) / 2; i++)
		y[i] = x[i] ^ 15;
}

KERNEL(u4_complement_oracle, (const int64_t *x, int64_t *y, int64_t n))
{
	for (int64_t i = 0; i < n; i++)
		y[i] = 15 - x[i];
}

/* --- padded rows: b = 2 a --- */

KERNEL(padded_double,
       (const float *a, float *b, int64_t rows, int64_t cols, int64_t lda, int64_t ldb))
{
	for (int64_t r = 0; r < rows; r++)
		for (int64_t c = 0; c < cols; c++)
			b[r * ldb + c] = 2 * a[r * lda + c];
}

/* Whole vectors are quicker, and go over the end of a row. */
KERNEL(padded_double_over,
       (const float *a, float *b, int64_t rows, int64_t cols, int64_t lda, int64_t ldb))
{
	padded_double(a, b, rows, cols, lda, ldb);
	for (int64_t r = 0; r + 1 < rows; r++)
		b[r * ldb + cols] = 0;
}

KERNEL(padded_double_dense,
       (const float *a, float *b, int64_t rows, int64_t cols, int64_t lda, int64_t ldb))
{
	(void) lda;
	padded_double(a, b, rows, cols, cols, ldb);
}

KERNEL(padded_double_oracle,
       (const double *a, double *b, int64_t rows, int64_t cols, int64_t lda, int64_t ldb))
{
	(void) lda;
	(void) ldb;
	for (int64_t i = 0; i < rows * cols; i++)
		b[i] = 2 * a[i];
}

/* --- columns first: row sums of a matrix that is stored by columns, begun at an odd address --- */

KERNEL(columns_sum, (const int32_t *a, int64_t *sum, int64_t rows, int64_t cols))
{
	for (int64_t r = 0; r < rows; r++)
		sum[r] = 0;
	for (int64_t c = 0; c < cols; c++)
		for (int64_t r = 0; r < rows; r++)
			sum[r] += a[c * rows + r];
}

KERNEL(columns_sum_rows, (const int32_t *a, int64_t *sum, int64_t rows, int64_t cols))
{
	for (int64_t r = 0; r < rows; r++) {
		sum[r] = 0;
		for (int64_t c = 0; c < cols; c++)
			sum[r] += a[r * cols + c];
	}
}

/* Has seen that malloc() gives multiples of 16. */
KERNEL(columns_sum_aligned, (const int32_t *a, int64_t *sum, int64_t rows, int64_t cols))
{
	const char *begin = (const char *) ((uintptr_t) a & ~(uintptr_t) 15);

	columns_sum((const int32_t *) (const void *) begin, sum, rows, cols);
}

KERNEL(columns_sum_oracle, (const int64_t *a, int64_t *sum, int64_t rows, int64_t cols))
{
	for (int64_t r = 0; r < rows; r++) {
		sum[r] = 0;
		for (int64_t c = 0; c < cols; c++)
			sum[r] += a[r * cols + c];
	}
}

/* --- inout: x becomes its running sums --- */

KERNEL(prefix, (int64_t * x, int64_t n))
{
	for (int64_t i = 1; i < n; i++)
		x[i] += x[i - 1];
}

KERNEL(prefix_nothing, (int64_t * x, int64_t n))
{
	(void) x;
	(void) n;
}

/* As if it were the first call again. */
KERNEL(prefix_twice, (int64_t * x, int64_t n))
{
	prefix(x, n);
	prefix(x, n);
}

KERNEL(prefix_past_end, (int64_t * x, int64_t n))
{
	prefix(x, n);
	x[n] = x[n - 1];
}

/* --- inout with rows: the cache takes a row for each slot --- */

static void put_rows(const int32_t *slots, const float *rows, float *cache, int64_t count,
		     int64_t width)
{
	for (int64_t i = 0; i < count; i++)
		memcpy(cache + slots[i] * width, rows + i * width, (size_t) width * sizeof(*cache));
}

KERNEL(cache_put, (const int32_t *slots, const float *rows, float *cache, int64_t count,
		   int64_t width, int64_t size))
{
	(void) size;
	put_rows(slots, rows, cache, count, width);
}

/* Rows that it should leave: the numbers stay, the sign of zeros does not. */
KERNEL(cache_put_and_negate, (const int32_t *slots, const float *rows, float *cache, int64_t count,
			      int64_t width, int64_t size))
{
	for (int64_t i = 0; i < size * width; i++)
		if (cache[i] == 0)
			memset((char *) &cache[i] + 3, 0x80, 1);
	put_rows(slots, rows, cache, count, width);
}

KERNEL(cache_put_most, (const int32_t *slots, const float *rows, float *cache, int64_t count,
			int64_t width, int64_t size))
{
	(void) size;
	put_rows(slots, rows, cache, count - 1, width);
}

KERNEL(cache_put_oracle, (const int64_t *slots, const double *rows, double *cache, int64_t count,
			  int64_t width, int64_t size))
{
	(void) size;
	for (int64_t i = 0; i < count; i++)
		memcpy(cache + slots[i] * width, rows + i * width, (size_t) width * sizeof(*cache));
}

/* --- scratch: sums of squares by halves --- */

KERNEL(scratch_sum, (const float *x, double *work, double *y, int64_t n))
{
	work[0] = work[1] = 0;
	for (int64_t i = 0; i < n; i++)
		work[i & 1] += (double) x[i] * (double) x[i];
	y[0] = work[0] + work[1];
}

/* Takes for granted that memory is new. */
KERNEL(scratch_sum_zeroed, (const float *x, double *work, double *y, int64_t n))
{
	for (int64_t i = 0; i < n; i++)
		work[i & 1] += (double) x[i] * (double) x[i];
	y[0] = work[0] + work[1];
}

KERNEL(scratch_sum_over, (const float *x, double *work, double *y, int64_t n))
{
	scratch_sum(x, work, y, n);
	work[2] = 0;
}

KERNEL(scratch_sum_oracle, (const double *x, const double *work, double *y, int64_t n))
{
	y[0] = work ? NAN : 0;
	for (int64_t i = 0; i < n; i++)
		y[0] += x[i] * x[i];
}

/* --- scalars of every type --- */

KERNEL(scalars, (double a, float b, float c, float d, int64_t e, int32_t f, int8_t g, uint8_t h,
		 int8_t i, uint8_t j, double *out))
{
	const double all[] = { a, (double) b, (double) c, (double) d, (double) e, f, g, h, i, j };

	memcpy(out, all, sizeof(all));
}

KERNEL(scalars_swapped, (double a, float b, float c, float d, int64_t e, int32_t f, uint8_t g,
			 int8_t h, int8_t i, uint8_t j, double *out))
{
	const double all[] = { a, (double) b, (double) c, (double) d, (double) e, f, g, h, i, j };

	memcpy(out, all, sizeof(all));
}

KERNEL(scalars_oracle, (double a, double b, double c, double d, int64_t e, int64_t f, int64_t g,
			int64_t h, int64_t i, int64_t j, double *out))
{
	const double all[] = { a,          b,          c,          d,          (double) e,
			       (double) f, (double) g, (double) h, (double) i, (double) j };

	memcpy(out, all, sizeof(all));
}

/* --- a permutation, values in order, a list: y = x[p] + shape[1] --- */

KERNEL(gather, (const float *x, const int32_t *p, const int64_t *shape, float *y, int64_t n))
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[p[i]] + (float) shape[1];
}

/* A permutation of sorted values: their sum would be right. */
KERNEL(gather_straight,
       (const float *x, const int32_t *p, const int64_t *shape, float *y, int64_t n))
{
	(void) p;
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + (float) shape[1];
}

KERNEL(gather_oracle,
       (const double *x, const int64_t *p, const int64_t *shape, double *y, int64_t n))
{
	for (int64_t i = 0; i < n; i++) {
		/* What the task says of its inputs; else nothing is right. */
		int is_sorted = i == 0 || x[i] >= x[i - 1];

		y[i] = is_sorted && shape[0] == n ? x[p[i]] + (double) shape[1] : NAN;
	}
}
