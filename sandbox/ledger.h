/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/base/err.h"
#include "sandbox/cgroup.h"
#include "sandbox/site.h"

/*
 * The jails that a launcher has, and whose they are
 *
 * Two sums are kept below two limits: what the jails of one account have together, which the site
 * limits, and what the jails of one control group have together that lie outside of it, where the
 * kernel would not apply the group's limits. An entry is there as long as the jail's monitor, which
 * can be longer than the jail: what its client has passed may take long to close.
 */
struct ledger_jail {
	pid_t monitor;
	uint64_t client; /* which one, for the caller */
	bool is_over;    /* no jail, or none any more: only a process that is about to end */
	uid_t uid;
	uint64_t memory, pids, cpu_milli;
	uint32_t group_count;
	uint64_t groups[CGROUP_LEVELS_MAX]; /* that the jail is to be counted in */
};

struct ledger {
	size_t count, room;
	struct ledger_jail *jails;
};

#define LEDGER_INIT ((struct ledger){ .count = 0 })

/**
 * ledger_admit() - may an account have one more jail?
 *
 * Root may. Return: 0, or -1 with an ERR_HOST error that says which sum, and the key that limits
 * it.
 */
int ledger_admit(const struct ledger *ledger, const struct site *site, uid_t uid,
		 const struct cgroup_limits *asked, struct err *err) must_check;

/**
 * ledger_clamp() - lower what is asked for to what the client's own control groups leave
 * @bounds:   what these allow
 * @all_cpus: of the host, as the launcher has them
 * @clamped:  receives the limits that are lower now: bits CGROUP_BIT(limit)
 *
 * Return: 0, or -1 with an ERR_HOST error where nothing is left, or a CPU that is asked for is not
 * the client's.
 */
int ledger_clamp(const struct ledger *ledger, const struct cgroup_bounds *bounds,
		 const char *all_cpus, struct cgroup_limits *limits, uint32_t *clamped,
		 struct err *err) must_check;

/**
 * ledger_enter() - note a jail: of @uid, with @limits, which @bounds hold for
 */
void ledger_enter(struct ledger *ledger, const struct ledger_jail *who,
		  const struct cgroup_limits *limits, const struct cgroup_bounds *bounds);

/**
 * ledger_end() - the jail of a monitor is over: it counts in no sum, and is no client's any more
 *
 * Return: 1 with the entry as it was in @out; 0: it has no jail.
 */
int ledger_end(struct ledger *ledger, pid_t monitor, struct ledger_jail *out);

/**
 * ledger_leaving() - the processes of an account that are about to end
 */
size_t ledger_leaving(const struct ledger *ledger, uid_t uid);

/**
 * ledger_leave() - strike the entry of a monitor, which has ended
 *
 * Return: 1 with the entry in @out; 0: it has none.
 */
int ledger_leave(struct ledger *ledger, pid_t monitor, struct ledger_jail *out);

/**
 * ledger_done() - release it
 */
void ledger_done(struct ledger *ledger);
