/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "harness/judge/caliper.h"
#include "harness/judge/inputs.h"
#include "harness/judge/marking_plan.h"
#include "harness/judge/verdict.h"

/*
 * The problems of one half of a block: for each case JUDGE_CALLS sets of inputs, all bytes new,
 * with what the oracle expects of each. Both sides of the half get the same ones; no candidate
 * worker ever gets what another one had, so that nothing that the first could leave behind helps
 * the second.
 */
struct problem {
	uint8_t *inputs;   /* a span, redzones and padding poisoned */
	uint8_t *fill;     /* what inouts hold before the call: see protocol_fill_bytes() */
	uint8_t *expected; /* the oracle's outputs, a span of its own layout */
};

/* The oracle's form of the problem that is being drawn, and room for what is not dense. */
struct problem_desk {
	uint8_t *inputs; /* a span of the oracle's layout */
	uint8_t *fill;
	uint8_t *plain; /* elements of one buffer, side by side */
};

struct problems {
	const struct marking_plan *plan; /* borrowed */
	const uint8_t *key;              /* borrowed: INPUTS_KEY bytes */
	uint64_t round;                  /* names the problems; never used twice */
	struct marking_shape *shapes;    /* owned: a case as task and as oracle see it */
	struct marking_shape *oracle_shapes;
	struct problem *list; /* owned: case_count * JUDGE_CALLS */
	struct problem_desk desk;
	uint64_t inputs_span; /* the largest of all cases */
	uint64_t outputs_span;
	uint64_t oracle_inputs_span;
	uint64_t oracle_outputs_span;
};

#define PROBLEMS_INIT ((struct problems){ .plan = NULL })

/**
 * problems_create() - lay out and allocate for a checked plan
 */
int problems_create(struct problems *out, const struct marking_plan *plan, const uint8_t *key,
		    struct err *err) must_check;

/**
 * problems_draw() - new problems for all live cases, solved by the oracle
 * @oracle: open, held
 * @live:   which cases
 * @failed: receives why the oracle failed (INFRA); kind MARK_NONE if it did not
 */
int problems_draw(struct problems *problems, struct caliper *oracle, const bool *live,
		  struct mark *failed, struct err *err) must_check;

/* What one call of one worker has beside its inputs, and nobody can foretell. */
struct problem_secrets {
	uint64_t poison_seed;
	uint64_t probes[JUDGE_PROBES]; /* offsets, each of a word of an output */
};

/**
 * problems_secrets() - draw them
 * @worker: number of the worker within the round
 */
int problems_secrets(const struct problems *problems, struct inputs *stream, uint32_t worker,
		     uint32_t slot, struct problem_secrets *out, struct err *err) must_check;

/**
 * problems_compare() - every output of a call against what is expected, and whether all else of the
 * buffers is as it was
 * @snapshot: the outputs' span
 * @arg:      receives the wrong argument
 */
struct comparison problems_compare(const struct problems *problems, uint32_t slot,
				   const uint8_t *snapshot, uint64_t poison_seed, uint32_t *arg);

/**
 * problems_done() - free everything
 */
void problems_done(struct problems *problems);
