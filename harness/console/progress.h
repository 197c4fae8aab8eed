/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox/base/str.h"

/*
 * Progress
 *
 * On a terminal one line that is written over again and again; elsewhere plain lines, and few of
 * them. Times are given by the caller, on clock_now(), so that nothing here waits or reads a
 * clock. What can not be written is lost: progress is never worth an error.
 */
enum {
	PROGRESS_TERMINAL_MS = 100, /* no more often than this, unless a unit is done */
	PROGRESS_PLAIN_MS = 10000,
};

struct progress {
	int fd; /* borrowed; -1: nobody wants to know */
	bool is_terminal;
	size_t width; /* columns of the terminal */
	uint64_t total;
	uint64_t done;
	int64_t began_at;
	int64_t shown_at;
	bool is_shown;     /* a line of ours stands on the terminal, unfinished */
	bool is_due;       /* a unit was done since the last line */
	struct str status; /* what is being done now */
};

#define PROGRESS_INIT ((struct progress){ .fd = -1, .status = STR_INIT })

/**
 * progress_start() - begin, with nothing done
 * @fd:          where to; -1 for nowhere
 * @is_terminal: decided by main, with isatty()
 * @width:       of the terminal; 0: 80
 * @total:       units, attempts of a run for instance
 */
void progress_start(struct progress *progress, int fd, bool is_terminal, size_t width,
		    uint64_t total, int64_t now);

/**
 * progress_say() - what is being done now; shown when it is time to
 * @status: any text; it is escaped, and cut to the width
 */
void progress_say(struct progress *progress, const char *status, int64_t now);

/**
 * progress_add() - so many more units are done
 */
void progress_add(struct progress *progress, uint64_t units, int64_t now);

/**
 * progress_tick() - show the time that has passed, if it is time to; call it about every second
 */
void progress_tick(struct progress *progress, int64_t now);

/**
 * progress_clear() - take the line off the terminal, before something else is written there
 */
void progress_clear(struct progress *progress);

/**
 * progress_done() - clear, and free the status; it is PROGRESS_INIT again
 */
void progress_done(struct progress *progress);

/**
 * progress_line() - append the line as it would be shown, without any control character
 *
 *	3/12  saxpy: build  1:07 elapsed, about 3:20 left
 *
 * The remaining time assumes that the units to come are like those done; it is not told before
 * the first is done.
 */
void progress_line(const struct progress *progress, int64_t now, struct str *out);
