/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "harness/config/expr.h"
#include "harness/config/schema.h"
#include "sandbox/base/names.h"

/*
 * One argument of the function that a task is about: what it is, its shape, where its values come
 * from and how a result is judged. All sizes are expressions over the task's dimensions.
 */
enum arg_role {
	ARG_IN,     /* a buffer that the judge fills */
	ARG_OUT,    /* a buffer that the function fills */
	ARG_SCALAR, /* passed by value */
};

enum arg_element { ARG_F32, ARG_F64, ARG_I32, ARG_I64 };

extern const struct name arg_element_names[];

/* uniform(low, high): over the reals for f32, f64; over the whole numbers, both ends included,
 * for i32, i64. */
struct arg_values {
	double low, high;
};

/* close(rel, abs), for f32, f64: |got - want| <= abs + rel * |want|. exact, for i32, i64. */
struct arg_compare {
	double rel, abs; /* 0 for exact */
};

enum { ARG_RANK_MAX = 8 };

struct arg {
	const char *name;
	int line;
	int role;    /* enum arg_role */
	int element; /* enum arg_element */
	uint64_t rank;
	struct expr shape[ARG_RANK_MAX]; /* in, out: outermost first, rows in C order */
	struct arg_values values;        /* in */
	struct arg_compare compare;      /* out */
	struct expr value;               /* scalar */
};

/* The keys of an argument; for the key tables. */
extern const struct schema arg_schema;

/**
 * arg_read() - one entry of a task's `args`
 * @node:  the mapping; its key is the argument's name
 * @names: the dimensions that expressions may use
 */
int arg_read(const struct yaml_node *node, const struct expr_names *names, struct arena *arena,
	     struct arg *out, struct err *err) must_check;

/**
 * arg_read_expr() - compile the text of a node as an expression without draws, or with them
 */
int arg_read_expr(const struct yaml_node *node, const struct expr_names *names,
		  enum expr_draws draws, struct arena *arena, struct expr *out,
		  struct err *err) must_check;

/**
 * arg_element_size() - bytes of one element (enum arg_element)
 */
uint64_t arg_element_size(int element);

/**
 * arg_oracle_element() - the element of the buffer that the oracle fills for this argument: f64
 * for a real result, whatever the candidate's type; else the argument's own (enum arg_element)
 */
int arg_oracle_element(const struct arg *arg);
