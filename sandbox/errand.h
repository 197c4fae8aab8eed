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
