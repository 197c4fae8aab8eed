/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/config/policy.h"

/*
 * The images of a run's jails, by what they hold
 *
 * A policy names them, the host's site.conf says which files these are, and the launcher alone
 * reads those: so a jail of each role is tried before anything else is done. What a run can not
 * have is found out there, and what it has stands in the plan's line of the journal and in each
 * record. A jail that is to have GPUs is tried as well: where there are too few, each attempt would
 * be INFRA, again and again.
 */

struct image_list {
	const char *const *items; /* "build rocm sha256:…", of a folder "agent base folder" */
	size_t count;
};

/**
 * images_look() - what each role's image holds
 * @launcher_fd: where jails are asked for
 * @stop_fd:     readable: the operator wants the end; -1 for none
 * @out:         receives one for each role that has an image; all of it belongs to @arena
 *
 * Each role's `content` is set: from here on its jails have this one, or fail. An image that is not
 * listed, or is none, is an error with the launcher's words.
 */
int images_look(struct policy *policy, int launcher_fd, int stop_fd, struct arena *arena,
		struct image_list *out, struct err *err) must_check;

/**
 * images_check() - refuse to go on with others than those that a run was planned with
 */
int images_check(const struct image_list *planned, const struct image_list *now,
		 struct err *err) must_check;
