/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/base/names.h"

/*
 * The states that an attempt goes through, in this order and never back, and the lines of the
 * journal that slots.c and a resumed attempt look for.
 */
enum attempt_state {
	ATTEMPT_PLANNED,
	ATTEMPT_LEASED,   /* a folder of its own */
	ATTEMPT_AGENT,    /* the agent has run and is gone; its workspace is an archive */
	ATTEMPT_FROZEN,   /* the archive was read, the candidate is a tree with a root */
	ATTEMPT_BUILT,    /* or found not to build */
	ATTEMPT_JUDGED,   /* or found not to be worth judging */
	ATTEMPT_RECORDED, /* the record is on the disk */
};

/* "PLANNED", "LEASED", … */
extern const struct name attempt_state_names[];

#define ATTEMPT_BEGUN         "attempt.begun"
#define ATTEMPT_LEASED_LINE   "attempt.leased"
#define ATTEMPT_AGENT_LINE    "attempt.agent"
#define ATTEMPT_RECORDED_LINE "attempt.recorded"
