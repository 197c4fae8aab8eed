/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox/base/err.h"
#include "sandbox/base/str.h"

/*
 * What a jail writes to standard output and standard error
 *
 * A pump between two pipes and two log files, run by proctor without privilege. It takes all that
 * comes, so that a jail never waits for us, keeps what is under the cap, and counts the rest. The
 * bytes are an outsider's: they are stored as they are, and escaped wherever they are shown.
 *
 * It never waits: a grandchild that holds a pipe open without writing holds nothing up, since
 * output_finish() takes what is there and closes; and a reader of what is shown that does not read
 * holds up the jail, which then finds its pipe full, but not us. A loop around it:
 *
 *	count = output_poll(&output, fds);
 *	poll(fds, count, …);
 *	if (output_ready(&output, &err) < 0 || output_is_over(&output)) end the jail;
 */
enum { OUTPUT_STDOUT, OUTPUT_STDERR, OUTPUT_STREAMS };

enum { OUTPUT_TAIL = 4096 }; /* bytes of each stream that are kept at hand to be shown */

struct output_stream {
	int pipe_fd;      /* owned, nonblocking; -1: it has ended */
	int log_fd;       /* owned */
	int show_fd;      /* borrowed; -1: not shown */
	bool is_escaped;  /* where it is shown */
	uint64_t total;   /* bytes that came */
	uint64_t kept;    /* bytes under the cap: those in the log */
	uint8_t split[4]; /* the beginning of a character that was not whole yet */
	size_t split_len;
	struct str unshown;     /* what show_fd did not take yet; nothing more is read meanwhile */
	size_t shown;           /* how much of it was taken */
	char tail[OUTPUT_TAIL]; /* a ring: total % OUTPUT_TAIL is where the next byte goes */
};

struct output {
	uint64_t cap; /* bytes that are kept, of both streams together */
	struct output_stream streams[OUTPUT_STREAMS];
};

#define OUTPUT_STREAM_INIT                                                                  \
	{                                                                                   \
		.pipe_fd = -1, .log_fd = -1, .show_fd = -1, .unshown = {.text = str_empty } \
	}
#define OUTPUT_INIT ((struct output){ .streams = { OUTPUT_STREAM_INIT, OUTPUT_STREAM_INIT } })

/**
 * output_open() - make the two log files, or empty those that are there, and take over the two
 * pipes
 * @dir_fd: the attempt's folder; -1: nothing is kept, only counted and shown
 * @name:   the files are NAME.stdout and NAME.stderr; existing ones are an error
 * @pipes:  the reading ends of standard output and standard error; -1 where there is none. On
 *          success they belong to the output, and *@pipes are -1.
 * @cap:    bytes that are kept, of both together
 */
int output_open(struct output *out, int dir_fd, const char *name, int pipes[OUTPUT_STREAMS],
		uint64_t cap, struct err *err) must_check;

/**
 * output_show() - also write a stream to @show_fd as it comes, up to the cap
 * @show_fd:    borrowed; written to when poll(2) says that it takes something, in pieces that a
 * pipe or a socket then takes whole. A terminal may take less and let us wait, unless it is
 * nonblocking
 * @is_escaped: for a terminal: newline and tab stay, all else that disturbs one is escaped
 */
void output_show(struct output *output, size_t stream, int show_fd, bool is_escaped);

/**
 * output_poll() - what to poll for: a pipe, or the reader of what is not shown yet; 0 entries when
 * both streams have ended
 */
size_t output_poll(const struct output *output, struct pollfd fds[OUTPUT_STREAMS]);

/**
 * output_ready() - take what has come, but no more than 1 MiB of a stream at a time, so that
 * one noisy jail does not starve others; may be called whether or not poll() said so
 *
 * A failure to write the log is an error (a full disk: ERR_HOST), and what came is then taken
 * and counted all the same; so is a failure to show it, unless its reader has gone.
 */
int output_ready(struct output *output, struct err *err) must_check;

/**
 * output_is_over() - did more come than the cap allows; the jail's ending is then "output"
 */
bool output_is_over(const struct output *output);

/**
 * output_has_ended() - has the last writer of both pipes closed them, and was everything shown
 */
bool output_has_ended(const struct output *output);

/**
 * output_is_unshown() - is there something that its reader has not taken yet
 */
bool output_is_unshown(const struct output *output);

/**
 * output_finish() - when the jail is gone: take what still stands in the pipes, close them, sync
 * the log files; what is unshown is dropped
 */
int output_finish(struct output *output, struct err *err) must_check;

/**
 * output_add_tail() - append the last lines of a stream, at most OUTPUT_TAIL bytes of it, escaped
 */
void output_add_tail(const struct output *output, size_t stream, struct str *out);

/**
 * output_done() - close all; it is OUTPUT_INIT again
 */
void output_done(struct output *output);
