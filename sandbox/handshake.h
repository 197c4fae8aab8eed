/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/base/err.h"
#include "sandbox/base/message.h"

/*
 * What pid 1 of a jail tells the monitor, and how a process that can not become the payload says
 * so. One message for each fact, over a SOCK_SEQPACKET pair; the socket's end means that the
 * other side has gone.
 */
enum report_kind {
	REPORT_STARTED,        /* the payload runs; brings its pidfd, each tmpfs, and the services'
				  sockets */
	REPORT_FAILED,         /* the jail could not be built; err says why */
	REPORT_NOT_FOUND,      /* it was built, but there is no such program */
	REPORT_NOT_EXECUTABLE, /* it was built, but the program can not be executed */
	REPORT_ENDED,          /* the payload has ended; status as from waitpid(2) */
};

struct report {
	uint32_t kind; /* enum report_kind */
	int32_t status;
	struct err err;
};

/**
 * report_send() - send one report
 * @fds: NULL for none
 */
int report_send(int socket_fd, const struct report *report, const struct message_fds *fds,
		struct err *err) must_check;

/**
 * report_receive() - wait for one report
 *
 * Return: 1, 0 if the other side has gone, -1 on error. The text in it always ends.
 */
int report_receive(int socket_fd, struct report *out, struct message_fds *fds,
		   struct err *err) must_check;

/**
 * handshake_fail() - in a child that can not go on: send @err over the close-on-exec socket
 *
 * The caller exits afterwards.
 */
void handshake_fail(int socket_fd, const struct err *err);

/**
 * handshake_ready() - in the child: all that is left to do is to execute its program
 *
 * A socket that closes before this was said has lost its child, to the kernel's need of memory for
 * instance.
 */
int handshake_ready(int socket_fd, struct err *err) must_check;

/**
 * handshake_give() - in the child: hand a descriptor to the parent, which stays ours as well
 */
int handshake_give(int socket_fd, int fd, struct err *err) must_check;

/**
 * handshake_wait() - in its parent: wait until the child has executed its program or failed
 * @given_fd: receives what the child has given, owned by the caller; -1 if that is nothing
 *
 * Return: 0 if the child was ready and execve has closed the socket, -1 with its own error or that
 * it has none.
 */
int handshake_wait(int socket_fd, int *given_fd, struct err *err) must_check;
