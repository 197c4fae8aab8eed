/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "harness/judge/protocol.h"
#include "sandbox/base/err.h"

/*
 * What the judge is to do, as data: the concrete cases of one marking. No pointer, fixed size, so
 * that it can be sent to the judge as it is. Whoever made it, marking_plan_check() comes first.
 */
enum { MARKING_CASES_MAX = 64, MARKING_NAME_MAX = 64 };

/* What one half of a block may keep in the judge's memory: inputs and expected values. */
#define MARKING_MEMORY_MAX (UINT64_C(2) << 30)

enum element { ELEMENT_F32, ELEMENT_F64, ELEMENT_I32, ELEMENT_I64 };

enum marking_use {
	MARKING_INPUT,
	MARKING_OUTPUT,
	MARKING_SCALAR, /* low (f32, f64) or integer (i32, i64) is its value */
};

enum marking_compare {
	MARKING_CLOSE, /* f32, f64: within abs + rel * |want| */
	MARKING_EXACT, /* i32, i64 */
};

struct marking_arg {
	uint32_t use;     /* enum marking_use */
	uint32_t element; /* enum element */
	uint64_t count;   /* elements of a buffer */
	double low;       /* inputs f32, f64: uniform in [low, high] */
	double high;
	int64_t integer; /* inputs i32, i64: from integer to integer_high, both included */
	int64_t integer_high;
	uint32_t compare; /* outputs: enum marking_compare */
	uint32_t zero;
	double rel;
	double abs;
};

struct marking_case {
	char name[MARKING_NAME_MAX];
	uint32_t unseen; /* 1: drawn after the freeze, marked apart */
	uint32_t arg_count;
	struct marking_arg args[PROTOCOL_ARGS_MAX];
};

struct marking_plan {
	uint32_t case_count;
	uint32_t judge_cpu; /* where judge and worker spin: different CPUs, nobody else's */
	uint32_t worker_cpu;
	uint32_t zero;
	int64_t call_ns;   /* a call that takes longer is the candidate's failure */
	int64_t floor_ppm; /* this host's published A/A floor, millionths of a log ratio */
	struct marking_case cases[MARKING_CASES_MAX];
};

/**
 * element_size() - bytes of one element
 */
uint64_t element_size(uint32_t element);

/**
 * marking_plan_check() - is the plan complete and within all limits; pure
 *
 * Errors are ERR_INPUT and name case and argument.
 */
int marking_plan_check(const struct marking_plan *plan, struct err *err) must_check;

/* A case as a worker is called with it. */
struct marking_shape {
	struct protocol_layout inputs;
	struct protocol_layout outputs;
	struct protocol_call call; /* entry: PROTOCOL_TASK */
};

/**
 * marking_shape() - lay a case out; pure
 * @in_double: as the oracle sees it: f32 outputs are f64
 */
int marking_shape(const struct marking_case *item, bool in_double, struct marking_shape *out,
		  struct err *err) must_check;
