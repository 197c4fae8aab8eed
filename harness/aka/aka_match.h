/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "harness/aka/aka_cases.h"

/*
 * Which case of the baseline is which of the candidate
 *
 * By equal parameters, else by equal shape, else by an equal name that a task gave; each takes the
 * first that is free, in the order of the baseline. Two single cases belong together whatever they
 * are called.
 */
struct aka_pair {
	const struct aka_case *base;
	const struct aka_case *optimized;
};

struct aka_pairs {
	struct aka_pair *list; /* in the order in which they were found: sums depend on it */
	size_t count;
};

#define AKA_PAIRS_INIT ((struct aka_pairs){ .list = NULL })

/**
 * aka_match() - pair the cases of both sides
 * @out: AKA_PAIRS_INIT; points into both sides; the caller's to release with aka_pairs_done()
 */
void aka_match(struct aka_pairs *out, const struct aka_cases *base,
	       const struct aka_cases *optimized);

/**
 * aka_pairs_done() - release them
 */
void aka_pairs_done(struct aka_pairs *pairs);

/**
 * aka_match_speedup() - the arithmetic mean of baseline / candidate over all cases
 *
 * Return: 0 if some case of either side has no partner, or a time that is not above zero.
 */
double aka_match_speedup(const struct aka_cases *base, const struct aka_cases *optimized);
