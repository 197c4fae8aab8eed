/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

#include "harness/drill/drill.h"

/**
 * trying_attack() - try one attack, all of its rounds, and judge
 *
 * Forks: drill.run() is called in a child, while this process listens to the attack.
 */
void trying_attack(const struct drill *drill, const struct drill_attack *attack,
		   struct drill_result *out);

/**
 * trying_neighbour() - start the jail that others are to keep off, and wait until it is ready
 *
 * Return: 0 with its process, which is to be killed at the end: the jail goes with it.
 */
int trying_neighbour(const struct drill *drill, struct process *out, struct err *err) must_check;

/**
 * trying_bait() - does a harmless program see the bait from inside of a jail?
 * @without: receives the limits that do not hold and that the policy does without
 */
int trying_bait(const struct drill *drill, uint32_t *without, struct err *err) must_check;
