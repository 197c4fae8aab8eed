/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/slots.h"

#include <string.h>

#include "harness/judge/keeper.h"
#include "harness/run/attempt_state.h"
#include "harness/run/record_read.h"
#include "sandbox/base/mem.h"

enum { NAME_MAX_LEN = 255, NUMBER_MAX = 1 << 24, STATE_MAX = 32 };

void slots_init(struct slots *slots, const struct planned *planned, struct arena *arena)
{
	size_t of_task = planned->agent_count * planned->repeats;

	*slots = (struct slots){
		.planned = planned,
		.arena = arena,
		.count = planned->task_count * of_task,
		.list = mem_alloc(planned->task_count * of_task, sizeof(*slots->list)),
		.next = mem_alloc(planned->task_count, sizeof(*slots->next)),
	};
	for (size_t i = 0; i < slots->count; i++)
		slots->list[i] = (struct slot){
			.task = (uint32_t) (i / of_task),
			.agent = (uint32_t) (i % of_task / planned->repeats),
			.number = (uint32_t) (i % of_task) + 1,
		};
	for (size_t i = 0; i < planned->task_count; i++)
		slots->next[i] = (uint32_t) of_task + 1;
}

/* --- what is to be done --- */

static bool has_retry(const struct slots *slots, const struct slot *slot)
{
	return slot->record.infra &&
	       (slot->was_stopped || slot->failures <= slots->planned->retries);
}

bool slots_is_final(const struct slots *slots, const struct slot *slot)
{
	return slot->state == SLOT_RECORDED && !has_retry(slots, slot);
}

static enum slot_work work_of(struct slots *slots, struct slot *slot)
{
	/* What ends us each time that we take it up shall not do so for ever. */
	bool is_too_often = slot->entries > slots->planned->retries + 1;

	switch (slot->state) {
	case SLOT_BEGUN:
		return is_too_often ? SLOT_GIVE_UP : SLOT_FRESH;
	case SLOT_AGENT:
		return SLOT_CUT;
	case SLOT_GOING:
		return is_too_often ? SLOT_GIVE_UP : SLOT_CONTINUE;
	case SLOT_PLANNED:
		slot->attempt = slot->number;
		return SLOT_FRESH;
	case SLOT_RECORDED:
		break;
	}
	slot->attempt = slots->next[slot->task]++;
	slot->state = SLOT_BEGUN;
	return SLOT_FRESH;
}

struct slot *slots_next(struct slots *slots, enum slot_work *work)
{
	for (size_t i = 0; i < slots->count; i++) {
		struct slot *slot = &slots->list[i];

		if (slot->is_taken || slots_is_final(slots, slot))
			continue;
		*work = work_of(slots, slot);
		slot->is_taken = true;
		return slot;
	}
	return NULL;
}

void slots_leave(struct slot *slot)
{
	slot->is_taken = false;
}

bool slots_are_through(const struct slots *slots)
{
	for (size_t i = 0; i < slots->count; i++)
		if (!slots_is_final(slots, &slots->list[i]))
			return false;
	return true;
}

/* --- lines of the journal --- */

/* What a line about an attempt says. */
struct note {
	struct slot *slot;
	uint32_t attempt;
	bool is_begun, is_agent, is_recorded; /* which line it is; none: another one */
	enum attempt_state state;             /* that was begun */
	bool was_stopped;
	struct record record;
};

static int find_slot(const struct slots *slots, const struct json_value *line, struct note *out,
		     struct err *err)
{
	const struct planned *planned = slots->planned;
	size_t of_task = planned->agent_count * planned->repeats;
	const char *task = NULL;
	int64_t number = 0, attempt = 0;

	if (json_get_text(line, "task", NAME_MAX_LEN, &task, err) < 0 ||
	    json_get_int(line, "slot", 1, (int64_t) of_task, &number, err) < 0 ||
	    json_get_int(line, "attempt", 1, NUMBER_MAX, &attempt, err) < 0)
		return -1;
	out->attempt = (uint32_t) attempt;
	for (size_t i = 0; i < planned->task_count; i++) {
		if (strcmp(planned->tasks[i].name, task) != 0)
			continue;
		out->slot = &slots->list[i * of_task + (size_t) number - 1];
		return 0;
	}
	return err_set(err, ERR_INPUT, "the plan has no task '%s'", task);
}

/* A number that no slot of the task has, or would have first. */
static bool is_free(const struct slots *slots, const struct slot *slot, uint32_t attempt)
{
	size_t of_task = slots->planned->agent_count * slots->planned->repeats;
	const struct slot *list = &slots->list[slot->task * of_task];

	if (attempt <= of_task)
		return false;
	for (size_t i = 0; i < of_task; i++)
		if (list[i].attempt == attempt)
			return false;
	return true;
}

/* A fresh attempt, or one that begins once more because its agent was not started. */
static int check_leased(const struct slots *slots, const struct note *note, struct err *err)
{
	const struct slot *slot = note->slot;
	const bool is_same = slot->attempt == note->attempt;

	switch (slot->state) {
	case SLOT_PLANNED:
		if (note->attempt == slot->number)
			return 0;
		break;
	case SLOT_BEGUN:
		if (is_same)
			return 0;
		break;
	case SLOT_AGENT:
	case SLOT_GOING:
		return err_set(err, ERR_INPUT, "attempt %u has no record yet: %s", slot->attempt,
			       is_same ? "its agent was started" : "no other one can begin");
	case SLOT_RECORDED:
		if (slots_is_final(slots, slot))
			return err_set(err, ERR_INPUT, "attempt %u has the last record of slot %u",
				       slot->attempt, slot->number);
		if (is_free(slots, slot, note->attempt))
			return 0;
		break;
	}
	return err_set(err, ERR_INPUT, "%u is no number that slot %u can have now", note->attempt,
		       slot->number);
}

static int check_begun(const struct slots *slots, const struct note *note, struct err *err)
{
	const struct slot *slot = note->slot;

	if (note->state == ATTEMPT_LEASED)
		return check_leased(slots, note, err);
	if (slot->attempt != note->attempt ||
	    slot->state != (note->state == ATTEMPT_AGENT ? SLOT_BEGUN : SLOT_GOING))
		return err_set(err, ERR_INPUT, "attempt %u can not go to '%s' from where it is",
			       note->attempt, names_text(attempt_state_names, (int) note->state));
	return 0;
}

static int read_begun(const struct slots *slots, const struct json_value *line, struct note *note,
		      struct err *err)
{
	const char *text = NULL;
	int state = 0;

	if (json_get_text(line, "state", STATE_MAX, &text, err) < 0)
		return -1;
	if (names_find(attempt_state_names, text, &state) < 0 || state == ATTEMPT_PLANNED ||
	    state == ATTEMPT_RECORDED)
		return err_set(err, ERR_INPUT, "'%s' is no state that is begun", text);
	note->is_begun = true;
	note->state = (enum attempt_state) state;
	return check_begun(slots, note, err);
}

static int read_recorded(const struct slots *slots, const struct json_value *line,
			 struct arena *arena, struct note *note, struct err *err)
{
	const char *task = slots->planned->tasks[note->slot->task].name;

	if (json_get_bool(line, "stopped", &note->was_stopped, err) < 0 ||
	    record_read(json_member(line, "record"), arena, &note->record, err) < 0)
		return err_wrap(err, "a record");
	if (note->record.attempt != note->attempt || !note->record.task ||
	    strcmp(note->record.task, task) != 0)
		return err_set(err, ERR_INPUT, "the record is that of another attempt");
	note->is_recorded = true;
	return 0;
}

/* The keeper believes no journal any more that has such a line without a root. */
static int check_frozen(const struct slot *slot, const struct json_value *line, struct err *err)
{
	struct digest root;

	if (slot->state != SLOT_GOING)
		return err_set(err, ERR_INPUT, "nothing of attempt %u is there to be frozen",
			       slot->attempt);
	return json_get_digest(line, "candidate", &root, err);
}

static int read_note(const struct slots *slots, const char *event, const struct json_value *line,
		     struct arena *arena, struct note *note, struct err *err)
{
	const struct slot *slot;

	if (find_slot(slots, line, note, err) < 0)
		return -1;
	if (strcmp(event, ATTEMPT_BEGUN) == 0)
		return read_begun(slots, line, note, err);
	slot = note->slot;
	if (slot->attempt != note->attempt || slot->state == SLOT_PLANNED)
		return err_set(err, ERR_INPUT, "attempt %u has not begun", note->attempt);
	if (slot->state == SLOT_RECORDED)
		return err_set(err, ERR_INPUT, "attempt %u has a record already", note->attempt);
	if (strcmp(event, ATTEMPT_RECORDED_LINE) == 0)
		return read_recorded(slots, line, arena, note, err);
	if (strcmp(event, KEEPER_FROZEN) == 0)
		return check_frozen(slot, line, err);
	note->is_agent = strcmp(event, ATTEMPT_AGENT_LINE) == 0;
	if (note->is_agent && slot->state != SLOT_AGENT)
		return err_set(err, ERR_INPUT, "no agent of attempt %u was started", note->attempt);
	return 0;
}

static bool is_of_attempt(const char *event)
{
	return strncmp(event, "attempt.", 8) == 0;
}

int slots_check(const struct slots *slots, const char *event, const struct json_value *line,
		struct err *err)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct note note = { .slot = NULL };

	return is_of_attempt(event) ? read_note(slots, event, line, &arena, &note, err) : 0;
}

static void note_begun(struct slots *slots, const struct note *note)
{
	struct slot *slot = note->slot;

	if (note->state == ATTEMPT_AGENT)
		slot->state = SLOT_AGENT;
	if (note->state == ATTEMPT_FROZEN)
		slot->entries++;
	if (note->state != ATTEMPT_LEASED)
		return;
	if (slot->attempt != note->attempt)
		slot->entries = 0;
	slot->entries++;
	slot->attempt = note->attempt;
	slot->state = SLOT_BEGUN;
	slots->next[slot->task] = MAX_OF(slots->next[slot->task], slot->attempt + 1);
}

static void note_recorded(struct slots *slots, const struct note *note)
{
	struct slot *slot = note->slot;

	slot->state = SLOT_RECORDED;
	slot->record = note->record;
	slot->was_stopped = note->was_stopped;
	slot->entries = 0;
	slots->recorded++;
	if (slot->record.infra) {
		slots->infra++;
		slot->failures += slot->was_stopped ? 0 : 1;
	}
}

int slots_note(struct slots *slots, const char *event, const struct json_value *line,
	       struct err *err)
{
	struct note note = { .slot = NULL };

	if (is_of_attempt(event) && read_note(slots, event, line, slots->arena, &note, err) < 0)
		return -1;
	slots->is_closed = strcmp(event, "run.finished") == 0;
	if (note.is_begun)
		note_begun(slots, &note);
	if (note.is_recorded)
		note_recorded(slots, &note);
	if (note.is_agent) {
		note.slot->state = SLOT_GOING;
		note.slot->entries = 0;
	}
	/* Whoever was at an attempt then has left it because he was told to. */
	if (strcmp(event, "run.stopped") == 0)
		for (size_t i = 0; i < slots->count; i++)
			slots->list[i].entries = 0;
	return 0;
}

void slots_done(struct slots *slots)
{
	mem_free(&slots->list);
	mem_free(&slots->next);
	*slots = (struct slots){ .count = 0 };
}
