/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/run/jail.h"
#include "harness/run/run.h"

/*
 * The agent's turn: a jail with the workspace, for as long as policy and task allow
 */

struct agent_job {
	const struct run *run;
	const struct task *task;
	bool is_solution; /* copied over the workspace; otherwise a program that is run */
	int pristine_fd;  /* the workspace, a tree stream */
	int script_fd;    /* the agent's own files, a tree stream */
	int given_fd;  /* what it is given beside the workspace, a tree stream: given.h; 0: nothing
			*/
	int folder_fd; /* receives agent.stdout and agent.stderr */
	int frozen_fd; /* receives the archive of the workspace, a tree stream */
	int services_fd; /* receives a line for each connection to a service; 0: there are none */
};

/**
 * agent_run() - run an agent on a task and collect what it leaves
 *
 * However the agent ends is in *out. Return: -1 only for a failure of ours.
 */
int agent_run(const struct agent_job *job, struct jail_outcome *out, struct err *err) must_check;

/**
 * agent_pack_solution() - the tree of a solution folder of a task
 * @name: of it; ERR_INPUT if the task has none of this name
 */
int agent_pack_solution(int task_fd, const char *name, int out_fd, struct err *err) must_check;

/**
 * agent_pack_program() - a tree of one file, "program", that may be executed
 */
int agent_pack_program(int program_fd, int out_fd, struct err *err) must_check;
