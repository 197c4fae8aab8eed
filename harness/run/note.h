/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "harness/judge/verdict.h"
#include "sandbox/base/err.h"

/*
 * The marks that a solution has to get, as its NOTE.md says in a paragraph of its own:
 *
 *	Expected: seen VALID and FAST, unseen WRONG.
 *	Expected: WRONG. A mark alone is that of the seen cases.
 */
#define NOTE_FILE "NOTE.md"

struct note_marks {
	enum mark_kind seen, unseen; /* MARK_NONE: it says nothing */
};

/**
 * note_parse() - find the marks in the text of a NOTE.md
 * @out: both MARK_NONE where it has no 'Expected:'; untouched on failure
 *
 * What looks like marks and can not be read, or stands where it must not, is ERR_INPUT with its
 * line: "NOTE.md:3: 'VALD' is none of VALID, …".
 */
int note_parse(const char *text, size_t len, struct note_marks *out, struct err *err) must_check;

/**
 * note_default() - what the name of a solution promises where its NOTE.md does not: "honest-…" is
 * VALID on all cases. All others may get any marks
 */
struct note_marks note_default(const char *name);

/**
 * note_holds() - are these the marks, as far as the note says any?
 * @name: of the solution: "cheat-…" must not be VALID on all cases, unless its note says so
 */
bool note_holds(const struct note_marks *note, const char *name, enum mark_kind seen,
		enum mark_kind unseen);
