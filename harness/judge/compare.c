/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/compare.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "harness/judge/poison.h"
#include "sandbox/base/compiler.h"

/*
 * Two steps: a test of a whole stretch without branches, which becomes vectors and which whatever
 * is not finite fails, and a slow look at each element of a stretch that failed, by the rules.
 */
enum { STRETCH = 1024 };

/* How one element type is seen. */
struct view {
	size_t got_size;
	double (*value)(const void *elements, uint64_t index);
	double (*wanted)(const void *elements, uint64_t index);
	bool (*is_right)(const void *got, const void *want, uint64_t index, double rel, double abs);
};

static double value_f32(const void *elements, uint64_t index)
{
	return ((const float *) elements)[index];
}

static double value_f64(const void *elements, uint64_t index)
{
	return ((const double *) elements)[index];
}

static double value_i32(const void *elements, uint64_t index)
{
	return ((const int32_t *) elements)[index];
}

static double value_i64(const void *elements, uint64_t index)
{
	return (double) ((const int64_t *) elements)[index];
}

static bool is_close(double got, double want, double rel, double abs, double largest)
{
	if (isnan(want))
		return isnan(got);
	if (fabs(want) > largest)
		want = copysign(INFINITY, want);
	if (isinf(want) || !isfinite(got))
		return got == want;
	return fabs(got - want) <= abs + rel * fabs(want);
}

static bool right_f32(const void *got, const void *want, uint64_t index, double rel, double abs)
{
	return is_close(value_f32(got, index), value_f64(want, index), rel, abs, FLT_MAX);
}

static bool right_f64(const void *got, const void *want, uint64_t index, double rel, double abs)
{
	return is_close(value_f64(got, index), value_f64(want, index), rel, abs, DBL_MAX);
}

static bool right_i32(const void *got, const void *want, uint64_t index, double rel, double abs)
{
	(void) rel;
	(void) abs;
	return ((const int32_t *) got)[index] == ((const int32_t *) want)[index];
}

static bool right_i64(const void *got, const void *want, uint64_t index, double rel, double abs)
{
	(void) rel;
	(void) abs;
	return ((const int64_t *) got)[index] == ((const int64_t *) want)[index];
}

static const struct view view_f32 = { sizeof(float), value_f32, value_f64, right_f32 };
static const struct view view_f64 = { sizeof(double), value_f64, value_f64, right_f64 };
static const struct view view_i32 = { sizeof(int32_t), value_i32, value_i32, right_i32 };
static const struct view view_i64 = { sizeof(int64_t), value_i64, value_i64, right_i64 };

static bool is_unwritten(const struct view *view, const void *got, uint64_t index,
			 struct compare_poison poison)
{
	const char *element = (const char *) got + index * view->got_size;
	uint64_t words = view->got_size / sizeof(uint32_t);

	for (uint64_t i = 0; i < words; i++) {
		uint32_t word;

		memcpy(&word, element + i * sizeof(word), sizeof(word));
		if (word != poison_word(poison.seed, poison.word + index * words + i))
			return false;
	}
	return true;
}

struct operands {
	const void *got;
	const void *want;
	double rel;
	double abs;
	struct compare_poison poison;
};

/* Looks at elements one by one; returns whether all are right. */
static bool look(const struct view *view, const struct operands *ops, uint64_t from, uint64_t to,
		 struct comparison *found)
{
	for (uint64_t i = from; i < to; i++) {
		double got = view->value(ops->got, i);
		double want = view->wanted(ops->want, i);
		double error = fabs(got - want);
		bool unwritten = is_unwritten(view, ops->got, i, ops->poison);

		if (error > found->max_error)
			found->max_error = error;
		if (!unwritten && view->is_right(ops->got, ops->want, i, ops->rel, ops->abs))
			continue;
		found->wrong = true;
		found->unwritten = unwritten;
		found->index = i;
		found->got = got;
		found->want = want;
		return false;
	}
	return true;
}

/* Whether all of the stretch is finite and close; a NaN makes every comparison false. */
static bool stretch_f32(const float *got, const double *want, uint64_t count,
			const struct operands *ops, double *max_error)
{
	double largest = *max_error;
	int good = 1;

	for (uint64_t i = 0; i < count; i++) {
		double error = fabs((double) got[i] - want[i]);
		double size = fabs(want[i]);

		good &= (error <= ops->abs + ops->rel * size) & (error <= DBL_MAX) &
			(size <= (double) FLT_MAX);
		largest = error > largest ? error : largest;
	}
	if (good)
		*max_error = largest;
	return good;
}

static bool stretch_f64(const double *got, const double *want, uint64_t count,
			const struct operands *ops, double *max_error)
{
	double largest = *max_error;
	int good = 1;

	for (uint64_t i = 0; i < count; i++) {
		double error = fabs(got[i] - want[i]);
		double size = fabs(want[i]);

		good &= (error <= ops->abs + ops->rel * size) & (error <= DBL_MAX) &
			(size <= DBL_MAX);
		largest = error > largest ? error : largest;
	}
	if (good)
		*max_error = largest;
	return good;
}

struct comparison compare_close_f32(const float *got, const double *want, uint64_t count,
				    double rel, double abs, struct compare_poison poison)
{
	struct operands ops = { got, want, rel, abs, poison };
	struct comparison found = { .wrong = count == 0 };

	for (uint64_t at = 0; at < count; at += STRETCH) {
		uint64_t len = MIN_OF(count - at, (uint64_t) STRETCH);

		if (!stretch_f32(got + at, want + at, len, &ops, &found.max_error) &&
		    !look(&view_f32, &ops, at, at + len, &found))
			break;
	}
	return found;
}

struct comparison compare_close_f64(const double *got, const double *want, uint64_t count,
				    double rel, double abs, struct compare_poison poison)
{
	struct operands ops = { got, want, rel, abs, poison };
	struct comparison found = { .wrong = count == 0 };

	for (uint64_t at = 0; at < count; at += STRETCH) {
		uint64_t len = MIN_OF(count - at, (uint64_t) STRETCH);

		if (!stretch_f64(got + at, want + at, len, &ops, &found.max_error) &&
		    !look(&view_f64, &ops, at, at + len, &found))
			break;
	}
	return found;
}

/* Equal bytes are right unless nobody wrote them: poison may be what an oracle expects. */
struct comparison compare_exact_i32(const int32_t *got, const int32_t *want, uint64_t count,
				    struct compare_poison poison)
{
	struct operands ops = { .got = got, .want = want, .poison = poison };
	struct comparison found = { .wrong = count == 0 };

	best_effort(look(&view_i32, &ops, 0, count, &found)); /* found says it */
	return found;
}

struct comparison compare_exact_i64(const int64_t *got, const int64_t *want, uint64_t count,
				    struct compare_poison poison)
{
	struct operands ops = { .got = got, .want = want, .poison = poison };
	struct comparison found = { .wrong = count == 0 };

	best_effort(look(&view_i64, &ops, 0, count, &found));
	return found;
}
