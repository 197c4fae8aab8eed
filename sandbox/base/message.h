/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "sandbox/base/err.h"

/*
 * Messages with descriptors over SOCK_SEQPACKET sockets: what is sent in one piece arrives in
 * one piece or not at all. Received descriptors are close-on-exec.
 */
#define MESSAGE_MAX_FDS 32

struct message_fds {
	size_t count;
	int fd[MESSAGE_MAX_FDS]; /* owned by whoever holds a received set */
};

#define MESSAGE_FDS_INIT ((struct message_fds){ .count = 0 })

/**
 * message_fds_done() - close what is left in the set (-1 entries were taken)
 */
void message_fds_done(struct message_fds *fds);

/**
 * message_pair() - a connected pair of SOCK_SEQPACKET sockets, both close-on-exec
 */
int message_pair(int out[2], struct err *err) must_check;

/**
 * message_send() - send @len bytes and @fds (NULL: none) as one message
 *
 * Never raises SIGPIPE. A peer that has gone is an error with err->sys EPIPE.
 */
int message_send(int socket_fd, const void *bytes, size_t len, const struct message_fds *fds,
		 struct err *err) must_check;

/**
 * message_receive() - receive one message of at most @room bytes
 * @fds: receives the descriptors; NULL: a message that carries any is refused
 *
 * Waits for a message unless the socket is non-blocking.
 *
 * Return: the message's length, 0 if the peer has closed, -1 on error (err->sys is EAGAIN if
 * nothing was there). A message that was longer than @room, or carried more descriptors than
 * fit, is an error and its descriptors are closed.
 */
ssize_t message_receive(int socket_fd, void *bytes, size_t room, struct message_fds *fds,
			struct err *err) must_check;

/*
 * For peers that nobody trusts: a socket's O_NONBLOCK belongs to all who hold it, the peer maybe
 * included, so these two never wait whatever it says.
 */

/**
 * message_try_send() - message_send() that gives up (err->sys EAGAIN) where it would have to wait
 */
int message_try_send(int socket_fd, const void *bytes, size_t len, const struct message_fds *fds,
		     struct err *err) must_check;

/* A message that the functions below fill in. */
struct message_in {
	void *bytes;
	size_t room;
	struct message_fds fds; /* received; owned by the caller */
	bool has_fds; /* there are some; only the first of these functions receives them */
	pid_t sender; /* who sent it, in our pid namespace; 0: the socket does not say (SO_PASSCRED)
		       */
};

/**
 * message_try_receive() - message_receive() that never waits, and receives no descriptor
 *
 * Closing one can take as long as whoever serves its file system likes (FUSE), so a process that
 * nobody may hold up takes none. Return: as message_receive().
 */
ssize_t message_try_receive(int socket_fd, struct message_in *in, struct err *err) must_check;

/**
 * message_peek() - look at the next message and leave it there, its descriptors with it
 *
 * The socket has SO_PASSCRED. Never waits, and receives no descriptor.
 *
 * Return: as message_receive(); a message that does not fit is an error with err->sys EMSGSIZE.
 */
ssize_t message_peek(int socket_fd, struct message_in *in, struct err *err) must_check;

/**
 * message_drop() - take the next message away; its descriptors are never opened here
 *
 * Return: 1 there was one, 0 there was none.
 */
int message_drop(int socket_fd);

/**
 * message_take_fds() - take the next message away, of which only the descriptors are wanted
 *
 * For a process that is waited for and soon ends: nothing is closed here. Return: 0; -1 with
 * err->sys EMSGSIZE and the first of them in @out, where the others stay open without anybody
 * knowing them; -1 with none received.
 */
int message_take_fds(int socket_fd, struct message_fds *out, struct err *err) must_check;

/**
 * message_hang_up() - end a connection without closing it: nothing comes in any more
 *
 * Return: is a message left that nobody has received? Whoever closes the socket last closes that
 * one's descriptors, each of which can take as long as its peer likes: SO_LINGER.
 */
bool message_hang_up(int socket_fd);
