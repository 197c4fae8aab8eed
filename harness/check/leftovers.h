/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/base/err.h"

/*
 * What a build or a worker leaves running, whatever it did to leave its process group or session
 *
 * In a jail the control group ends it; an agent that tries its own work has none. Instead all
 * that loses its parent becomes a child of this process, which ends its children one and all, but
 * those that it had before: a shell that becomes this program may have started some.
 */
struct leftovers {
	bool is_open;
	int64_t since; /* children that were started before are somebody else's; clock ticks */
};

#define LEFTOVERS_INIT ((struct leftovers){ .is_open = false })

/**
 * leftovers_adopt() - from now on the orphans below this process become its children
 */
int leftovers_adopt(struct leftovers *leftovers, struct err *err) must_check;

/**
 * leftovers_end() - end and reap every child of this process: for a moment at which it wants none
 *
 * Return: 0, or -1 with an ERR_HOST error: some are still there after seconds, for instance one
 * that starts others faster than they can be found.
 */
int leftovers_end(const struct leftovers *leftovers, struct err *err) must_check;
