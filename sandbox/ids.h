/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "sandbox/base/err.h"

/*
 * User and group ids of one jail
 *
 * A jail leases one range of host ids. Inside, id 0 is the range's base: the host's own id 0 is
 * never mapped. The payload runs as IDS_PAYLOAD; pid 1 of the jail as another id of the range
 * that is no payload's, so that neither can signal or trace the other.
 */
enum {
	IDS_RANGE = 65536,  /* ids in a range */
	IDS_PAYLOAD = 1000, /* inside: uid and gid of the payload */
	IDS_KEEPER = 65533, /* inside: uid and gid of pid 1 after it has built the jail */
};

struct ids {
	uint32_t base; /* the range's first host id; never 0 */
};

/**
 * ids_host() - the host's id of the inside's @inside
 */
static inline uint32_t ids_host(const struct ids *ids, uint32_t inside)
{
	return ids->base + inside;
}

/**
 * ids_write_maps() - give a process in a fresh user namespace the range, for users and groups
 * @proc_fd: a procfs in which @pid means that process
 *
 * The caller needs CAP_SETUID and CAP_SETGID in the parent namespace. Supplementary groups must
 * have been dropped before: a map does not take them away.
 */
int ids_write_maps(const struct ids *ids, int proc_fd, pid_t pid, struct err *err) must_check;

/**
 * ids_become() - real, effective and saved uid and gid become the inside's @inside
 *
 * Works inside (host = false, after the maps are written) and for a process that stays in the
 * host's user namespace (host = true). No id of before is left behind.
 */
int ids_become(const struct ids *ids, uint32_t inside, int host, struct err *err) must_check;
