/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"

struct session {
	const struct jail_io *io;
	struct jail_outcome *out;
	int jail_fd;
	int pipe_fd[2]; /* read ends: standard output, standard error */
	bool over;      /* the last event has come */
	bool cut;       /* output is dropped from here on */
};

static void session_done(struct session *session)
{
	fd_close(&session->jail_fd);
	fd_close(&session->pipe_fd[0]);
	fd_close(&session->pipe_fd[1]);
}

/*
 * Writes on what came, as far as the cap allows. A place that takes no more bytes (a closed pipe,
 * a full disk) is no reason to end the jail: its output is dropped.
 */
static void pass_on(struct session *session, int target_fd, const char *bytes, size_t len)
{
	uint64_t left = session->io->output_max - session->out->output_bytes;
	struct err err = ERR_INIT;

	session->out->output_bytes += len;
	if (session->cut)
		return;
	if (len > left) {
		session->cut = true;
		len = (size_t) left;
		best_effort(wire_end(session->jail_fd, ENDING_OUTPUT, &err));
	}
	if (target_fd >= 0 && len > 0)
		best_effort(io_write_all(target_fd, bytes, len, "the jail's output", &err));
}

static void on_output(struct session *session, int which)
{
	char bytes[16384];
	ssize_t got = read(session->pipe_fd[which], bytes, sizeof(bytes));

	if (got > 0)
		pass_on(session, which == 0 ? session->io->out_fd : session->io->err_fd, bytes,
			(size_t) got);
	else if (got == 0 || (errno != EINTR && errno != EAGAIN))
		fd_close(&session->pipe_fd[which]);
}

static int on_event(struct session *session, struct err *err)
{
	struct event event;

	if (wire_next(session->jail_fd, &event, NULL, err) < 0)
		return -1;
	if (event.kind == EVENT_STARTED || event.kind == EVENT_READY)
		return 0;
	session->out->last = event;
	session->over = true;
	fd_close(&session->jail_fd);
	return 0;
}

static void on_stop(struct session *session)
{
	struct err err = ERR_INIT;

	session->out->stopped = true;
	/* If the monitor has gone, its socket says so next. */
	best_effort(wire_end(session->jail_fd, ENDING_STOPPED, &err));
}

/*
 * Until the last event has come and the pipes are empty. When the jail is gone nobody holds their
 * other ends, so they end; what is still in them is read.
 */
static int listen_to(struct session *session, struct err *err)
{
	while (!session->over || session->pipe_fd[0] >= 0 || session->pipe_fd[1] >= 0) {
		struct pollfd ready[] = {
			{ .fd = session->pipe_fd[0], .events = POLLIN },
			{ .fd = session->pipe_fd[1], .events = POLLIN },
			{ .fd = session->jail_fd, .events = POLLIN },
			{ .fd = session->out->stopped || session->over ? -1 : session->io->stop_fd,
			  .events = POLLIN },
		};

		if (poll(ready, ARRAY_LEN(ready), -1) < 0) {
			if (errno == EINTR)
				continue;
			return err_sys(err, "wait for the jail");
		}
		for (int i = 0; i < 2; i++)
			if (ready[i].revents)
				on_output(session, i);
		if (ready[2].revents && on_event(session, err) < 0)
			return -1;
		if (ready[3].revents)
			on_stop(session);
	}
	return 0;
}

int jail_run(int launcher_fd, const struct jail_spec *spec, struct spec_fds *fds,
	     const struct jail_io *io, struct jail_outcome *out, struct err *err)
{
	cleanup(session_done) struct session session = {
		.io = io, .out = out, .jail_fd = -1, .pipe_fd = { -1, -1 }
	};
	auto_fd write_out = -1, write_err = -1;
	int pair[2];

	*out = (struct jail_outcome){ .last = { .kind = EVENT_LOST } };
	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_sys(err, "make a pipe");
	session.pipe_fd[0] = pair[0];
	write_out = pair[1];
	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_sys(err, "make a pipe");
	session.pipe_fd[1] = pair[0];
	write_err = pair[1];
	fds->fd[SPEC_FD_STDOUT] = write_out;
	fds->fd[SPEC_FD_STDERR] = write_err;
	session.jail_fd = wire_request(launcher_fd, spec, fds, err);
	fds->fd[SPEC_FD_STDOUT] = -1;
	fds->fd[SPEC_FD_STDERR] = -1;
	if (session.jail_fd < 0)
		return -1;
	fd_close(&write_out);
	fd_close(&write_err);
	return listen_to(&session, err);
}
