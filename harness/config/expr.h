/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sandbox/base/arena.h"
#include "sandbox/base/err.h"

/*
 * Expressions over a task's dimensions: shapes, derived dimensions, constraints, hidden ranges
 *
 * The grammar is in tasks/README.md. A text is compiled once into a postfix program whose length
 * and stack are bounded, and run with one 64-bit value a name. Arithmetic is checked: what
 * overflows, or divides by zero, is an error with line and column, never a wrapped value. / and %
 * truncate towards zero, as in C.
 */
enum {
	EXPR_TEXT_MAX = 256,
	EXPR_DEPTH_MAX = 16, /* of parentheses, calls and signs */
	EXPR_OPS_MAX = 128,
	EXPR_STACK_MAX = 48,
	EXPR_LIST_MAX = 32, /* operands of min, max and in */
};

/* What operations take, where a plain one takes 1: each at its most, whatever the operands are. */
enum { EXPR_STEPS_IS_PRIME = 2048, EXPR_STEPS_DRAW_PRIME = 16384 };

/* An expression and where it stands; the texts are borrowed and outlive it. */
struct expr_source {
	const char *text;
	const char *file, *key;
	int line, column; /* of its first character */
};

/* What names an expression may use; the i-th has the i-th value when it is run. */
struct expr_names {
	const char *const *texts;
	size_t count;
};

/* Where draws come from: uniform 64-bit values, one for each draw that is made. */
struct expr_draw {
	uint64_t (*next)(void *user);
	void *user;
};

/* May range(a, b), prime(a, b) and pow2(a, b) be used? */
enum expr_draws { EXPR_NO_DRAWS, EXPR_DRAWS };

struct expr_op;

struct expr {
	struct expr_source source;
	const struct expr_op *ops;
	size_t count;
	uint64_t steps; /* that a run takes at most */
};

/**
 * expr_compile() - make a program of a text
 * @source: copied
 * @names: needed only during the call
 * @arena: holds the program
 * @out:   untouched on failure
 *
 * Errors are ERR_INPUT: "task.yaml:9:21: key 'M': 'cdiv(L P)': ',' is missing".
 */
int expr_compile(const struct expr_source *source, const struct expr_names *names,
		 enum expr_draws draws, struct arena *arena, struct expr *out,
		 struct err *err) must_check;

/**
 * expr_run() - the value of an expression
 * @values: one for each name that it was compiled with
 * @draw:   NULL where it was compiled without draws
 *
 * Return: 0, or -1 with ERR_INPUT: an overflow, a division by zero, an empty interval.
 */
int expr_run(const struct expr *expr, const int64_t *values, const struct expr_draw *draw,
	     int64_t *out, struct err *err) must_check;
