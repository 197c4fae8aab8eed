/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "harness/run/cpus.h"
#include "sandbox/base/err.h"

/*
 * Who may use the host's CPUs for what: the timing lease
 *
 * Of all runs of a host one marking is timed at a time: a lock on a file (flock(2); it ends with
 * its holder). Within a run the seats ask here. Where a host has no CPU to spare for agents and
 * builds, they share the lock and a marking has it alone: once a marking waits, no further agent is
 * let in, so that it gets its turn.
 *
 * A second lock, the turnstile, keeps the order between runs: who wants the first one alone holds
 * the turnstile while he waits, and who wants to share has to pass it.
 *
 * Nothing here waits: timing_try() is called again and again.
 */
enum timing_use {
	TIMING_NOTHING,
	TIMING_WORK, /* agents and builds */
	TIMING_MARK, /* a marking */
};

/* How long a run that has marked leaves the lease to others; longer than between two looks of
 * theirs. */
enum { TIMING_REST_MS = 50 };

/*
 * Root opens the files itself. For others the launcher's service keeps the locks, so that they end
 * with the connection whoever has copies of a descriptor, and takes back what is held for too long.
 */
struct timing_files {
	int lock_fd, turn_fd; /* -1: no lease beyond this run, or: */
	int service_fd;       /* borrowed: the connection to the service; -1: none */
};

#define TIMING_FILES_INIT ((struct timing_files){ -1, -1, -1 })

struct timing {
	struct timing_files files; /* borrowed */
	bool is_scarce;            /* no CPUs for agents beside a marking */
	size_t working, marking;   /* seats that do so now */
	size_t waiting;            /* seats that want to mark */
	int locked;                /* LOCK_SH, LOCK_EX, or 0 */
	bool has_turn;
	int64_t rest_until;         /* on clock_now(): others of the host come first */
	bool is_waiting_for_others; /* another run has the lease; for the progress line */
};

/**
 * timing_open() - open the files of the lease, as root and with a launcher that was started
 * @service_fd: or have the service keep the locks; -1: no service
 */
int timing_open(int service_fd, struct timing_files *out, struct err *err) must_check;

/**
 * timing_files_done() - close them
 */
void timing_files_done(struct timing_files *files);

/**
 * timing_init() - nothing is in use yet
 */
void timing_init(struct timing *timing, const struct timing_files *files, const struct cpus *cpus);

/**
 * timing_want() - a seat begins to wait for its next use
 */
void timing_want(struct timing *timing, enum timing_use use);

/**
 * timing_try() - may a seat that waits have what it wants now? It has it then.
 */
bool timing_try(struct timing *timing, enum timing_use use);

/**
 * timing_give_back() - a seat is through with what it had
 */
void timing_give_back(struct timing *timing, enum timing_use use);

/**
 * timing_forget() - a seat that waited is gone
 */
void timing_forget(struct timing *timing, enum timing_use use);
