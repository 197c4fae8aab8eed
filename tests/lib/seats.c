/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/seats.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/run/schedule.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"

enum { PATIENCE_MS = 10 * 1000 };

struct seats seats;
struct planned_task seats_tasks[2] = { { .name = "one" }, { .name = "two" } };

static struct err err;
static struct planned_agent agents[] = { { .name = "x" } };

/* In place of that of attempt.c. */
int attempt_run(struct run *run, const struct slot *slot, enum slot_work work, struct seat *seat,
		struct err *why)
{
	int number = seats.shared->seats++, result;

	(void) run;
	if (number < SEATS_PIDS)
		seats.shared->pids[number] = getpid();
	result = seats.play(slot, work, seat, why);
	seat_done(seat);
	return result;
}

void seats_fail_check(const char *file, int line, const char *what, const char *why)
{
	check_note("%s:%d: in a seat: %s (%s)", file, line, what, why);
	seats.shared->failed = true;
	_exit(1);
}

/* --- what a seat can do --- */

void seats_say_begun(struct seat *seat, const char *state)
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

void seats_say_recorded(const struct slot *slot, struct seat *seat, const char *infra)
{
	const struct record record = { .task = seats_tasks[slot->task].name,
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

enum { BEHIND_AGENT = 4 };

_Static_assert(ARRAY_LEN(steps) == SEATS_STEPS, "a step for each line");

/* The steps from where the attempt stands, up to @last of all and without the record. */
void seats_go(enum slot_work work, struct seat *seat, size_t last)
{
	for (size_t i = work == SLOT_CONTINUE ? BEHIND_AGENT : 0; i <= last && i < SEATS_STEPS;
	     i++) {
		if (steps[i].state)
			seats_say_begun(seat, steps[i].state);
		else
			say(seat, steps[i].event);
	}
}

/* An attempt that goes well; one that can not go on is INFRA. */
int seats_go_well(const struct slot *slot, enum slot_work work, struct seat *seat, struct err *why)
{
	bool is_cut = work == SLOT_CUT || work == SLOT_GIVE_UP;

	(void) why;
	if (!is_cut)
		seats_go(work, seat, SEATS_STEPS);
	seats_say_recorded(slot, seat, is_cut ? (work == SLOT_CUT ? "cut off" : "given up") : NULL);
	return 0;
}

void seats_wait_until(const _Atomic int *what, int least)
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

void seats_begin(size_t task_count, uint32_t repeats, uint32_t seat_count)
{
	auto_fd reader = -1;

	seats.shared = mmap(NULL, sizeof(*seats.shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(seats.shared != MAP_FAILED);
	seats.play = seats_go_well;
	seats.launcher = (struct launcher){ .process = start_idle(), .socket_fd = -1 };
	seats.place = (struct run_place){ .folder_fd = check_folder(),
					  .secret_fd = -1,
					  .stop_fd = eventfd(0, EFD_CLOEXEC),
					  .timing = TIMING_FILES_INIT };
	progress_start(&seats.progress, -1, false, 0, 1, clock_now());
	seats.run = (struct run){ .place = &seats.place,
				  .launcher = &seats.launcher,
				  .planned = { .run = "run-1",
					       .tasks = seats_tasks,
					       .agents = agents,
					       .task_count = task_count,
					       .agent_count = 1,
					       .repeats = repeats,
					       .seats = seat_count },
				  .policy = policy_default(),
				  .progress = &seats.progress,
				  .cpus = { .judge = 0, .worker = 1 },
				  .null_fd = -1,
				  .worker_fd = -1 };
	CHECK_OK(journal_create(&seats.run.journal, check_folder(), "run-1", &err));
	reader = journal_open_read(check_folder(), &err);
	CHECK_OK(reader);
	CHECK_OK(keeper_start(&seats.run.keeper, "run-1", reader, -1, &err));
	slots_init(&seats.run.slots, &seats.run.planned, &seats.run.arena);
}

/* Whoever was a seat is none any more. */
static void check_no_seat(void)
{
	for (int i = 0; i < seats.shared->seats && i < SEATS_PIDS; i++)
		if (kill(seats.shared->pids[i], 0) == 0)
			check_fail(__FILE__, __LINE__, "process %d of seat %d is there",
				   (int) seats.shared->pids[i], i);
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

	slots_init(&again, &seats.run.planned, &arena);
	journal_reader_init(&reader, fd);
	while ((got = journal_read(&reader, &entry, &err)) > 0)
		if (slots_note(&again, entry.event, entry.fields, &err) < 0)
			check_fail(__FILE__, __LINE__, "line %d: %s", (int) entry.seq, err.text);
	CHECK_OK(got);
	CHECK_INT(again.recorded, seats.run.slots.recorded);
	CHECK_INT(again.infra, seats.run.slots.infra);
	for (size_t i = 0; i < again.count; i++) {
		if (again.list[i].state != SLOT_RECORDED)
			continue;
		CHECK_INT(again.list[i].failures, seats.run.slots.list[i].failures);
		CHECK_INT(slots_is_final(&again, &again.list[i]),
			  slots_is_final(&seats.run.slots, &seats.run.slots.list[i]));
	}
	journal_reader_done(&reader);
	slots_done(&again);
}

void seats_end(void)
{
	check_no_seat();
	CHECK(!seats.shared->failed);
	check_journal();
	keeper_done(&seats.run.keeper);
	journal_done(&seats.run.journal);
	slots_done(&seats.run.slots);
	arena_done(&seats.run.arena);
	policy_done(&seats.run.policy);
	progress_done(&seats.progress);
	process_kill(&seats.launcher.process);
	fd_close(&seats.place.stop_fd);
	CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

void seats_schedule(void)
{
	err = (struct err) ERR_INIT;
	CHECK_OK(schedule_run(&seats.run, &err));
	check_no_seat();
}

/* schedule_run() fails with these words, soon. */
void seats_check_fails(enum err_kind kind, const char *text)
{
	int64_t began_at = clock_now();

	err = (struct err) ERR_INIT;
	CHECK_INT(schedule_run(&seats.run, &err), -1);
	CHECK_STR(err.text, text);
	CHECK_INT(err.kind, kind);
	CHECK(clock_now() - began_at < 8 * NS_PER_S);
	check_no_seat();
}

const char *seats_journal(void)
{
	static char text[1 << 20];
	auto_fd fd = openat(check_folder(), JOURNAL_FILE, O_RDONLY | O_CLOEXEC);
	ssize_t len = read(fd, text, sizeof(text) - 1);

	CHECK(len >= 0);
	text[len] = '\0';
	return text;
}

int seats_count(const char *what)
{
	int found = 0;

	for (const char *at = seats_journal(); (at = strstr(at, what)); at++)
		found++;
	return found;
}
