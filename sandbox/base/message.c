/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "sandbox/base/fd.h"

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int) * MESSAGE_MAX_FDS)];
};

void message_fds_done(struct message_fds *fds)
{
	for (size_t i = 0; i < fds->count; i++)
		fd_close(&fds->fd[i]);
	fds->count = 0;
}

int message_pair(int out[2], struct err *err)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, out) < 0)
		return err_sys(err, "make a pair of sockets");
	return 0;
}

int message_send(int socket_fd, const void *bytes, size_t len, const struct message_fds *fds,
		 struct err *err)
{
	union control control = { .bytes = { 0 } };
	struct iovec data = { .iov_len = len };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };
	ssize_t put;

	memcpy(&data.iov_base, &bytes, sizeof(bytes)); /* iovec knows no const */
	if (fds && fds->count > 0) {
		size_t size = sizeof(int) * fds->count;
		struct cmsghdr *head;

		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(size);
		head = &control.align; /* what CMSG_FIRSTHDR() gives */
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(size);
		memcpy(CMSG_DATA(head), fds->fd, size);
	}
	do
		put = sendmsg(socket_fd, &message, MSG_NOSIGNAL);
	while (put < 0 && errno == EINTR);
	if (put < 0)
		return err_sys(err, "send a message");
	return 0;
}

static void collect_fds(struct msghdr *message, struct message_fds *out)
{
	struct cmsghdr *head;

	for (head = CMSG_FIRSTHDR(message); head; head = CMSG_NXTHDR(message, head)) {
		size_t count;

		if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
			continue;
		count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(out->fd + out->count, CMSG_DATA(head), count * sizeof(int));
		out->count += count;
	}
}

ssize_t message_receive(int socket_fd, void *bytes, size_t room, struct message_fds *fds,
			struct err *err)
{
	cleanup(message_fds_done) struct message_fds got = MESSAGE_FDS_INIT;
	union control control;
	struct iovec data = { .iov_base = bytes, .iov_len = room };
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	int was_reset = 0;
	ssize_t len;

	/*
	 * A peer that closed without having read all that we sent is told once as a reset, before
	 * what it had sent itself (net/core/datagram.c looks for the error first).
	 */
	do
		len = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
	while (len < 0 && (errno == EINTR || (errno == ECONNRESET && !was_reset++)));
	if (len < 0 && errno == ECONNRESET)
		return 0;
	if (len < 0)
		return err_sys(err, "receive a message");
	collect_fds(&message, &got);
	if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		return err_set(err, ERR_SYS, "a message is larger than %zu bytes or %d descriptors",
			       room, MESSAGE_MAX_FDS);
	if (got.count > 0 && !fds)
		return err_set(err, ERR_SYS, "a message carries descriptors that nobody expects");
	if (fds)
		*fds = take(got, MESSAGE_FDS_INIT);
	return len;
}
