/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/handshake.h"

#include <stdbool.h>

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

void handshake_fail(int pipe_fd, const struct err *err)
{
	struct err ignored = ERR_INIT;

	/* Without its parent the child has nobody left to tell. */
	best_effort(io_write_all(pipe_fd, err, sizeof(*err), "the handshake", &ignored));
}

int handshake_wait(int pipe_fd, struct err *err)
{
	struct err theirs;
	ssize_t got = io_read_some(pipe_fd, &theirs, sizeof(theirs));

	if (got == 0)
		return 0;
	if (got < 0)
		return err_sys(err, "read the child's report");
	if ((size_t) got != sizeof(theirs) || !is_sound(&theirs) || theirs.kind == ERR_NONE)
		return err_set(err, ERR_SYS, "the child's report is malformed");
	*err = theirs;
	return -1;
}
