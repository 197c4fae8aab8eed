/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "harness/aka/aka_cases.h"
#include "sandbox/base/arena.h"
#include "sandbox/base/names.h"
#include "sandbox/base/str.h"

/*
 * What a kernel is worth on held-out shapes, as AgentKernelArena counts it
 *
 * The task's own kernel and the one that the agent left are run on shapes that the agent did not
 * know, which the first may not be made for either. So there are four outcomes, and a speedup only
 * where both are right.
 */
enum aka_unseen_status {
	AKA_BOTH_PASS,
	AKA_OPT_REGRESSION, /* the agent's fails where the task's own is right */
	AKA_BOTH_FAIL,
	AKA_OPT_IMPROVEMENT, /* and the other way round */
	AKA_UNSEEN_STATUSES,
};

/* "both_pass"… */
extern const struct name aka_unseen_status_names[];

/* One of both kernels, on held-out shapes. */
struct aka_unseen_side {
	const struct pyvalue *compile_error; /* NULL: it compiles */
	const struct pyvalue *correct_error; /* NULL: it is correct, where it compiles */
	const struct aka_cases *cases;       /* NULL: not measured */
};

/* What the run has said of the task, on the shapes that the agent knew. */
struct aka_seen {
	bool is_correct;
	double speedup, score;
};

struct aka_unseen_attempt {
	const char *task_name;
	bool is_torch2hip; /* nothing compiles on the original's side: its times say if it is right
			    */
	const char *error; /* no command was run, because of this; NULL */
	struct aka_unseen_side original, optimized;
	struct aka_seen seen;
};

struct aka_unseen {
	struct arena arena;
	const char *task_name;
	bool compiles, is_correct; /* the agent's kernel */
	double time_ms;            /* mean of the valid cases; 0: none */
	bool original_compiles, original_is_correct;
	double original_time_ms;
	enum aka_unseen_status status;
	double speedup; /* 0: refused or not measured */
	double score;
	struct aka_seen seen;
	const struct pyvalue *error; /* NULL: none */
	const char *lost_why; /* its own evaluation of all tasks would have ended here, with an
				 exception; NULL: it gets through */
};

#define AKA_UNSEEN_INIT ((struct aka_unseen){ .status = AKA_BOTH_FAIL })

/**
 * aka_unseen_make() - what the reference says of an attempt
 * @out: AKA_UNSEEN_INIT; the caller's to release with aka_unseen_done(); has copies of all
 */
void aka_unseen_make(struct aka_unseen *out, const struct aka_unseen_attempt *attempt);

/**
 * aka_unseen_done() - release it; AKA_UNSEEN_INIT again
 */
void aka_unseen_done(struct aka_unseen *unseen);

/**
 * aka_unseen_file() - append heldout_task_result.yaml
 */
void aka_unseen_file(struct str *out, const struct aka_unseen *unseen);

/**
 * aka_unseen_perf_file() - append optimized_perf.yaml, which has the valid cases alone here
 *
 * Return: false where there are none, and no file.
 */
bool aka_unseen_perf_file(struct str *out, const struct aka_cases *cases);
