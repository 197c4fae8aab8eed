/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "harness/evidence/digest.h"
#include "sandbox/base/err.h"
#include "sandbox/base/names.h"
#include "sandbox/base/process.h"

/*
 * The keeper of a run's secret
 *
 * One process a run. It draws 32 random bytes after it was forked, so that no other process ever
 * had them, keeps them in a file that root alone may open (so that a run that is resumed goes on
 * with the same draw, and nobody can have a second one by ending proctor), publishes
 * SHA-256(secret ‖ run id) once, and from then on answers one question: the key of the hidden draw
 * for a candidate that the journal names as frozen for that attempt. It reads and verifies the
 * journal itself. It has no descriptor but its sockets and the journal, can be neither dumped nor
 * traced, and ends when the control socket closes. Whoever starts it closes the secret's file.
 *
 *	K = HMAC-SHA256(secret, f(label) ‖ f(run) ‖ f(task) ‖ f(attempt) ‖ f(candidate root))
 *
 * f(x) is the length of x in bytes as 4 bytes, most significant first, then x. label is the text
 * "proctor/hidden/1", run and task are their ids as they stand in the journal, attempt is 4 bytes,
 * most significant first, candidate root is the 32 bytes of the digest.
 *
 * proctor holds the control socket and never asks for K. For each attempt it has the keeper bind
 * a new socket to that attempt (keeper_bind()) and passes the other end to the judge, which asks
 * (keeper_ask()). A channel answers for its own attempt only.
 *
 * In the journal, a candidate is frozen by a line with the event KEEPER_FROZEN and the keys task,
 * attempt and candidate (the root in hexadecimal). The first such line of an attempt counts: a
 * second root for the same attempt gets no key, so nobody can draw twice. The commitment stands
 * in a line with the event KEEPER_COMMITTED and the key commitment.
 */
#define KEEPER_LABEL     "proctor/hidden/1"
#define KEEPER_FROZEN    "attempt.frozen"
#define KEEPER_COMMITTED "run.committed"

/* In the run's folder; root's, mode 0600. */
#define KEEPER_SECRET_FILE "secret"

enum {
	KEEPER_SECRET_LEN = 32,
	KEEPER_TASK_MAX = 255,      /* bytes of a task's id */
	KEEPER_CHANNELS_MAX = 128,  /* judges at one time */
	KEEPER_ROOTS_MAX = 1 << 20, /* attempts of one run */
};

enum keeper_status {
	KEEPER_GRANTED = 1,
	KEEPER_MALFORMED,   /* not a message that this socket takes */
	KEEPER_NOT_FROZEN,  /* the journal has no candidate of this attempt */
	KEEPER_OTHER_ROOT,  /* another candidate was frozen for this attempt */
	KEEPER_JOURNAL_OFF, /* the journal does not verify, or is another run's */
	KEEPER_FULL,        /* too many channels */
};

/* "granted", "malformed", … */
extern const struct name keeper_status_names[];

struct keeper {
	struct process process;
	int control_fd;           /* owned */
	struct digest commitment; /* SHA-256(secret ‖ run id) */
};

#define KEEPER_INIT ((struct keeper){ .process = PROCESS_INIT, .control_fd = -1 })

/**
 * keeper_start() - start the keeper of a run and receive its commitment
 * @run:        the run's id, as in the journal
 * @journal_fd: the journal, opened to be read only; borrowed
 * @secret_fd:  KEEPER_SECRET_FILE, to read and write: the secret in it is used, an empty file gets
 *              one; -1: the secret is kept nowhere. Borrowed
 *
 * The commitment should be journalled (KEEPER_COMMITTED) before the first agent starts.
 */
int keeper_start(struct keeper *out, const char *run, int journal_fd, int secret_fd,
		 struct err *err) must_check;

/**
 * keeper_bind() - make the judge's socket for one attempt
 * @task:    the task's id, 1 to KEEPER_TASK_MAX bytes
 * @fd_out:  receives the end that the judge asks over; the caller owns it, passes it on, and
 *           closes its own copy
 *
 * A refusal of the keeper is an error.
 */
int keeper_bind(const struct keeper *keeper, const char *task, uint32_t attempt, int *fd_out,
		struct err *err) must_check;

/**
 * keeper_done() - end the keeper by closing the control socket, and reap it
 */
void keeper_done(struct keeper *keeper);

struct keeper_answer {
	enum keeper_status status;
	bool committed_first; /* the journal had the commitment before the candidate was frozen */
	struct digest key;    /* K; all zero unless status is KEEPER_GRANTED */
};

/**
 * keeper_ask() - in the judge: ask for the key of the frozen candidate
 * @fd:       from keeper_bind()
 * @root:     the candidate's root
 * @deadline: on clock_now()
 *
 * A refusal is an answer; only a keeper that is gone, silent or strange is an error.
 */
int keeper_ask(int fd, const struct digest *root, int64_t deadline, struct keeper_answer *out,
	       struct err *err) must_check;

/**
 * keeper_key() - K, as specified above; for the keeper, and for auditors once the secret is out
 */
struct digest keeper_key(const uint8_t secret[KEEPER_SECRET_LEN], const char *run, const char *task,
			 uint32_t attempt, const struct digest *root);
