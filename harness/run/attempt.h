/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/evidence/manifest.h"
#include "harness/evidence/tree.h"
#include "harness/run/jail.h"
#include "harness/run/judging.h"
#include "harness/run/run.h"

/*
 * One attempt: an agent on a task, once
 *
 * It goes through the states below in this order and never back. attempt.c has the table of
 * transitions, which is the only writer of the state: each one is written to the journal when it
 * begins and again, with its result, when it is done.
 */
enum attempt_state {
	ATTEMPT_PLANNED,
	ATTEMPT_LEASED,   /* a folder of its own */
	ATTEMPT_AGENT,    /* the agent has run and is gone */
	ATTEMPT_FROZEN,   /* its workspace is an archive, the candidate a tree with a root */
	ATTEMPT_BUILT,    /* or found not to build */
	ATTEMPT_JUDGED,   /* or found not to be worth judging */
	ATTEMPT_RECORDED, /* the record is on the disk */
};

extern const struct name attempt_state_names[];

struct attempt {
	struct run *run;
	struct run_task *task;
	const struct run_agent *agent;
	uint32_t number; /* of this task in this run, from 1: no two agents share one */
	enum attempt_state state;
	int folder_fd;

	struct jail_outcome agent_outcome;
	int frozen_fd, candidate_fd, built_fd; /* tree streams */
	struct manifest frozen;
	struct digest candidate_root;
	struct tree_report changes;
	bool is_built;
	struct digest artifact; /* of what was built */
	char build_why[256];
	struct judging_result *judged; /* NULL: not judged */
	struct samples samples;

	struct record_times times;
	struct err infra; /* what went wrong on our side */
};

/**
 * attempt_run() - all transitions, from PLANNED to RECORDED
 * @out: the record; its texts live in run->arena
 *
 * Whatever becomes of the agent or its candidate is in the record, and so is a failure of ours
 * (INFRA). Return: 0; -1 only if journal or record could not be written.
 */
int attempt_run(struct run *run, struct run_task *task, const struct run_agent *agent,
		uint32_t number, struct record *out, struct err *err) must_check;
