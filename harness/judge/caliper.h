/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "harness/judge/buffers.h"
#include "harness/judge/constants.h"
#include "harness/judge/protocol.h"
#include "harness/judge/sentry.h"
#include "harness/judge/worker_source.h"
#include "sandbox/base/err.h"

/*
 * One timed call of one worker, measured from outside
 *
 *   worker held   inputs copied in, outputs and redzones poisoned or filled, caches flushed
 *   t0            "go" is rung and the worker released: it gets its CPU (sentry.h)
 *   worker runs   the judge spins on "done", with an eye on the worker's pidfd and a deadline
 *   t1            "done" is seen; the very next loads are JUDGE_PROBES outputs at secret places
 *   snapshot      of all outputs; the worker is held again; whatever is verified, is verified on it
 *
 * The worker never runs between two calls. Inputs have to be written before caches are flushed and
 * "go" is rung; a worker that is not held works on them meanwhile, and one that did gained 1.2 to
 * 1.5 times on a softmax with every output right (tests/bench/judge walls).
 */
enum caliper_end {
	CALIPER_DONE,     /* it rang; is it right? */
	CALIPER_DIED,     /* its process ended first */
	CALIPER_TIMEOUT,  /* the deadline came first, or it can not be held */
	CALIPER_GARBAGE,  /* it rang what no worker of ours rings */
	CALIPER_LATE,     /* an output changed after it rang */
	CALIPER_REDZONE,  /* it wrote outside its outputs */
	CALIPER_TAMPERED, /* an input changed, which takes more than a mistake */
};

/* What is to be called. All memory is the caller's. */
struct caliper_job {
	const struct protocol_call *call;
	uint32_t shape;        /* below PROTOCOL_SHAPES: the number of this call among its like */
	const uint8_t *inputs; /* the span to be copied in, redzones poisoned */
	uint64_t inputs_span;
	const struct protocol_layout *outputs;
	uint64_t poison_seed;
	uint32_t filled;     /* a bit for each output that holds something: see protocol.h, INOUT */
	const uint8_t *fill; /* their bytes: see protocol_fill_bytes() */
	const uint64_t *probes; /* JUDGE_PROBES offsets into the outputs, multiples of 8 */
	int64_t wall_ns;
};

struct caliper_reading {
	enum caliper_end end;
	uint32_t status;    /* what the worker said: any value */
	int64_t sealed_ns;  /* t1 - t0 */
	int64_t claimed_ns; /* what the worker said: any value */
	bool handover_seen; /* t0 is the sentry's; else it is the release, and too early */
	uint64_t offset;    /* of the first late or stray byte in the outputs' span */
};

#ifdef PROCTOR_TEST_HOOKS
/* Walls that tests take away to show what they hold back. */
struct caliper_walls {
	bool no_probes; /* late writes go unnoticed unless the snapshot misses them */
	bool no_hold;   /* the worker runs between calls */
};
#endif

struct caliper {
	const struct worker_source *source; /* borrowed */
	struct buffers *buffers;            /* borrowed */
	struct sentry *sentry;              /* borrowed */
	uint8_t *snapshot;                  /* owned: of all outputs after the last call */
	struct worker worker;
	uint32_t number; /* of the last call */
	bool flush_unordered;
#ifdef PROCTOR_TEST_HOOKS
	struct caliper_walls walls;
#endif
};

#define CALIPER_INIT ((struct caliper){ .worker = WORKER_INIT })

/**
 * caliper_init() - prepare for workers from @source; the buffers' sizes must not change any more
 */
void caliper_init(struct caliper *out, const struct worker_source *source, struct buffers *buffers,
		  struct sentry *sentry);

/**
 * caliper_open() - wipe the buffers, start a worker and wait until it says that it is ready
 * @reading: how that went: DONE with a status, DIED, TIMEOUT or GARBAGE
 *
 * Only what is not the worker's doing is an error.
 */
int caliper_open(struct caliper *caliper, enum worker_role role, struct caliper_reading *reading,
		 struct err *err) must_check;

/**
 * caliper_call() - one call; afterwards the worker is held and caliper->snapshot is complete
 */
int caliper_call(struct caliper *caliper, const struct caliper_job *job,
		 struct caliper_reading *reading, struct err *err) must_check;

/**
 * caliper_close() - end the worker
 */
int caliper_close(struct caliper *caliper, struct worker_end *end, struct err *err) must_check;

/**
 * caliper_done() - end a worker that is left, and free the snapshot
 */
void caliper_done(struct caliper *caliper);
