/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/timing_lease.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/wire.h"

/* Beside the launcher's leases of uid ranges; the launcher makes the folder. */
#define LOCK_FILE "/run/proctor/timing"
#define TURN_FILE "/run/proctor/timing-turn"

static int open_file(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_host(err, "open the timing lease '%s'", path);
	return fd;
}

int timing_open(int service_fd, struct timing_files *out, struct err *err)
{
	auto_fd lock = -1, turn = -1;

	if (service_fd >= 0) {
		*out = TIMING_FILES_INIT;
		out->service_fd = service_fd;
		return 0;
	}
	lock = open_file(LOCK_FILE, err);
	if (lock < 0)
		return -1;
	turn = open_file(TURN_FILE, err);
	if (turn < 0)
		return -1;
	*out = (struct timing_files){ fd_take(&lock), fd_take(&turn), -1 };
	return 0;
}

void timing_files_done(struct timing_files *files)
{
	fd_close(&files->lock_fd);
	fd_close(&files->turn_fd);
	files->service_fd = -1;
}

void timing_init(struct timing *timing, const struct timing_files *files, const struct cpus *cpus)
{
	*timing = (struct timing){ .files = *files, .is_scarce = !cpus->has_others };
}

/*
 * A service that does not answer, or refuses, is lost, and its connection told so: whoever waits
 * for that ends the run.
 */
static bool ask(const struct timing_files *files, enum timing_ask what)
{
	struct err ignored = ERR_INIT;
	int got = wire_timing(files->service_fd, what, &ignored);

	if (got < 0)
		shutdown(files->service_fd, SHUT_RDWR);
	return got > 0;
}

static bool lock_turn(const struct timing_files *files)
{
	if (files->service_fd >= 0)
		return ask(files, TIMING_ASK_TURN);
	return files->turn_fd < 0 || flock(files->turn_fd, LOCK_EX | LOCK_NB) == 0;
}

static void unlock_turn(const struct timing_files *files)
{
	if (files->service_fd >= 0)
		ask(files, TIMING_LEAVE_TURN);
	else if (files->turn_fd >= 0)
		flock(files->turn_fd, LOCK_UN);
}

/* @how: LOCK_SH or LOCK_EX */
static bool lock(const struct timing_files *files, int how)
{
	if (files->service_fd >= 0)
		return ask(files, how == LOCK_EX ? TIMING_ASK_ALONE : TIMING_ASK_SHARED);
	return files->lock_fd < 0 || flock(files->lock_fd, how | LOCK_NB) == 0;
}

static void unlock(const struct timing_files *files)
{
	if (files->service_fd >= 0)
		ask(files, TIMING_LEAVE);
	else if (files->lock_fd >= 0)
		flock(files->lock_fd, LOCK_UN);
}

/* Is there anybody beyond this run? */
static bool has_others(const struct timing_files *files)
{
	return files->lock_fd >= 0 || files->service_fd >= 0;
}

static bool pass_turn(struct timing *timing)
{
	if (!timing->has_turn)
		timing->has_turn = lock_turn(&timing->files);
	return timing->has_turn;
}

static void leave_turn(struct timing *timing)
{
	if (timing->has_turn)
		unlock_turn(&timing->files);
	timing->has_turn = false;
}

/*
 * A marking keeps the turnstile until it has the lock; sharers only pass, but each time, also where
 * one of ours has the lock already: overlapping agents could else keep it for ever.
 */
static bool take_lock(struct timing *timing, int how)
{
	timing->is_waiting_for_others = true;
	if (clock_now() < timing->rest_until || !pass_turn(timing))
		return false;
	if (timing->locked == how || lock(&timing->files, how))
		timing->locked = how;
	if (timing->locked == how || how == LOCK_SH)
		leave_turn(timing);
	timing->is_waiting_for_others = timing->locked != how;
	return timing->locked == how;
}

/* Who asks now and then would never find it free, were it taken again at once. */
static void unlock_for_others(struct timing *timing)
{
	if (timing->locked != 0)
		unlock(&timing->files);
	if (timing->locked == LOCK_EX && has_others(&timing->files))
		timing->rest_until = clock_after_ms(TIMING_REST_MS);
	timing->locked = 0;
}

static void drop_lock(struct timing *timing)
{
	if (timing->working > 0 || timing->marking > 0)
		return;
	unlock_for_others(timing);
}

void timing_want(struct timing *timing, enum timing_use use)
{
	if (use == TIMING_MARK)
		timing->waiting++;
}

static bool try_mark(struct timing *timing)
{
	if (timing->marking > 0 || (timing->is_scarce && timing->working > 0) ||
	    !take_lock(timing, LOCK_EX))
		return false;
	timing->waiting--;
	timing->marking++;
	return true;
}

static bool try_work(struct timing *timing)
{
	if (timing->is_scarce &&
	    (timing->marking > 0 || timing->waiting > 0 || !take_lock(timing, LOCK_SH)))
		return false;
	timing->working++;
	return true;
}

bool timing_try(struct timing *timing, enum timing_use use)
{
	switch (use) {
	case TIMING_MARK:
		return try_mark(timing);
	case TIMING_WORK:
		return try_work(timing);
	case TIMING_NOTHING:
		break;
	}
	return true;
}

void timing_give_back(struct timing *timing, enum timing_use use)
{
	if (use == TIMING_MARK)
		timing->marking--;
	if (use == TIMING_WORK)
		timing->working--;
	/* With CPUs to spare, agents hold no lock and the marking's is given back with it. */
	if (use == TIMING_MARK && !timing->is_scarce)
		unlock_for_others(timing);
	drop_lock(timing);
}

void timing_forget(struct timing *timing, enum timing_use use)
{
	timing->is_waiting_for_others = false; /* whoever still waits finds out anew */
	if (use != TIMING_MARK)
		return;
	timing->waiting--;
	if (timing->waiting == 0 && timing->marking == 0)
		leave_turn(timing);
}
