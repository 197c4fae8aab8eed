/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_score.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "harness/aka/aka_match.h"

#define POINTS_COMPILES 20.0
#define POINTS_CORRECT  100.0
#define POINTS_SPEEDUP  100.0

double aka_score_speedup(const struct aka_result *result)
{
	if (result->speedup > 0)
		return result->speedup;
	if (result->base_time > 0 && result->optimized_time > 0)
		return result->base_time / result->optimized_time;
	return 0;
}

static double points(bool compiles, bool is_correct, double speedup)
{
	double score = 0;

	if (!compiles)
		return score;
	score += POINTS_COMPILES;
	if (!is_correct)
		return score;
	score += POINTS_CORRECT;
	if (speedup > 0)
		score += speedup * POINTS_SPEEDUP;
	return score;
}

double aka_score(const struct aka_result *result)
{
	return points(result->compiles, result->is_correct, aka_score_speedup(result));
}

struct evidence {
	const struct aka_result *result;
	const struct aka_cases *base, *optimized;
	struct aka_strict *out;
};

static bool refuse(const struct evidence *of, const char *format, ...) printf_like(2, 3);

static bool refuse(const struct evidence *of, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(of->out->reason, sizeof(of->out->reason), format, args);
	va_end(args);
	return false;
}

/* Each check is true, or says why not; one may rely on those above it. */
static bool has_both_sides(const struct evidence *of)
{
	if (of->base->count == 0)
		return refuse(of, "the baseline was not measured");
	if (of->optimized == NULL || of->optimized->count == 0)
		return refuse(of, "the candidate was not measured");
	return true;
}

static bool side_is_plain(const struct evidence *of, const char *side,
			  const struct aka_cases *cases)
{
	for (unsigned int bit = 0; bit < AKA_DOUBTS; bit++)
		if (cases->doubts & 1U << bit)
			return refuse(of, "%s: %s", side,
				      aka_doubt_text((enum aka_doubt)(1U << bit)));
	return true;
}

static bool is_plain(const struct evidence *of)
{
	return side_is_plain(of, "baseline", of->base) &&
	       side_is_plain(of, "candidate", of->optimized);
}

static bool is_of_one_place(const struct evidence *of)
{
	if (of->base->channel != of->optimized->channel)
		return refuse(of, "the baseline's times are from %s, the candidate's from %s",
			      aka_channel_name(of->base->channel),
			      aka_channel_name(of->optimized->channel));
	return true;
}

static bool side_is_valid(const struct evidence *of, const char *side,
			  const struct aka_cases *cases)
{
	for (size_t i = 0; i < cases->count; i++)
		if (!aka_case_is_valid(&cases->list[i]) || isinf(cases->list[i].time_ms))
			return refuse(of, "%s: case %zu has no time above zero", side, i + 1);
	return true;
}

static bool is_valid(const struct evidence *of)
{
	return side_is_valid(of, "baseline", of->base) &&
	       side_is_valid(of, "candidate", of->optimized);
}

static bool side_has_names(const struct evidence *of, const char *side,
			   const struct aka_cases *cases)
{
	for (size_t i = 0; i < cases->count; i++)
		for (size_t j = 0; j < i; j++)
			if (!cases->list[i].id_is_made_up && !cases->list[j].id_is_made_up &&
			    pyvalue_is_equal(cases->list[i].id, cases->list[j].id))
				return refuse(of, "%s: cases %zu and %zu have the same name", side,
					      j + 1, i + 1);
	return true;
}

static bool has_names(const struct evidence *of)
{
	return side_has_names(of, "baseline", of->base) &&
	       side_has_names(of, "candidate", of->optimized);
}

/* Did all cases say how they were timed, or none; and not by the host's clock? */
static bool side_has_method(const struct evidence *of, const char *side,
			    const struct aka_cases *cases, const struct pyvalue *methods)
{
	for (size_t i = 0; i < cases->count; i++)
		if (pyvalue_is_true(cases->list[i].method) != (methods->count > 0))
			return refuse(of, "%s: only some cases say how they were timed", side);
	for (const struct pymember *item = methods->first; item != NULL; item = item->next)
		if (strstr(item->value->text, "cpu_timer") != NULL)
			return refuse(of, "%s: timed by the host's clock", side);
	return true;
}

static bool is_timed_alike(const struct evidence *of)
{
	const struct aka_result *result = of->result;

	if (!side_has_method(of, "baseline", of->base, result->base_methods) ||
	    !side_has_method(of, "candidate", of->optimized, result->optimized_methods))
		return false;
	if (result->base_methods->count == 0 && result->optimized_methods->count == 0)
		return true;
	return result->methods_agree || refuse(of, "the cases were timed in different ways");
}

static bool is_paired(const struct evidence *of)
{
	cleanup(aka_pairs_done) struct aka_pairs pairs = AKA_PAIRS_INIT;

	aka_match(&pairs, of->base, of->optimized);
	if (pairs.count != of->base->count || pairs.count != of->optimized->count)
		return refuse(of, "%zu cases of the baseline, %zu of the candidate, %zu pairs",
			      of->base->count, of->optimized->count, pairs.count);
	for (size_t i = 0; i < pairs.count; i++) {
		const struct aka_case *base = pairs.list[i].base;
		const struct aka_case *optimized = pairs.list[i].optimized;

		if (base->id_is_made_up != optimized->id_is_made_up ||
		    (!base->id_is_made_up && !pyvalue_is_equal(base->id, optimized->id)))
			return refuse(of, "pair %zu is of two cases of different names", i + 1);
		if (strcmp(base->source, optimized->source) != 0)
			return refuse(of, "pair %zu: '%.40s' is compared with '%.40s'", i + 1,
				      base->source, optimized->source);
	}
	return true;
}

static bool has_speedup(const struct evidence *of)
{
	if (of->result->speedup_error != NULL)
		return refuse(of, "%s", of->result->speedup_error);
	if (!(of->result->speedup > 0) || isinf(of->result->speedup))
		return refuse(of, "the speedup is no number above zero");
	return true;
}

static bool is_borne_out(const struct evidence *of)
{
	static bool (*const checks[])(const struct evidence *of) = {
		has_both_sides, is_plain,       is_of_one_place, is_valid,
		has_names,      is_timed_alike, is_paired,       has_speedup,
	};

	for (size_t i = 0; i < ARRAY_LEN(checks); i++)
		if (!checks[i](of))
			return false;
	return true;
}

void aka_score_strict(struct aka_strict *out, const struct aka_result *result,
		      const struct aka_cases *baseline, const struct aka_cases *optimized)
{
	struct evidence of = {
		.result = result,
		.base = baseline,
		.optimized = optimized,
		.out = out,
	};

	*out = (struct aka_strict){ .speedup = 0 };
	if (result->lost_why != NULL)
		refuse(&of, "%s", result->lost_why);
	else if (result->is_correct && !result->has_passed)
		refuse(&of, "%s", result->correct_doubt);
	else if (result->has_passed && is_borne_out(&of))
		out->speedup = result->speedup;
	out->score = points(result->has_compiled, result->has_passed, out->speedup);
}
