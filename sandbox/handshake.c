/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/handshake.h"

#include <stdbool.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"

/* An error that came from elsewhere: its text must end and its kind must exist. */
static bool is_sound(struct err *err)
{
	err->text[sizeof(err->text) - 1] = '\0';
	return err->kind <= ERR_SYS;
}

int report_send(int socket_fd, const struct report *report, const struct message_fds *fds,
		struct err *err)
{
	return message_send(socket_fd, report, sizeof(*report), fds, err);
}

int report_receive(int socket_fd, struct report *out, struct message_fds *fds, struct err *err)
{
	struct report got;
	ssize_t len = message_receive(socket_fd, &got, sizeof(got), fds, err);

	if (len <= 0)
		return (int) len;
	if ((size_t) len != sizeof(got) || got.kind > REPORT_ENDED || !is_sound(&got.err))
		return err_set(err, ERR_SYS, "the jail's report is malformed");
	*out = got;
	return 1;
}

void handshake_fail(int socket_fd, const struct err *err)
{
	struct err ignored = ERR_INIT;

	/* Without its parent the child has nobody left to tell. A worker's filter lets write pass.
	 */
	best_effort(io_write_all(socket_fd, err, sizeof(*err), "the handshake", &ignored));
}

int handshake_ready(int socket_fd, struct err *err)
{
	return message_send(socket_fd, "", 1, NULL, err);
}

int handshake_give(int socket_fd, int fd, struct err *err)
{
	const struct message_fds fds = { .count = 1, .fd = { fd } };

	return message_send(socket_fd, "", 1, &fds, err);
}

int handshake_wait(int socket_fd, int *given_fd, struct err *err)
{
	auto_fd given = -1;
	bool is_ready = false;

	for (;;) {
		cleanup(message_fds_done) struct message_fds fds = MESSAGE_FDS_INIT;
		struct err theirs;
		ssize_t got = message_receive(socket_fd, &theirs, sizeof(theirs), &fds, err);

		if (got < 0)
			return err_wrap(err, "read the child's report");
		if (got == 0)
			break;
		if (got == 1 && fds.count == 0 && !is_ready) {
			is_ready = true;
			continue;
		}
		if (got == 1 && fds.count == 1 && given < 0) {
			given = fd_take(&fds.fd[0]);
			continue;
		}
		if ((size_t) got != sizeof(theirs) || !is_sound(&theirs) || theirs.kind == ERR_NONE)
			return err_set(err, ERR_SYS, "the child's report is malformed");
		*err = theirs;
		return -1;
	}
	if (!is_ready)
		return err_set(err, ERR_SYS, "it was killed before it could execute its program");
	*given_fd = fd_take(&given);
	return 0;
}
