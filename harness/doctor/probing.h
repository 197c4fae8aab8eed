/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/base/err.h"
#include "sandbox/trial.h"

/**
 * probing_run() - run proctor-probe and receive what it tried
 * @programs: as for launcher_open_program()
 * @trials:   TRIAL_KINDS of them, by kind; untouched on failure
 *
 * Takes the privileges of the caller along. A probe that ends early, or says something twice, is
 * an error: nobody should take half of the trials for all of them.
 */
int probing_run(const char *programs, struct trial *trials, struct err *err) must_check;
