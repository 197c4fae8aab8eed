/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/judge/compare.h"
#include "harness/judge/marking_plan.h"

/*
 * What one call left in the outputs, against what the oracle left in its own: values, padding, and
 * rows that were not to change. Pure. Values come first: an element that is wrong says more than a
 * byte beside it.
 */
struct results {
	const struct marking_case *item;
	const struct marking_shape *shape, *oracle_shape;
	const uint8_t *inputs;   /* of the task: a span */
	const uint8_t *fill;     /* what inouts held before the call */
	const uint8_t *expected; /* the oracle's outputs: a span of its layout */
	const uint8_t *snapshot; /* the task's outputs: a span */
	uint64_t poison_seed;    /* of what stood in all else of them */
};

/**
 * results_compare() - the first argument with something wrong
 * @arg: receives it
 */
struct comparison results_compare(const struct results *results, uint32_t *arg);
