/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "harness/judge/problems.h"
#include "harness/judge/samples.h"

/*
 * The life of one fresh worker: JUDGE_CALLS calls of every live case in a secret order. Check and
 * timing, warm-up and counted calls look the same to it. Every call is verified; the first one
 * that is wrong ends the session.
 */
struct session {
	struct caliper *caliper;         /* borrowed */
	const struct problems *problems; /* borrowed: drawn for the live cases */
	const bool *live;
	enum worker_role role;
	enum mark_stage stage;
	uint32_t worker; /* number of the worker within the problems' round */
	uint32_t block;
	uint8_t half;
	struct samples *samples; /* NULL: nothing is timed */
};

/**
 * session_run() - start the worker, call it, end it
 * @failed: receives what was wrong, of any case; kind MARK_NONE if nothing
 *
 * Errors are the host's. The path's worker gets every case twice as often, as null and as store,
 * and its values are not compared.
 */
int session_run(const struct session *session, struct mark *failed, struct err *err) must_check;
