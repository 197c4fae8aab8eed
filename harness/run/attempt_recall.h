/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/run/attempt.h"

/*
 * What an attempt finds when it begins, or goes on: its task, its folder, and its own lines in the
 * journal
 */

/**
 * attempt_folder() - the path of an attempt's folder beneath the run's
 */
void attempt_folder(const struct attempt *attempt, char out[PLANNED_PATH_MAX]);

/**
 * attempt_open_folder() - open it; it has to be there
 */
int attempt_open_folder(struct attempt *attempt, struct err *err) must_check;

/**
 * attempt_open_task() - read the task, and open its folder and its workspace
 */
int attempt_open_task(struct attempt *attempt, struct err *err) must_check;

/**
 * attempt_take_up() - stand where the attempt stood when its agent had ended
 */
int attempt_take_up(struct attempt *attempt, struct err *err) must_check;

/**
 * attempt_cut_off() - make INFRA of an attempt that can not go on, with as much as is known of it
 */
void attempt_cut_off(struct attempt *attempt, enum slot_work work);
