/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "harness/config/yaml.h"

/*
 * What counts as right: how one element of a result is compared with what the oracle says. What
 * each of these means for NaN, infinities and zeros is in tasks/README.md.
 */
enum comparer_kind {
	COMPARER_CLOSE, /* |got - want| <= abs + rel * |want| */
	COMPARER_ULP, /* real: at most `ulps` values of the type lie between, and one of the ends */
	COMPARER_EXACT,
};

enum { COMPARER_ULPS_MAX = 1 << 20 };

/* Holds no pointer. */
struct comparer {
	uint32_t kind; /* enum comparer_kind */
	uint32_t zero;
	double rel, abs;
	uint64_t ulps;
};

/**
 * comparer_read() - read a comparer such as "close(rel=1e-5, abs=1e-6)"
 * @node:    where it stands
 * @element: the type of what is compared
 */
int comparer_read(const struct yaml_node *node, uint32_t element, struct comparer *out,
		  struct err *err) must_check;

/**
 * comparer_fault() - what is wrong with it for this type, or NULL; pure
 */
const char *comparer_fault(const struct comparer *comparer, uint32_t element);
