/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

#include "sandbox/base/err.h"
#include "sandbox/brief.h"
#include "sandbox/handshake.h"

/*
 * Stage 2: from the user namespace to the payload. Each step is a one-way door; enter.c lists
 * them in the order that privilege allows.
 */

/**
 * enter_start() - start the payload of @brief in a user namespace of its own
 * @pid_fd: receives the payload's pidfd
 * @listener_fd: receives where its refused calls wait; -1 if they do not
 * @report: receives what became of it: REPORT_STARTED, or why not, in the child's own words;
 *	REPORT_STARTED of our own collector: it has finished, and the archive is whole
 *
 * The caller is pid 1 of the jail, still real root, its tree is built. It keeps its identity but
 * for the effective ids, which are the range's base afterwards.
 *
 * Return: the payload's pid, or -1 if it could not even be cloned.
 */
pid_t enter_start(const struct brief *brief, int *pid_fd, int *listener_fd, struct report *report,
		  struct err *err) must_check;
