/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "harness/config/comparer.h"
#include "harness/config/element.h"
#include "harness/config/expr.h"
#include "harness/config/schema.h"
#include "harness/config/tensor.h"
#include "harness/config/values.h"

/*
 * One argument of the function that a task is about: what it is, its shape, where its values come
 * from and how a result is judged. All sizes are expressions over the task's dimensions.
 */
enum arg_role {
	ARG_IN,      /* a buffer that the judge fills */
	ARG_OUT,     /* a buffer that the function fills */
	ARG_INOUT,   /* a buffer that the judge fills and the function changes */
	ARG_SCRATCH, /* a buffer of no meaning */
	ARG_SCALAR,  /* passed by value */
};

extern const struct name arg_role_names[];

enum { ARG_RANK_MAX = TENSOR_RANK_MAX, ARG_ALIGN_MAX = 4096 };

struct arg {
	const char *name;
	const char *file;
	int line;
	int role;    /* enum arg_role */
	int element; /* enum element */
	uint64_t rank;
	struct expr shape[ARG_RANK_MAX];   /* buffers: outermost first, rows in C order */
	uint64_t stride_count;             /* at most rank; the extents behind are dense */
	struct expr strides[ARG_RANK_MAX]; /* in elements */
	uint64_t align;                    /* of the first element, exactly; 0: a page */
	struct values values;              /* in, inout */
	struct comparer compare;           /* out, inout */
	const char *compare_text;          /* the same as the file has it */
	const struct yaml_node *writes;    /* inout: "rows(NAME)", or NULL */
	const char *rows;                  /* NAME: an argument that holds indices, or NULL */
	bool has_number;                   /* scalar: `number`, and not `value` */
	double number;
	struct expr value;
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
 * arg_has_values() - does the judge fill it: in, inout
 */
bool arg_has_values(const struct arg *arg);

/**
 * arg_has_result() - is it compared: out, inout
 */
bool arg_has_result(const struct arg *arg);
