/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/config/policy.h"

/*
 * Two policies, key by key, and what one of them gives up
 *
 * A wall is what an attacker gains by: a limit that need not hold (`accept`), a system call more
 * (`syscalls`), something that can be reached (`services`). A number is none: however large, it is
 * a limit that the kernel enforces, and a task that is larger than another needs it. So only keys
 * of words make a policy weaker or stronger; a number is larger or smaller.
 */
enum policy_change {
	POLICY_WEAKER,
	POLICY_STRONGER,
	POLICY_LARGER,
	POLICY_SMALLER,
	POLICY_OTHER,
};

extern const struct name policy_change_names[];

struct policy_difference {
	const char *key;            /* "agent.tmp.size"; of a variable "agent.environment.NAME",
				       of a service "services.NAME" */
	const char *before, *after; /* as a file would say them; NULL: not there */
	enum policy_change change;
};

/**
 * policy_diff() - what differs from @before to @after; names are no values
 * @count: receives how many there are
 *
 * Pure. Return: an array in @arena, in the order of the format.
 */
const struct policy_difference *policy_diff(const struct policy *before, const struct policy *after,
					    struct arena *arena, size_t *count);

/**
 * policy_weaker() - the walls of a policy that are weaker than those of policy_default()
 *
 * Pure. Return: their names, "accept:swap", "agent.syscalls:profiler" or
 * "services:NAME", in @arena.
 */
const char *const *policy_weaker(const struct policy *policy, struct arena *arena, size_t *count);

/**
 * policy_is_wall() - is this row of the format about a wall, and not about a size?
 */
bool policy_is_wall(const struct field *field);
