/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "harness/config/comparer.h"
#include "harness/config/tensor.h"

/*
 * Is an output what the oracle says? Pure; every element is looked at. What the oracle says is wide
 * (element.h), and what is not finite is never a matter of tolerance:
 *   want NaN        got must be NaN, and not the poison that stood there
 *   want infinite   got must be the same infinity; so must it where want rounds to one in got's
 * type want finite     got must be finite +0 and -0 are the same number. Nothing to compare is
 * wrong: no outputs never pass.
 */
struct comparison {
	bool wrong;
	bool unwritten; /* the first wrong element is the poison that stood there */
	bool outside;   /* a byte that belongs to no element, or to one that may not change */
	uint32_t element;
	uint64_t index; /* of the first wrong element; outside: of the byte in the outputs' span */
	double got;     /* of a whole type as near as a double comes */
	double want;
	int64_t got_whole; /* of a whole type */
	int64_t want_whole;
	double max_error; /* largest |got - want| of the elements up to and with that one */
};

/* What stood in the outputs before the call. */
struct compare_poison {
	uint64_t seed;
	uint64_t offset;             /* of the buffer in the span that was poisoned */
	const struct tensor *tensor; /* how its elements lie in it; NULL: it held something else */
};

/**
 * compare_outputs() - the elements of one buffer against what is wanted
 * @tensor: only its type and its number of elements matter
 * @got:   plain elements
 * @want:  wide values
 */
struct comparison compare_outputs(const struct comparer *comparer, const struct tensor *tensor,
				  const void *got, const void *want,
				  const struct compare_poison *poison);
