/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "sandbox/base/err.h"

/*
 * Which CPU does what in a run
 *
 * Judge and worker spin on a CPU each while a call is timed. Where two more are left, or
 * more, agents and builds get the others, and nothing of ours disturbs a marking; else agents and
 * builds get them all, and they and markings take turns (timing_lease.h).
 */
enum { CPUS_LIST_MAX = 64 }; /* bytes of a list such as "1-6,9", as struct cgroup_slice has it */

struct cpus {
	uint32_t judge, worker;
	bool has_others;
	char others[CPUS_LIST_MAX]; /* empty unless has_others */
};

/**
 * cpus_choose() - the first for the judge, the last for the worker, those between for all else
 * @allowed: what we may use
 *
 * A list that would not fit loses CPUs at its end. Return: 0, or -1 with ERR_HOST if there are
 * fewer than two.
 */
int cpus_choose(const cpu_set_t *allowed, struct cpus *out, struct err *err) must_check;
