/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/slots.h"

#include <stdio.h>
#include <string.h>

#include "harness/run/attempt_state.h"
#include "tests/lib/check.h"

/* Two tasks, two agents, each once: four slots. */
static struct planned_task tasks[] = { { .name = "one" }, { .name = "two" } };
static struct planned_agent agents[] = { { .name = "x" }, { .name = "y" } };
static struct planned planned = { .tasks = tasks,
				  .agents = agents,
				  .task_count = 2,
				  .agent_count = 2,
				  .repeats = 1,
				  .seats = 1 };
static struct arena arena = ARENA_INIT;
static struct slots slots;
static struct err err;
static enum slot_work work;

static void begin(uint32_t retries)
{
	planned.retries = retries;
	slots_init(&slots, &planned, &arena);
}

static void end(void)
{
	slots_done(&slots);
	arena_done(&arena);
}

/* What slots_note() and slots_check() say of a line: its keys as JSON, '' for "". */
static int note_text(const char *event, const char *keys)
{
	cleanup(str_done) struct str text = STR_INIT;
	cleanup(json_done) struct json line = JSON_INIT;
	struct slot before = slots.list[0];
	int result;

	for (; *keys; keys++)
		str_add(&text, *keys == '\'' ? "\"" : keys, 1);
	err = (struct err) ERR_INIT;
	CHECK_OK(json_parse(&line, text.text, text.len, MIB, &err));
	result = slots_check(&slots, event, json_root(&line), &err);
	CHECK(memcmp(&before, &slots.list[0], sizeof(before)) == 0);
	CHECK_INT(slots_note(&slots, event, json_root(&line), &err), result);
	if (result < 0)
		CHECK(memcmp(&before, &slots.list[0], sizeof(before)) == 0);
	return result;
}

static void note(const char *event, const char *task, uint32_t slot, uint32_t attempt,
		 const char *more)
{
	cleanup(str_done) struct str keys = STR_INIT;

	str_addf(&keys, "{'task':'%s','slot':%u,'attempt':%u%s%s}", task, slot, attempt,
		 more[0] ? "," : "", more);
	if (note_text(event, keys.text) < 0)
		check_fail(__FILE__, __LINE__, "%s %s: %s", event, keys.text, err.text);
}

/* Of slot 1 of task "one". */
static void begun(uint32_t attempt, const char *state)
{
	char more[64];

	snprintf(more, sizeof(more), "'state':'%s'", state);
	note(ATTEMPT_BEGUN, "one", 1, attempt, more);
}

static void agent_ended(uint32_t attempt)
{
	note(ATTEMPT_AGENT_LINE, "one", 1, attempt, "");
}

#define RECORD                                                                    \
	"'record':{'task':'%s','attempt':%u,'committed_first':true,'built':true," \
	"'infra':%s,'rejected':{'total':0},'unused':{'total':0}}"

static void recorded_of(const char *task, uint32_t slot, uint32_t attempt, const char *infra,
			bool stopped)
{
	char more[512];

	snprintf(more, sizeof(more), "'stopped':%s," RECORD, stopped ? "true" : "false", task,
		 attempt, infra);
	note(ATTEMPT_RECORDED_LINE, task, slot, attempt, more);
}

static void recorded(uint32_t attempt, const char *infra, bool stopped)
{
	recorded_of("one", 1, attempt, infra, stopped);
}

/* The attempt begins, and its agent ends. */
static void run_agent(uint32_t attempt)
{
	begun(attempt, "LEASED");
	begun(attempt, "AGENT");
	agent_ended(attempt);
}

/* What is next is this. */
static struct slot *next_is(enum slot_work wanted, uint32_t attempt)
{
	struct slot *slot = slots_next(&slots, &work);

	CHECK(slot);
	CHECK_INT(work, wanted);
	CHECK_INT(slot->attempt, attempt);
	CHECK(slot->is_taken);
	return slot;
}

static void expect(enum slot_work wanted, uint32_t attempt)
{
	struct slot *slot = next_is(wanted, attempt);

	CHECK_INT(slot->task, 0);
	CHECK_INT(slot->number, 1);
	slots_leave(slot);
}

static void refuse(const char *event, const char *keys, const char *text)
{
	CHECK_INT(note_text(event, keys), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_STR(err.text, text);
}

TEST(slots_are_handed_out_in_order_and_each_once)
{
	begin(0);
	CHECK_INT(slots.count, 4);
	for (uint32_t i = 0; i < 4; i++) {
		const struct slot *slot = next_is(SLOT_FRESH, i % 2 + 1);

		CHECK_INT(slot->task, i / 2);
		CHECK_INT(slot->agent, i % 2);
		CHECK_INT(slot->number, i % 2 + 1);
	}
	CHECK(!slots_next(&slots, &work));
	CHECK(!slots_are_through(&slots));
	slots_leave(&slots.list[2]);
	CHECK(next_is(SLOT_FRESH, 1) == &slots.list[2]);
	end();
}

TEST(repeats_are_slots_of_their_own)
{
	planned.repeats = 3;
	begin(0);
	CHECK_INT(slots.count, 12);
	CHECK_INT(slots.list[4].agent, 1);
	CHECK_INT(slots.list[4].number, 5);
	CHECK_INT(slots.list[11].task, 1);
	CHECK_INT(slots.list[11].number, 6);
	CHECK_INT(slots.next[0], 7);
	end();
}

TEST(an_attempt_whose_agent_was_not_started_begins_again_under_its_number)
{
	begin(2);
	expect(SLOT_FRESH, 1);
	begun(1, "LEASED");
	note(ATTEMPT_LEASED_LINE, "one", 1, 1, "");
	expect(SLOT_FRESH, 1);
	begun(1, "LEASED");
	CHECK_INT(slots.list[0].entries, 2);
	end();
}

TEST(an_agent_that_was_started_is_cut_off)
{
	begin(2);
	begun(1, "LEASED");
	begun(1, "AGENT");
	expect(SLOT_CUT, 1);
	expect(SLOT_CUT, 1);
	end();
}

TEST(an_attempt_whose_agent_has_ended_goes_on_from_wherever_it_was)
{
	static const char *const states[] = { "FROZEN", "BUILT", "JUDGED" };

	begin(2);
	run_agent(1);
	expect(SLOT_CONTINUE, 1);
	for (size_t i = 0; i < ARRAY_LEN(states); i++) {
		begun(1, states[i]);
		note("attempt.something", "one", 1, 1, "");
		expect(SLOT_CONTINUE, 1);
	}
	end();
}

TEST(a_record_that_counts_is_the_last)
{
	begin(2);
	run_agent(1);
	recorded(1, "null", false);
	CHECK(slots_is_final(&slots, &slots.list[0]));
	CHECK_INT(slots.recorded, 1);
	CHECK_INT(slots.infra, 0);
	CHECK_STR(slots.list[0].record.task, "one");
	CHECK(slots.list[0].record.is_committed_first);
	CHECK_INT(next_is(SLOT_FRESH, 2)->number, 2);
	end();
}

TEST(all_slots_through_is_through)
{
	begin(0);
	for (uint32_t i = 0; i < 4; i++) {
		const char *task = tasks[i / 2].name;

		CHECK(!slots_are_through(&slots));
		next_is(SLOT_FRESH, i % 2 + 1);
		note(ATTEMPT_BEGUN, task, i % 2 + 1, i % 2 + 1, "'state':'LEASED'");
		recorded_of(task, i % 2 + 1, i % 2 + 1, i == 3 ? "'ours'" : "null", false);
	}
	CHECK(slots_are_through(&slots));
	slots_leave(&slots.list[3]);
	CHECK(!slots_next(&slots, &work));
	CHECK_INT(slots.infra, 1);
	end();
}

TEST(what_was_infra_is_tried_again_as_often_as_planned_under_numbers_that_nobody_had)
{
	begin(2);
	run_agent(1);
	recorded(1, "'ours'", false);
	expect(SLOT_FRESH, 3);
	/* Another slot's retry has the next one. */
	note(ATTEMPT_BEGUN, "one", 2, 2, "'state':'LEASED'");
	recorded_of("one", 2, 2, "'ours'", false);
	slots.list[0].is_taken = true;
	CHECK_INT(next_is(SLOT_FRESH, 4)->number, 2);
	slots.list[0].is_taken = false;
	run_agent(3);
	recorded(3, "'ours'", false);
	expect(SLOT_FRESH, 5);
	run_agent(5);
	CHECK(!slots_is_final(&slots, &slots.list[0]));
	recorded(5, "'ours'", false);
	CHECK(slots_is_final(&slots, &slots.list[0])); /* the third time, with two retries */
	CHECK_INT(slots.infra, 4);
	end();
}

TEST(a_journal_that_is_read_again_hands_out_no_number_twice)
{
	begin(3);
	run_agent(1);
	recorded(1, "'ours'", false);
	note(ATTEMPT_BEGUN, "one", 2, 2, "'state':'LEASED'");
	recorded_of("one", 2, 2, "'ours'", false);
	/* Two seats wrote at one time: 4 is before 3. */
	note(ATTEMPT_BEGUN, "one", 2, 4, "'state':'LEASED'");
	run_agent(3);
	recorded(3, "'ours'", false);
	expect(SLOT_FRESH, 5);
	CHECK_INT(slots.next[0], 6);
	CHECK_INT(slots.next[1], 3);
	end();
}

TEST(the_operators_stop_costs_no_retry)
{
	begin(0);
	run_agent(1);
	recorded(1, "'stopped by the operator'", true);
	CHECK(!slots_is_final(&slots, &slots.list[0]));
	CHECK_INT(slots.list[0].failures, 0);
	expect(SLOT_FRESH, 3);
	run_agent(3);
	recorded(3, "'ours'", false);
	CHECK(slots_is_final(&slots, &slots.list[0]));
	end();
}

TEST(what_ends_us_each_time_is_given_up)
{
	begin(1);
	for (int i = 0; i < 2; i++) {
		begun(1, "LEASED");
		expect(SLOT_FRESH, 1);
	}
	begun(1, "LEASED");
	expect(SLOT_GIVE_UP, 1);
	end();
}

/* Without retries too it can go on once: FROZEN is no second time. */
TEST(times_are_counted_where_the_attempt_stands)
{
	begin(0);
	begun(1, "LEASED");
	expect(SLOT_FRESH, 1);
	begun(1, "LEASED");
	begun(1, "AGENT");
	agent_ended(1);
	expect(SLOT_CONTINUE, 1);
	begun(1, "FROZEN");
	begun(1, "BUILT");
	expect(SLOT_CONTINUE, 1);
	begun(1, "FROZEN");
	expect(SLOT_GIVE_UP, 1);
	recorded(1, "'taken up too often'", false);
	CHECK(slots_is_final(&slots, &slots.list[0]));
	end();
}

TEST(a_run_that_the_operator_stops_again_and_again_gives_nothing_up)
{
	begin(0);
	run_agent(1);
	for (int i = 0; i < 10; i++) {
		begun(1, "FROZEN");
		CHECK_INT(note_text("run.stopped", "{}"), 0);
		CHECK_INT(note_text("run.resumed", "{}"), 0);
		expect(SLOT_CONTINUE, 1);
	}
	end();
}

TEST(only_a_last_line_that_says_so_closes_the_run)
{
	begin(0);
	CHECK_INT(note_text("run.planned", "{}"), 0);
	CHECK(!slots.is_closed);
	CHECK_INT(note_text("run.finished", "{}"), 0);
	CHECK(slots.is_closed);
	CHECK_INT(note_text("run.resumed", "{}"), 0);
	CHECK(!slots.is_closed);
	CHECK_INT(note_text("run.finished", "{}"), 0);
	begun(1, "LEASED");
	CHECK(!slots.is_closed);
	end();
}

TEST(a_line_about_nothing_that_was_planned_is_refused)
{
	begin(0);
	refuse("attempt.x", "{'slot':1,'attempt':1}", "key 'task' is missing");
	refuse("attempt.x", "{'task':'one','attempt':1}", "key 'slot' is missing");
	refuse("attempt.x", "{'task':'one','slot':1}", "key 'attempt' is missing");
	refuse("attempt.x", "{'task':'three','slot':1,'attempt':1}",
	       "the plan has no task 'three'");
	refuse("attempt.x", "{'task':'one','slot':0,'attempt':1}",
	       "key 'slot': 0 is not within 1..2");
	refuse("attempt.x", "{'task':'one','slot':3,'attempt':1}",
	       "key 'slot': 3 is not within 1..2");
	refuse("attempt.x", "{'task':'one','slot':1,'attempt':0}",
	       "key 'attempt': 0 is not within 1..16777216");
	refuse("attempt.x", "{'task':'one','slot':1,'attempt':16777217}",
	       "key 'attempt': 16777217 is not within 1..16777216");
	refuse("attempt.x", "{'task':1,'slot':1,'attempt':1}", "key 'task' is not a text");
	end();
}

#define ONE(attempt)          "{'task':'one','slot':1,'attempt':" attempt "}"
#define BEGUN(attempt, state) "{'task':'one','slot':1,'attempt':" attempt ",'state':'" state "'}"

TEST(a_state_that_is_none_is_refused)
{
	begin(0);
	refuse(ATTEMPT_BEGUN, ONE("1"), "key 'state' is missing");
	refuse(ATTEMPT_BEGUN, BEGUN("1", "SLEEPING"), "'SLEEPING' is no state that is begun");
	refuse(ATTEMPT_BEGUN, BEGUN("1", "PLANNED"), "'PLANNED' is no state that is begun");
	refuse(ATTEMPT_BEGUN, BEGUN("1", "RECORDED"), "'RECORDED' is no state that is begun");
	end();
}

TEST(numbers_that_belong_to_others_are_refused)
{
	begin(1);
	refuse(ATTEMPT_BEGUN, BEGUN("2", "LEASED"), "2 is no number that slot 1 can have now");
	refuse(ATTEMPT_BEGUN, BEGUN("3", "LEASED"), "3 is no number that slot 1 can have now");
	begun(1, "LEASED");
	refuse(ATTEMPT_BEGUN, BEGUN("3", "LEASED"), "3 is no number that slot 1 can have now");
	recorded(1, "'ours'", false);
	refuse(ATTEMPT_BEGUN, BEGUN("1", "LEASED"), "1 is no number that slot 1 can have now");
	refuse(ATTEMPT_BEGUN, BEGUN("2", "LEASED"), "2 is no number that slot 1 can have now");
	note(ATTEMPT_BEGUN, "one", 2, 2, "'state':'LEASED'");
	recorded_of("one", 2, 2, "'ours'", false);
	note(ATTEMPT_BEGUN, "one", 2, 3, "'state':'LEASED'");
	refuse(ATTEMPT_BEGUN, BEGUN("3", "LEASED"), "3 is no number that slot 1 can have now");
	begun(4, "LEASED");
	end();
}

TEST(no_line_starts_an_agent_twice)
{
	begin(1);
	begun(1, "LEASED");
	begun(1, "AGENT");
	refuse(ATTEMPT_BEGUN, BEGUN("1", "AGENT"),
	       "attempt 1 can not go to 'AGENT' from where it is");
	refuse(ATTEMPT_BEGUN, BEGUN("1", "LEASED"),
	       "attempt 1 has no record yet: its agent was started");
	refuse(ATTEMPT_BEGUN, BEGUN("3", "LEASED"),
	       "attempt 1 has no record yet: no other one can begin");
	agent_ended(1);
	refuse(ATTEMPT_BEGUN, BEGUN("1", "LEASED"),
	       "attempt 1 has no record yet: its agent was started");
	refuse(ATTEMPT_BEGUN, BEGUN("1", "AGENT"),
	       "attempt 1 can not go to 'AGENT' from where it is");
	recorded(1, "'ours'", false);
	refuse(ATTEMPT_BEGUN, BEGUN("1", "AGENT"),
	       "attempt 1 can not go to 'AGENT' from where it is");
	end();
}

TEST(no_state_is_left_out)
{
	begin(0);
	refuse(ATTEMPT_AGENT_LINE, ONE("1"), "attempt 1 has not begun");
	refuse(ATTEMPT_BEGUN, BEGUN("1", "AGENT"),
	       "attempt 1 can not go to 'AGENT' from where it is");
	refuse("attempt.frozen", ONE("1"), "attempt 1 has not begun");
	begun(1, "LEASED");
	refuse("attempt.frozen", ONE("1"), "nothing of attempt 1 is there to be frozen");
	refuse(ATTEMPT_AGENT_LINE, ONE("1"), "no agent of attempt 1 was started");
	refuse(ATTEMPT_BEGUN, BEGUN("1", "FROZEN"),
	       "attempt 1 can not go to 'FROZEN' from where it is");
	refuse(ATTEMPT_BEGUN, BEGUN("1", "JUDGED"),
	       "attempt 1 can not go to 'JUDGED' from where it is");
	refuse("attempt.built", ONE("2"), "attempt 2 has not begun");
	end();
}

/* The keeper would give no key to anybody any more. */
TEST(what_is_frozen_has_a_root)
{
	begin(0);
	run_agent(1);
	begun(1, "FROZEN");
	refuse("attempt.frozen", ONE("1"), "key 'candidate' is missing");
	refuse("attempt.frozen", "{'task':'one','slot':1,'attempt':1,'candidate':'abc'}",
	       "key 'candidate' is no SHA-256");
	note("attempt.frozen", "one", 1, 1,
	     "'candidate':'0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'");
	end();
}

TEST(a_record_is_written_once_and_is_the_attempts_own)
{
	begin(0);
	refuse(ATTEMPT_RECORDED_LINE, ONE("1"), "attempt 1 has not begun");
	begun(1, "LEASED");
	refuse(ATTEMPT_RECORDED_LINE, ONE("1"), "a record: key 'stopped' is missing");
	refuse(ATTEMPT_RECORDED_LINE, "{'task':'one','slot':1,'attempt':1,'stopped':false}",
	       "a record: key 'attempt' is missing");
	CHECK_INT(slots.recorded, 0);
	refuse(ATTEMPT_RECORDED_LINE,
	       "{'task':'one','slot':1,'attempt':1,'stopped':false,'record':{'task':'one',"
	       "'attempt':2,'committed_first':true,'built':true,'rejected':{'total':0},"
	       "'unused':{'total':0}}}",
	       "the record is that of another attempt");
	refuse(ATTEMPT_RECORDED_LINE,
	       "{'task':'one','slot':1,'attempt':1,'stopped':false,'record':{'task':'two',"
	       "'attempt':1,'committed_first':true,'built':true,'rejected':{'total':0},"
	       "'unused':{'total':0}}}",
	       "the record is that of another attempt");
	refuse(ATTEMPT_RECORDED_LINE,
	       "{'task':'one','slot':1,'attempt':1,'stopped':false,'record':{'attempt':1,"
	       "'committed_first':true,'built':true,'rejected':{'total':0},'unused':{'total':0}}}",
	       "the record is that of another attempt");
	recorded(1, "null", false);
	refuse("attempt.judged", ONE("1"), "attempt 1 has a record already");
	refuse(ATTEMPT_BEGUN, BEGUN("3", "LEASED"), "attempt 1 has the last record of slot 1");
	CHECK_INT(slots.recorded, 1);
	end();
}
