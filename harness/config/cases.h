/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "harness/config/arg.h"
#include "harness/config/case_arg.h"
#include "harness/config/dims.h"
#include "harness/config/expr.h"

/*
 * The cases of a task: its dimensions and arguments, the cases that the agent sees, and how the
 * hidden ones are drawn
 *
 * A *case* is one choice of dimensions. Resolving it gives the size of every buffer and the value
 * of every scalar, as plain numbers.
 */
enum {
	CASES_ARGS_MAX = 24,
	CASES_SEEN_MAX = 16,
	CASES_OF_CATEGORY_MAX = 16,
	CASES_MAX = 64,   /* seen and hidden together */
	CASES_TRIES = 32, /* draws before a hidden category is given up */
	/* That trying a task's cases may take, see expr.h: half a second of a slow machine. */
	CASES_STEPS_MAX = 100 * 1000 * 1000,
};

enum category { /* of hidden cases: how they differ from the seen ones */
		CATEGORY_ODD,
		CATEGORY_UP,
		CATEGORY_DOWN,
		CATEGORY_EDGE,
		CATEGORY_ASYMMETRIC,
		CATEGORY_PRODUCTION,
		CATEGORY_COUNT,
};

extern const struct name category_names[];

struct seen_case {
	int line;
	int64_t dims[DIMS_MAX]; /* the given ones */
};

struct hidden_category {
	int category; /* enum category */
	int line;
	const struct yaml_node *node;
	uint64_t cases;
	size_t range_count;
	struct {
		size_t dim; /* which of the given dimensions */
		struct expr value;
	} ranges[DIMS_MAX];
};

struct cases {
	struct dims dims;
	/* In the order in which the function takes them; a dimension that the entry names is an
	 * i64 scalar. */
	struct arg args[CASES_ARGS_MAX];
	size_t arg_count;
	struct seen_case seen[CASES_SEEN_MAX];
	size_t seen_count;
	struct hidden_category hidden[CATEGORY_COUNT];
	size_t hidden_count;
};

/* A resolved case; holds no pointer. */
struct task_case {
	int64_t dims[DIMS_MAX + 1]; /* all dimensions, then the bytes */
	uint64_t bytes;             /* of all buffers */
	struct case_arg args[CASES_ARGS_MAX];
};

/*
 * The nodes that a task's file has for its cases; optional ones may be NULL. Their kinds and counts
 * are those of the rows in task.c.
 */
struct cases_nodes {
	const struct yaml_node *dims, *where, *args, *entry_args, *seen, *hidden;
};

/* The keys of a hidden category; for the key tables. */
extern const struct schema hidden_schema;

/**
 * cases_read() - read and check everything about the data of a task
 *
 * Every seen case is resolved, and every hidden category drawn from, so that what can not work is
 * found now and not when an agent has spent an hour on the task. A task that takes more than
 * CASES_STEPS_MAX for it is refused: whoever lists tasks must not wait for the longest.
 */
int cases_read(const struct cases_nodes *nodes, struct arena *arena, struct cases *out,
	       struct err *err) must_check;

/**
 * cases_arg_name() - the name of an argument by its index, or NULL
 */
const char *cases_arg_name(const struct cases *cases, size_t index);

/**
 * cases_find_arg() - the index of an argument by its name, or -1
 */
int cases_find_arg(const struct cases *cases, const char *name);

/**
 * cases_resolve() - sizes and scalars of one case
 * @given: the given dimensions; may be those of a seen case
 *
 * Return: 0, or -1 with ERR_INPUT: a constraint is broken, an extent is below 1, a value does not
 * fit its type, or the buffers are too large; @out is then untouched.
 */
int cases_resolve(const struct cases *cases, const int64_t *given, struct task_case *out,
		  struct err *err) must_check;

/**
 * cases_draw() - draw and resolve one case of a hidden category
 * @index: which of cases->hidden
 * @draw:  every value is used in a fixed order: one picks the seen case that the rest comes from,
 *         then one for each draw in the category's ranges, in the order of the file. A case that
 *         the task does not allow, or that is a seen one, is drawn again, CASES_TRIES times
 */
int cases_draw(const struct cases *cases, size_t index, const struct expr_draw *draw,
	       struct task_case *out, struct err *err) must_check;
