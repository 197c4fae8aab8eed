/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "sandbox/base/fd.h"

/* The kernel puts the sender in front of the descriptors, where the socket has SO_PASSCRED. */
union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int) * MESSAGE_MAX_FDS) + CMSG_SPACE(sizeof(struct ucred))];
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

static int send_message(int socket_fd, const struct iovec *data, const struct message_fds *fds,
			int flags, struct err *err)
{
	union control control = { .bytes = { 0 } };
	struct iovec copy = *data;
	struct msghdr message = { .msg_iov = &copy, .msg_iovlen = 1 };
	ssize_t put;

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
		put = sendmsg(socket_fd, &message, MSG_NOSIGNAL | flags);
	while (put < 0 && errno == EINTR);
	if (put < 0)
		return err_sys(err, "send a message");
	return 0;
}

static struct iovec data_of(const void *bytes, size_t len)
{
	struct iovec data = { .iov_len = len };

	memcpy(&data.iov_base, &bytes, sizeof(bytes)); /* iovec knows no const */
	return data;
}

int message_send(int socket_fd, const void *bytes, size_t len, const struct message_fds *fds,
		 struct err *err)
{
	struct iovec data = data_of(bytes, len);

	return send_message(socket_fd, &data, fds, 0, err);
}

int message_try_send(int socket_fd, const void *bytes, size_t len, const struct message_fds *fds,
		     struct err *err)
{
	struct iovec data = data_of(bytes, len);

	return send_message(socket_fd, &data, fds, MSG_DONTWAIT, err);
}

/* What has no room in the set is closed: the message counts as cut then. */
static void add_fds(const struct cmsghdr *head, struct message_fds *out, int *flags)
{
	size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);

	for (size_t i = 0; i < count; i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof(fd));
		if (out->count < MESSAGE_MAX_FDS) {
			out->fd[out->count++] = fd;
			continue;
		}
		fd_close(&fd);
		*flags |= MSG_CTRUNC;
	}
}

static void collect_control(struct msghdr *message, struct message_in *out)
{
	struct cmsghdr *head;

	for (head = CMSG_FIRSTHDR(message); head; head = CMSG_NXTHDR(message, head)) {
		struct ucred sender;

		if (head->cmsg_level != SOL_SOCKET)
			continue;
		if (head->cmsg_type == SCM_RIGHTS)
			add_fds(head, &out->fds, &message->msg_flags);
		if (head->cmsg_type == SCM_CREDENTIALS) {
			memcpy(&sender, CMSG_DATA(head), sizeof(sender));
			out->sender = sender.pid;
		}
	}
}

static ssize_t receive(int socket_fd, struct message_in *in, int flags, struct err *err)
{
	union control control;
	struct iovec data = { .iov_base = in->bytes, .iov_len = in->room };
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	int was_reset = 0;
	ssize_t len;

	in->fds = MESSAGE_FDS_INIT;
	in->sender = 0;
	/*
	 * A peer that closed without having read all that we sent is told once as a reset, before
	 * what it had sent itself (net/core/datagram.c looks for the error first).
	 */
	do
		len = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC | flags);
	while (len < 0 && (errno == EINTR || (errno == ECONNRESET && !was_reset++)));
	if (len < 0 && errno == ECONNRESET)
		return 0;
	if (len < 0)
		return err_sys(err, "receive a message");
	collect_control(&message, in);
	if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0)
		return len;
	message_fds_done(&in->fds);
	return err_set(err, ERR_SYS, "a message is larger than %zu bytes or %d descriptors",
		       in->room, MESSAGE_MAX_FDS);
}

ssize_t message_receive(int socket_fd, void *bytes, size_t room, struct message_fds *fds,
			struct err *err)
{
	struct message_in in = { .bytes = bytes, .room = room };
	ssize_t len = receive(socket_fd, &in, 0, err);

	if (len < 0)
		return -1;
	if (in.fds.count > 0 && !fds) {
		message_fds_done(&in.fds);
		return err_set(err, ERR_SYS, "a message carries descriptors that nobody expects");
	}
	if (fds)
		*fds = in.fds;
	return len;
}

ssize_t message_try_receive(int socket_fd, struct message_in *in, struct err *err)
{
	return receive(socket_fd, in, MSG_DONTWAIT, err);
}
