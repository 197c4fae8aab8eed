/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/run/output.h"
#include "harness/run/relaying.h"
#include "sandbox/wire.h"

/*
 * One jail from request to last event, with its output
 *
 * The payload's standard output and error arrive here through pipes, are counted, capped and kept
 * in log files or shown; nothing looks at them. When the cap is passed the jail ends with
 * ENDING_OUTPUT. A launcher that has gone ends it with ENDING_LAUNCHER_LOST, although its monitor
 * may live: nobody would reap behind that. What connects to its services reaches their endpoints
 * through a relay, a process that is there as long as the jail is.
 */
struct jail_io {
	int folder_fd; /* receives NAME.stdout and NAME.stderr; -1: no files */
	const char *name;
	int show_out_fd; /* where output is shown as it comes, too; 0: nowhere */
	int show_err_fd;
	uint64_t output_max;             /* bytes of both together */
	int stop_fd;                     /* readable: the operator wants the end; -1 for none */
	const struct services *services; /* those that the spec has ports of; NULL: none */
	int services_log_fd; /* receives a line for each connection; 0: there is no log */
};

struct jail_outcome {
	struct event last;     /* ENDED, FAILED, NOT_FOUND, NOT_EXECUTABLE or LOST */
	uint64_t stdout_bytes; /* what the payload wrote until it was cut off */
	uint64_t stderr_bytes;
	struct relaying_result services; /* count 0: it had none, or was never there */
	bool stopped;                    /* the operator wanted the end */
	bool unshown; /* and of what the payload printed, the end waited for a reader: it is lost */
};

/**
 * jail_run() - ask for a jail and stay with it until nothing of it is left
 * @fds: what the spec wants but the control socket and the output pipes, which are made here
 *
 * Return: 0 with *out, whatever became of the jail; -1 if we could not even ask or listen, or the
 * log files could not be written: *out is then untouched.
 */
int jail_run(int launcher_fd, const struct jail_spec *spec, struct spec_fds *fds,
	     const struct jail_io *io, struct jail_outcome *out, struct err *err) must_check;
