/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "harness/config/expr.h"
#include "harness/config/tensor.h"
#include "harness/config/yaml.h"

/*
 * Where the values of an argument come from: what a task says, and the same for one case as plain
 * numbers
 */
enum values_kind {
	VALUES_UNIFORM,     /* two numbers: both ends included; whole numbers for a whole type */
	VALUES_NORMAL,      /* mean, standard deviation */
	VALUES_LOGUNIFORM,  /* two numbers, 0 < low: the logarithm is uniform */
	VALUES_RANDINT,     /* two whole numbers, both ends included */
	VALUES_CHOICE,      /* each of the given ones as likely; one alone is a constant */
	VALUES_LIST,        /* the given ones, in order */
	VALUES_PERMUTATION, /* each row holds 0 to its length - 1 in a random order */
	VALUES_ONEHOT,      /* each row is 0 but for one 1 */
};

enum { VALUES_MAX = 16, VALUES_TEXT_MAX = 256 };

struct values {
	const char *text; /* as the file has it */
	const struct yaml_node *node;
	int kind;
	bool is_sorted; /* each row in rising order */
	bool is_below;  /* RANDINT: 0 to the only operand - 1 */
	uint32_t count; /* operands: numbers, or expressions where there are any */
	double numbers[VALUES_MAX];
	struct expr *exprs; /* in the arena; NULL: numbers */
};

/* For one case; holds no pointer. */
struct values_plan {
	uint32_t kind; /* enum values_kind */
	uint32_t is_sorted;
	uint32_t count;
	uint32_t zero;
	union {
		double reals[VALUES_MAX]; /* of a real type */
		int64_t wholes[VALUES_MAX];
	};
};

/**
 * values_read() - read a distribution such as "uniform(-1, 1)"
 * @node:    where it stands; of one line
 * @element: whose values they are
 * @names:   the dimensions that its expressions may use
 */
int values_read(const struct yaml_node *node, uint32_t element, const struct expr_names *names,
		struct arena *arena, struct values *out, struct err *err) must_check;

/**
 * values_resolve() - the distribution of one case
 * @dims:  the value of each name
 * @tensor: what it has to fill
 *
 * Return: 0, or -1 with ERR_INPUT: an operand does not fit the type, or not the buffer.
 */
int values_resolve(const struct values *values, const int64_t *dims, const struct tensor *tensor,
		   struct values_plan *out, struct err *err) must_check;

/**
 * values_fault() - what is wrong with a resolved distribution, or NULL; pure
 */
const char *values_fault(const struct values_plan *plan, const struct tensor *tensor);
