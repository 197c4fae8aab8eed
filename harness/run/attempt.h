/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/aka/aka_task.h"
#include "harness/evidence/manifest.h"
#include "harness/evidence/tree.h"
#include "harness/run/attempt_state.h"
#include "harness/run/evaluation.h"
#include "harness/run/jail.h"
#include "harness/run/judging.h"
#include "harness/run/run.h"
#include "harness/run/seat.h"

/*
 * One attempt: an agent on a task, once
 *
 * It goes through the states of attempt_state.h. attempt.c has the table of transitions, which is
 * the only writer of the state: each one is written to the journal when it begins and again, with
 * its result, when it is done. An attempt that was cut off after its agent had ended goes on from
 * the archive of the workspace: nothing that an agent did is lost, and none is started twice.
 */
struct attempt {
	struct run *run;
	const struct slot *slot;
	const struct planned_task *planned;
	const struct planned_agent *agent;
	struct seat *seat; /* borrowed */
	enum attempt_state state;

	struct task task;    /* of the native kind, */
	struct aka_task aka; /* and of AgentKernelArena's */
	int task_fd;         /* the task's folder in the run */
	int folder_fd;       /* the attempt's own */

	struct record_ending ending; /* of the agent */
	struct record_usage usage;
	struct digest services; /* of the log of its services */
	bool has_services;
	int pristine_fd, frozen_fd, candidate_fd, built_fd; /* tree streams */
	struct manifest frozen;
	struct digest candidate_root;
	struct digest root_before; /* what the journal has, if it was cut off behind FROZEN */
	bool has_root_before;
	struct tree_report changes;
	bool is_built;
	struct digest artifact; /* of what was built */
	char build_why[256];
	struct judging_result *judged; /* NULL: not judged */
	struct record_carried carried; /* of AgentKernelArena's kind */
	struct record_heldout heldout; /* the same */
	struct evaluation *evaluation; /* of AgentKernelArena's kind; NULL: not begun; owned */
	struct samples samples;
	bool was_judged; /* by a judge whose verdict was not recorded */

	bool has_file;             /* the record is in the attempt's folder as well */
	struct digest record_file; /* its digest */
	struct record_times times;
	bool stopped;     /* the operator did not want it to go on */
	struct err infra; /* what went wrong on our side */
};

/**
 * attempt_new_file() - an empty file in the attempt's folder: what a cut off attempt left under
 * that name is made again
 */
int attempt_new_file(const struct attempt *attempt, const char *name, struct err *err) must_check;

/**
 * attempt_name_candidate() - the candidate is whole: take its root, which has to be the one that
 * the journal has of it
 */
int attempt_name_candidate(struct attempt *attempt, struct err *err) must_check;

/**
 * attempt_say() - tell what is being done
 */
void attempt_say(struct attempt *attempt, const char *what);

/**
 * attempt_run() - carry out one attempt, in its seat, up to RECORDED
 * @slot: whose; its number is that of the attempt
 * @work: where to begin
 *
 * Whatever becomes of the agent or its candidate is in the record, and so is a failure of ours
 * (INFRA). An attempt whose agent has not begun, or has ended, is left without a record where the
 * operator wants to stop: it can go on later. Return: 0; -1 only if journal or record could not be
 * written.
 */
int attempt_run(struct run *run, const struct slot *slot, enum slot_work work, struct seat *seat,
		struct err *err) must_check;
