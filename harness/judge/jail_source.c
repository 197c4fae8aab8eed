/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/jail_source.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "harness/judge/constants.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"

/* The wall limit of a worker's jail ends it in any case; this is for a launcher that hangs. */
#define EVENT_MS (60 * 1000)

void jail_source_init(struct jail_source *source)
{
	*source = (struct jail_source){ .launcher_fd = -1, .program_fd = -1, .null_fd = -1 };
	for (size_t i = 0; i < JAIL_SOURCE_ROLES; i++)
		source->roles[i].tree_fd = -1;
	for (size_t i = 0; i < JAIL_SOURCE_SLOTS; i++)
		source->slots[i] = (struct jail_slot){ .jail_fd = -1, .fds = STARTED_FDS_INIT };
}

static void slot_done(struct jail_slot *slot)
{
	started_fds_done(&slot->fds);
	fd_close(&slot->jail_fd);
}

static int next_event(const struct jail_slot *slot, struct event *event,
		      struct started_fds *started, struct err *err)
{
	struct pollfd ready = { .fd = slot->jail_fd, .events = POLLIN };

	if (poll(&ready, 1, EVENT_MS) <= 0)
		return err_set(err, ERR_SYS, "a worker's jail says nothing");
	return wire_next(slot->jail_fd, event, started, err);
}

static int wait_for_start(struct jail_slot *slot, struct err *err)
{
	struct event event;

	if (next_event(slot, &event, &slot->fds, err) < 0)
		return -1;
	if (event.kind != EVENT_STARTED) {
		*err = event.err;
		return err_wrap(err, "worker");
	}
	if (slot->fds.pid_fd < 0 || slot->fds.freeze_fd < 0 || slot->fds.events_fd < 0)
		return err_set(err, ERR_HOST, "a worker's jail can not be frozen");
	return 0;
}

static int start(void *context, enum worker_role role, const struct worker_fds *fds,
		 struct worker *out, struct err *err)
{
	struct jail_source *source = context;
	const struct jail_role *what = &source->roles[role];
	struct jail_slot *slot = source->slots;
	struct spec_fds sent;

	while (slot < source->slots + JAIL_SOURCE_SLOTS && slot->jail_fd >= 0)
		slot++;
	if (slot == source->slots + JAIL_SOURCE_SLOTS)
		return err_set(err, ERR_SYS, "too many workers at once");
	/* Each unpacking reads the stream from where its descriptor stands. */
	if (what->tree_fd >= 0 && lseek(what->tree_fd, 0, SEEK_SET) < 0)
		return err_sys(err, "rewind what was built");
	spec_fds_init(&sent);
	sent.fd[SPEC_FD_STDOUT] = source->null_fd;
	sent.fd[SPEC_FD_STDERR] = source->null_fd;
	sent.fd[SPEC_FD_PROGRAM] = source->program_fd;
	sent.fd[SPEC_FD_TREES] = what->tree_fd;
	sent.fd[SPEC_FD_PASS] = fds->control_fd;
	sent.fd[SPEC_FD_PASS + 1] = fds->inputs_fd;
	sent.fd[SPEC_FD_PASS + 2] = fds->outputs_fd;
	slot->jail_fd = wire_request(source->launcher_fd, what->spec, &sent, err);
	if (slot->jail_fd < 0)
		return -1;
	if (wait_for_start(slot, err) < 0) {
		slot_done(slot);
		return -1;
	}
	*out = (struct worker){ .pid_fd = slot->fds.pid_fd,
				.handle = (uint64_t) (slot - source->slots) };
	return 0;
}

static bool is_frozen(int events_fd)
{
	char text[128];
	ssize_t len = pread(events_fd, text, sizeof(text) - 1, 0);

	if (len < 0)
		return false;
	text[len] = '\0';
	return strstr(text, "frozen 1") != NULL;
}

/*
 * Returns when the kernel says that every task of the jail is frozen. A worker that has ended
 * counts as held: its group is empty, and an empty group is frozen as well.
 *
 * Reads again and again and does not poll: the kernel holds back notifications of cgroup.events
 * that come within 10 ms of the last (CGROUP_FILE_NOTIFY_MIN_INTV), and there are two a call.
 */
static int hold(void *context, const struct worker *worker, struct err *err)
{
	struct jail_source *source = context;
	const struct started_fds *fds = &source->slots[worker->handle].fds;
	int64_t deadline = clock_now() + JUDGE_HOLD_NS;
	struct pollfd ended = { .fd = fds->pid_fd, .events = POLLIN };

	if (pwrite(fds->freeze_fd, "1", 1, 0) != 1) {
		/* Its cgroup may have been removed already. */
		if (poll(&ended, 1, 0) > 0)
			return 0;
		return err_sys(err, "freeze a worker's jail");
	}
	while (!is_frozen(fds->events_fd)) {
		if (poll(&ended, 1, 0) > 0)
			return 0;
		/* Whoever is in it can keep the kernel from freezing it: that is no fault of ours.
		 */
		if (clock_now() >= deadline)
			return 1;
	}
	return 0;
}

static void release(void *context, const struct worker *worker)
{
	struct jail_source *source = context;

	/* One that has ended stays ended; whoever waits for it sees its pidfd. */
	if (pwrite(source->slots[worker->handle].fds.freeze_fd, "0", 1, 0) != 1)
		return;
}

static struct worker_end end_of(const struct event *event)
{
	const struct jail_result *result = &event->result;

	switch ((enum ending) result->ending) {
	case ENDING_EXITED:
		return (struct worker_end){ .ending = WORKER_EXITED, .code = result->code };
	case ENDING_SIGNALED:
	case ENDING_TIMEOUT:
	case ENDING_CPU:
	case ENDING_IDLE:
	case ENDING_OUTPUT:
	case ENDING_FULL:
		return (struct worker_end){ .ending = WORKER_SIGNALED, .code = result->code };
	case ENDING_OOM:
		return (struct worker_end){ .ending = WORKER_OOM };
	case ENDING_STOPPED:
	case ENDING_LAUNCHER_LOST:
		break;
	}
	return (struct worker_end){ .ending = WORKER_STOPPED };
}

static int stop(void *context, struct worker *worker, struct worker_end *out, struct err *err)
{
	struct jail_source *source = context;
	struct jail_slot *slot = &source->slots[worker->handle];
	struct pollfd ended = { .fd = slot->fds.pid_fd, .events = POLLIN };
	struct event event = { .kind = EVENT_STARTED };
	struct err ignored = ERR_INIT;
	int result = 0;

	/*
	 * One that has ended by itself says how, as soon as its pid 1, which is held with it, can;
	 * were it asked to stop, the wish might be there before the word.
	 */
	if (poll(&ended, 1, 0) > 0)
		release(context, worker);
	else
		best_effort(wire_end(slot->jail_fd, ENDING_STOPPED, &ignored));
	while (result == 0 && event.kind == EVENT_STARTED)
		result = next_event(slot, &event, NULL, err);
	slot_done(slot);
	*worker = WORKER_INIT;
	if (result < 0)
		return -1;
	if (event.kind != EVENT_ENDED) {
		*err = event.err;
		return err_wrap(err, "worker");
	}
	if (event.result.flags & JAIL_IMAGE_CHANGED)
		return err_set(err, ERR_HOST, "worker: the image was written while it was used");
	*out = end_of(&event);
	return 0;
}

struct worker_source jail_source_workers(struct jail_source *source)
{
	return (struct worker_source){
		.context = source,
		.start = start,
		.hold = hold,
		.release = release,
		.stop = stop,
	};
}

void jail_source_done(struct jail_source *source)
{
	for (size_t i = 0; i < JAIL_SOURCE_SLOTS; i++)
		slot_done(&source->slots[i]);
}
