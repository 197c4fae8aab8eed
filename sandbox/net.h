/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "sandbox/base/err.h"

/*
 * The jail's network: a namespace with a loopback interface, and sockets that listen there
 *
 * A service is such a socket. It is made here, by real root in the jail's namespace and before
 * there is a payload, and handed to the client, who accepts what the payload opens. Where that
 * leads is nothing that the launcher knows. The socket belongs to the jail's namespace for as long
 * as anybody holds it, whoever that is; the payload can not take its port.
 */
enum {
	NET_SERVICES_MAX = 8,
	NET_BACKLOG = 256, /* connections of one service that wait to be accepted */
};

struct net_slice {
	uint32_t count;
	uint32_t ports[NET_SERVICES_MAX]; /* of the jail's 127.0.0.1 */
};

/**
 * net_check() - refuse more services than there may be, what is no port, and one that is there
 * twice
 *
 * Return: 0, or -1 with an ERR_INPUT error that names the port.
 */
int net_check(const struct net_slice *slice, struct err *err) must_check;

/**
 * net_loopback_up() - bring up `lo` in the caller's network namespace
 */
int net_loopback_up(struct err *err) must_check;

/**
 * net_listen() - make the sockets of a checked slice in the caller's network namespace
 * @out: receives slice->count descriptors, owned by the caller, nonblocking; none after a failure
 *
 * The kernel's buffers of what is accepted there are small and do not grow: whoever holds a
 * connection and does not read costs the host that much and no more.
 */
int net_listen(const struct net_slice *slice, int out[NET_SERVICES_MAX],
	       struct err *err) must_check;
