/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "harness/doctor/sight.h"
#include "sandbox/base/arena.h"
#include "sandbox/base/names.h"

/*
 * The doctor: what a host enforces, how, and what to do about the rest
 *
 * One table of checks. A check is a trial (what proctor-probe did on this host), a look (what the
 * kernel's files say), or a trial and a look that knows more. The verdict on a mechanism always
 * comes from the trial where there was one: never from a version number.
 */
struct doctor_finding {
	const char *name;
	const char *means;   /* for a jail, or for a measurement */
	const char *way_out; /* what to do where the verdict is not OK */
	enum doctor_verdict verdict;
	bool is_needed;    /* a run under the default policy is refused without it */
	bool is_tried;     /* and not only read */
	const char *found; /* in the arena */
	bool is_implied;   /* it was not seen, but a whole jail was built, which takes it */
};

enum { DOCTOR_FINDINGS_MAX = 64 };

struct doctor {
	struct arena arena;
	struct doctor_finding findings[DOCTOR_FINDINGS_MAX];
	size_t count;
};

#define DOCTOR_INIT ((struct doctor){ .count = 0 })

extern const struct name doctor_verdict_names[];

/**
 * doctor_look() - make all checks
 * @out: DOCTOR_INIT; doctor_done() frees it
 */
void doctor_look(const struct doctor_host *host, struct doctor *out);

/**
 * doctor_done() - free all; it is DOCTOR_INIT again
 */
void doctor_done(struct doctor *doctor);

/**
 * doctor_refuses() - is this finding a reason to refuse a run? What is needed and could not be
 * seen is one too, unless a jail was built all the same
 */
bool doctor_refuses(const struct doctor_finding *finding);

/**
 * doctor_find() - the finding of this name, or NULL
 */
const struct doctor_finding *doctor_find(const struct doctor *doctor, const char *name);
