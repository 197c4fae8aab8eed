/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "sandbox/base/compiler.h"
#include "sandbox/base/str.h"

/*
 * Shapes that an agent did not know, put into a file of a task
 *
 * As AgentKernelArena does it: a list TEST_SHAPES by its brackets, a function get_inputs by its
 * indentation, or one text in the place of another; the same bytes come out, or the same refusal.
 * It knows no Python: brackets in texts and comments count, and so do comments behind a function,
 * which go with it.
 */
enum aka_marker {
	AKA_MARKER_SHAPES, /* TEST_SHAPES = [ … ] */
	AKA_MARKER_INPUTS, /* def get_inputs( … */
	AKA_MARKER_RAW,    /* the first place of old_code */
};

struct aka_injection {
	const char *file; /* relative to the workspace */
	enum aka_marker marker;
	const char *replacement;
	const char *old_code; /* AKA_MARKER_RAW; else NULL */
};

enum aka_injected {
	AKA_INJECTED,
	AKA_INJECT_NOT_TEXT, /* its own evaluation ends here, with an exception */
	AKA_INJECT_NO_SHAPES,
	AKA_INJECT_OPEN_BRACKET,
	AKA_INJECT_NO_INPUTS,
	AKA_INJECT_NO_OLD_CODE,
	AKA_INJECT_NO_CHANGE,
	AKA_INJECT_TOO_LARGE, /* a limit of ours: AKA_INJECT_FILE_MAX */
};

enum { AKA_INJECT_FILE_MAX = 4 * 1024 * 1024 };

/**
 * aka_inject() - append what a file's bytes become
 *
 * Return: AKA_INJECTED, or why not; nothing has been appended then. Ends of lines are those of
 * Unix afterwards.
 */
enum aka_injected aka_inject(struct str *out, const struct aka_injection *injection,
			     const void *bytes, size_t len) must_check;

/**
 * aka_inject_text() - what an outcome means, for a message
 */
const char *aka_inject_text(enum aka_injected outcome);
