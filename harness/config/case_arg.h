/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "harness/config/arg.h"

/*
 * An argument of one case: its expressions have become numbers
 */
/* The largest buffer, and the largest sum of a case's buffers. */
#define CASES_BYTES_MAX GIB

/* Holds no pointer. */
struct case_arg {
	struct tensor tensor;      /* buffers */
	uint64_t bytes;            /* buffers: with their padding */
	struct values_plan values; /* in, inout */
	double real;               /* a scalar of a real type; a value that the type has */
	int64_t whole;             /* a scalar of a whole type */
};

/**
 * case_arg_resolve() - sizes, values and scalar of an argument
 * @dims: all dimensions
 *
 * Return: 0, or -1 with ERR_INPUT: an extent or a stride is below 1, elements overlap, a value does
 * not fit its type, or the buffer is too large; @out is then untouched.
 */
int case_arg_resolve(const struct arg *arg, const int64_t *dims, struct case_arg *out,
		     struct err *err) must_check;
