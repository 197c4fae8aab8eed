/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/*
 * The raw material of a mark: every timed call as integer nanoseconds, in the order of the calls.
 * A record keeps them; stats.h computes the mark from them and from nothing else.
 */
enum sample_role { SAMPLE_NULL, SAMPLE_STORE, SAMPLE_BASELINE, SAMPLE_CANDIDATE };

/* flags */
#define SAMPLE_HANDOVER_UNSEEN 1 /* its time includes the wake-up: too long, never too short */

struct sample {
	uint32_t block;
	uint16_t case_index;
	uint8_t role; /* enum sample_role */
	uint8_t half; /* of the block: 0 baseline, candidate; 1 candidate, baseline */
	uint8_t call; /* 0..JUDGE_CALLS-1 of this worker; the first JUDGE_WARMUPS do not count */
	uint8_t flags;
	uint16_t zero;
	uint32_t zero_too;
	int64_t sealed_ns;  /* by the judge's clock, path included */
	int64_t claimed_ns; /* by the worker's; believed of the judge's own workers only */
};

/* A list that grows. */
struct samples {
	struct sample *list; /* owned */
	uint32_t count;
	uint32_t room;
};

#define SAMPLES_INIT ((struct samples){ .list = NULL })

/**
 * samples_add() - append one
 */
void samples_add(struct samples *samples, const struct sample *sample);

/**
 * samples_done() - free the list
 */
void samples_done(struct samples *samples);
