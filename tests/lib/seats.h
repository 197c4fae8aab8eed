/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdatomic.h>

#include "harness/run/attempt.h"
#include "harness/run/run.h"
#include "tests/lib/check.h"

/*
 * A run whose seats do what a test wants, without tasks, agents and jails: the journal, the keeper
 * and the processes are real
 *
 * seats.c has an attempt_run() of its own, so it is compiled into a test's program as a source: the
 * linker then has no need of harness/run/attempt.c.
 */
enum { SEATS_PIDS = 512 };

/* What all processes of a test see. */
struct seats_shared {
	_Atomic int seats; /* so many were begun */
	_Atomic pid_t pids[SEATS_PIDS];
	_Atomic int now, most;        /* at one time */
	_Atomic int marking, working; /* have that now */
	_Atomic int count;            /* a test's own */
	_Atomic bool failed;          /* a check in a seat */
};

extern struct seats {
	struct seats_shared *shared;
	struct run_place place;
	struct launcher launcher;
	struct progress progress;
	struct run run;
	/* What a seat does. */
	int (*play)(const struct slot *slot, enum slot_work work, struct seat *seat,
		    struct err *err);
} seats;

/* "one" and "two". */
extern struct planned_task seats_tasks[2];

/* A check in a seat, whose failure is told by way of what all see. */
#define SEAT_CHECK(condition)                                                       \
	do {                                                                        \
		if (!(condition))                                                   \
			seats_fail_check(__FILE__, __LINE__, #condition, err.text); \
	} while (0)

/**
 * seats_begin() - a run of so many of the tasks, each so many times, on so many seats; no retries
 */
void seats_begin(size_t task_count, uint32_t repeats, uint32_t seat_count);

/**
 * seats_end() - nothing is left, no check in a seat has failed, and a run that is resumed from the
 * journal stands where this one does
 */
void seats_end(void);

/**
 * seats_schedule() - schedule_run(), which must work and leave no seat
 */
void seats_schedule(void);

/**
 * seats_check_fails() - schedule_run(), which must fail with these words, soon, and leave no seat
 */
void seats_check_fails(enum err_kind kind, const char *text);

/**
 * seats_journal() - the journal's text, valid until the next call
 */
const char *seats_journal(void);

/**
 * seats_count() - how often a text is in the journal
 */
int seats_count(const char *what);

/* --- in a seat --- */

/* Lines of an attempt, without that of its record; the one that starts the agent. */
enum { SEATS_STEPS = 10, SEATS_AGENT = 2 };

void seats_say_begun(struct seat *seat, const char *state);
void seats_say_recorded(const struct slot *slot, struct seat *seat, const char *infra);

/**
 * seats_go() - write an attempt's lines, from where it stands up to line @last of all
 */
void seats_go(enum slot_work work, struct seat *seat, size_t last);

/**
 * seats_go_well() - all of an attempt's lines; one that can not go on is INFRA
 */
int seats_go_well(const struct slot *slot, enum slot_work work, struct seat *seat, struct err *err);

/**
 * seats_wait_until() - wait until *@what is @least or more
 */
void seats_wait_until(const _Atomic int *what, int least);

no_return void seats_fail_check(const char *file, int line, const char *what, const char *why);
