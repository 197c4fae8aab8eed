/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/draw.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/base/compiler.h"
#include "sandbox/base/mem.h"

/* --- functions of a real number --- */

#define LN_2      0x1.62e42fefa39efp-1
#define LN_2_HIGH 0x1.62e42fep-1 /* so short that a multiple of it is exact */
#define LN_2_LOW  0x1.f473de6af278fp-30
#define PI        0x1.921fb54442d18p+1

/* x = m 2^e with m around 1; log m = 2 artanh s with s = (m - 1) / (m + 1), |s| < 0.172. */
double draw_log(double x)
{
	int exponent;
	double m = frexp(x, &exponent), s, square, sum = 0;

	if (m < M_SQRT1_2) {
		m *= 2;
		exponent--;
	}
	s = (m - 1) / (m + 1);
	square = s * s;
	for (int n = 21; n > 0; n -= 2)
		sum = sum * square + 1.0 / n;
	return 2 * s * sum + exponent * LN_2;
}

/* x = k log 2 + r, |r| < 0.35. */
double draw_exp(double x)
{
	double k = floor(x / LN_2 + 0.5);
	double r = x - k * LN_2_HIGH - k * LN_2_LOW, sum = 1;

	for (int n = 14; n > 0; n--)
		sum = sum * r / n + 1;
	return ldexp(sum, (int) k);
}

/* The series of sine (from = 1) or cosine (from = 0), for x of 0..pi/2. */
static double series(double x, int from)
{
	double square = x * x, sum = 1;

	for (int n = 22 + from; n > from; n -= 2)
		sum = 1 - square / (n * (n - 1)) * sum;
	return from ? x * sum : sum;
}

/* Box and Muller: a radius, and an angle that is a quarter and a part of one. */
void draw_normal(const uint64_t bits[2], double out[2])
{
	double radius = sqrt(-2 * draw_log((double) ((bits[0] >> 11) + 1) * 0x1p-53));
	double angle = (double) (bits[1] << 2 >> 11) * 0x1p-53 * (PI / 2);
	double x = radius * series(angle, 0), y = radius * series(angle, 1);
	static const int8_t turns[4][4] = {
		{ 1, 0, 0, 1 }, { 0, -1, 1, 0 }, { -1, 0, 0, -1 }, { 0, 1, -1, 0 }
	};
	const int8_t *turn = turns[bits[1] >> 62];

	out[0] = turn[0] * x + turn[1] * y;
	out[1] = turn[2] * x + turn[3] * y;
}

/* --- wide values, a chunk at a time --- */

enum { CHUNK = INPUTS_CHUNK / ELEMENT_WIDE };

static void draw_normals(struct inputs *stream, const double *ends, double *out, uint64_t count)
{
	for (uint64_t i = 0; i < count; i += 2) {
		uint64_t bits[2];
		double pair[2];

		bits[0] = inputs_u64(stream);
		bits[1] = inputs_u64(stream);
		draw_normal(bits, pair);
		out[i] = ends[0] + ends[1] * pair[0];
		if (i + 1 < count)
			out[i + 1] = ends[0] + ends[1] * pair[1];
	}
}

static void draw_logs(struct inputs *stream, const double *ends, double *out, uint64_t count)
{
	double low = draw_log(ends[0]), width = draw_log(ends[1]) - low;

	for (uint64_t i = 0; i < count; i++) {
		double part = (double) (inputs_u64(stream) >> 11) * 0x1p-53;

		out[i] = fmin(fmax(draw_exp(low + width * part), ends[0]), ends[1]);
	}
}

static void draw_reals(struct inputs *stream, const struct values_plan *plan, double *out,
		       uint64_t count)
{
	const double *ends = plan->reals;

	switch ((enum values_kind) plan->kind) {
	case VALUES_UNIFORM:
		inputs_f64(stream, out, count, ends[0], ends[1]);
		break;
	case VALUES_NORMAL:
		draw_normals(stream, ends, out, count);
		break;
	case VALUES_LOGUNIFORM:
		draw_logs(stream, ends, out, count);
		break;
	case VALUES_RANDINT:
		for (uint64_t i = 0; i < count; i++)
			out[i] = ends[0] +
				 (double) inputs_below(stream, (uint64_t) (ends[1] - ends[0]) + 1);
		break;
	case VALUES_CHOICE:
		for (uint64_t i = 0; i < count; i++)
			out[i] = ends[plan->count > 1 ? inputs_below(stream, plan->count) : 0];
		break;
	case VALUES_LIST:
		memcpy(out, ends, count * sizeof(*out));
		break;
	case VALUES_PERMUTATION:
	case VALUES_ONEHOT:
		assert(false);
	}
}

static void draw_wholes(struct inputs *stream, const struct values_plan *plan, int64_t *out,
			uint64_t count)
{
	if (plan->kind == VALUES_UNIFORM || plan->kind == VALUES_RANDINT)
		inputs_i64(stream, out, count, plan->wholes[0], plan->wholes[1]);
	else if (plan->kind == VALUES_LIST)
		memcpy(out, plan->wholes, count * sizeof(*out));
	else
		for (uint64_t i = 0; i < count; i++)
			out[i] = plan->wholes[plan->count > 1 ? inputs_below(stream, plan->count)
							      : 0];
}

/* Room for wide values of either kind. */
union wide {
	double reals[CHUNK];
	int64_t wholes[CHUNK];
};

static void draw_wide(struct inputs *stream, const struct values_plan *plan, bool is_real,
		      void *wide, uint64_t count)
{
	if (is_real)
		draw_reals(stream, plan, wide, count);
	else
		draw_wholes(stream, plan, wide, count);
}

static void draw_chunks(struct inputs *stream, const struct values_plan *plan,
			const struct tensor *tensor, void *plain)
{
	union wide wide;

	for (uint64_t at = 0; at < tensor->count; at += CHUNK) {
		uint64_t count = MIN_OF(tensor->count - at, (uint64_t) CHUNK);

		draw_wide(stream, plan, element_is_real(tensor->element), &wide, count);
		element_narrow(tensor->element, &wide, plain, at, count);
	}
}

/* --- rows --- */

static int by_real(const void *a, const void *b)
{
	double first, second;

	memcpy(&first, a, sizeof(first));
	memcpy(&second, b, sizeof(second));
	return (first > second) - (first < second);
}

static int by_whole(const void *a, const void *b)
{
	int64_t first, second;

	memcpy(&first, a, sizeof(first));
	memcpy(&second, b, sizeof(second));
	return (first > second) - (first < second);
}

static void permute(struct inputs *stream, int64_t *row, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		row[i] = (int64_t) i;
	for (uint64_t i = count; i > 1; i--) {
		uint64_t other = inputs_below(stream, i);
		int64_t kept = row[i - 1];

		row[i - 1] = row[other];
		row[other] = kept;
	}
}

static void draw_row(struct inputs *stream, const struct values_plan *plan, bool is_real, void *row,
		     uint64_t count)
{
	uint64_t hot;

	switch ((enum values_kind) plan->kind) {
	case VALUES_PERMUTATION:
		permute(stream, row, count);
		break;
	case VALUES_ONEHOT:
		memset(row, 0, count * ELEMENT_WIDE);
		hot = inputs_below(stream, count);
		if (is_real)
			((double *) row)[hot] = 1;
		else
			((int64_t *) row)[hot] = 1;
		break;
	case VALUES_UNIFORM:
	case VALUES_NORMAL:
	case VALUES_LOGUNIFORM:
	case VALUES_RANDINT:
	case VALUES_CHOICE:
	case VALUES_LIST:
		draw_wide(stream, plan, is_real, row, count);
	}
	if (plan->is_sorted)
		qsort(row, count, ELEMENT_WIDE, is_real ? by_real : by_whole);
}

static void draw_rows(struct inputs *stream, const struct values_plan *plan,
		      const struct tensor *tensor, void *plain)
{
	uint64_t count = tensor_row(tensor);
	cleanup(mem_free) void *row = mem_alloc(count, ELEMENT_WIDE);

	for (uint64_t at = 0; at < tensor->count; at += count) {
		draw_row(stream, plan, element_is_real(tensor->element), row, count);
		element_narrow(tensor->element, row, plain, at, count);
	}
}

/* The types whose streams need no wide values in between; true if it was one of them. */
static bool draw_uniform(struct inputs *stream, const struct values_plan *plan,
			 const struct tensor *tensor, void *plain)
{
	if (plan->kind != VALUES_UNIFORM)
		return false;
	switch (tensor->element) {
	case ELEMENT_F32:
		inputs_f32(stream, plain, tensor->count, (float) plan->reals[0],
			   (float) plan->reals[1]);
		return true;
	case ELEMENT_F64:
		inputs_f64(stream, plain, tensor->count, plan->reals[0], plan->reals[1]);
		return true;
	case ELEMENT_I32:
		inputs_i32(stream, plain, tensor->count, (int32_t) plan->wholes[0],
			   (int32_t) plan->wholes[1]);
		return true;
	case ELEMENT_I64:
		inputs_i64(stream, plain, tensor->count, plan->wholes[0], plan->wholes[1]);
		return true;
	default:
		return false;
	}
}

void draw_values(struct inputs *stream, const struct values_plan *plan, const struct tensor *tensor,
		 void *plain)
{
	/* A last byte that is half used has no other half. */
	if (element_is_packed(tensor->element))
		memset(plain, 0, tensor_plain_bytes(tensor));
	if (plan->is_sorted || plan->kind == VALUES_PERMUTATION || plan->kind == VALUES_ONEHOT)
		draw_rows(stream, plan, tensor, plain);
	else if (!draw_uniform(stream, plan, tensor, plain))
		draw_chunks(stream, plan, tensor, plain);
}
