/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/config/task.h"
#include "harness/evidence/digest.h"
#include "harness/judge/jail_source.h"
#include "harness/judge/marking.h"
#include "sandbox/base/process.h"

/*
 * The judge of one attempt, as a process
 *
 * A fork of proctor that lets go of the journal and every other descriptor, can be neither dumped
 * nor traced, asks the keeper for the key of its candidate, marks, and sends back one result of
 * fixed size with the raw samples. The key never leaves it, and proctor never has it.
 */
struct judging {
	const struct task *task;
	struct digest root;         /* of the candidate */
	int keeper_fd;              /* bound to this attempt; borrowed */
	struct jail_source *source; /* launcher, program, null, and the four roles; borrowed */
	uint32_t judge_cpu, worker_cpu;
	int64_t floor_ppm;
	int64_t deadline; /* on clock_now(); a judge that takes longer is ended */
	int stop_fd;      /* readable: the judge is ended; -1: nothing to wait for */
};

enum { JUDGING_WHY_MAX = 320 };

/* What proctor learns. Of unseen cases there are numbers only: no shape, no value. */
struct judging_result {
	uint32_t magic;
	uint32_t has_error;       /* 1: INFRA, err says why; the rest is empty */
	uint32_t committed_first; /* see keeper.h */
	uint32_t sample_count;
	uint32_t case_count;
	uint32_t stopped; /* 1: has_error because stop_fd became readable */
	int64_t wall_ns;
	struct marking_set seen, unseen;
	char seen_why[JUDGING_WHY_MAX], unseen_why[JUDGING_WHY_MAX];
	struct stats_case cases[MARKING_CASES_MAX];
	char names[MARKING_CASES_MAX][MARKING_NAME_MAX];
	uint8_t is_unseen[MARKING_CASES_MAX];
	struct err err;
};

/**
 * judging_run() - fork the judge and wait for its result
 * @samples: receives the raw samples; samples_done() frees them
 *
 * A judge that fails, dies or is stopped is a result with has_error set. Return: 0, or -1 if
 * there could be no judge at all.
 */
int judging_run(const struct judging *what, struct judging_result *out, struct samples *samples,
		struct err *err) must_check;
