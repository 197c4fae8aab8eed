/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "sandbox/base/fd.h"

/* SCM_MAX_FD of include/net/scm.h: no message has more. */
enum { KERNEL_MAX_FDS = 253 };

#define CONTROL_ROOM(fds) (CMSG_SPACE(sizeof(int) * (fds)) + CMSG_SPACE(sizeof(struct ucred)))

/* The kernel puts the sender in front of the descriptors, where the socket has SO_PASSCRED. */
union control {
	struct cmsghdr align;
	char bytes[CONTROL_ROOM(KERNEL_MAX_FDS)];
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
static void add_fds(const struct cmsghdr *head, struct message_fds *out, bool keeps_more,
		    int *flags)
{
	size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);

	for (size_t i = 0; i < count; i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof(fd));
		if (out->count < MESSAGE_MAX_FDS) {
			out->fd[out->count++] = fd;
			continue;
		}
		if (!keeps_more)
			fd_close(&fd);
		*flags |= MSG_CTRUNC;
	}
}

/* One message, and what of its control data has room. */
struct parcel {
	void *bytes;
	size_t room;
	size_t control_room;
	bool keeps_more; /* what has no room in fds stays open */
	int flags;       /* for recvmsg(2); then MSG_TRUNC, MSG_CTRUNC */
	struct message_fds fds;
	pid_t sender;
};

static void collect_control(struct msghdr *message, struct parcel *parcel)
{
	struct cmsghdr *head;

	for (head = CMSG_FIRSTHDR(message); head; head = CMSG_NXTHDR(message, head)) {
		struct ucred sender;

		if (head->cmsg_level != SOL_SOCKET)
			continue;
		if (head->cmsg_type == SCM_RIGHTS)
			add_fds(head, &parcel->fds, parcel->keeps_more, &message->msg_flags);
		if (head->cmsg_type == SCM_CREDENTIALS) {
			memcpy(&sender, CMSG_DATA(head), sizeof(sender));
			parcel->sender = sender.pid;
		}
	}
}

/* What the control buffer has no room for never becomes a descriptor of ours. */
static ssize_t receive(int socket_fd, struct parcel *parcel, struct err *err)
{
	union control control;
	struct iovec data = { .iov_base = parcel->bytes, .iov_len = parcel->room };
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = parcel->control_room,
	};
	int was_reset = 0;
	ssize_t len;

	/*
	 * A peer that closed without having read all that we sent is told once as a reset, before
	 * what it had sent itself (net/core/datagram.c looks for the error first).
	 */
	do
		len = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC | parcel->flags);
	while (len < 0 && (errno == EINTR || (errno == ECONNRESET && !was_reset++)));
	if (len < 0 && errno == ECONNRESET)
		return 0;
	if (len < 0)
		return err_sys(err, "receive a message");
	collect_control(&message, parcel);
	parcel->flags = message.msg_flags;
	return len;
}

static int refuse_size(struct parcel *parcel, struct err *err)
{
	message_fds_done(&parcel->fds);
	err_set(err, ERR_SYS, "a message is larger than %zu bytes or %d descriptors", parcel->room,
		MESSAGE_MAX_FDS);
	err->sys = EMSGSIZE;
	return -1;
}

ssize_t message_receive(int socket_fd, void *bytes, size_t room, struct message_fds *fds,
			struct err *err)
{
	struct parcel parcel = { .bytes = bytes,
				 .room = room,
				 .control_room = CONTROL_ROOM(MESSAGE_MAX_FDS) };
	ssize_t len = receive(socket_fd, &parcel, err);

	if (len < 0)
		return -1;
	if ((parcel.flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
		return refuse_size(&parcel, err);
	if (parcel.fds.count > 0 && !fds) {
		message_fds_done(&parcel.fds);
		return err_set(err, ERR_SYS, "a message carries descriptors that nobody expects");
	}
	if (fds)
		*fds = parcel.fds;
	return len;
}

/* Without descriptors: those that found room all the same are closed. */
static ssize_t look(int socket_fd, struct message_in *in, int flags, size_t control_room,
		    struct err *err)
{
	struct parcel parcel = {
		.bytes = in->bytes, .room = in->room, .control_room = control_room, .flags = flags
	};
	ssize_t len = receive(socket_fd, &parcel, err);

	in->has_fds = len >= 0 && (parcel.fds.count > 0 || (parcel.flags & MSG_CTRUNC) != 0);
	in->sender = parcel.sender;
	message_fds_done(&parcel.fds);
	if (len >= 0 && (parcel.flags & MSG_TRUNC) != 0)
		return refuse_size(&parcel, err);
	return len;
}

ssize_t message_try_receive(int socket_fd, struct message_in *in, struct err *err)
{
	return look(socket_fd, in, MSG_DONTWAIT, 0, err);
}

ssize_t message_peek(int socket_fd, struct message_in *in, struct err *err)
{
	return look(socket_fd, in, MSG_PEEK | MSG_DONTWAIT, CMSG_SPACE(sizeof(struct ucred)), err);
}

int message_drop(int socket_fd)
{
	struct parcel parcel = { .flags = MSG_DONTWAIT };
	struct err ignored = ERR_INIT;

	return receive(socket_fd, &parcel, &ignored) >= 0;
}

/* The kernel closes what a buffer has no room for, so this one has room for all there can be. */
int message_take_fds(int socket_fd, struct message_fds *out, struct err *err)
{
	struct parcel parcel = { .control_room = sizeof(union control),
				 .keeps_more = true,
				 .flags = MSG_DONTWAIT };

	if (receive(socket_fd, &parcel, err) < 0)
		return -1;
	*out = parcel.fds;
	if ((parcel.flags & MSG_CTRUNC) == 0)
		return 0;
	err_set(err, ERR_INPUT, "a message has more than %d descriptors", MESSAGE_MAX_FDS);
	err->sys = EMSGSIZE;
	return -1;
}

/* Where every message has a sender, and control data have no room, each is cut. */
bool message_hang_up(int socket_fd)
{
	struct parcel parcel = { .flags = MSG_PEEK | MSG_DONTWAIT };
	struct err ignored = ERR_INIT;
	int yes = 1;

	if (setsockopt(socket_fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) < 0 ||
	    shutdown(socket_fd, SHUT_RDWR) < 0 || receive(socket_fd, &parcel, &ignored) < 0)
		return true;
	return (parcel.flags & MSG_CTRUNC) != 0;
}
