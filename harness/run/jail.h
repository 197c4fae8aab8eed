/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/wire.h"

/*
 * One jail from request to last event, with its output
 *
 * The payload's standard output and error arrive here through pipes, are counted, capped and
 * written on; nothing looks at them. When the cap is passed the jail ends with ENDING_OUTPUT.
 */
struct jail_io {
	int out_fd, err_fd;  /* where output goes on to; borrowed, -1: it is dropped */
	uint64_t output_max; /* bytes of both together */
	int stop_fd;         /* readable: the operator wants the end; borrowed, -1 for none */
};

struct jail_outcome {
	struct event last;     /* ENDED, FAILED, NOT_FOUND, NOT_EXECUTABLE or LOST */
	uint64_t output_bytes; /* what the payload wrote until it was cut off */
	bool stopped;          /* stop_fd was the reason */
};

/**
 * jail_run() - ask for a jail and stay with it until nothing of it is left
 * @fds: what the spec wants but the control socket and the output pipes, which are made here
 *
 * Return: 0 with *out, whatever became of the jail; -1 if we could not even ask or listen.
 */
int jail_run(int launcher_fd, const struct jail_spec *spec, struct spec_fds *fds,
	     const struct jail_io *io, struct jail_outcome *out, struct err *err) must_check;
