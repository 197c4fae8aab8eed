/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"

struct session {
	const struct jail_io *io;
	struct jail_outcome *out;
	struct output output;
	struct relaying relaying;
	struct err relay_err; /* why it could not go on */
	int launcher_fd;
	int jail_fd;
	uint64_t told_bytes; /* output that the monitor has been told of */
	int64_t tell_after;  /* the next time that it is; CLOCK_NEVER: it does not care */
	int64_t tell_gap;
	bool over; /* the last event has come */
	bool cut;  /* the cap was passed, and the monitor told */
	bool lost; /* the launcher has gone, and the monitor was told to end */
};

static void session_done(struct session *session)
{
	output_done(&session->output);
	fd_close(&session->jail_fd);
	relaying_done(&session->relaying);
}

/* What has connected meanwhile waits. */
static int on_started(struct session *session, const struct started_fds *started, struct err *err)
{
	const struct jail_io *io = session->io;

	if (!io->services || io->services->count == 0)
		return 0;
	return relaying_start(io->services, started,
			      io->services_log_fd > 0 ? io->services_log_fd : -1,
			      &session->relaying, err);
}

static int on_event(struct session *session, struct err *err)
{
	cleanup(started_fds_done) struct started_fds started = STARTED_FDS_INIT;
	struct event event;

	if (wire_next(session->jail_fd, &event, &started, err) < 0)
		return -1;
	if (event.kind == EVENT_STARTED)
		return on_started(session, &started, err);
	if (event.kind == EVENT_READY)
		return 0;
	session->over = true;
	if (session->lost) {
		event.kind = EVENT_LOST;
		event.result.ending = ENDING_LAUNCHER_LOST;
		event.err = (struct err) ERR_INIT;
		err_set(&event.err, ERR_SYS, "the launcher has gone without a word");
	}
	session->out->last = event;
	return 0;
}

/* The monitor takes a half-closed socket for a client that has gone, and can still answer. */
static void on_launcher_lost(struct session *session)
{
	session->lost = true;
	shutdown(session->jail_fd, SHUT_WR);
}

static void on_stop(struct session *session)
{
	struct err err = ERR_INIT;

	session->out->stopped = true;
	/* If the monitor has gone, its socket says so next. */
	best_effort(wire_end(session->jail_fd, ENDING_STOPPED, &err));
}

/* The monitor does not see the output; where it looks for idleness it is told, now and then. */
static void tell_of_output(struct session *session)
{
	const uint64_t bytes = session->output.streams[OUTPUT_STDOUT].total +
			       session->output.streams[OUTPUT_STDERR].total;
	const int64_t now = clock_now();
	struct err ignored = ERR_INIT;

	if (bytes == session->told_bytes || now < session->tell_after)
		return;
	session->told_bytes = bytes;
	session->tell_after = now + session->tell_gap;
	/* If the monitor has gone, its socket says so next. */
	best_effort(wire_output_came(session->jail_fd, &ignored));
}

static int on_output(struct session *session, struct err *err)
{
	struct err ignored = ERR_INIT;

	if (output_ready(&session->output, err) < 0)
		return -1;
	if (output_is_over(&session->output) && !session->cut) {
		session->cut = true;
		best_effort(wire_end(session->jail_fd, ENDING_OUTPUT, &ignored));
	}
	if (session->tell_after != CLOCK_NEVER)
		tell_of_output(session);
	return 0;
}

/* With the jail, or before it: then the jail has to end as well. */
static void on_relay(struct session *session)
{
	struct err ignored = ERR_INIT;

	if (relaying_finish(&session->relaying, &session->out->services, &session->relay_err) < 0 &&
	    !session->over)
		best_effort(wire_end(session->jail_fd, ENDING_STOPPED, &ignored));
	relaying_done(&session->relaying);
}

/*
 * The jail is gone: what it wrote stands in the pipes, and nobody can add to it. Whoever reads what
 * is shown may take his time, until the operator has had enough.
 */
static int show_the_rest(struct session *session, struct err *err)
{
	while (output_ready(&session->output, err) == 0 && output_is_unshown(&session->output)) {
		struct pollfd ready[1 + OUTPUT_STREAMS] = { { .fd = session->io->stop_fd,
							      .events = POLLIN } };
		size_t readers = output_poll(&session->output, ready + 1);

		if (session->out->stopped) {
			session->out->unshown = true;
			break;
		}
		if (poll(ready, 1 + readers, -1) < 0 && errno != EINTR)
			return err_sys(err, "wait for the reader of the jail's output");
		if (ready[0].revents)
			session->out->stopped = true;
	}
	return output_finish(&session->output, err);
}

static int listen_to(struct session *session, struct err *err)
{
	while (!session->over) {
		struct pollfd ready[4 + OUTPUT_STREAMS] = {
			{ .fd = session->jail_fd, .events = POLLIN },
			{ .fd = session->out->stopped ? -1 : session->io->stop_fd,
			  .events = POLLIN },
			{ .fd = session->lost ? -1 : session->launcher_fd },
			{ .fd = session->relaying.process.pid_fd, .events = POLLIN },
		};
		size_t pipes = output_poll(&session->output, ready + 4);

		if (poll(ready, 4 + pipes, -1) < 0) {
			if (errno == EINTR)
				continue;
			return err_sys(err, "wait for the jail");
		}
		if (on_output(session, err) < 0)
			return -1;
		if (ready[0].revents && on_event(session, err) < 0)
			return -1;
		if (ready[1].revents)
			on_stop(session);
		if (ready[2].revents)
			on_launcher_lost(session);
		if (ready[3].revents)
			on_relay(session);
	}
	if (session->relaying.process.pid_fd >= 0)
		on_relay(session);
	return show_the_rest(session, err);
}

/* Two pipes: the reading ends go to the output, the writing ends with the request. */
static int open_output(struct session *session, int write_fds[OUTPUT_STREAMS], struct err *err)
{
	const struct jail_io *io = session->io;
	int read_fds[OUTPUT_STREAMS] = { -1, -1 }, result;

	for (int i = 0; i < OUTPUT_STREAMS; i++) {
		int pair[2];

		if (pipe2(pair, O_CLOEXEC) < 0)
			return err_sys(err, "make a pipe");
		read_fds[i] = pair[0];
		write_fds[i] = pair[1];
	}
	result = output_open(&session->output, io->folder_fd, io->name, read_fds, io->output_max,
			     err);
	for (int i = 0; i < OUTPUT_STREAMS; i++)
		fd_close(&read_fds[i]); /* taken, unless it failed */
	if (result < 0)
		return -1;
	if (io->show_out_fd > 0)
		output_show(&session->output, OUTPUT_STDOUT, io->show_out_fd,
			    isatty(io->show_out_fd));
	if (io->show_err_fd > 0)
		output_show(&session->output, OUTPUT_STDERR, io->show_err_fd,
			    isatty(io->show_err_fd));
	return 0;
}

int jail_run(int launcher_fd, const struct jail_spec *spec, struct spec_fds *fds,
	     const struct jail_io *io, struct jail_outcome *out, struct err *err)
{
	struct jail_outcome outcome = { .last = { .kind = EVENT_LOST } };
	cleanup(session_done) struct session session = {
		.io = io,
		.out = &outcome,
		.output = OUTPUT_INIT,
		.relaying = RELAYING_INIT,
		.launcher_fd = launcher_fd,
		.jail_fd = -1,
		.tell_after = spec->time.idle_ms > 0 ? 0 : CLOCK_NEVER,
		.tell_gap = (int64_t) spec->time.idle_ms * NS_PER_MS / 8,
	};
	int write_fds[OUTPUT_STREAMS] = { -1, -1 }, result;

	result = open_output(&session, write_fds, err);
	if (result == 0) {
		fds->fd[SPEC_FD_STDOUT] = write_fds[OUTPUT_STDOUT];
		fds->fd[SPEC_FD_STDERR] = write_fds[OUTPUT_STDERR];
		session.jail_fd = wire_request(launcher_fd, spec, fds, err);
		fds->fd[SPEC_FD_STDOUT] = fds->fd[SPEC_FD_STDERR] = -1;
		result = session.jail_fd < 0 ? -1 : 0;
	}
	fd_close(&write_fds[OUTPUT_STDOUT]);
	fd_close(&write_fds[OUTPUT_STDERR]);
	if (result < 0 || listen_to(&session, err) < 0)
		return -1;
	if (session.relay_err.kind != ERR_NONE) {
		*err = session.relay_err;
		return -1;
	}
	/* A payload that ended by itself meanwhile had printed too much all the same. */
	if (output_is_over(&session.output) && outcome.last.kind == EVENT_ENDED &&
	    (outcome.last.result.ending == ENDING_EXITED ||
	     outcome.last.result.ending == ENDING_SIGNALED)) {
		outcome.last.result.ending = ENDING_OUTPUT;
		outcome.last.result.code = 0;
	}
	outcome.stdout_bytes = session.output.streams[OUTPUT_STDOUT].total;
	outcome.stderr_bytes = session.output.streams[OUTPUT_STDERR].total;
	*out = outcome;
	return 0;
}
