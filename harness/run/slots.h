/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/evidence/json.h"
#include "harness/run/planned.h"
#include "harness/run/record.h"

/*
 * How far a run is: a slot for each attempt that was planned, fed with the lines of the journal
 *
 * The same function takes the lines of a journal that is read again and those that are being
 * written, so a resumed run can not disagree with the one that it goes on with. A slot's first
 * attempt has the slot's own number (within its task, from 1); where an attempt is INFRA and may be
 * tried again, the next one gets the next number of its task that nobody has had. A line that would
 * start an agent twice, use a number twice, or change what has a record makes no sense.
 */
enum slot_state {
	SLOT_PLANNED,
	SLOT_BEGUN,    /* an attempt has a number; its agent was not started */
	SLOT_AGENT,    /* the agent was started, and nothing is known of its end */
	SLOT_GOING,    /* the agent has ended and its workspace is kept: from there it can go on */
	SLOT_RECORDED, /* the attempt has its record */
};

struct slot {
	uint32_t task, agent; /* of struct planned */
	uint32_t number;      /* of the slot, within its task */
	uint32_t attempt;     /* the latest attempt's number; 0: none yet */
	uint32_t failures;    /* attempts that were INFRA, the operator's own stops aside */
	uint32_t entries;     /* how often the latest attempt was taken up where it stands */
	enum slot_state state;
	bool is_taken; /* somebody is at it */
	bool was_stopped;
	struct record record; /* of the latest attempt, if SLOT_RECORDED */
};

struct slots {
	const struct planned *planned; /* borrowed */
	struct arena *arena;           /* borrowed: texts of the records */
	struct slot *list;             /* owned */
	size_t count;
	uint32_t *next; /* owned: of each task, the next number that is free */
	size_t recorded;
	size_t infra;   /* attempts that were INFRA, all of them */
	bool is_closed; /* the last line says that the run was finished */
};

/* What is to be done for a slot. */
enum slot_work {
	SLOT_FRESH,    /* an attempt, from its beginning */
	SLOT_CONTINUE, /* the attempt that is GOING, from its frozen workspace on */
	SLOT_CUT,      /* record that the attempt was cut off, as INFRA */
	SLOT_GIVE_UP,  /* the same, after it was taken up too often */
};

/**
 * slots_init() - a slot for each attempt of the plan, nothing done
 */
void slots_init(struct slots *slots, const struct planned *planned, struct arena *arena);

/**
 * slots_check() - does a line make sense for this plan, after those that were noted?
 * @line: its keys
 *
 * Return: 0, or -1 with ERR_INPUT.
 */
int slots_check(const struct slots *slots, const char *event, const struct json_value *line,
		struct err *err) must_check;

/**
 * slots_note() - take one line of the journal into account; one that slots_check() refuses is an
 * error and changes nothing
 */
int slots_note(struct slots *slots, const char *event, const struct json_value *line,
	       struct err *err) must_check;

/**
 * slots_next() - the first slot that nobody is at and that is not through
 * @work: receives what is to be done
 *
 * A fresh attempt has its number then. Return: the slot, taken, or NULL.
 */
struct slot *slots_next(struct slots *slots, enum slot_work *work);

/**
 * slots_leave() - nobody is at the slot any more
 */
void slots_leave(struct slot *slot);

/**
 * slots_are_through() - does every slot have a record that counts?
 */
bool slots_are_through(const struct slots *slots);

/**
 * slots_is_final() - is this slot's record its last?
 */
bool slots_is_final(const struct slots *slots, const struct slot *slot);

/**
 * slots_done() - free everything
 */
void slots_done(struct slots *slots);
