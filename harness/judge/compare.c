/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/compare.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "harness/judge/poison.h"
#include "sandbox/base/compiler.h"

/*
 * Stretch by stretch: outputs are made wide, then two steps. A test of the whole stretch without
 * branches, which becomes vectors and which whatever is not finite fails; and a slow look at each
 * element of a stretch that failed, by the rules.
 */
enum { STRETCH = 1024 };

struct operands {
	const struct comparer *comparer;
	uint32_t element;
	const uint8_t *got;
	const struct compare_poison *poison;
};

/* Equal to its poison in every byte; a packed element is judged by its whole byte. */
static bool is_unwritten(const struct operands *ops, uint64_t index)
{
	const struct compare_poison *poison = ops->poison;
	uint64_t size = element_size(ops->element);
	const uint8_t *bytes =
		ops->got + (element_is_packed(ops->element) ? index / 2 : index * size);
	uint64_t at;

	if (!poison->tensor)
		return false;
	at = poison->offset + tensor_offset(poison->tensor, index);
	for (uint64_t i = 0; i < size; i++)
		if (bytes[i] != poison_byte(poison->seed, at + i))
			return false;
	return true;
}

/* --- real types --- */

static bool is_right_real(const struct operands *ops, double got, double want)
{
	const struct comparer *comparer = ops->comparer;
	double rounded = element_round(ops->element, want);
	int64_t apart;

	if (isnan(want))
		return isnan(got);
	if (isinf(rounded) || !isfinite(got))
		return got == rounded;
	if (comparer->kind == COMPARER_CLOSE)
		return fabs(got - want) <= comparer->abs + comparer->rel * fabs(want);
	if (comparer->kind == COMPARER_EXACT)
		return got == rounded;
	/* Of f64 they can be further apart than an int64_t counts. */
	return !__builtin_sub_overflow(element_order(ops->element, got),
				       element_order(ops->element, rounded), &apart) &&
	       apart >= -(int64_t) comparer->ulps && apart <= (int64_t) comparer->ulps;
}

/* Looks at elements one by one; returns whether all are right. */
static bool look_real(const struct operands *ops, const double *got, const double *want,
		      uint64_t count, struct comparison *found)
{
	for (uint64_t i = 0; i < count; i++) {
		double error = fabs(got[i] - want[i]);
		bool unwritten = isnan(got[i]) && is_unwritten(ops, found->index + i);

		if (error > found->max_error)
			found->max_error = error;
		if (!unwritten && is_right_real(ops, got[i], want[i]))
			continue;
		found->wrong = true;
		found->unwritten = unwritten;
		found->index += i;
		found->got = got[i];
		found->want = want[i];
		return false;
	}
	return true;
}

/* Whether all of the stretch is finite and close; a NaN makes every comparison false. */
static bool is_stretch_close(const struct operands *ops, const double *got, const double *want,
			     uint64_t count, double *max_error)
{
	double abs = ops->comparer->abs, rel = ops->comparer->rel;
	double most = element_largest(ops->element), largest = *max_error;
	int good = 1;

	for (uint64_t i = 0; i < count; i++) {
		double error = fabs(got[i] - want[i]);
		double size = fabs(want[i]);

		good &= (error <= abs + rel * size) & (error <= DBL_MAX) & (size <= most);
		largest = error > largest ? error : largest;
	}
	if (good)
		*max_error = largest;
	return good;
}

static bool compare_reals(const struct operands *ops, const double *got, const double *want,
			  uint64_t count, struct comparison *found)
{
	return (ops->comparer->kind == COMPARER_CLOSE &&
		is_stretch_close(ops, got, want, count, &found->max_error)) ||
	       look_real(ops, got, want, count, found);
}

/* --- whole types: what is right is right, also where it is what the poison was by chance --- */

static double distance(int64_t a, int64_t b)
{
	return a > b ? (double) ((uint64_t) a - (uint64_t) b)
		     : (double) ((uint64_t) b - (uint64_t) a);
}

static bool compare_wholes(const struct operands *ops, const int64_t *got, const int64_t *want,
			   uint64_t count, struct comparison *found)
{
	const struct comparer *comparer = ops->comparer;

	if (memcmp(got, want, count * sizeof(*got)) == 0)
		return true;
	for (uint64_t i = 0; i < count; i++) {
		double error = distance(got[i], want[i]);

		if (error > found->max_error)
			found->max_error = error;
		if (got[i] == want[i] ||
		    (comparer->kind == COMPARER_CLOSE &&
		     error <= comparer->abs + comparer->rel * fabs((double) want[i])))
			continue;
		found->wrong = true;
		found->index += i;
		found->unwritten = is_unwritten(ops, found->index);
		found->got = (double) (found->got_whole = got[i]);
		found->want = (double) (found->want_whole = want[i]);
		return false;
	}
	return true;
}

struct comparison compare_outputs(const struct comparer *comparer, const struct tensor *tensor,
				  const void *got, const void *want,
				  const struct compare_poison *poison)
{
	struct operands ops = { comparer, tensor->element, got, poison };
	struct comparison found = { .wrong = tensor->count == 0, .element = tensor->element };
	bool is_real = element_is_real(tensor->element);
	union {
		double reals[STRETCH];
		int64_t wholes[STRETCH];
	} wide;

	for (uint64_t at = 0; at < tensor->count; at += STRETCH) {
		uint64_t len = MIN_OF(tensor->count - at, (uint64_t) STRETCH);

		element_widen(tensor->element, got, at, len, &wide);
		found.index = at;
		if (is_real ? !compare_reals(&ops, wide.reals, (const double *) want + at, len,
					     &found)
			    : !compare_wholes(&ops, wide.wholes, (const int64_t *) want + at, len,
					      &found))
			break;
	}
	return found;
}
