/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "harness/evidence/digest.h"
#include "sandbox/base/arena.h"

/*
 * What the agents of several runs were made of
 *
 * Agents go by their names. Two runs may have given one name to different files, whose attempts are
 * then figures of two agents under one name. The digests stand in each run's planned.json, and the
 * journal has that file's: where it is not there, or is another one, nothing is known.
 */
struct brought_item {
	const char *agent;
	const char *what; /* a task with its digest; "" a program, which is the same on all tasks */
	const char *task; /* NULL: a program */
	struct digest digest;
	const char *run;
};

struct brought {
	struct arena arena;        /* owns all texts */
	struct brought_item *list; /* owned */
	size_t count, room;
};

#define BROUGHT_INIT ((struct brought){ .arena = ARENA_INIT })

enum { BROUGHT_MAX = 200000 }; /* items; of more nothing is known */

/* An agent that is not the same files in two runs. Borrows its texts. */
struct brought_difference {
	const char *agent;
	const char *task; /* of which it brought another solution; NULL: another program */
	const char *run, *other;
};

/**
 * brought_read() - note what the agents of a run brought
 * @run:     its id
 * @planned: the digest of PLANNED_FILE, as its journal says
 */
void brought_read(struct brought *brought, int folder_fd, const char *run,
		  const struct digest *planned);

/**
 * brought_compare() - the agents that have one name and are not the same files, each once
 * @out: the caller frees it with mem_free()
 *
 * A solution of two tasks, or of two versions of a task, is nothing to be compared.
 *
 * Return: how many there are.
 */
size_t brought_compare(struct brought *brought, struct brought_difference **out);

/**
 * brought_done() - free everything; it is BROUGHT_INIT again
 */
void brought_done(struct brought *brought);
