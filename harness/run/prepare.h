/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/run/run.h"

/*
 * What a new run does before it begins: everything it needs is copied, packed or built into the
 * run's folder (planned.h says where), and what is known to go wrong in an attempt goes wrong here.
 */

/**
 * prepare_run() - fill run->policy and run->planned, and the run's folder
 *
 * When it returns, all of it is on the disk.
 */
int prepare_run(struct run *run, const struct run_plan *plan, struct err *err) must_check;

/**
 * prepare_digest_files() - the digests of a task's own files
 * @folder_fd: the task's folder in the run
 */
int prepare_digest_files(int folder_fd, enum planned_kind kind, struct planned_task *planned,
			 struct err *err) must_check;

/**
 * prepare_undo() - remove from the run's folder what prepare_run() has made there, and nothing else
 *
 * Nothing is removed if run->build_failed: its author needs what the build printed.
 */
void prepare_undo(const struct run *run);
