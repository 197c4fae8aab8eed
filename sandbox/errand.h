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
 * errand_send() - have a child take the next request in a client's socket, and wait until it has
 *
 * It is entered in the ledger. A request that nobody took would be the next one again: such a
 * connection is over. The child is the spare, or a fork where that does not take it.
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

/**
 * errand_make_spare() - have a child prepare itself for the next request of a private client
 *
 * To be called when a jail of its has ended: not while one runs, whose time may be measured. A
 * client that has had one jail alone gets none, since that may be all that it wants.
 */
void errand_make_spare(struct server *server, const struct client *client);

/**
 * errand_drop_spare() - let the child that waits for a request end by itself; nothing happens if
 * there is none
 */
void errand_drop_spare(struct server *server);
