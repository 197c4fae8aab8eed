/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/slots.h"

#include <string.h>

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

/* --- lines of the journal --- */

static struct slot *find(struct slots *slots, const struct json_value *line, int64_t *attempt,
			 struct err *err)
{
	const struct planned *planned = slots->planned;
	size_t of_task = planned->agent_count * planned->repeats;
	const char *task = NULL;
	int64_t number = 0;

	if (json_get_text(line, "task", NAME_MAX_LEN, &task, err) < 0 ||
	    json_get_int(line, "slot", 1, (int64_t) of_task, &number, err) < 0 ||
	    json_get_int(line, "attempt", 1, NUMBER_MAX, attempt, err) < 0)
		return NULL;
	for (size_t i = 0; i < planned->task_count; i++)
		if (strcmp(planned->tasks[i].name, task) == 0)
			return &slots->list[i * of_task + (size_t) number - 1];
	err_set(err, ERR_INPUT, "the plan has no task '%s'", task);
	return NULL;
}

static int note_begun(struct slots *slots, struct slot *slot, const struct json_value *line,
		      int64_t attempt, struct err *err)
{
	const char *text = NULL;
	int state;

	if (json_get_text(line, "state", STATE_MAX, &text, err) < 0)
		return -1;
	if (names_find(attempt_state_names, text, &state) < 0)
		return err_set(err, ERR_INPUT, "'%s' is no state", text);
	if (state == ATTEMPT_LEASED || state == ATTEMPT_FROZEN) {
		if (slot->attempt != (uint32_t) attempt)
			slot->entries = 0;
		slot->attempt = (uint32_t) attempt;
		slot->entries++;
		slots->next[slot->task] = MAX_OF(slots->next[slot->task], slot->attempt + 1);
	}
	if (state == ATTEMPT_LEASED)
		slot->state = SLOT_BEGUN;
	if (state == ATTEMPT_AGENT)
		slot->state = SLOT_AGENT;
	return 0;
}

static int note_recorded(struct slots *slots, struct slot *slot, const struct json_value *line,
			 struct err *err)
{
	if (json_get_bool(line, "stopped", &slot->was_stopped, err) < 0 ||
	    record_read(json_member(line, "record"), slots->arena, &slot->record, err) < 0)
		return err_wrap(err, "a record");
	slot->state = SLOT_RECORDED;
	slot->entries = 0;
	slots->recorded++;
	if (slot->record.infra) {
		slots->infra++;
		slot->failures += slot->was_stopped ? 0 : 1;
	}
	return 0;
}

int slots_note(struct slots *slots, const char *event, const struct json_value *line,
	       struct err *err)
{
	struct slot *slot;
	int64_t attempt = 0;

	slots->is_closed = strcmp(event, "run.finished") == 0;
	if (strncmp(event, "attempt.", 8) != 0)
		return 0;
	slot = find(slots, line, &attempt, err);
	if (!slot)
		return -1;
	if (strcmp(event, ATTEMPT_BEGUN) == 0)
		return note_begun(slots, slot, line, attempt, err);
	if ((uint32_t) attempt != slot->attempt)
		return err_set(err, ERR_INPUT, "attempt %lld has not begun", (long long) attempt);
	if (strcmp(event, ATTEMPT_RECORDED_LINE) == 0)
		return note_recorded(slots, slot, line, err);
	if (strcmp(event, ATTEMPT_AGENT_LINE) == 0)
		slot->state = SLOT_GOING;
	return 0;
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

void slots_done(struct slots *slots)
{
	mem_free(&slots->list);
	mem_free(&slots->next);
	*slots = (struct slots){ .count = 0 };
}
