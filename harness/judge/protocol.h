/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "sandbox/base/err.h"

/*
 * The protocol between judge and worker
 *
 * Three memfds of fixed size: one control page, the inputs, the outputs. The judge rings `go` with
 * the number of a call, the worker rings `done` with the same number; nothing else is said. All
 * that a worker writes is hostile: the judge reads one word, one status and one claim from the
 * control page, and bytes from the outputs; it never reads back what it wrote itself.
 *
 * Life of a control page: zero; the worker rings PROTOCOL_READY; then for n = 1, 2, …: the judge
 * clears done, status and claim, writes the call, rings n; the worker answers n. Calls have a
 * shape number, under which a worker keeps what it has prepared: whatever it does between "go" and
 * the entry point, a candidate that answers by itself would save.
 */
#define PROTOCOL_PAGE     4096
#define PROTOCOL_ARGS_MAX 24
#define PROTOCOL_SHAPES   256
/* The largest buffer, and the largest sum of a case's inputs or outputs with their redzones. */
#define PROTOCOL_BUFFER_MAX (UINT64_C(1) << 30)
#define PROTOCOL_SPAN_MAX   (UINT64_C(4) << 30)

/* Where a worker finds the three memfds. */
enum { PROTOCOL_CONTROL_FD = 3, PROTOCOL_INPUTS_FD = 4, PROTOCOL_OUTPUTS_FD = 5 };

/* Values of `go` and `done` that are no call number. */
#define PROTOCOL_IDLE  UINT32_C(0)
#define PROTOCOL_STOP  UINT32_MAX /* go: end yourself */
#define PROTOCOL_READY UINT32_MAX /* done: loaded, or not, as the status says */

enum protocol_status {
	PROTOCOL_UNSAID,
	PROTOCOL_OK,
	PROTOCOL_NO_LIBRARY,
	PROTOCOL_NO_SYMBOL,
	PROTOCOL_BAD_CALL, /* the worker does not understand the call */
};

/* What a call runs. Null and store are the worker program's own. */
enum protocol_entry {
	PROTOCOL_TASK,
	PROTOCOL_NULL,  /* returns at once */
	PROTOCOL_STORE, /* reads every input, writes every output */
};

enum protocol_kind {
	PROTOCOL_INPUT,   /* a pointer into the inputs */
	PROTOCOL_OUTPUT,  /* a pointer into the outputs */
	PROTOCOL_INOUT,   /* the same, of a buffer that has been filled */
	PROTOCOL_SCRATCH, /* the same, of one that nobody reads */
	PROTOCOL_NOTHING, /* a null pointer */
	PROTOCOL_I8,
	PROTOCOL_U8,
	PROTOCOL_I32,
	PROTOCOL_I64,
	PROTOCOL_F32,
	PROTOCOL_F64,
};

struct protocol_arg {
	uint32_t kind; /* enum protocol_kind */
	uint32_t zero;
	union {
		uint64_t offset; /* of a buffer in its memfd */
		int8_t i8;
		uint8_t u8;
		int32_t i32;
		int64_t i64;
		float f32;
		double f64;
	};
	uint64_t bytes; /* of a buffer */
};

struct protocol_call {
	uint32_t entry; /* enum protocol_entry */
	uint32_t arg_count;
	struct protocol_arg args[PROTOCOL_ARGS_MAX];
};

/* Judge and worker each spin on a cache line that only the other one writes. */
struct protocol_control {
	_Alignas(64) _Atomic uint32_t go;
	_Atomic uint32_t shape; /* set before go; the same number, the same call, for ever */
	_Alignas(64) _Atomic uint32_t done;
	_Atomic uint32_t status;    /* enum protocol_status, set before done */
	_Atomic int64_t claimed_ns; /* the worker's own clock around the call: a claim */
	_Alignas(64) struct protocol_call call;
};

_Static_assert(sizeof(struct protocol_control) <= PROTOCOL_PAGE, "one page");

/* What has to be placed. */
struct protocol_buffer {
	uint64_t bytes;
	/* 0: it begins a page; else a power of two below a page: it lies so far behind the begin of
	 * one, and so is aligned to this and to no more. */
	uint64_t align;
};

/*
 * Where the buffers of a case lie in a memfd: each in pages of its own, with a redzone of at least
 * a page before and after it; what is left of its pages belongs to the redzones.
 */
struct protocol_layout {
	uint32_t count;
	uint64_t offset[PROTOCOL_ARGS_MAX];
	uint64_t bytes[PROTOCOL_ARGS_MAX];
	uint64_t span; /* of everything, whole pages */
};

/* What inouts hold before a call is kept one after the other, each at a multiple of this. */
enum { PROTOCOL_FILL_ALIGN = 64 };

/**
 * protocol_fill_bytes() - what a buffer takes of that
 */
static inline uint64_t protocol_fill_bytes(uint64_t bytes)
{
	return (bytes + PROTOCOL_FILL_ALIGN - 1) / PROTOCOL_FILL_ALIGN * PROTOCOL_FILL_ALIGN;
}

/**
 * protocol_lay_out() - place @count buffers; pure
 *
 * No buffer at all gives a span of one page. An empty or too large buffer, an alignment that is
 * none, too many buffers, or a span over the limit is an ERR_INPUT error.
 */
int protocol_lay_out(const struct protocol_buffer *buffers, uint32_t count,
		     struct protocol_layout *out, struct err *err) must_check;

/**
 * protocol_call_check() - may a worker with memfds of these sizes carry out the call; pure
 *
 * Return: the kind of answer it deserves: PROTOCOL_OK or PROTOCOL_BAD_CALL.
 */
enum protocol_status protocol_call_check(const struct protocol_call *call, uint64_t inputs,
					 uint64_t outputs);
