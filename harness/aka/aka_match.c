/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_match.h"

#include <stdlib.h>

#include "sandbox/base/mem.h"

struct matching {
	const struct aka_cases *base, *optimized;
	bool *base_is_used, *optimized_is_used;
	struct aka_pairs *out;
};

static const struct pyvalue *params_key(const struct aka_case *test_case)
{
	const struct pyvalue *params = test_case->params;

	return pyvalue_is_true(params) && params->kind == PYVALUE_DICT ? params : NULL;
}

static const struct pyvalue *shape_key(const struct aka_case *test_case)
{
	return test_case->shape;
}

static const struct pyvalue *id_key(const struct aka_case *test_case)
{
	return test_case->id_is_made_up || !pyvalue_is_true(test_case->id) ? NULL : test_case->id;
}

static const struct {
	const struct pyvalue *(*key)(const struct aka_case *test_case);
	bool (*is_equal)(const struct pyvalue *a, const struct pyvalue *b);
} ways[] = {
	{ params_key, pyvalue_is_alike },
	{ shape_key, pyvalue_is_alike },
	{ id_key, pyvalue_is_equal },
};

static void pair_up(struct matching *matching, size_t base, size_t optimized)
{
	matching->base_is_used[base] = true;
	matching->optimized_is_used[optimized] = true;
	matching->out->list[matching->out->count++] = (struct aka_pair){
		.base = &matching->base->list[base],
		.optimized = &matching->optimized->list[optimized],
	};
}

static void find_partner(struct matching *matching, size_t way, size_t base)
{
	const struct pyvalue *wanted = ways[way].key(&matching->base->list[base]);

	if (wanted == NULL)
		return;
	for (size_t i = 0; i < matching->optimized->count; i++) {
		const struct pyvalue *key;

		if (matching->optimized_is_used[i])
			continue;
		key = ways[way].key(&matching->optimized->list[i]);
		if (key != NULL && ways[way].is_equal(wanted, key)) {
			pair_up(matching, base, i);
			return;
		}
	}
}

void aka_match(struct aka_pairs *out, const struct aka_cases *base,
	       const struct aka_cases *optimized)
{
	cleanup(mem_free) bool *base_is_used = mem_alloc(base->count + 1, sizeof(bool));
	cleanup(mem_free) bool *optimized_is_used = mem_alloc(optimized->count + 1, sizeof(bool));
	struct matching matching = {
		.base = base,
		.optimized = optimized,
		.base_is_used = base_is_used,
		.optimized_is_used = optimized_is_used,
		.out = out,
	};

	out->list = mem_alloc(base->count + 1, sizeof(*out->list));
	for (size_t way = 0; way < ARRAY_LEN(ways); way++)
		for (size_t i = 0; i < base->count; i++)
			if (!base_is_used[i])
				find_partner(&matching, way, i);
	if (base->count == 1 && optimized->count == 1 && !base_is_used[0])
		pair_up(&matching, 0, 0);
}

void aka_pairs_done(struct aka_pairs *pairs)
{
	free(pairs->list);
	*pairs = AKA_PAIRS_INIT;
}

double aka_match_speedup(const struct aka_cases *base, const struct aka_cases *optimized)
{
	cleanup(aka_pairs_done) struct aka_pairs pairs = AKA_PAIRS_INIT;
	double sum = 0;

	aka_match(&pairs, base, optimized);
	if (pairs.count == 0 || pairs.count != base->count || pairs.count != optimized->count)
		return 0;
	for (size_t i = 0; i < pairs.count; i++) {
		if (!aka_case_is_valid(pairs.list[i].base) ||
		    !aka_case_is_valid(pairs.list[i].optimized))
			return 0;
		sum += pairs.list[i].base->time_ms / pairs.list[i].optimized->time_ms;
	}
	return sum / (double) pairs.count;
}
