/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/config/policy.h"
#include "sandbox/base/err.h"

/**
 * rehearsal_run() - run true(1) in a jail with the limits of an agent and the one CPU of a worker
 * @launcher_fd: a launcher that is ready
 *
 * Return: 0 if that jail was built, the program ended with 0 and nothing of it is left; -1 with
 * what went wrong.
 */
int rehearsal_run(int launcher_fd, const struct policy *policy, struct err *err) must_check;
