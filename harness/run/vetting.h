/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/judge/marking_child.h"
#include "harness/run/note.h"
#include "harness/run/run.h"

/*
 * A task, tried out before any agent meets it
 *
 * Baseline and oracle are built in jails and have to agree on the seen cases and on some draws of
 * the hidden ones; the agent's jail is made, and the task's `check` run in it; the time of a
 * marking is estimated; and each solution has to get the mark that its NOTE.md says. Keys are drawn
 * here and kept from nobody: no agent's work is marked.
 */
enum {
	VETTING_DRAWS = 3, /* of the hidden cases */
	VETTING_SOLUTIONS_MAX = 64,
	VETTING_NAME_MAX = 128,
	VETTING_WHY_MAX = 400,
};

struct vetted_case {
	char name[VETTING_NAME_MAX]; /* "odd 1 (rows=149 cols=131)" */
	bool is_unseen;
	double baseline_ns;
	double floor_ns; /* below it a time is not resolved */
};

struct vetted_solution {
	char name[VETTING_NAME_MAX];
	bool is_built;
	enum mark_kind seen, unseen;
	char why[VETTING_WHY_MAX];
	struct note_marks expected;
	bool is_expected; /* all is as its NOTE.md and its name say */
};

struct vetted {
	char name[VETTING_NAME_MAX]; /* of the task; empty: it can not be read */
	struct err problem;          /* what its author did wrong; ERR_NONE: nothing */
	struct vetted_case cases[MARKING_CASES_MAX];
	size_t case_count;  /* 0: nothing was timed */
	int64_t marking_ns; /* estimate: of JUDGE_BLOCKS blocks */
	int64_t mark_wall_ns;
	double busy; /* see marking_child.h: where it is, the estimate is too high */
	struct vetted_solution solutions[VETTING_SOLUTIONS_MAX];
	size_t solution_count;
	int64_t wall_ns; /* of all of this */
};

/* One task at work. All is borrowed. */
struct vetting {
	const struct run *run; /* place->programs, launcher, policy, cpus, worker_fd, null_fd,
				  stop_fd and progress are used */
	int task_fd;
	int folder_fd; /* an empty folder for trees and logs; ours */
};

/**
 * vetting_run() - try a task out
 * @out: what was found, a problem of the author's included; large
 *
 * Return: 0, or -1 with an error of the host or ours.
 */
int vetting_run(const struct vetting *vetting, struct vetted *out, struct err *err) must_check;

/**
 * vetted_is_good() - has the author nothing to do?
 */
bool vetted_is_good(const struct vetted *vetted);
