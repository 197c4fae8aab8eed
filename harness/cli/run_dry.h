/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/cli/cli.h"
#include "harness/run/run.h"

/*
 * run --dry-run: all that a run of AgentKernelArena's tasks would do, and nothing of it done
 *
 * Each task with its commands as they would be executed, what of it is the agent's, and the jails
 * that all of it would happen in. Needs no privilege and makes no file.
 */

/**
 * run_dry() - tell it
 * @plan:    with its tasks opened
 * @json_fd: receives one JSON object; -1: a text on standard output
 */
int run_dry(const struct cli *cli, const struct run_plan *plan, int json_fd,
	    struct err *err) must_check;
