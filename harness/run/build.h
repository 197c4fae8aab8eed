/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/run/run.h"

/*
 * Building in a jail: a tree goes in, what the build's command leaves comes out
 */
struct build_job {
	const struct run *run;
	const struct task_build *build;
	int tree_fd;   /* the stream of the tree; read from its beginning */
	int folder_fd; /* receives NAME.stdout and NAME.stderr */
	const char *name;
};

struct build_result {
	bool is_built;
	char why[256];        /* if not */
	struct digest digest; /* of the tree that came out */
};

/**
 * build_tree() - run a build over a tree
 * @out_fd: receives what was built, a tree stream, owned by the caller; -1 if it was not
 *
 * A build that fails, takes too long or leaves less than it promises is a result. Return: -1 only
 * for a failure of ours.
 */
int build_tree(const struct build_job *job, struct build_result *result, int *out_fd,
	       struct err *err) must_check;
