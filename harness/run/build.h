/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/evidence/manifest.h"
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
	int products_fd; /* an empty file: receives what was built, a tree stream */
};

struct build_result {
	bool is_built;
	char why[256];        /* if not */
	struct digest digest; /* root of the tree that came out */
	bool stopped;         /* by the operator: nothing is known of the tree */
};

/**
 * build_tree() - run a build over a tree
 *
 * A build that fails, takes too long or leaves less than it promises is a result. Return: -1 only
 * for a failure of ours.
 */
int build_tree(const struct build_job *job, struct build_result *result,
	       struct err *err) must_check;

/**
 * build_judge_products() - is all there that a build promises to leave?
 * @manifest: of what it left
 * @limits:   that this was collected by
 * @why:      empty then; else what is not
 */
void build_judge_products(const struct manifest *manifest, const struct argv *promised,
			  const struct stream_limits *limits, char *why, size_t room);

/**
 * build_takes() - can a jail of this role hold a candidate? Says in @why that it can not
 */
bool build_takes(const struct stream_limits *limits, const struct stream_counts *has,
		 const char *role, char *why, size_t room);
