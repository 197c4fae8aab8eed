/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/serve.h"

/*
 * A child of the launcher that takes one request out of a client's socket, with its descriptors,
 * and becomes the monitor of its jail, or says why there is none.
 *
 * What a client's descriptors can do to whoever holds them (a file system of his own that answers
 * when it likes) is done to such a child: it is his.
 */
struct errand {
	const struct jail_spec *spec; /* NULL: the request made no sense */
	const struct err *refusal;    /* why there is no jail; NULL: there is one */
	const struct cgroup_bounds *bounds;
	uint32_t clamped; /* limits that these made lower: bits */
};

/**
 * errand_send() - fork a child for the next request in a client's socket, and wait until it has
 * taken it
 *
 * It is entered in the ledger. A request that nobody took would be the next one again: such a
 * connection is over.
 */
void errand_send(struct server *server, struct client *client, const struct errand *errand);

/**
 * errand_close() - close a connection of an account's, by a child where something is left in it
 *
 * The launcher does not close what nobody has received: see message_hang_up().
 */
void errand_close(struct server *server, uid_t uid, int *socket_fd);

/**
 * errand_end() - clients_end(), with its connection closed as errand_close() does
 */
void errand_end(struct server *server, struct client *client);
