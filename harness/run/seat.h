/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "harness/evidence/journal.h"
#include "harness/evidence/json.h"
#include "harness/run/timing_lease.h"
#include "sandbox/base/err.h"
#include "sandbox/base/process.h"
#include "sandbox/base/str.h"

/*
 * A seat: the process that carries out one attempt, and how it talks with proctor
 *
 * Attempts run side by side, each in a fork of proctor with no more rights than it. A seat reads
 * what agents left; so it does not write the journal, and does not hold the keeper: it asks. Of an
 * attempt's lines proctor itself writes whose they are. When proctor dies its seats die, and with
 * them their jails.
 *
 * Over one SOCK_SEQPACKET socket the seat sends struct seat_ask, cut off behind its text, and waits
 * for a struct seat_answer, except after SEAT_SAY and SEAT_FAIL, which have none.
 */
enum seat_ask_kind {
	SEAT_LINE = 1, /* event and text: a line of the journal */
	SEAT_USE,      /* use: wants the CPUs for that, see timing_lease.h; answered when it may */
	SEAT_BIND,     /* wants the keeper's socket for its attempt, which comes with the answer */
	SEAT_SAY,      /* text: what it does now, for the progress line */
	SEAT_FAIL,     /* text: why the run can not go on; the seat ends */
};

#define SEAT_MAGIC UINT32_C(0x73656174)

struct seat_ask {
	uint32_t magic;
	uint32_t kind;
	uint32_t use; /* enum timing_use */
	uint32_t len; /* of the text */
	char event[JOURNAL_EVENT_MAX];
	char text[JOURNAL_LINE_MAX]; /* a JSON object; no zero at its end */
};

struct seat_answer {
	uint32_t magic;
	uint32_t refused; /* 1: err says why */
	struct err err;
};

/* --- in the seat --- */

struct seat {
	int fd;      /* borrowed */
	int stop_fd; /* borrowed: readable when the operator wants the end */
	struct str text;
	struct json_writer json;
	char event[JOURNAL_EVENT_MAX];
};

/**
 * seat_init() - the seat's end of the socket
 */
void seat_init(struct seat *seat, int fd, int stop_fd);

/**
 * seat_begin() - begin a line of the journal about the seat's attempt
 *
 * Return: the writer for the keys of the event; not task, slot and attempt, which proctor adds.
 */
struct json_writer *seat_begin(struct seat *seat, const char *event);

/**
 * seat_commit() - have the line that was begun written, and wait until it is on the disk
 */
int seat_commit(struct seat *seat, struct err *err) must_check;

/**
 * seat_use() - wait until the CPUs may be used for this; what was had before is given back
 *
 * The operator's wish to stop ends the waiting, and is an error.
 */
int seat_use(struct seat *seat, enum timing_use use, struct err *err) must_check;

/**
 * seat_bind() - the keeper's socket for the seat's attempt, owned by the caller
 */
int seat_bind(struct seat *seat, int *keeper_fd, struct err *err) must_check;

/**
 * seat_say() - tell what is being done; lost if nobody listens
 */
void seat_say(struct seat *seat, const char *text);

/**
 * seat_fail() - tell why this seat ends without a record, and the run with it
 */
void seat_fail(struct seat *seat, const struct err *why);

/**
 * seat_wants_to_stop() - does the operator want the end?
 */
bool seat_wants_to_stop(const struct seat *seat);

/**
 * seat_done() - free everything
 */
void seat_done(struct seat *seat);

/* --- in proctor --- */

/**
 * seat_receive() - the next thing that a seat asks for
 * @fd: proctor's end
 *
 * Return: 1; 0 if the seat has gone; -1 with @err on nonsense.
 */
int seat_receive(int fd, struct seat_ask *out, struct err *err) must_check;

/**
 * seat_answer() - answer the seat
 * @fd:        proctor's end; where it is nonblocking this never waits
 * @why:       ERR_NONE: it has what it asked for
 * @passed_fd: goes along, borrowed; -1: none
 *
 * A seat that has gone is nobody's error. Return: 0; -1 if the seat does not take its answers.
 */
int seat_answer(int fd, const struct err *why, int passed_fd) must_check;
