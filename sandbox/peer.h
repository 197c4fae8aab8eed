/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "sandbox/base/err.h"

/*
 * Who is at the other end of a connected socket, as the kernel noted it when the connection was
 * made; what the peer says of itself counts for nothing.
 */
struct peer {
	pid_t pid;
	uid_t uid;
	int pid_fd; /* owned: that very process where the kernel has SO_PEERPIDFD (6.5); else
		       whoever has its number now, until peer_is_sender() */
};

#define PEER_INIT ((struct peer){ .pid_fd = -1 })

/**
 * peer_open() - find out who has connected
 *
 * A peer that we can not see (another pid namespace), or that has ended, is an ERR_INPUT error.
 */
int peer_open(int socket_fd, struct peer *out, struct err *err) must_check;

/**
 * peer_is_in() - was the peer in this group, with its first or a further one, or is it root?
 */
bool peer_is_in(int socket_fd, gid_t group);

/**
 * peer_is_sender() - does a message that came after peer_open() prove that pid_fd is the peer?
 * @sender: as SO_PASSCRED has it
 *
 * Only a process with that number at the time of sending can send so, and the one of pid_fd has had
 * it since before: as long as that one lives, there is no other.
 */
bool peer_is_sender(const struct peer *peer, pid_t sender);

/**
 * peer_is_alive() - has the process not ended yet?
 */
bool peer_is_alive(const struct peer *peer);

/**
 * peer_done() - release it
 */
void peer_done(struct peer *peer);
