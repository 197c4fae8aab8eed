/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/run/jail.h"
#include "harness/run/run.h"

/*
 * The agent's turn: a jail with the workspace, for as long as policy and task allow
 */

struct agent_job {
	const struct run *run;
	const struct run_task *task;
	const struct run_agent *agent;
	int folder_fd; /* receives agent.stdout and agent.stderr */
	int frozen_fd; /* receives the archive of the workspace, a tree stream */
};

/**
 * agent_run() - run an agent on a task and collect what it leaves
 *
 * However the agent ends is in *out. Return: -1 only for a failure of ours.
 */
int agent_run(const struct agent_job *job, struct jail_outcome *out, struct err *err) must_check;
