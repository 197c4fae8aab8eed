/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "harness/aka/pyvalue.h"
#include "sandbox/base/arena.h"
#include "sandbox/base/str.h"

/*
 * What a command of a task has said, and whether that is a pass
 *
 * AgentKernelArena believes an exit status of 0, unless the output of a correctness command has
 * "fail" in it and no "pass". So a harness that swallows an exception, or skips every test, passes.
 * The stricter verdict is kept beside its own.
 */
struct aka_said {
	struct str out;
	struct str err;
	bool is_success; /* exit status 0, in time, and both are UTF-8 */
};

#define AKA_SAID_INIT ((struct aka_said){ .out = STR_INIT, .err = STR_INIT })

struct aka_streams {
	const void *out, *err;
	size_t out_len, err_len;
};

/**
 * aka_said_read() - what the reference makes of a command that has ended
 * @out: AKA_SAID_INIT; the caller's to release with aka_said_done()
 *
 * Output that is not UTF-8 makes a failed command, with the error in the place of its output.
 */
void aka_said_read(struct aka_said *out, const struct aka_streams *streams, bool has_succeeded);

/**
 * aka_said_timed_out() - the same for a command that had to be ended after so many seconds
 */
void aka_said_timed_out(struct aka_said *out, unsigned int seconds);

/**
 * aka_said_done() - release it
 */
void aka_said_done(struct aka_said *said);

/**
 * aka_said_all() - standard output and standard error, one after the other
 */
void aka_said_all(struct str *out, const struct aka_said *said);

/**
 * aka_verdict_compile() - NULL: it compiles; else the error of the record, in @arena
 */
const struct pyvalue *aka_verdict_compile(struct arena *arena, const struct aka_said *said);

/**
 * aka_verdict_correct() - NULL: it is correct, as the reference says; else the error of the record
 */
const struct pyvalue *aka_verdict_correct(struct arena *arena, const struct aka_said *said);

/**
 * aka_verdict_doubt() - why a pass should not be believed: a failure that was printed and passed
 * over, tests that were all skipped; NULL for none. A text that lives as long as the program
 */
const char *aka_verdict_doubt(const struct aka_said *said);
