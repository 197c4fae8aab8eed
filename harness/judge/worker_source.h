/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "sandbox/base/err.h"

/*
 * Where workers come from: the judge asks, somebody with the privilege to do so starts them (a
 * jail by way of the launcher; a plain fork in tests). The judge itself opens no file, executes
 * nothing and learns nothing about a worker but its pidfd.
 *
 * A worker is *held* whenever no call of it is open: no instruction of it runs, so that it can
 * neither look at the next problem before the clock runs nor go on with the last one after it.
 */
enum worker_role {
	WORKER_ORACLE,    /* trusted: computes in double what is expected */
	WORKER_PATH,      /* trusted: null and store, the worker program's own entries */
	WORKER_BASELINE,  /* trusted: what the candidate is compared with */
	WORKER_CANDIDATE, /* hostile */
};

/* Borrowed by the source for the time of start(); 3, 4 and 5 in the worker. */
struct worker_fds {
	int control_fd;
	int inputs_fd;
	int outputs_fd;
};

struct worker {
	int pid_fd;      /* owned by the source; readable once the worker has ended */
	uint64_t handle; /* the source's own */
};

#define WORKER_INIT ((struct worker){ .pid_fd = -1 })

enum worker_ending {
	WORKER_STOPPED,  /* it was alive when stop() came */
	WORKER_EXITED,   /* code: its exit code */
	WORKER_SIGNALED, /* code: the signal */
	WORKER_OOM,      /* it reached its memory limit */
};

struct worker_end {
	enum worker_ending ending;
	int code;
};

struct worker_source {
	void *context;

	/* Start one. Failing is the host's fault (INFRA), never the worker's: what a library does
	 * to its worker shows later, as an answer that is wrong or does not come. */
	int (*start)(void *context, enum worker_role role, const struct worker_fds *fds,
		     struct worker *out, struct err *err);
	/* Return: 0 no instruction of the worker runs any more, or it has ended; 1 that did not
	 * come about within JUDGE_HOLD_NS, which a worker can bring about; -1 the host failed. */
	int (*hold)(void *context, const struct worker *worker, struct err *err);
	/* Lets it go on; on the path of the measured time. Nothing happens to one that ended. */
	void (*release)(void *context, const struct worker *worker);
	/* Ends every process of it, and waits until they are gone; *worker is WORKER_INIT then. */
	int (*stop)(void *context, struct worker *worker, struct worker_end *out, struct err *err);
};
