/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "harness/aka/aka_cases.h"
#include "harness/aka/aka_task.h"
#include "sandbox/base/err.h"
#include "sandbox/base/str.h"

/*
 * What is carried over of a file that holds kernels and their tests
 *
 * The candidate has the task's own file, in which these blocks are the agent's, as it left them:
 * the functions and classes that may be edited by name, and functions of the device (decorated with
 * triton.jit). The last definition of a name is the one that counts, in both files. New functions
 * of the device come along, before what they stand before in the agent's file; with
 * allow_new_helpers other new functions and classes too. Imports, assignments and all other
 * statements stay the task's, and so do its tests: no new name may be one that pytest looks for or
 * that the file uses already, and none may be decorated by pytest where the task's is not.
 *
 * What becomes of each block is data for the record, whatever the agent left.
 */
enum aka_fate {
	AKA_FATE_SAME,     /* may be edited, and was left as it is; only counted */
	AKA_FATE_REPLACED, /* the agent's stands in the place of the task's */
	AKA_FATE_ADDED,    /* new */
	AKA_FATE_MISSING,  /* may be edited, and the agent's file lacks it: the task's stays */
	AKA_FATE_IDLE,     /* the agent's, differs from all of the task's, and has no effect */
	AKA_FATES,
};
extern const struct name aka_fate_names[];

struct aka_fated {
	enum aka_fate fate;
	const char *name; /* or the beginning of a statement; one line that can be shown */
	size_t line;      /* of the agent's file; 0: it is not there */
	const char *why;  /* lives as long as the program; NULL: nothing to say */
};

enum { AKA_FATED_MAX = 64 };

struct aka_carried {
	struct arena arena;
	size_t counts[AKA_FATES];
	size_t hosted; /* of the replaced: functions of the device before, and none any more */
	/* The first of them: missing, then carried over, then idle. */
	struct aka_fated items[AKA_FATED_MAX];
	size_t item_count;
	const char *why; /* why nothing was carried over; NULL: the agent's file could be cut */
};

#define AKA_CARRIED_INIT ((struct aka_carried){ .item_count = 0 })

/**
 * aka_carry() - make the candidate's file
 * @edit:     AKA_SCOPE_SYMBOLS
 * @pristine: the task's file
 * @frozen:   the agent's; its bytes are NULL where it left none
 * @out:      receives the text behind what it holds
 * @report:   AKA_CARRIED_INIT; aka_carried_done() frees it
 *
 * An agent's file that is missing, too large, or that can not be cut is no error: the candidate is
 * then the task's file, and @report->why says so, for the mark.
 *
 * Return: 0, or -1 with an ERR_INPUT error where the task's own file can not be cut; @out and
 * @report are untouched.
 */
int aka_carry(const struct aka_edit *edit, const struct aka_bytes *pristine,
	      const struct aka_bytes *frozen, struct str *out, struct aka_carried *report,
	      struct err *err) must_check;

/**
 * aka_carried_done() - free it; it is AKA_CARRIED_INIT again
 */
void aka_carried_done(struct aka_carried *report);
