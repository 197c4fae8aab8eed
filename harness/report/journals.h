/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "harness/evidence/journal.h"
#include "harness/run/planned.h"
#include "harness/run/record.h"
#include "sandbox/base/arena.h"

/*
 * The records of one or several runs, out of their journals
 *
 * Read without the lock, and without any other file of the run's folder: a run that is still going
 * on has the attempts that are recorded so far, and a copy of a journal is enough. Of each planned
 * attempt the latest record counts; those before it were INFRA and are counted. A journal with a
 * line that is off gives nothing at all.
 */
enum { JOURNALS_RUNS_MAX = 512, JOURNALS_ATTEMPTS_MAX = 200000, JOURNALS_LABELS_MAX = 64 };

struct journals_run {
	const char *folder;        /* as it was named */
	const char *run;           /* its id */
	const char *name;          /* NULL: none */
	const char *policy;        /* NULL: an earlier build did not say */
	const char *const *weaker; /* walls that it has weaker than the shipped default */
	size_t weaker_count;
	size_t planned;  /* attempts */
	size_t recorded; /* of these */
	size_t infra;    /* records that were INFRA, also those which another one has replaced */
	struct planned_label *labels;
	size_t label_count;
	struct digest digest; /* of its planned.json; zeros: its journal does not say */
	bool is_finished;
	size_t torn; /* bytes behind the last whole line: cut off, or being written now */
};

struct journals {
	struct arena arena;        /* owns all texts */
	struct journals_run *runs; /* owned, in the order in which they were read */
	size_t run_count, run_room;
	struct record *records; /* owned; of a run by task, then as planned */
	const char **trees;     /* owned: of each, the digest of the task's tree in hex, or NULL */
	size_t record_count, record_room;
};

#define JOURNALS_INIT ((struct journals){ .arena = ARENA_INIT })

/**
 * journals_read() - read and verify the journal of one more run
 * @folder: what messages call the folder
 *
 * A line that is off is named, and so is a run that was read already (ERR_INPUT); @journals is
 * then as it was.
 */
int journals_read(struct journals *journals, int folder_fd, const char *folder,
		  struct err *err) must_check;

/**
 * journals_done() - free everything; it is JOURNALS_INIT again
 */
void journals_done(struct journals *journals);
