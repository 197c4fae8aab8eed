/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/schedule.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "harness/run/attempt.h"
#include "harness/run/seat.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/message.h"

/*
 * Theory of operation
 *
 * One loop, which never waits for one seat only: it forks a seat for the next slot while there is
 * room, answers what seats ask, and reaps those that are through. Each line of the journal goes
 * through write_line(), which adds whose it is and feeds the slots; so whatever becomes of a seat,
 * its slot stands where the journal says, and the next seat goes on from there.
 */

enum {
	TICK_MS = 1000,
	LEASE_MS = 20,           /* between two looks at the lease of the host, while we want it */
	SEAT_END_MS = 10 * 1000, /* for a seat that has hung up to be gone */
	STILLBORN_MAX = 3,       /* seats in a row that end before their first line */
};

/* A seat as proctor sees it. */
struct place {
	struct process process;
	int fd;            /* owned: our end; -1: no seat here */
	struct slot *slot; /* borrowed */
	enum timing_use has, wants;
	bool is_waiting; /* for what it wants */
	bool has_said;   /* a line was written for it */
};

struct schedule {
	struct run *run;
	struct timing timing;
	struct place *places; /* owned */
	size_t count;
	int stop_fd; /* owned: readable in the seats when they are to end */
	struct seat_ask *ask;
	size_t stillborn;   /* the last so many seats wrote no line */
	struct err refused; /* what the last seat that was thrown out has done */
	struct err failed;  /* why the run can not go on */
	char said[512];     /* by a seat, the last */
	bool is_waiting;    /* for another run of this host, and the operator was told */
};

/* --- seats begin and end --- */

/* Each place has GPUs of its own, so that all jails of an attempt see the same. */
static void take_gpus(struct run *run, size_t place)
{
	const size_t each = run_gpus_each(run);

	if (each == 0 || (place + 1) * each > run->planned.gpu_count)
		return;
	run->gpus = &run->planned.gpus[place * each];
	run->gpu_count = each;
}

/* @place: ours among those of the schedule, of which @fd is the other end. */
no_return static void be_seat(struct schedule *schedule, const struct place *place,
			      enum slot_work work, int fd, pid_t parent)
{
	const size_t index = (size_t) (place - schedule->places);
	struct slot *slot = place->slot;
	struct run *run = schedule->run;
	struct err err = ERR_INIT;
	struct seat seat;
	sigset_t none;

	sigemptyset(&none);
	prctl(PR_SET_NAME, "proctor-seat");
	/* ^C goes to all of us: what it means is told by proctor. */
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(1);
	/* The lock of the journal, the keeper, and the sockets of other seats are not ours. */
	fd_close(&run->journal.fd);
	fd_close(&run->keeper.control_fd);
	for (size_t i = 0; i < schedule->count; i++)
		fd_close(&schedule->places[i].fd);
	run->stop_fd = schedule->stop_fd;
	take_gpus(run, index);
	seat_init(&seat, fd, schedule->stop_fd);
	if (attempt_run(run, slot, work, &seat, &err) == 0)
		_exit(0);
	seat_fail(&seat, &err);
	_exit(1);
}

static int begin_seat(struct schedule *schedule, struct place *place, struct slot *slot,
		      enum slot_work work, struct err *err)
{
	auto_fd ours = -1, theirs = -1;
	pid_t self = getpid();
	int pair[2], side;

	if (message_pair(pair, err) < 0)
		return -1;
	ours = pair[0];
	theirs = pair[1];
	/* A seat that does not take its answers shall not keep us waiting. */
	if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
		return err_sys(err, "make a seat's socket");
	place->slot = slot;
	side = process_fork(&place->process, err);
	if (side < 0)
		return err_wrap(err, "begin a seat");
	if (side == 0) {
		fd_close(&ours);
		be_seat(schedule, place, work, theirs, self);
	}
	place->fd = fd_take(&ours);
	place->has = place->wants = TIMING_NOTHING;
	place->is_waiting = place->has_said = false;
	return 0;
}

static void release(struct schedule *schedule, struct place *place)
{
	if (place->is_waiting)
		timing_forget(&schedule->timing, place->wants);
	timing_give_back(&schedule->timing, place->has);
	place->has = place->wants = TIMING_NOTHING;
	place->is_waiting = false;
}

/* One may die of what has nothing to do with it; where each does, the next one would as well. */
static void count_stillborn(struct schedule *schedule, const struct place *place)
{
	if (schedule->run->stopped || schedule->failed.kind != ERR_NONE)
		return;
	schedule->stillborn = place->has_said ? 0 : schedule->stillborn + 1;
	if (schedule->stillborn >= STILLBORN_MAX)
		err_set(&schedule->failed, ERR_SYS,
			"%zu seats in a row ended before they had begun%s%s", schedule->stillborn,
			schedule->refused.kind == ERR_NONE ? "" : ": ", schedule->refused.text);
}

static void end_seat(struct schedule *schedule, struct place *place)
{
	struct err err = ERR_INIT;
	int status;

	release(schedule, place);
	fd_close(&place->fd);
	/* It may have been killed by us, and is reaped then. */
	if (place->process.pid_fd >= 0 &&
	    process_wait(&place->process, clock_after_ms(SEAT_END_MS), &status, &err) <= 0)
		process_kill(&place->process);
	count_stillborn(schedule, place);
	slots_leave(place->slot);
	if (slots_is_final(&schedule->run->slots, place->slot))
		progress_add(schedule->run->progress, 1, clock_now());
}

static void throw_out(struct schedule *schedule, struct place *place)
{
	process_kill(&place->process);
	end_seat(schedule, place);
}

static int fill_places(struct schedule *schedule, struct err *err)
{
	for (size_t i = 0; i < schedule->count; i++) {
		struct place *place = &schedule->places[i];
		enum slot_work work;
		struct slot *slot;

		if (place->fd >= 0)
			continue;
		slot = slots_next(&schedule->run->slots, &work);
		if (!slot)
			return 0;
		if (begin_seat(schedule, place, slot, work, err) < 0)
			return -1;
	}
	return 0;
}

static size_t count_seats(const struct schedule *schedule)
{
	size_t count = 0;

	for (size_t i = 0; i < schedule->count; i++)
		count += schedule->places[i].fd >= 0;
	return count;
}

/* --- what seats ask for --- */

/* A seat writes of its attempt, and whose that is it does not say. */
static int check_line(const struct seat_ask *ask, const struct json_value *fields, struct err *err)
{
	static const char *const ours[] = { "seq", "prev", "time_ns", "event",
					    "sum", "task", "slot",    "attempt" };

	if (strncmp(ask->event, "attempt.", 8) != 0)
		return err_set(err, ERR_SYS, "a seat wants to write '%s'", ask->event);
	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		if (json_member(fields, ours[i]))
			return err_set(err, ERR_SYS, "a seat wants to write the key '%s'", ours[i]);
	return 0;
}

/* The line's keys as they will be read again. */
static int make_line(struct schedule *schedule, const struct slot *slot, const struct seat_ask *ask,
		     struct json *out, struct err *err)
{
	cleanup(json_done) struct json fields = JSON_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	struct json_writer json;

	if (json_parse(&fields, ask->text, ask->len, JOURNAL_LINE_MAX, err) < 0 ||
	    check_line(ask, json_root(&fields), err) < 0)
		return -1;
	json_writer_init(&json, &text);
	json_put_object(&json, NULL);
	json_put_text(&json, "task", schedule->run->planned.tasks[slot->task].name);
	json_put_int(&json, "slot", slot->number);
	json_put_int(&json, "attempt", slot->attempt);
	if (json_put_members(&json, json_root(&fields), err) < 0)
		return -1;
	json_put_end(&json);
	return json_parse(out, text.text, text.len, JOURNAL_LINE_MAX, err);
}

static int write_line(struct run *run, const char *event, const struct json *line, struct err *err)
{
	if (json_put_members(journal_begin(&run->journal, event), json_root(line), err) < 0 ||
	    journal_commit(&run->journal, err) < 0)
		return -1;
	return slots_note(&run->slots, event, json_root(line), err);
}

static void answer(struct schedule *schedule, struct place *place, const struct err *why,
		   int passed_fd)
{
	if (seat_answer(place->fd, why, passed_fd) < 0)
		throw_out(schedule, place);
}

/*
 * What makes no sense is not written: no seat may leave a journal that a run can not be resumed
 * from. Whoever asks for that is thrown out, and its attempt goes on in another seat.
 */
static void on_line(struct schedule *schedule, struct place *place)
{
	cleanup(json_done) struct json line = JSON_INIT;
	const char *event = schedule->ask->event;
	struct run *run = schedule->run;
	struct err err = ERR_INIT;

	if (make_line(schedule, place->slot, schedule->ask, &line, &err) < 0 ||
	    slots_check(&run->slots, event, json_root(&line), &err) < 0) {
		schedule->refused = err;
		throw_out(schedule, place);
		return;
	}
	place->has_said = true;
	if (write_line(run, event, &line, &err) < 0 && schedule->failed.kind == ERR_NONE)
		schedule->failed = err;
	answer(schedule, place, &err, -1);
}

static void on_bind(struct schedule *schedule, struct place *place)
{
	const struct run *run = schedule->run;
	struct err err = ERR_INIT;
	auto_fd fd = -1;

	best_effort(keeper_bind(&run->keeper, run->planned.tasks[place->slot->task].name,
				place->slot->attempt, &fd, &err));
	answer(schedule, place, &err, fd);
}

/* It gives back what it has before it waits: two who both hold would wait for ever. */
static void on_use(struct schedule *schedule, struct place *place)
{
	release(schedule, place);
	place->wants = schedule->ask->use == TIMING_MARK ? TIMING_MARK : TIMING_WORK;
	place->is_waiting = true;
	timing_want(&schedule->timing, place->wants);
}

static void on_say(struct schedule *schedule)
{
	snprintf(schedule->said, sizeof(schedule->said), "%.*s",
		 (int) MIN_OF(schedule->ask->len, (uint32_t) 500), schedule->ask->text);
	progress_say(schedule->run->progress, schedule->said, clock_now());
}

/* Where all stands still for somebody else, the operator wants to know. */
static void say_waiting(struct schedule *schedule, bool is_waiting)
{
	char text[600];

	if (is_waiting == schedule->is_waiting)
		return;
	schedule->is_waiting = is_waiting;
	snprintf(text, sizeof(text), "%s%s", schedule->said,
		 is_waiting ? " (waits for another run on this host)" : "");
	progress_say(schedule->run->progress, text, clock_now());
}

/* The host's: what is wrong with an attempt is in its record, and no reason to stop. */
static void on_fail(struct schedule *schedule)
{
	if (schedule->failed.kind == ERR_NONE)
		err_set(&schedule->failed, ERR_HOST, "%.*s",
			(int) MIN_OF(schedule->ask->len, (uint32_t) 400), schedule->ask->text);
}

static void serve(struct schedule *schedule, struct place *place)
{
	struct err err = ERR_INIT;
	int got = seat_receive(place->fd, schedule->ask, &err);

	if (got < 0) {
		schedule->refused = err;
		throw_out(schedule, place);
	}
	if (got == 0)
		end_seat(schedule, place);
	if (got <= 0)
		return;
	switch (schedule->ask->kind) {
	case SEAT_LINE:
		on_line(schedule, place);
		break;
	case SEAT_BIND:
		on_bind(schedule, place);
		break;
	case SEAT_USE:
		on_use(schedule, place);
		break;
	case SEAT_SAY:
		on_say(schedule);
		break;
	case SEAT_FAIL:
		on_fail(schedule);
		break;
	default:
		throw_out(schedule, place);
	}
}

/* Those who wait get what there is; first who wants to mark. */
static bool grant(struct schedule *schedule)
{
	static const enum timing_use order[] = { TIMING_MARK, TIMING_WORK };
	const struct err none = ERR_INIT;
	bool is_waiting = false;

	for (size_t i = 0; i < ARRAY_LEN(order) * schedule->count; i++) {
		struct place *place = &schedule->places[i % schedule->count];

		if (place->fd < 0 || !place->is_waiting ||
		    place->wants != order[i / schedule->count])
			continue;
		if (!timing_try(&schedule->timing, place->wants)) {
			is_waiting = true;
			continue;
		}
		place->is_waiting = false;
		place->has = place->wants;
		answer(schedule, place, &none, -1);
	}
	is_waiting = is_waiting && schedule->timing.is_waiting_for_others;
	say_waiting(schedule, is_waiting);
	return is_waiting;
}

/* --- the loop --- */

enum { STOP, LAUNCHER, KEEPER, OTHERS };

static void stop_seats(struct schedule *schedule)
{
	const uint64_t one = 1;

	if (write(schedule->stop_fd, &one, sizeof(one)) < 0)
		for (size_t i = 0; i < schedule->count; i++)
			process_kill(&schedule->places[i].process);
}

/* Without these nothing can go on, and what runs would only find that out one by one. */
static void lose(struct schedule *schedule, const char *who)
{
	if (schedule->failed.kind == ERR_NONE)
		err_set(&schedule->failed, ERR_SYS, "the %s has died", who);
	for (size_t i = 0; i < schedule->count; i++)
		process_kill(&schedule->places[i].process);
}

static int wait_for_something(struct schedule *schedule, bool wants_lease, struct err *err)
{
	struct run *run = schedule->run;
	struct pollfd ready[OTHERS + RUN_SEATS_MAX] = {
		[STOP] = { .fd = run->stopped ? -1 : run->place->stop_fd, .events = POLLIN },
		[LAUNCHER] = launcher_poll(run->launcher),
		[KEEPER] = { .fd = run->keeper.process.pid_fd, .events = POLLIN },
	};

	for (size_t i = 0; i < schedule->count; i++)
		ready[OTHERS + i] =
			(struct pollfd){ .fd = schedule->places[i].fd, .events = POLLIN };
	if (poll(ready, OTHERS + schedule->count, wants_lease ? LEASE_MS : TICK_MS) < 0)
		return errno == EINTR ? 0 : err_sys(err, "wait for the seats");
	if (ready[LAUNCHER].revents)
		lose(schedule, "launcher");
	if (ready[KEEPER].revents)
		lose(schedule, "keeper");
	if (ready[STOP].revents) {
		run->stopped = true;
		stop_seats(schedule);
	}
	for (size_t i = 0; i < schedule->count; i++)
		if (ready[OTHERS + i].revents)
			serve(schedule, &schedule->places[i]);
	return 0;
}

static int turn(struct schedule *schedule, struct err *err)
{
	struct run *run = schedule->run;
	bool was_failed = schedule->failed.kind != ERR_NONE;

	if (!run->stopped && !was_failed && fill_places(schedule, err) < 0)
		return -1;
	if (wait_for_something(schedule, grant(schedule), err) < 0)
		return -1;
	if (schedule->failed.kind != ERR_NONE && !was_failed)
		stop_seats(schedule);
	progress_tick(run->progress, clock_now());
	return 0;
}

static int write_end(struct run *run, struct err *err)
{
	struct json_writer *json;

	if (run->slots.is_closed)
		return 0;
	json = journal_begin(&run->journal,
			     slots_are_through(&run->slots) ? "run.finished" : "run.stopped");
	json_put_int(json, "recorded", (int64_t) run->slots.recorded);
	json_put_int(json, "infra", (int64_t) run->slots.infra);
	return journal_commit(&run->journal, err);
}

static void schedule_done(struct schedule *schedule)
{
	for (size_t i = 0; i < schedule->count; i++) {
		fd_close(&schedule->places[i].fd);
		process_kill(&schedule->places[i].process);
	}
	mem_free(&schedule->places);
	mem_free(&schedule->ask);
	fd_close(&schedule->stop_fd);
}

static int make_places(struct schedule *schedule, struct err *err)
{
	const struct run *run = schedule->run;
	size_t count = run->place->seats > 0 ? run->place->seats : run->planned.seats;

	if (count > RUN_SEATS_MAX)
		return err_set(err, ERR_INPUT, "%zu seats are more than %d", count, RUN_SEATS_MAX);
	if (run_check_gpus(run, (uint32_t) count, err) < 0)
		return -1;
	schedule->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (schedule->stop_fd < 0)
		return err_sys(err, "make an eventfd");
	schedule->ask = mem_alloc(1, sizeof(*schedule->ask));
	schedule->places = mem_alloc(count, sizeof(*schedule->places));
	schedule->count = count;
	for (size_t i = 0; i < count; i++)
		schedule->places[i] = (struct place){ .process = PROCESS_INIT, .fd = -1 };
	return 0;
}

static bool is_going(const struct schedule *schedule)
{
	if (count_seats(schedule) > 0)
		return true;
	return !schedule->run->stopped && schedule->failed.kind == ERR_NONE &&
	       !slots_are_through(&schedule->run->slots);
}

int schedule_run(struct run *run, struct err *err)
{
	cleanup(schedule_done) struct schedule schedule = {
		.run = run,
		.stop_fd = -1,
		.refused = ERR_INIT,
		.failed = ERR_INIT,
	};

	if (make_places(&schedule, err) < 0)
		return -1;
	timing_init(&schedule.timing, &run->place->timing, &run->cpus);
	while (is_going(&schedule))
		if (turn(&schedule, err) < 0)
			return -1;
	if (schedule.failed.kind != ERR_NONE) {
		*err = schedule.failed;
		return -1;
	}
	return write_end(run, err);
}
