/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/judge/inputs.h"
#include "harness/run/vetting.h"

/*
 * What the files of a vetting share
 */
struct vetting_state {
	const struct vetting *vetting;
	struct task task;
	int pristine_fd, baseline_fd, oracle_fd; /* trees, owned */
	int candidate_fd; /* owned: the pristine workspace, built as a candidate is */
	struct vetted *out;
};

/* What one marking is over, and what it came to. */
struct vetting_mark {
	int candidate_fd; /* what was built */
	struct marking_options options;
	uint8_t key[INPUTS_KEY];
	struct marking_plan plan;
	int64_t dims[CASES_MAX][DIMS_MAX + 1]; /* the given ones of each of its cases */
	struct marking_told told;
};

/**
 * vetting_marking() - draw a key, and mark over workers in jails
 *
 * A stop by the operator is an error; that it took too long is in mark->told.
 */
int vetting_marking(const struct vetting_state *state, struct vetting_mark *mark,
		    struct err *err) must_check;

/**
 * vetting_case_name() - name a case of a marking with all its dimensions
 */
void vetting_case_name(const struct vetting_state *state, const struct vetting_mark *mark,
		       uint32_t index, char out[VETTING_NAME_MAX]);

/**
 * vetting_build() - build a tree
 * @name: "baseline": of the log, and of the tree, in the vetting's folder
 *
 * Return: the tree of what was built; or -1. With an empty error, it was not built, and @why says
 * why, the end of the compiler's words included.
 */
int vetting_build(const struct vetting_state *state, const struct task_build *build, int tree_fd,
		  const char *name, char why[VETTING_WHY_MAX], struct err *err) must_check;

/**
 * vetting_said() - the end of what a jail printed on standard error
 */
void vetting_said(const struct vetting_state *state, const char *name, char out[VETTING_WHY_MAX]);

/**
 * vetting_file() - a new file of the vetting's folder
 */
int vetting_file(const struct vetting_state *state, const char *name, struct err *err) must_check;

/**
 * vetting_say() - tell what is being done
 */
void vetting_say(const struct vetting_state *state, const char *what);

/**
 * vetting_solutions() - try each solution
 */
int vetting_solutions(const struct vetting_state *state, struct err *err) must_check;
