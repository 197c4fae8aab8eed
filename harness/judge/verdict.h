/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "harness/config/cases.h"
#include "harness/judge/caliper.h"
#include "harness/judge/compare.h"
#include "harness/judge/marking_plan.h"
#include "harness/judge/worker_source.h"
#include "sandbox/base/names.h"
#include "sandbox/base/str.h"

/*
 * What a marking found, as data. What a candidate can cause is never INFRA and never a reason to
 * run anything again; what an honest mistake can cause is never VIOLATION.
 */
enum mark_kind {
	MARK_NONE, /* not marked */
	MARK_VALID,
	MARK_WRONG,
	MARK_VIOLATION, /* what no honest worker does: a forged protocol, a changed input */
	MARK_SUSPECT,   /* advisory */
	MARK_RESOURCE,  /* a limit of the task: time, memory */
	MARK_INFRA,     /* ours: host, oracle, baseline */
};

enum mark_stage {
	STAGE_NONE,
	STAGE_ORACLE, /* expected values */
	STAGE_CHECK,  /* one pass over all cases, nothing is timed */
	STAGE_TIMING,
};

enum mark_reason {
	REASON_NONE,
	REASON_NO_LIBRARY, /* it can not be loaded */
	REASON_NO_SYMBOL,
	REASON_BAD_CALL, /* the worker program does not understand the judge */
	REASON_DIED,
	REASON_TIMEOUT,
	REASON_MEMORY,
	REASON_VALUE,     /* an output is not what the oracle says */
	REASON_UNWRITTEN, /* an output was not written */
	REASON_LATE,      /* an output changed after "done" */
	REASON_REDZONE,   /* written outside the outputs */
	REASON_INPUT,     /* an input was changed */
	REASON_PROTOCOL,  /* an answer that no worker of ours gives */
};

struct mark {
	enum mark_kind kind;
	enum mark_stage stage;
	enum mark_reason reason;
	enum worker_role role; /* whose worker it was */
	bool has_case;         /* else it happened before the first call */
	uint32_t case_index;
	uint32_t call;     /* of this worker, from 0 */
	uint32_t arg;      /* VALUE, UNWRITTEN: the argument */
	uint64_t index;    /* its first wrong element; LATE, REDZONE: a byte of the span */
	uint32_t element;  /* VALUE, UNWRITTEN: its type */
	double got;        /* VALUE; of a whole type as near as a double comes */
	double want;       /* VALUE, UNWRITTEN */
	int64_t got_whole; /* of a whole type */
	int64_t want_whole;
	struct worker_end end; /* DIED, MEMORY */
};

extern const struct name mark_kind_names[];
extern const struct name mark_stage_names[];
extern const struct name mark_reason_names[];
extern const struct name worker_role_names[];

/**
 * verdict_of_reading() - what the end of a call means
 * @role: INFRA for all but the candidate
 *
 * Return: kind MARK_NONE if the call went well so far: its values have to be compared.
 */
struct mark verdict_of_reading(const struct caliper_reading *reading, enum worker_role role,
			       enum mark_stage stage);

/**
 * verdict_of_comparison() - what a wrong output means
 */
struct mark verdict_of_comparison(const struct comparison *found, uint32_t arg,
				  enum worker_role role, enum mark_stage stage);

/**
 * verdict_set_end() - how the worker ended, once that is known: an end by memory is RESOURCE
 */
void verdict_set_end(struct mark *mark, struct worker_end end);

/**
 * verdict_text() - append the mark in words
 * @cases: of the task, for the names of arguments; NULL: they have numbers
 *
 * Of an unseen case only its number is told: no shape, no value.
 */
void verdict_text(const struct mark *mark, const struct marking_plan *plan,
		  const struct cases *cases, struct str *out);
