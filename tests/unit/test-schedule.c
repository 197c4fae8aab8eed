/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/schedule.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/run/attempt.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"
#include "tests/lib/check.h"

enum { TASKS_MAX = 2, SEATS_MAX = 512, PATIENCE_MS = 10 * 1000 };

/* What all processes of a test see. */
static struct shared {
	_Atomic int seats; /* so many were begun */
	_Atomic pid_t pids[SEATS_MAX];
	_Atomic int now, most;        /* at one time */
	_Atomic int marking, working; /* have that now */
	_Atomic int count;            /* a test's own */
	_Atomic bool failed;          /* a check in a seat */
} * shared;

static struct run_place place;
static struct launcher launcher;
static struct planned_task tasks[TASKS_MAX] = { { .name = "one" }, { .name = "two" } };
static struct planned_agent agents[] = { { .name = "x" } };
static struct progress progress;
static struct run run;
static struct err err;

/* What seats do, in place of attempt.c, which is not in this program. */
static int (*play)(const struct slot *slot, enum slot_work work, struct seat *seat,
		   struct err *why);

int attempt_run(struct run *its_run, const struct slot *slot, enum slot_work work,
		struct seat *seat, struct err *why)
{
	int number = shared->seats++, result;

	(void) its_run;
	if (number < SEATS_MAX)
		shared->pids[number] = getpid();
	result = play(slot, work, seat, why);
	seat_done(seat);
	return result;
}

/* In a seat a failed check is told by way of what all see. */
#define SEAT_CHECK(condition)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			check_note("in a seat, line %d: %s (%s)", __LINE__, #condition, err.text); \
			shared->failed = true;                                                     \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* --- what a seat can do --- */

static void say_begun(struct seat *seat, const char *state)
{
	struct json_writer *json = seat_begin(seat, ATTEMPT_BEGUN);

	json_put_text(json, "state", state);
	SEAT_CHECK(seat_commit(seat, &err) == 0);
}

static void say(struct seat *seat, const char *event)
{
	struct json_writer *json = seat_begin(seat, event);
	const struct digest root = { { 1 } };
	char hex[DIGEST_HEX];

	digest_hex(&root, hex);
	if (strcmp(event, KEEPER_FROZEN) == 0)
		json_put_text(json, "candidate", hex);
	SEAT_CHECK(seat_commit(seat, &err) == 0);
}

static void say_recorded(const struct slot *slot, struct seat *seat, const char *infra)
{
	const struct record record = { .task = tasks[slot->task].name,
				       .agent = "x",
				       .attempt = slot->attempt,
				       .is_built = true,
				       .infra = infra,
				       .seen = RECORD_MARK_NONE,
				       .unseen = RECORD_MARK_NONE };
	struct json_writer *json = seat_begin(seat, ATTEMPT_RECORDED_LINE);

	json_put_bool(json, "stopped", false);
	record_put(json, "record", &record);
	SEAT_CHECK(seat_commit(seat, &err) == 0);
}

/* The lines of an attempt, as attempt.c writes them. */
static const struct step {
	const char *event, *state;
} steps[] = {
	{ ATTEMPT_BEGUN, "LEASED" },  { ATTEMPT_LEASED_LINE, NULL }, { ATTEMPT_BEGUN, "AGENT" },
	{ ATTEMPT_AGENT_LINE, NULL }, { ATTEMPT_BEGUN, "FROZEN" },   { KEEPER_FROZEN, NULL },
	{ ATTEMPT_BEGUN, "BUILT" },   { "attempt.built", NULL },     { ATTEMPT_BEGUN, "JUDGED" },
	{ "attempt.judged", NULL },
};

enum { OF_AGENT = 2, BEHIND_AGENT = 4, ALL_STEPS = ARRAY_LEN(steps) };

/* The steps from where the attempt stands, up to @last of all and without the record. */
static void go(enum slot_work work, struct seat *seat, size_t last)
{
	for (size_t i = work == SLOT_CONTINUE ? BEHIND_AGENT : 0; i <= last && i < ALL_STEPS; i++) {
		if (steps[i].state)
			say_begun(seat, steps[i].state);
		else
			say(seat, steps[i].event);
	}
}

/* An attempt that goes well; one that can not go on is INFRA. */
static int go_well(const struct slot *slot, enum slot_work work, struct seat *seat, struct err *why)
{
	bool is_cut = work == SLOT_CUT || work == SLOT_GIVE_UP;

	(void) why;
	if (!is_cut)
		go(work, seat, ALL_STEPS);
	say_recorded(slot, seat, is_cut ? (work == SLOT_CUT ? "cut off" : "given up") : NULL);
	return 0;
}

static void wait_until(const _Atomic int *what, int least)
{
	int64_t deadline = clock_after_ms(PATIENCE_MS);

	while (*what < least && clock_now() < deadline)
		poll(NULL, 0, 2);
	SEAT_CHECK(*what >= least);
}

/* --- a run without tasks, agents and jails --- */

static struct process start_idle(void)
{
	struct process process = PROCESS_INIT;
	int side = process_fork(&process, &err);

	CHECK_OK(side);
	if (side == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		poll(NULL, 0, 60 * 1000);
		_exit(0);
	}
	return process;
}

static void begin(size_t task_count, uint32_t repeats, uint32_t seats)
{
	auto_fd reader = -1;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	CHECK(shared != MAP_FAILED);
	play = go_well;
	launcher = (struct launcher){ .process = start_idle(), .socket_fd = -1 };
	place = (struct run_place){ .folder_fd = check_folder(),
				    .secret_fd = -1,
				    .stop_fd = eventfd(0, EFD_CLOEXEC),
				    .timing = TIMING_FILES_INIT };
	progress_start(&progress, -1, false, 0, 1, clock_now());
	run = (struct run){ .place = &place,
			    .launcher = &launcher,
			    .planned = { .run = "run-1",
					 .tasks = tasks,
					 .agents = agents,
					 .task_count = task_count,
					 .agent_count = 1,
					 .repeats = repeats,
					 .seats = seats },
			    .policy = policy_default(),
			    .progress = &progress,
			    .cpus = { .judge = 0, .worker = 1 },
			    .null_fd = -1,
			    .worker_fd = -1 };
	CHECK_OK(journal_create(&run.journal, check_folder(), "run-1", &err));
	reader = journal_open_read(check_folder(), &err);
	CHECK_OK(reader);
	CHECK_OK(keeper_start(&run.keeper, "run-1", reader, -1, &err));
	slots_init(&run.slots, &run.planned, &run.arena);
}

/* Whoever was a seat is none any more. */
static void check_no_seat(void)
{
	for (int i = 0; i < shared->seats && i < SEATS_MAX; i++)
		if (kill(shared->pids[i], 0) == 0)
			check_fail(__FILE__, __LINE__, "process %d of seat %d is there",
				   (int) shared->pids[i], i);
}

/* A run that is resumed from the journal stands where this one does. */
static void check_journal(void)
{
	auto_fd fd = journal_open_read(check_folder(), &err);
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct journal_reader reader;
	struct journal_entry entry;
	struct slots again;
	int got;

	slots_init(&again, &run.planned, &arena);
	journal_reader_init(&reader, fd);
	while ((got = journal_read(&reader, &entry, &err)) > 0)
		if (slots_note(&again, entry.event, entry.fields, &err) < 0)
			check_fail(__FILE__, __LINE__, "line %d: %s", (int) entry.seq, err.text);
	CHECK_OK(got);
	CHECK_INT(again.recorded, run.slots.recorded);
	CHECK_INT(again.infra, run.slots.infra);
	for (size_t i = 0; i < again.count; i++) {
		if (again.list[i].state != SLOT_RECORDED)
			continue;
		CHECK_INT(again.list[i].failures, run.slots.list[i].failures);
		CHECK_INT(slots_is_final(&again, &again.list[i]),
			  slots_is_final(&run.slots, &run.slots.list[i]));
	}
	journal_reader_done(&reader);
	slots_done(&again);
}

static void end(void)
{
	check_no_seat();
	CHECK(!shared->failed);
	check_journal();
	keeper_done(&run.keeper);
	journal_done(&run.journal);
	slots_done(&run.slots);
	arena_done(&run.arena);
	policy_done(&run.policy);
	progress_done(&progress);
	process_kill(&launcher.process);
	fd_close(&place.stop_fd);
	CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void schedule(void)
{
	err = (struct err) ERR_INIT;
	CHECK_OK(schedule_run(&run, &err));
	check_no_seat();
}

/* schedule_run() fails with these words, soon. */
static void check_fails(enum err_kind kind, const char *text)
{
	int64_t began_at = clock_now();

	err = (struct err) ERR_INIT;
	CHECK_INT(schedule_run(&run, &err), -1);
	CHECK_STR(err.text, text);
	CHECK_INT(err.kind, kind);
	CHECK(clock_now() - began_at < 8 * NS_PER_S);
	check_no_seat();
}

static const char *journal(void)
{
	static char text[1 << 20];
	auto_fd fd = openat(check_folder(), JOURNAL_FILE, O_RDONLY | O_CLOEXEC);
	ssize_t len = read(fd, text, sizeof(text) - 1);

	CHECK(len >= 0);
	text[len] = '\0';
	return text;
}

static int count(const char *what)
{
	int found = 0;

	for (const char *at = journal(); (at = strstr(at, what)); at++)
		found++;
	return found;
}

/* --- seats side by side --- */

static int meet(const struct slot *slot, enum slot_work work, struct seat *seat, struct err *why)
{
	int now = ++shared->now;

	if (now > shared->most)
		shared->most = now;
	say_begun(seat, "LEASED");
	/* The first four wait for each other. */
	if (++shared->count <= 4)
		wait_until(&shared->count, 4);
	(void) work;
	shared->now--;
	say_recorded(slot, seat, NULL);
	(void) why;
	return 0;
}

TEST(so_many_seats_as_planned_are_at_work_at_one_time_and_no_more)
{
	begin(2, 5, 4);
	play = meet;
	schedule();
	CHECK_INT(shared->most, 4);
	CHECK_INT(shared->seats, 10);
	CHECK_INT(run.slots.recorded, 10);
	CHECK(slots_are_through(&run.slots));
	CHECK_INT(progress.done, 10);
	CHECK_INT(count("\"event\":\"run.finished\""), 1);
	CHECK(strstr(journal(), "\"event\":\"run.finished\",\"recorded\":10,\"infra\":0,"));
	end();
}

TEST(the_operator_can_have_more_seats_than_planned)
{
	begin(2, 5, 1);
	place.seats = 4;
	play = meet;
	schedule();
	CHECK_INT(shared->most, 4);
	end();
}

TEST(more_seats_than_there_can_be_are_refused)
{
	begin(1, 1, 1);
	place.seats = RUN_SEATS_MAX + 1;
	check_fails(ERR_INPUT, "65 seats are more than 64");
	CHECK_INT(shared->seats, 0);
	place.seats = RUN_SEATS_MAX; /* and one attempt */
	schedule();
	CHECK_INT(shared->seats, 1);
	end();
}

TEST(one_seat_takes_the_slots_in_their_order_each_line_with_whose_it_is)
{
	const char *at;

	begin(2, 2, 1);
	schedule();
	at = journal();
	for (int i = 0; i < 4; i++) {
		char whose[128];

		snprintf(
			whose, sizeof(whose),
			"\"event\":\"attempt.recorded\",\"task\":\"%s\",\"slot\":%d,\"attempt\":%d,"
			"\"stopped\":false,\"record\":{",
			tasks[i / 2].name, i % 2 + 1, i % 2 + 1);
		at = strstr(at, whose);
		if (!at)
			check_fail(__FILE__, __LINE__, "there is no %s", whose);
	}
	CHECK_INT(count("\"event\":\"attempt."), 4 * (ALL_STEPS + 1));
	end();
}

TEST(a_run_that_is_finished_is_left_as_it_is_and_at_once)
{
	int64_t began_at;
	int lines;

	begin(1, 1, 1);
	schedule();
	lines = count("\n");
	run.slots.is_closed = true; /* as the journal says */
	began_at = clock_now();
	schedule();
	CHECK(clock_now() - began_at < NS_PER_S / 2);
	CHECK_INT(count("\n"), lines);
	CHECK_INT(shared->seats, 1);
	end();
}

/* --- seats that die --- */

static size_t die_at;

/* Dies once, behind the line @die_at. */
static int die_once(const struct slot *slot, enum slot_work work, struct seat *seat,
		    struct err *why)
{
	if (shared->count++ == 0) {
		go(work, seat, die_at);
		raise(SIGKILL);
	}
	return go_well(slot, work, seat, why);
}

TEST(a_seat_that_is_killed_behind_any_line_loses_no_attempt)
{
	for (die_at = 0; die_at < ALL_STEPS; die_at++) {
		const bool is_cut = die_at == OF_AGENT; /* nothing is known of its agent */

		begin(1, 1, 1);
		run.planned.retries = 1;
		play = die_once;
		schedule();
		CHECK_INT(run.slots.infra, is_cut ? 1 : 0);
		CHECK_INT(run.slots.recorded, is_cut ? 2 : 1);
		CHECK_INT(run.slots.list[0].attempt, is_cut ? 2 : 1);
		CHECK(!run.slots.list[0].record.infra);
		CHECK_INT(shared->seats, is_cut ? 3 : 2);
		CHECK_INT(count("\"attempt\":1,\"state\":\"AGENT\""), 1);
		end();
		CHECK_INT(unlinkat(check_folder(), JOURNAL_FILE, 0), 0);
	}
}

static int die_always(const struct slot *slot, enum slot_work work, struct seat *seat,
		      struct err *why)
{
	if (work == SLOT_GIVE_UP || slot->attempt > 1)
		return go_well(slot, work, seat, why);
	go(work, seat, die_at);
	raise(SIGKILL);
	return 0;
}

TEST(what_kills_each_seat_is_given_up_as_infra_and_tried_again_as_often_as_planned)
{
	static const size_t behind[] = { 0, 1, 4, 7, 9 };

	for (size_t i = 0; i < ARRAY_LEN(behind); i++) {
		die_at = behind[i];
		begin(1, 1, 1);
		run.planned.retries = 1;
		play = die_always;
		schedule();
		CHECK_INT(run.slots.infra, 1);
		CHECK(strstr(journal(), "\"infra\":\"given up\""));
		CHECK_INT(run.slots.list[0].attempt, 2);
		CHECK(!run.slots.list[0].record.infra);
		/* Of those that died one was the first, and one a retry. */
		CHECK_INT(shared->seats, 3 + 1 + 1);
		end();
		CHECK_INT(unlinkat(check_folder(), JOURNAL_FILE, 0), 0);
	}
}

TEST(without_retries_it_is_given_up_too_and_the_others_are_carried_out)
{
	die_at = 4;
	begin(2, 1, 1);
	play = die_always;
	schedule();
	CHECK_INT(run.slots.recorded, 2);
	CHECK_INT(run.slots.infra, 2); /* attempt 1 of either task */
	CHECK(slots_are_through(&run.slots));
	end();
}

static int die_first(const struct slot *slot, enum slot_work work, struct seat *seat,
		     struct err *why)
{
	if (shared->count++ < 2)
		raise(SIGKILL);
	return go_well(slot, work, seat, why);
}

TEST(two_seats_that_die_before_their_first_line_end_nothing)
{
	begin(1, 2, 1);
	play = die_first;
	schedule();
	CHECK_INT(run.slots.recorded, 2);
	CHECK_INT(run.slots.infra, 0);
	CHECK_INT(shared->seats, 4);
	end();
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
	begin(1, 9, 1);
	play = die_unborn;
	check_fails(ERR_SYS, "3 seats in a row ended before they had begun");
	CHECK_INT(shared->seats, 3);
	CHECK_INT(count("\n"), 1);
	end();
}

static int interrupt(const struct slot *slot, enum slot_work work, struct seat *seat,
		     struct err *why)
{
	raise(SIGINT);
	raise(SIGHUP);
	raise(SIGTERM);
	return go_well(slot, work, seat, why);
}

TEST(a_signal_from_the_terminal_ends_no_seat)
{
	begin(1, 1, 1);
	play = interrupt;
	schedule();
	CHECK_INT(shared->seats, 1);
	end();
}

static int sleep_long(const struct slot *slot, enum slot_work work, struct seat *seat,
		      struct err *why)
{
	(void) slot;
	(void) work;
	(void) why;
	say_begun(seat, "LEASED");
	shared->count++;
	poll(NULL, 0, 60 * 1000);
	return 0;
}

TEST(seats_die_with_proctor)
{
	struct process proctor = PROCESS_INIT;
	int64_t deadline = clock_after_ms(PATIENCE_MS);
	int side;

	begin(1, 3, 3);
	play = sleep_long;
	side = process_fork(&proctor, &err);
	CHECK_OK(side);
	if (side == 0)
		_exit(schedule_run(&run, &err) < 0);
	wait_until(&shared->count, 3);
	process_kill(&proctor);
	for (int i = 0; i < 3; i++) {
		while (kill(shared->pids[i], 0) == 0 && clock_now() < deadline)
			poll(NULL, 0, 5);
		CHECK(kill(shared->pids[i], 0) < 0);
	}
	/* The journal is nobody's any more, as is all else that seats had of it. */
	journal_done(&run.journal);
	CHECK_OK(journal_open(&run.journal, check_folder(), &err));
	end();
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
	shared->count++;
	wait_until(&shared->count, 3);
	return go_well(slot, work, seat, why);
}

TEST(a_seat_has_neither_the_journal_nor_the_keeper_nor_the_sockets_of_others)
{
	begin(1, 3, 3);
	play = look_around;
	schedule();
	CHECK_INT(run.slots.recorded, 3);
	end();
}

/* --- seats that want what they must not have --- */

/* The first seat of an attempt sends this behind its first line, and expects to be ended. */
static struct seat_ask evil;
static size_t evil_len;
static bool evil_at_once;

static int be_evil(const struct slot *slot, enum slot_work work, struct seat *seat, struct err *why)
{
	if (shared->count++ > 0)
		return go_well(slot, work, seat, why);
	if (!evil_at_once)
		say_begun(seat, "LEASED");
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

	begin(1, 1, 1);
	run.planned.retries = 1;
	play = be_evil;
	schedule();
	CHECK(clock_now() - began_at < 8 * NS_PER_S);
	CHECK_INT(run.slots.recorded, 1);
	CHECK_INT(run.slots.infra, 0);
	CHECK_INT(shared->seats, 2);
	CHECK_INT(count("\n"), 1 + (evil_at_once ? 0 : 1) + ALL_STEPS + 1 + 1);
	end();
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
	shared->count = 0;
	return be_evil(slot, work, seat, why);
}

TEST(seats_that_all_begin_with_nonsense_end_the_run_and_the_last_one_is_told)
{
	begin(1, 1, 1);
	evil_at_once = true;
	make_evil("run.finished", "{}");
	play = be_evil_always;
	check_fails(ERR_SYS, "3 seats in a row ended before they had begun: a seat wants to write "
			     "'run.finished'");
	end();
}

/* It asks for more and more, and reads none of what it gets. */
static int never_listen(const struct slot *slot, enum slot_work work, struct seat *seat,
			struct err *why)
{
	if (slot->number != 1 || shared->count++ > 0)
		return go_well(slot, work, seat, why);
	say_begun(seat, "LEASED");
	make_evil("attempt.x", "{}");
	for (;;)
		SEAT_CHECK(send(seat->fd, &evil, evil_len, 0) == (ssize_t) evil_len);
	return 0;
}

TEST(a_seat_that_does_not_take_its_answers_is_ended_and_keeps_nobody_waiting)
{
	begin(1, 4, 2);
	run.planned.retries = 1;
	play = never_listen;
	schedule();
	CHECK_INT(run.slots.recorded, 4);
	CHECK_INT(run.slots.infra, 0);
	CHECK_INT(shared->seats, 5);
	end();
}

/* --- the end of a run --- */

static int rest_when_told(const struct slot *slot, enum slot_work work, struct seat *seat,
			  struct err *why)
{
	const uint64_t one = 1;

	go(work, seat, slot->number == 1 ? 5 : 0);
	if (++shared->count == 2)
		SEAT_CHECK(write(place.stop_fd, &one, sizeof(one)) == sizeof(one));
	for (int i = 0; i < 2000 && !seat_wants_to_stop(seat); i++)
		poll(NULL, 0, 5);
	SEAT_CHECK(seat_wants_to_stop(seat));
	SEAT_CHECK(seat_use(seat, TIMING_NOTHING, why) == 0 || seat_wants_to_stop(seat));
	return 0;
}

TEST(the_operators_wish_reaches_all_seats_and_no_further_one_begins)
{
	begin(1, 5, 2);
	play = rest_when_told;
	schedule();
	CHECK(run.stopped);
	CHECK_INT(shared->seats, 2);
	CHECK_INT(run.slots.recorded, 0);
	CHECK_INT(run.slots.list[0].state, SLOT_GOING);
	CHECK_INT(run.slots.list[1].state, SLOT_BEGUN);
	CHECK_INT(run.slots.list[2].state, SLOT_PLANNED);
	CHECK(strstr(journal(), "\"event\":\"run.stopped\",\"recorded\":0,\"infra\":0,"));
	CHECK_INT(count("run.finished"), 0);
	end();
}

static int wait_for_an_end(const struct slot *slot, enum slot_work work, struct seat *seat,
			   struct err *why)
{
	(void) slot;
	(void) work;
	(void) why;
	say_begun(seat, "LEASED");
	shared->count++;
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
		wait_until(&shared->count, least);
		_exit(kill(pid, SIGKILL) < 0);
	}
	return helper;
}

TEST(a_launcher_that_dies_ends_the_run_and_all_seats)
{
	struct process helper;

	begin(1, 4, 3);
	play = sleep_long;
	helper = kill_when(3, launcher.process.pid);
	check_fails(ERR_SYS, "the launcher has died");
	CHECK_INT(shared->seats, 3);
	process_kill(&helper);
	end();
}

TEST(a_keeper_that_dies_ends_the_run_and_all_seats)
{
	struct process helper;

	begin(1, 4, 3);
	play = sleep_long;
	helper = kill_when(3, run.keeper.process.pid);
	check_fails(ERR_SYS, "the keeper has died");
	CHECK_INT(shared->seats, 3);
	process_kill(&helper);
	end();
}

static int fail_second(const struct slot *slot, enum slot_work work, struct seat *seat,
		       struct err *why)
{
	if (slot->number != 2)
		return wait_for_an_end(slot, work, seat, why);
	say_begun(seat, "LEASED");
	wait_until(&shared->count, 1);
	return err_set(why, ERR_HOST, "write 'record.json': No space left on device");
}

TEST(a_seat_that_can_not_go_on_ends_the_run_in_its_own_words_and_stops_the_others)
{
	begin(1, 4, 2);
	play = fail_second;
	check_fails(ERR_HOST, "write 'record.json': No space left on device");
	CHECK_INT(shared->seats, 2);
	CHECK(!run.stopped);
	CHECK_INT(count("run.stopped") + count("run.finished"), 0);
	end();
}

/* The journal does not take the line of the second one. */
static int break_journal(const struct slot *slot, enum slot_work work, struct seat *seat,
			 struct err *why)
{
	if (slot->number != 2)
		return wait_for_an_end(slot, work, seat, why);
	say_begun(seat, "LEASED");
	wait_until(&shared->count, 1);
	SEAT_CHECK(kill(getppid(), SIGUSR1) == 0);
	for (int i = 0; i < 2000 && shared->count < 100; i++)
		poll(NULL, 0, 5);
	seat_begin(seat, "attempt.x");
	return seat_commit(seat, why);
}

static void on_usr1(int signal)
{
	(void) signal;
	run.journal.is_broken = true;
	shared->count = 100;
}

TEST(a_journal_that_can_not_be_written_ends_the_run_and_stops_the_others)
{
	begin(1, 4, 2);
	play = break_journal;
	signal(SIGUSR1, on_usr1);
	check_fails(ERR_SYS, "the journal can not be written after an earlier failure: `proctor "
			     "resume` goes on");
	CHECK_INT(shared->seats, 2);
	end();
}

/* --- the timing lease --- */

static void have(struct seat *seat, enum timing_use use)
{
	SEAT_CHECK(seat_use(seat, use, &err) == 0);
	if (use == TIMING_MARK) {
		SEAT_CHECK(shared->marking++ == 0 && shared->working == 0);
		poll(NULL, 0, 20);
		SEAT_CHECK(--shared->marking == 0 && shared->working == 0);
	} else {
		shared->working++;
		SEAT_CHECK(shared->marking == 0);
		poll(NULL, 0, 20);
		SEAT_CHECK(shared->marking == 0);
		shared->working--;
	}
}

static int take_turns(const struct slot *slot, enum slot_work work, struct seat *seat,
		      struct err *why)
{
	have(seat, TIMING_WORK);
	go(work, seat, 5);
	have(seat, TIMING_MARK);
	say_recorded(slot, seat, NULL);
	(void) why;
	return 0;
}

TEST(on_a_scarce_host_nothing_is_marked_beside_anything_else)
{
	begin(2, 4, 4);
	play = take_turns;
	schedule();
	CHECK_INT(run.slots.recorded, 8);
	CHECK_INT(shared->seats, 8);
	end();
}

/* With what it had, or was waiting for. */
static int die_with_lease(const struct slot *slot, enum slot_work work, struct seat *seat,
			  struct err *why)
{
	int number = shared->count++;

	if (number < 3) {
		say_begun(seat, "LEASED");
		SEAT_CHECK(seat_use(seat, number == 1 ? TIMING_WORK : TIMING_MARK, why) == 0);
		raise(SIGKILL);
	}
	return take_turns(slot, work, seat, why);
}

TEST(what_a_seat_had_that_died_others_get)
{
	begin(1, 6, 3);
	run.planned.retries = 3;
	play = die_with_lease;
	schedule();
	CHECK_INT(run.slots.recorded, 6);
	CHECK_INT(shared->seats, 9);
	end();
}

/* --- the keeper's socket --- */

static int bind_and_ask(const struct slot *slot, enum slot_work work, struct seat *seat,
			struct err *why)
{
	const struct digest root = { { 1 } }; /* that of say() */
	struct keeper_answer answer;
	auto_fd fd = -1;

	SEAT_CHECK(seat_bind(seat, &fd, why) == 0);
	SEAT_CHECK(keeper_ask(fd, &root, clock_after_ms(5000), &answer, why) == 0);
	SEAT_CHECK(answer.status == KEEPER_NOT_FROZEN);
	go(work, seat, ALL_STEPS);
	SEAT_CHECK(keeper_ask(fd, &root, clock_after_ms(5000), &answer, why) == 0);
	SEAT_CHECK(answer.status == KEEPER_GRANTED);
	say_recorded(slot, seat, NULL);
	return 0;
}

TEST(a_seat_gets_the_keepers_socket_for_its_attempt)
{
	begin(1, 3, 2);
	play = bind_and_ask;
	schedule();
	CHECK_INT(run.slots.recorded, 3);
	end();
}
