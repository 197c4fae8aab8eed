/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>

#include "harness/cli/cli.h"
#include "harness/cli/run_folder.h"
#include "harness/run/account.h"
#include "harness/run/run.h"

/*
 * What `proctor run` and `proctor resume` have in common: what has to be opened while we are root,
 * and the report at the end.
 */
struct running {
	struct run_place place;
	struct launcher launcher;
	char folder[PATH_MAX];  /* of the run, as it was named */
	struct run_folder made; /* of a new run */
	int json_fd;            /* receives the report; -1: nobody wants it */
};

#define RUNNING_INIT                                                 \
	((struct running){ .place = { .folder_fd = -1,               \
				      .secret_fd = -1,               \
				      .stop_fd = -1,                 \
				      .timing = TIMING_FILES_INIT }, \
			   .launcher = LAUNCHER_INIT,                \
			   .made = RUN_FOLDER_INIT,                  \
			   .json_fd = -1 })

/**
 * running_check_launcher() - may we have jails at all: as root, or by the service? Before anything
 * is made
 */
int running_check_launcher(const struct cli *cli, struct err *err) must_check;

/**
 * running_name() - take the name of the run's folder
 */
int running_name(struct running *running, const char *path, struct err *err) must_check;

/**
 * running_become() - open the secret and the timing lease, start the launcher, and be root no more
 *
 * place.folder_fd is open and belongs to the account. @is_new: the secret is to be made.
 */
int running_become(struct running *running, const struct cli *cli, const struct account *account,
		   bool is_new, struct err *err) must_check;

/**
 * running_carry_out() - carry the run out and report
 * @plan: of a new run; NULL: the run of the folder is resumed
 *
 * Return: the exit code, or -1.
 */
int running_carry_out(struct running *running, const struct cli *cli, const struct run_plan *plan,
		      struct err *err) must_check;

/**
 * running_done() - end the launcher and close everything
 */
void running_done(struct running *running);
