/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "harness/config/policy.h"
#include "harness/drill/bait.h"
#include "harness/drill/corpus.h"
#include "harness/drill/testimony.h"
#include "harness/run/jail.h"

/*
 * The drill: each attack in a jail of its own, and what came of it
 *
 * Called without privilege, with the bait laid out and a launcher that runs. Attacks that load
 * nothing run beside each other, the others one by one. Nothing is left behind: jails end with the
 * processes that asked for them, and those with the drill.
 */

/* One jail of one attack. */
struct drill_order {
	const struct drill_attack *attack;
	int round;       /* from 1 on */
	int word_fd;     /* the attack's descriptor 3; all here are borrowed */
	int archive_fd;  /* where the archive of /work goes; -1: nobody wants it */
	int tree_fd;     /* what is in /work at the beginning; -1: nothing */
	int terminal_fd; /* where output is shown; -1: nowhere */
};

struct drill {
	const struct bait *bait;
	const struct policy *policy;
	int launcher_fd; /* -1 where run() needs none */
	int stop_fd;     /* readable: the operator wants the end */
	bool is_bare;    /* run() builds no walls: then an attack that is held is what is wrong */
	int (*run)(const struct drill *drill, const struct drill_order *order,
		   struct jail_outcome *out, struct err *err);
};

struct drill_result {
	const struct drill_attack *attack;
	enum drill_seen seen;
	char text[TESTIMONY_TEXT_MAX];
	int64_t ns;
};

enum { DRILL_ATTACKS_MAX = 512 };

struct drill_report {
	size_t count;
	struct drill_result results[DRILL_ATTACKS_MAX]; /* in the order that was asked for */
	uint32_t without; /* limits that did not hold, and that the policy does without: bits */
	bool stopped;     /* the operator wanted the end: some were not tried */
};

/* Who wants to know of each result as it comes. */
struct drill_listener {
	void (*tell)(void *context, const struct drill_result *result); /* NULL: nobody */
	void *context;
};

/**
 * drill_run() - try these attacks
 * @attacks: at most DRILL_ATTACKS_MAX
 *
 * Return: 0 with the report; -1 if nothing can be said at all, ERR_HOST where even a harmless
 * program does not run in a jail.
 */
int drill_run(const struct drill *drill, const struct drill_attack *const *attacks, size_t count,
	      const struct drill_listener *listener, struct drill_report *out,
	      struct err *err) must_check;
