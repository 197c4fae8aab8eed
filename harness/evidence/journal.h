/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "harness/evidence/digest.h"
#include "harness/evidence/json.h"
#include "sandbox/base/err.h"
#include "sandbox/base/str.h"

/*
 * The journal: what happened in a run, and where to go on after a crash
 *
 * One JSON object a line, only ever appended to:
 *
 *	{"seq":2,"prev":"<hex>","time_ns":1700000000000000000,"event":"run.planned",…,"sum":"<hex>"}
 *
 * seq is the number of the line, from 1. prev is the SHA-256 of the line before, without its
 * newline (64 zeros in the first line), so that no earlier line can be changed, moved or taken
 * away without changing the last. sum is the first 16 digits of the SHA-256 of the line up to
 * where `,"sum"` begins, so that damage is found in the line that has it, the last line included.
 * The first line is the event "journal.opened" with the keys format and run.
 *
 * A line is on the disk before journal_commit() returns. Whatever fails, the file holds whole
 * lines only; a line that a crash has torn is cut off when the journal is next opened to write.
 * There is one writer at a time, held by flock(2) on the file: whoever forks has to close the
 * descriptor in the child, or the child keeps the lock.
 */
#define JOURNAL_FILE   "journal.jsonl"
#define JOURNAL_FORMAT "proctor/journal/1"

enum {
	JOURNAL_LINE_MAX = 65536, /* bytes, the newline included */
	JOURNAL_RUN_MAX = 64,     /* bytes of a run's id */
	JOURNAL_EVENT_MAX = 64,   /* bytes of an event's name */
};

struct journal {
	int fd;             /* owned: the file, locked; -1: none */
	int64_t size;       /* bytes of the whole lines */
	uint64_t lines;     /* how many */
	struct digest last; /* of the last line */
	int64_t cut;        /* bytes of a torn line that journal_open() took off */
	bool is_broken;     /* a failure could not be undone: nothing more is written */
	char run[JOURNAL_RUN_MAX + 1];
	struct str line; /* the line being made */
	struct json_writer json;
};

#define JOURNAL_INIT ((struct journal){ .fd = -1, .line = STR_INIT })

/**
 * journal_create() - make the journal of a new run in its folder and write its first line
 * @dir_fd: the run's folder, not O_PATH
 * @run:    the run's id: 1 to JOURNAL_RUN_MAX bytes of A-Z a-z 0-9 . _ -
 *
 * A journal that is there already is an error; on failure none is left. It has its name when its
 * first line is on the disk, and not before.
 */
int journal_create(struct journal *out, int dir_fd, const char *run, struct err *err) must_check;

/**
 * journal_open() - open the journal of a run to go on writing
 *
 * Verifies every line; the first that is off is named in the error (ERR_INPUT), and the file is
 * then left as it is. A torn last line is cut off, and @out->cut says how much that was. Another
 * writer is an ERR_INPUT error that names its process where the kernel tells.
 */
int journal_open(struct journal *out, int dir_fd, struct err *err) must_check;

/**
 * journal_begin() - begin a line
 * @event: its name, such as "attempt.frozen"
 *
 * Return: the writer for the event's own keys (not seq, prev, time_ns, event, sum); it belongs
 * to the journal. A line that was begun and not committed is forgotten.
 */
struct json_writer *journal_begin(struct journal *journal, const char *event);

/**
 * journal_commit() - append the line that was begun, and wait until it is on the disk
 *
 * On failure nothing of it stays in the file. A full disk is an ERR_HOST error, after which the
 * next line may succeed; after a failed sync or a failed undo the journal refuses all others.
 */
int journal_commit(struct journal *journal, struct err *err) must_check;

/**
 * journal_done() - close the journal, which gives up the lock; it is JOURNAL_INIT again
 */
void journal_done(struct journal *journal);

/* One line that was read and verified; valid until the next call on its reader. */
struct journal_entry {
	uint64_t seq;
	int64_t time_ns; /* since 1970 */
	const char *event;
	const struct json_value *fields; /* the whole line */
};

/*
 * Reads and verifies a journal line by line, also one that is still being written: a reader that
 * has come to the end goes on there later. It keeps no position in the file, so the descriptor
 * can be shared.
 */
struct journal_reader {
	int fd;             /* borrowed */
	int64_t size;       /* bytes of the lines read so far */
	uint64_t lines;     /* how many */
	struct digest last; /* of the last one */
	char run[JOURNAL_RUN_MAX + 1];
	char *buffer; /* owned: what was read ahead, at size, from start up to end */
	size_t start, end;
	size_t torn; /* bytes behind the last whole line, when last at the end */
	struct json json;
};

/**
 * journal_open_read() - open the journal of a run to be read only, without the lock
 *
 * Return: the descriptor, owned by the caller, or -1.
 */
int journal_open_read(int dir_fd, struct err *err) must_check;

/**
 * journal_reader_init() - a reader that stands before the first line
 * @fd: the journal; has to outlive the reader
 */
void journal_reader_init(struct journal_reader *reader, int fd);

/**
 * journal_read() - the next whole line
 *
 * Return: 1 with @out set; 0 if there is none yet (a torn line counts as none); -1 with the
 * first line that is off named (ERR_INPUT), after which each further call fails as well.
 */
int journal_read(struct journal_reader *reader, struct journal_entry *out,
		 struct err *err) must_check;

/**
 * journal_reader_done() - free what the reader holds; the descriptor stays open
 */
void journal_reader_done(struct journal_reader *reader);
