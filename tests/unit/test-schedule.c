/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/schedule.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "tests/lib/check.h"
#include "tests/lib/seats.h"

static struct err err;

/* --- seats side by side --- */

static int meet(const struct slot *slot, enum slot_work work, struct seat *seat, struct err *why)
{
	int now = ++seats.shared->now;

	if (now > seats.shared->most)
		seats.shared->most = now;
	seats_say_begun(seat, "LEASED");
	/* The first four wait for each other. */
	if (++seats.shared->count <= 4)
		seats_wait_until(&seats.shared->count, 4);
	(void) work;
	seats.shared->now--;
	seats_say_recorded(slot, seat, NULL);
	(void) why;
	return 0;
}

TEST(so_many_seats_as_planned_are_at_work_at_one_time_and_no_more)
{
	seats_begin(2, 5, 4);
	seats.play = meet;
	seats_schedule();
	CHECK_INT(seats.shared->most, 4);
	CHECK_INT(seats.shared->seats, 10);
	CHECK_INT(seats.run.slots.recorded, 10);
	CHECK(slots_are_through(&seats.run.slots));
	CHECK_INT(seats.progress.done, 10);
	CHECK_INT(seats_count("\"event\":\"run.finished\""), 1);
	CHECK(strstr(seats_journal(), "\"event\":\"run.finished\",\"recorded\":10,\"infra\":0,"));
	seats_end();
}

TEST(the_operator_can_have_more_seats_than_planned)
{
	seats_begin(2, 5, 1);
	seats.place.seats = 4;
	seats.play = meet;
	seats_schedule();
	CHECK_INT(seats.shared->most, 4);
	seats_end();
}

TEST(more_seats_than_there_can_be_are_refused)
{
	char text[64];

	seats_begin(1, 1, 1);
	seats.place.seats = RUN_SEATS_MAX + 1;
	snprintf(text, sizeof(text), "%d seats are more than %d", RUN_SEATS_MAX + 1, RUN_SEATS_MAX);
	seats_check_fails(ERR_INPUT, text);
	CHECK_INT(seats.shared->seats, 0);
	seats.place.seats = RUN_SEATS_MAX; /* and one attempt */
	seats_schedule();
	CHECK_INT(seats.shared->seats, 1);
	seats_end();
}

TEST(one_seat_takes_the_slots_in_their_order_each_line_with_whose_it_is)
{
	const char *at;

	seats_begin(2, 2, 1);
	seats_schedule();
	at = seats_journal();
	for (int i = 0; i < 4; i++) {
		char whose[128];

		snprintf(
			whose, sizeof(whose),
			"\"event\":\"attempt.recorded\",\"task\":\"%s\",\"slot\":%d,\"attempt\":%d,"
			"\"stopped\":false,\"record\":{",
			seats_tasks[i / 2].name, i % 2 + 1, i % 2 + 1);
		at = strstr(at, whose);
		if (!at)
			check_fail(__FILE__, __LINE__, "there is no %s", whose);
	}
	CHECK_INT(seats_count("\"event\":\"attempt."), 4 * (SEATS_STEPS + 1));
	seats_end();
}

TEST(a_run_that_is_finished_is_left_as_it_is_and_at_once)
{
	int64_t began_at;
	int lines;

	seats_begin(1, 1, 1);
	seats_schedule();
	lines = seats_count("\n");
	seats.run.slots.is_closed = true; /* as the journal says */
	began_at = clock_now();
	seats_schedule();
	CHECK(clock_now() - began_at < NS_PER_S / 2);
	CHECK_INT(seats_count("\n"), lines);
	CHECK_INT(seats.shared->seats, 1);
	seats_end();
}

/* --- seats that die --- */

static size_t die_at;

/* Dies once, behind the line @die_at. */
static int die_once(const struct slot *slot, enum slot_work work, struct seat *seat,
		    struct err *why)
{
	if (seats.shared->count++ == 0) {
		seats_go(work, seat, die_at);
		raise(SIGKILL);
	}
	return seats_go_well(slot, work, seat, why);
}

TEST(a_seat_that_is_killed_behind_any_line_loses_no_attempt)
{
	for (die_at = 0; die_at < SEATS_STEPS; die_at++) {
		const bool is_cut = die_at == SEATS_AGENT; /* nothing is known of its agent */

		seats_begin(1, 1, 1);
		seats.run.planned.retries = 1;
		seats.play = die_once;
		seats_schedule();
		CHECK_INT(seats.run.slots.infra, is_cut ? 1 : 0);
		CHECK_INT(seats.run.slots.recorded, is_cut ? 2 : 1);
		CHECK_INT(seats.run.slots.list[0].attempt, is_cut ? 2 : 1);
		CHECK(!seats.run.slots.list[0].record.infra);
		CHECK_INT(seats.shared->seats, is_cut ? 3 : 2);
		CHECK_INT(seats_count("\"attempt\":1,\"state\":\"AGENT\""), 1);
		seats_end();
		CHECK_INT(unlinkat(check_folder(), JOURNAL_FILE, 0), 0);
	}
}

static int die_always(const struct slot *slot, enum slot_work work, struct seat *seat,
		      struct err *why)
{
	if (work == SLOT_GIVE_UP || slot->attempt > 1)
		return seats_go_well(slot, work, seat, why);
	seats_go(work, seat, die_at);
	raise(SIGKILL);
	return 0;
}

TEST(what_kills_each_seat_is_given_up_as_infra_and_tried_again_as_often_as_planned)
{
	static const size_t behind[] = { 0, 1, 4, 7, 9 };

	for (size_t i = 0; i < ARRAY_LEN(behind); i++) {
		die_at = behind[i];
		seats_begin(1, 1, 1);
		seats.run.planned.retries = 1;
		seats.play = die_always;
		seats_schedule();
		CHECK_INT(seats.run.slots.infra, 1);
		CHECK(strstr(seats_journal(), "\"infra\":\"given up\""));
		CHECK_INT(seats.run.slots.list[0].attempt, 2);
		CHECK(!seats.run.slots.list[0].record.infra);
		/* Of those that died one was the first, and one a retry. */
		CHECK_INT(seats.shared->seats, 3 + 1 + 1);
		seats_end();
		CHECK_INT(unlinkat(check_folder(), JOURNAL_FILE, 0), 0);
	}
}

TEST(without_retries_it_is_given_up_too_and_the_others_are_carried_out)
{
	die_at = 4;
	seats_begin(2, 1, 1);
	seats.play = die_always;
	seats_schedule();
	CHECK_INT(seats.run.slots.recorded, 2);
	CHECK_INT(seats.run.slots.infra, 2); /* attempt 1 of either task */
	CHECK(slots_are_through(&seats.run.slots));
	seats_end();
}

static int die_first(const struct slot *slot, enum slot_work work, struct seat *seat,
		     struct err *why)
{
	if (seats.shared->count++ < 2)
		raise(SIGKILL);
	return seats_go_well(slot, work, seat, why);
}

TEST(two_seats_that_die_before_their_first_line_end_nothing)
{
	seats_begin(1, 2, 1);
	seats.play = die_first;
	seats_schedule();
	CHECK_INT(seats.run.slots.recorded, 2);
	CHECK_INT(seats.run.slots.infra, 0);
	CHECK_INT(seats.shared->seats, 4);
	seats_end();
}

static int die_unborn(const struct slot *slot, enum slot_work work, struct seat *seat,
		      struct err *why)
{
	(void) slot;
	(void) work;
	(void) seat;
	(void) why;
	return raise(SIGKILL);
}

TEST(seats_that_all_die_before_their_first_line_end_the_run)
{
	seats_begin(1, 9, 1);
	seats.play = die_unborn;
	seats_check_fails(ERR_SYS, "3 seats in a row ended before they had begun");
	CHECK_INT(seats.shared->seats, 3);
	CHECK_INT(seats_count("\n"), 1);
	seats_end();
}

static int interrupt(const struct slot *slot, enum slot_work work, struct seat *seat,
		     struct err *why)
{
	raise(SIGINT);
	raise(SIGHUP);
	raise(SIGTERM);
	return seats_go_well(slot, work, seat, why);
}

TEST(a_signal_from_the_terminal_ends_no_seat)
{
	seats_begin(1, 1, 1);
	seats.play = interrupt;
	seats_schedule();
	CHECK_INT(seats.shared->seats, 1);
	seats_end();
}

static int sleep_long(const struct slot *slot, enum slot_work work, struct seat *seat,
		      struct err *why)
{
	(void) slot;
	(void) work;
	(void) why;
	seats_say_begun(seat, "LEASED");
	seats.shared->count++;
	poll(NULL, 0, 60 * 1000);
	return 0;
}

TEST(seats_die_with_proctor)
{
	struct process proctor = PROCESS_INIT;
	int64_t deadline = clock_after_ms(10 * 1000);
	int side;

	seats_begin(1, 3, 3);
	seats.play = sleep_long;
	side = process_fork(&proctor, &err);
	CHECK_OK(side);
	if (side == 0)
		_exit(schedule_run(&seats.run, &err) < 0);
	seats_wait_until(&seats.shared->count, 3);
	process_kill(&proctor);
	for (int i = 0; i < 3; i++) {
		while (kill(seats.shared->pids[i], 0) == 0 && clock_now() < deadline)
			poll(NULL, 0, 5);
		CHECK(kill(seats.shared->pids[i], 0) < 0);
	}
	/* The journal is nobody's any more, as is all else that seats had of it. */
	journal_done(&seats.run.journal);
	CHECK_OK(journal_open(&seats.run.journal, check_folder(), &err));
	seats_end();
}

static int look_around(const struct slot *slot, enum slot_work work, struct seat *seat,
		       struct err *why)
{
	int sockets = 0;

	for (int fd = 3; fd < 100; fd++) {
		char path[64], link[256] = "";

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (readlink(path, link, sizeof(link) - 1) < 0)
			continue;
		SEAT_CHECK(!strstr(link, JOURNAL_FILE));
		sockets += strncmp(link, "socket:", 7) == 0;
	}
	SEAT_CHECK(sockets == 1); /* its own: not the keeper's, not those of others */
	seats.shared->count++;
	seats_wait_until(&seats.shared->count, 3);
	return seats_go_well(slot, work, seat, why);
}

TEST(a_seat_has_neither_the_journal_nor_the_keeper_nor_the_sockets_of_others)
{
	seats_begin(1, 3, 3);
	seats.play = look_around;
	seats_schedule();
	CHECK_INT(seats.run.slots.recorded, 3);
	seats_end();
}

/* --- the end of a run --- */

static int rest_when_told(const struct slot *slot, enum slot_work work, struct seat *seat,
			  struct err *why)
{
	const uint64_t one = 1;

	seats_go(work, seat, slot->number == 1 ? 5 : 0);
	if (++seats.shared->count == 2)
		SEAT_CHECK(write(seats.place.stop_fd, &one, sizeof(one)) == sizeof(one));
	for (int i = 0; i < 2000 && !seat_wants_to_stop(seat); i++)
		poll(NULL, 0, 5);
	SEAT_CHECK(seat_wants_to_stop(seat));
	SEAT_CHECK(seat_use(seat, TIMING_NOTHING, why) == 0 || seat_wants_to_stop(seat));
	return 0;
}

TEST(the_operators_wish_reaches_all_seats_and_no_further_one_begins)
{
	seats_begin(1, 5, 2);
	seats.play = rest_when_told;
	seats_schedule();
	CHECK(seats.run.stopped);
	CHECK_INT(seats.shared->seats, 2);
	CHECK_INT(seats.run.slots.recorded, 0);
	CHECK_INT(seats.run.slots.list[0].state, SLOT_GOING);
	CHECK_INT(seats.run.slots.list[1].state, SLOT_BEGUN);
	CHECK_INT(seats.run.slots.list[2].state, SLOT_PLANNED);
	CHECK(strstr(seats_journal(), "\"event\":\"run.stopped\",\"recorded\":0,\"infra\":0,"));
	CHECK_INT(seats_count("run.finished"), 0);
	seats_end();
}

static int wait_for_an_end(const struct slot *slot, enum slot_work work, struct seat *seat,
			   struct err *why)
{
	(void) slot;
	(void) work;
	(void) why;
	seats_say_begun(seat, "LEASED");
	seats.shared->count++;
	for (int i = 0; i < 6000 && !seat_wants_to_stop(seat); i++)
		poll(NULL, 0, 5);
	return 0;
}

static struct process kill_when(int least, pid_t pid)
{
	struct process helper = PROCESS_INIT;
	int side = process_fork(&helper, &err);

	CHECK_OK(side);
	if (side == 0) {
		seats_wait_until(&seats.shared->count, least);
		_exit(kill(pid, SIGKILL) < 0);
	}
	return helper;
}

TEST(a_launcher_that_dies_ends_the_run_and_all_seats)
{
	struct process helper;

	seats_begin(1, 4, 3);
	seats.play = sleep_long;
	helper = kill_when(3, seats.launcher.process.pid);
	seats_check_fails(ERR_SYS, "the launcher has died");
	CHECK_INT(seats.shared->seats, 3);
	process_kill(&helper);
	seats_end();
}

TEST(a_keeper_that_dies_ends_the_run_and_all_seats)
{
	struct process helper;

	seats_begin(1, 4, 3);
	seats.play = sleep_long;
	helper = kill_when(3, seats.run.keeper.process.pid);
	seats_check_fails(ERR_SYS, "the keeper has died");
	CHECK_INT(seats.shared->seats, 3);
	process_kill(&helper);
	seats_end();
}

static int fail_second(const struct slot *slot, enum slot_work work, struct seat *seat,
		       struct err *why)
{
	if (slot->number != 2)
		return wait_for_an_end(slot, work, seat, why);
	seats_say_begun(seat, "LEASED");
	seats_wait_until(&seats.shared->count, 1);
	return err_set(why, ERR_HOST, "write 'record.json': No space left on device");
}

TEST(a_seat_that_can_not_go_on_ends_the_run_in_its_own_words_and_stops_the_others)
{
	seats_begin(1, 4, 2);
	seats.play = fail_second;
	seats_check_fails(ERR_HOST, "write 'record.json': No space left on device");
	CHECK_INT(seats.shared->seats, 2);
	CHECK(!seats.run.stopped);
	CHECK_INT(seats_count("run.stopped") + seats_count("run.finished"), 0);
	seats_end();
}

/* The journal does not take the line of the second one. */
static int break_journal(const struct slot *slot, enum slot_work work, struct seat *seat,
			 struct err *why)
{
	if (slot->number != 2)
		return wait_for_an_end(slot, work, seat, why);
	seats_say_begun(seat, "LEASED");
	seats_wait_until(&seats.shared->count, 1);
	SEAT_CHECK(kill(getppid(), SIGUSR1) == 0);
	for (int i = 0; i < 2000 && seats.shared->count < 100; i++)
		poll(NULL, 0, 5);
	seat_begin(seat, "attempt.x");
	return seat_commit(seat, why);
}

static void on_usr1(int signal)
{
	(void) signal;
	seats.run.journal.is_broken = true;
	seats.shared->count = 100;
}

TEST(a_journal_that_can_not_be_written_ends_the_run_and_stops_the_others)
{
	seats_begin(1, 4, 2);
	seats.play = break_journal;
	signal(SIGUSR1, on_usr1);
	seats_check_fails(ERR_SYS,
			  "the journal can not be written after an earlier failure: `proctor "
			  "resume` goes on");
	CHECK_INT(seats.shared->seats, 2);
	seats_end();
}

/* --- the timing lease --- */

static void have(struct seat *seat, enum timing_use use)
{
	SEAT_CHECK(seat_use(seat, use, &err) == 0);
	if (use == TIMING_MARK) {
		SEAT_CHECK(seats.shared->marking++ == 0 && seats.shared->working == 0);
		poll(NULL, 0, 20);
		SEAT_CHECK(--seats.shared->marking == 0 && seats.shared->working == 0);
	} else {
		seats.shared->working++;
		SEAT_CHECK(seats.shared->marking == 0);
		poll(NULL, 0, 20);
		SEAT_CHECK(seats.shared->marking == 0);
		seats.shared->working--;
	}
}

static int take_turns(const struct slot *slot, enum slot_work work, struct seat *seat,
		      struct err *why)
{
	have(seat, TIMING_WORK);
	seats_go(work, seat, 5);
	have(seat, TIMING_MARK);
	seats_say_recorded(slot, seat, NULL);
	(void) why;
	return 0;
}

TEST(on_a_scarce_host_nothing_is_marked_beside_anything_else)
{
	seats_begin(2, 4, 4);
	seats.play = take_turns;
	seats_schedule();
	CHECK_INT(seats.run.slots.recorded, 8);
	CHECK_INT(seats.shared->seats, 8);
	seats_end();
}

/* With what it had, or was waiting for. */
static int die_with_lease(const struct slot *slot, enum slot_work work, struct seat *seat,
			  struct err *why)
{
	int number = seats.shared->count++;

	if (number < 3) {
		seats_say_begun(seat, "LEASED");
		SEAT_CHECK(seat_use(seat, number == 1 ? TIMING_WORK : TIMING_MARK, why) == 0);
		raise(SIGKILL);
	}
	return take_turns(slot, work, seat, why);
}

TEST(what_a_seat_had_that_died_others_get)
{
	seats_begin(1, 6, 3);
	seats.run.planned.retries = 3;
	seats.play = die_with_lease;
	seats_schedule();
	CHECK_INT(seats.run.slots.recorded, 6);
	CHECK_INT(seats.shared->seats, 9);
	seats_end();
}

/* --- the keeper's socket --- */

static int bind_and_ask(const struct slot *slot, enum slot_work work, struct seat *seat,
			struct err *why)
{
	const struct digest root = { { 1 } }; /* that of seats_say() */
	struct keeper_answer answer;
	auto_fd fd = -1;

	SEAT_CHECK(seat_bind(seat, &fd, why) == 0);
	SEAT_CHECK(keeper_ask(fd, &root, clock_after_ms(5000), &answer, why) == 0);
	SEAT_CHECK(answer.status == KEEPER_NOT_FROZEN);
	seats_go(work, seat, SEATS_STEPS);
	SEAT_CHECK(keeper_ask(fd, &root, clock_after_ms(5000), &answer, why) == 0);
	SEAT_CHECK(answer.status == KEEPER_GRANTED);
	seats_say_recorded(slot, seat, NULL);
	return 0;
}

TEST(a_seat_gets_the_keepers_socket_for_its_attempt)
{
	seats_begin(1, 3, 2);
	seats.play = bind_and_ask;
	seats_schedule();
	CHECK_INT(seats.run.slots.recorded, 3);
	seats_end();
}
