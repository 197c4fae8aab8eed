/* SPDX-License-Identifier: Apache-2.0 */

/* Seats that want what they must not have: an agent's files may have made something else of one. */

#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/run/schedule.h"
#include "sandbox/base/clock.h"
#include "tests/lib/check.h"
#include "tests/lib/seats.h"

static struct err err;

/* The first seat of an attempt sends this behind its first line, and expects to be ended. */
static struct seat_ask evil;
static size_t evil_len;
static bool evil_at_once;

static int be_evil(const struct slot *slot, enum slot_work work, struct seat *seat, struct err *why)
{
	if (seats.shared->count++ > 0)
		return seats_go_well(slot, work, seat, why);
	if (!evil_at_once)
		seats_say_begun(seat, "LEASED");
	SEAT_CHECK(send(seat->fd, &evil, evil_len, 0) == (ssize_t) evil_len);
	poll(NULL, 0, 60 * 1000);
	SEAT_CHECK(false);
	return 0;
}

static void make_evil(const char *event, const char *text)
{
	evil = (struct seat_ask){ .magic = SEAT_MAGIC, .kind = SEAT_LINE };
	evil.len = (uint32_t) strlen(text);
	memcpy(evil.event, event, strlen(event));
	memcpy(evil.text, text, strlen(text));
	evil_len = offsetof(struct seat_ask, text) + evil.len;
}

/* The seat is ended, nothing of it is in the journal, and the attempt goes on. */
static void check_thrown_out(void)
{
	int64_t began_at = clock_now();

	seats_begin(1, 1, 1);
	seats.run.planned.retries = 1;
	seats.play = be_evil;
	seats_schedule();
	CHECK(clock_now() - began_at < 8 * NS_PER_S);
	CHECK_INT(seats.run.slots.recorded, 1);
	CHECK_INT(seats.run.slots.infra, 0);
	CHECK_INT(seats.shared->seats, 2);
	CHECK_INT(seats_count("\n"), 1 + (evil_at_once ? 0 : 1) + SEATS_STEPS + 1 + 1);
	seats_end();
	CHECK_INT(unlinkat(check_folder(), JOURNAL_FILE, 0), 0);
}

TEST(a_seat_can_write_no_other_events)
{
	static const char *const events[] = { "run.finished", "run.planned",   "journal.opened",
					      "run.stopped",  "attempt",       "",
					      "attempts.x",   " attempt.begun" };

	for (size_t i = 0; i < ARRAY_LEN(events); i++) {
		make_evil(events[i], "{\"state\":\"AGENT\"}");
		check_thrown_out();
	}
}

TEST(a_seat_can_not_say_whose_line_it_is_or_where_it_stands)
{
	static const char *const texts[] = {
		"{\"task\":\"two\"}",
		"{\"slot\":2}",
		"{\"attempt\":2}",
		"{\"seq\":1}",
		"{\"prev\":\"0\"}",
		"{\"time_ns\":1}",
		"{\"event\":\"run.finished\"}",
		"{\"sum\":\"0\"}",
		"{\"x\":1,\"attempt\":2}",
		"{\"\\u0061ttempt\":2}",
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		make_evil("attempt.x", texts[i]);
		check_thrown_out();
	}
}

TEST(what_is_no_object_of_plain_keys_is_not_written)
{
	static const char *const texts[] = {
		"",
		"x",
		"[]",
		"{",
		"{}}",
		"{\"x\":1,\"x\":2}",
		"{\"a b\":1}",
		"{\"\":1}",
		"{\"x\\\"y\":1}",
		"{\"x\":{\"y z\":1}}",
		"{\"x\":[{\"y z\":1}]}",
		"{\"x\":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}",
		"{\"x\":\"\xff\"}",
		"{\"x\":1e999}",
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		make_evil("attempt.x", texts[i]);
		check_thrown_out();
	}
	make_evil("attempt.x", "{}");
	memcpy(evil.text, "{\0", 2);
	check_thrown_out();
}

TEST(a_line_that_no_run_could_be_resumed_from_is_not_written)
{
	static const struct {
		const char *event, *text;
	} lines[] = {
		{ ATTEMPT_BEGUN, "{\"state\":\"JUDGED\"}" },
		{ ATTEMPT_BEGUN, "{\"state\":\"RECORDED\"}" },
		{ ATTEMPT_BEGUN, "{\"state\":7}" },
		{ ATTEMPT_BEGUN, "{}" },
		{ ATTEMPT_AGENT_LINE, "{}" },
		{ KEEPER_FROZEN, "{}" },
		{ ATTEMPT_RECORDED_LINE, "{}" },
		{ ATTEMPT_RECORDED_LINE, "{\"stopped\":false,\"record\":{}}" },
		{ ATTEMPT_RECORDED_LINE,
		  "{\"stopped\":false,\"record\":{\"task\":\"two\",\"attempt\":1,"
		  "\"committed_first\":true,\"built\":true,\"rejected\":{\"total\":0},"
		  "\"unused\":{\"total\":0}}}" },
	};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		make_evil(lines[i].event, lines[i].text);
		check_thrown_out();
	}
}

TEST(what_is_no_question_ends_the_seat)
{
	make_evil("attempt.x", "{}");
	evil.kind = 99;
	check_thrown_out();
	make_evil("attempt.x", "{}");
	evil.magic++;
	check_thrown_out();
	make_evil("attempt.x", "{}");
	evil_len--;
	check_thrown_out();
	make_evil("attempt.x", "{}");
	memset(evil.event, 'e', sizeof(evil.event));
	check_thrown_out();
	evil_len = 1;
	check_thrown_out();
}

TEST(a_seat_that_begins_with_nonsense_has_not_begun)
{
	evil_at_once = true;
	make_evil("run.finished", "{}");
	check_thrown_out();
}

static int be_evil_always(const struct slot *slot, enum slot_work work, struct seat *seat,
			  struct err *why)
{
	seats.shared->count = 0;
	return be_evil(slot, work, seat, why);
}

TEST(seats_that_all_begin_with_nonsense_end_the_run_and_the_last_one_is_told)
{
	seats_begin(1, 1, 1);
	evil_at_once = true;
	make_evil("run.finished", "{}");
	seats.play = be_evil_always;
	seats_check_fails(ERR_SYS,
			  "3 seats in a row ended before they had begun: a seat wants to write "
			  "'run.finished'");
	seats_end();
}

/* It asks for more and more, and reads none of what it gets. */
static int never_listen(const struct slot *slot, enum slot_work work, struct seat *seat,
			struct err *why)
{
	if (slot->number != 1 || seats.shared->count++ > 0)
		return seats_go_well(slot, work, seat, why);
	seats_say_begun(seat, "LEASED");
	make_evil("attempt.x", "{}");
	for (;;)
		SEAT_CHECK(send(seat->fd, &evil, evil_len, 0) == (ssize_t) evil_len);
	return 0;
}

TEST(a_seat_that_does_not_take_its_answers_is_ended_and_keeps_nobody_waiting)
{
	seats_begin(1, 4, 2);
	seats.run.planned.retries = 1;
	seats.play = never_listen;
	seats_schedule();
	CHECK_INT(seats.run.slots.recorded, 4);
	CHECK_INT(seats.run.slots.infra, 0);
	CHECK_INT(seats.shared->seats, 5);
	seats_end();
}
