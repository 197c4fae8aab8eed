/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

#include "sandbox/base/err.h"

/*
 * The socket that a service listens on: one that systemd has made and passed, or one of our own.
 * Its file has mode 0660, and who may write it may connect: root and one group.
 */
struct listener {
	int fd; /* owned, nonblocking */
	gid_t group;
	char path[108]; /* of our own file, to be removed again; "": somebody else's */
};

#define LISTENER_INIT ((struct listener){ .fd = -1 })

/**
 * listen_on() - make a socket at a path
 * @group: a name or a number
 *
 * The folder of the path has to be root's. A socket file that nobody listens on any more is
 * replaced, anything else there is an ERR_HOST error.
 */
int listen_on(const char *path, const char *group, struct listener *out,
	      struct err *err) must_check;

/**
 * listen_inherited() - take the socket that systemd passes
 * @pid, @count: the values of LISTEN_PID and LISTEN_FDS, or NULL
 *
 * It has to be one SOCK_SEQPACKET socket with a file that not everybody may write.
 */
int listen_inherited(const char *pid, const char *count, struct listener *out,
		     struct err *err) must_check;

/**
 * listen_done() - close it, and remove our own file
 */
void listen_done(struct listener *listener);
