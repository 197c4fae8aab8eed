/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/drill/drill.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "harness/drill/trying.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"

/* How many attacks are tried at one time, at most. */
enum { SEATS_MAX = 8 };

/* A process that tries one attack. */
struct seat {
	struct process process;
	size_t index;  /* of the attack */
	int result_fd; /* owned; -1: the seat is free */
};

struct drilling {
	const struct drill *drill;
	const struct drill_attack *const *attacks;
	struct drill_report *report;
	const struct drill_listener *listener;
	struct seat seats[SEATS_MAX];
	size_t seat_count, busy;
	bool is_alone; /* what runs is to run alone */
};

static void drilling_done(struct drilling *drilling)
{
	for (size_t i = 0; i < ARRAY_LEN(drilling->seats); i++) {
		/* Its jail goes with it. */
		process_kill(&drilling->seats[i].process);
		fd_close(&drilling->seats[i].result_fd);
	}
}

no_return static void try_one(const struct drilling *drilling, size_t index, int result_fd,
			      pid_t parent)
{
	struct err ignored = ERR_INIT;
	struct drill_result result;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	trying_attack(drilling->drill, drilling->attacks[index], &result);
	best_effort(io_write_all(result_fd, &result, sizeof(result), "a result", &ignored));
	_exit(0);
}

_Static_assert(sizeof(struct drill_result) <= PIPE_BUF, "it is written in one piece");

static int start(struct drilling *drilling, size_t index, struct err *err)
{
	const bool is_alone = drilling->attacks[index]->flags & DRILL_ALONE;
	auto_fd theirs = -1, ours = -1;
	struct seat *seat = drilling->seats;
	pid_t parent = getpid();
	int pair[2], child;

	while (seat->result_fd >= 0)
		seat++;
	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_sys(err, "make a pipe");
	ours = pair[0];
	theirs = pair[1];
	child = process_fork(&seat->process, err);
	if (child == 0)
		try_one(drilling, index, theirs, parent);
	if (child < 0)
		return -1;
	seat->result_fd = fd_take(&ours);
	seat->index = index;
	drilling->busy++;
	drilling->is_alone = is_alone;
	return 0;
}

static void finish(struct drilling *drilling, struct seat *seat)
{
	struct drill_result *result = &drilling->report->results[seat->index];
	const struct drill_attack *attack = drilling->attacks[seat->index];
	struct err err = ERR_INIT;

	if (io_read_exact(seat->result_fd, result, sizeof(*result), "a result", &err) < 0) {
		*result = (struct drill_result){ .seen = DRILL_BROKEN };
		memcpy(result->text, err.text, sizeof(result->text) - 1);
	}
	result->attack = attack;
	process_kill(&seat->process);
	fd_close(&seat->result_fd);
	drilling->busy--;
	drilling->is_alone = false;
	if (drilling->listener->tell)
		drilling->listener->tell(drilling->listener->context, result);
}

/* Waits for one seat at least. Return: does the operator want the end? */
static bool wait_for_one(struct drilling *drilling)
{
	struct pollfd ready[1 + SEATS_MAX] = { { .fd = drilling->drill->stop_fd,
						 .events = POLLIN } };

	for (size_t i = 0; i < SEATS_MAX; i++)
		ready[1 + i] =
			(struct pollfd){ .fd = drilling->seats[i].result_fd, .events = POLLIN };
	if (poll(ready, ARRAY_LEN(ready), -1) < 0)
		return false;
	for (size_t i = 0; i < SEATS_MAX; i++)
		if (ready[1 + i].revents)
			finish(drilling, &drilling->seats[i]);
	return ready[0].revents != 0;
}

static bool may_start(const struct drilling *drilling, size_t index)
{
	if (drilling->attacks[index]->flags & DRILL_ALONE)
		return drilling->busy == 0;
	return !drilling->is_alone && drilling->busy < drilling->seat_count;
}

/* First those that may run beside each other, then the others. */
static int try_all(struct drilling *drilling, unsigned int which, struct err *err)
{
	for (size_t i = 0; i < drilling->report->count; i++) {
		if ((drilling->attacks[i]->flags & DRILL_ALONE) != which)
			continue;
		while (!may_start(drilling, i))
			if (wait_for_one(drilling))
				return 1;
		if (start(drilling, i, err) < 0)
			return -1;
	}
	while (drilling->busy > 0)
		if (wait_for_one(drilling))
			return 1;
	return 0;
}

static size_t count_seats(const struct drill *drill)
{
	cpu_set_t allowed;

	/* Without walls attacks would meet each other. */
	if (drill->is_bare || sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return 1;
	return MIN_OF((size_t) CPU_COUNT(&allowed), (size_t) SEATS_MAX);
}

static bool wants_neighbour(const struct drill_attack *const *attacks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (attacks[i]->flags & DRILL_NEAR)
			return true;
	return false;
}

static void neighbour_done(struct process *neighbour)
{
	process_kill(neighbour);
}

int drill_run(const struct drill *drill, const struct drill_attack *const *attacks, size_t count,
	      const struct drill_listener *listener, struct drill_report *out, struct err *err)
{
	cleanup(drilling_done) struct drilling drilling = { .drill = drill,
							    .attacks = attacks,
							    .report = out,
							    .listener = listener,
							    .seat_count = count_seats(drill) };
	cleanup(neighbour_done) struct process neighbour = PROCESS_INIT;
	int stopped = 0;

	for (size_t i = 0; i < ARRAY_LEN(drilling.seats); i++)
		drilling.seats[i] = (struct seat){ .process = PROCESS_INIT, .result_fd = -1 };
	out->count = count;
	out->stopped = false;
	for (size_t i = 0; i < count; i++)
		out->results[i] = (struct drill_result){ .attack = attacks[i],
							 .seen = DRILL_NOT_HERE,
							 .text = "not tried: stopped" };
	if (trying_bait(drill, &out->without, err) < 0)
		return -1;
	if (wants_neighbour(attacks, count) && trying_neighbour(drill, &neighbour, err) < 0)
		return -1;
	stopped = try_all(&drilling, 0, err);
	if (stopped == 0)
		stopped = try_all(&drilling, DRILL_ALONE, err);
	if (stopped < 0)
		return -1;
	out->stopped = stopped > 0;
	return 0;
}
