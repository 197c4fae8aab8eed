/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "harness/config/expr.h"
#include "harness/config/yaml.h"

/*
 * The dimensions of a task: names of whole numbers that sizes depend on
 *
 * The first `given` are what a case states (the keys of a `seen` case); the others are derived,
 * each by an expression over those before it (`dims`). Constraints (`where`) say which values
 * belong together; they may also use `bytes`, the size of all buffers of the case.
 */
enum { DIMS_MAX = 32, DIMS_WHERE_MAX = 16 };

#define DIMS_VALUE_MAX (INT64_C(1) << 40)

struct dims {
	const char *names[DIMS_MAX + 1]; /* the one behind the last is "bytes" */
	size_t given, count;
	struct expr derived[DIMS_MAX]; /* those from `given` on */
	struct expr where[DIMS_WHERE_MAX];
	size_t where_count;
};

/**
 * dims_read_given() - take the names from the first seen case
 */
int dims_read_given(const struct yaml_node *seen_case, struct dims *dims,
		    struct err *err) must_check;

/**
 * dims_read_derived() - read a task's `dims`; @node may be NULL
 */
int dims_read_derived(const struct yaml_node *node, struct arena *arena, struct dims *dims,
		      struct err *err) must_check;

/**
 * dims_read_where() - read a task's `where`, after all dimensions are known; @node may be NULL
 */
int dims_read_where(const struct yaml_node *node, struct arena *arena, struct dims *dims,
		    struct err *err) must_check;

/**
 * dims_find() - the index of a name among the first @count, or -1
 */
int dims_find(const struct dims *dims, size_t count, const char *name);

/**
 * dims_names() - the names that an expression over all dimensions may use
 */
struct expr_names dims_names(const struct dims *dims);

/**
 * dims_derive() - compute the derived values behind the given ones
 * @values: dims->given values, room for DIMS_MAX + 1
 */
int dims_derive(const struct dims *dims, int64_t *values, struct err *err) must_check;

/**
 * dims_check() - do the values keep all constraints? ERR_INPUT that names the first they break
 * @values: all dimensions, and the bytes behind them
 */
int dims_check(const struct dims *dims, const int64_t *values, struct err *err) must_check;
