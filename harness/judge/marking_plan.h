/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "harness/config/comparer.h"
#include "harness/config/tensor.h"
#include "harness/config/values.h"
#include "harness/judge/protocol.h"
#include "sandbox/base/err.h"

/*
 * What the judge is to do, as data: the concrete cases of one marking. No pointer, fixed size, so
 * that it can be sent to the judge as it is. Whoever made it, marking_plan_check() comes first.
 */
enum { MARKING_CASES_MAX = 64, MARKING_NAME_MAX = 64 };

/* What one half of a block may keep in the judge's memory: inputs and expected values. */
#define MARKING_MEMORY_MAX (UINT64_C(2) << 30)

enum marking_use {
	MARKING_INPUT,
	MARKING_OUTPUT,
	MARKING_INOUT,
	MARKING_SCRATCH,
	MARKING_SCALAR,
};

struct marking_arg {
	uint32_t use;              /* enum marking_use */
	uint32_t align;            /* of a buffer: 0 a page, else see protocol_buffer */
	struct tensor tensor;      /* of a scalar only its type matters */
	struct values_plan values; /* inputs, inouts */
	struct comparer compare;   /* outputs, inouts */
	uint32_t rows; /* inouts: 0, or 1 + the input that names the rows that may change */
	uint32_t zero;
	double real;   /* a scalar of a real type */
	int64_t whole; /* a scalar of a whole type */
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
 * marking_has_values() - does the judge fill the argument: inputs, inouts
 */
bool marking_has_values(const struct marking_arg *arg);

/**
 * marking_has_result() - is the argument compared: outputs, inouts
 */
bool marking_has_result(const struct marking_arg *arg);

/**
 * marking_plan_check() - is the plan complete and within all limits; pure
 *
 * Errors are ERR_INPUT and name case and argument.
 */
int marking_plan_check(const struct marking_plan *plan, struct err *err) must_check;

/* Who is called: what a task's function takes, or the oracle's form of it. */
enum marking_side {
	MARKING_TASK,
	/* Every buffer is dense and of wide values (element.h), as are scalars; scratch is NULL. */
	MARKING_ORACLE,
};

/* A case as a worker is called with it. */
struct marking_shape {
	struct protocol_layout inputs;
	struct protocol_layout outputs; /* of outputs, inouts and scratch, in this order of args */
	struct protocol_call call;      /* entry: PROTOCOL_TASK */
	uint32_t buffer[PROTOCOL_ARGS_MAX]; /* of each argument: its number in its layout */
	uint32_t filled;                    /* a bit for each buffer of outputs: an inout */
	uint64_t filled_bytes;              /* of these buffers: see protocol_fill_bytes() */
};

/**
 * marking_shape() - lay a case out; pure
 */
int marking_shape(const struct marking_case *item, enum marking_side side,
		  struct marking_shape *out, struct err *err) must_check;
