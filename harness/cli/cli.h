/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/base/err.h"

/*
 * Subcommands: a file each in this folder, a row each in proctor.c
 *
 * main() looks up the environment; nobody below does.
 */
struct cli {
	const char *sudo_uid; /* who called sudo, or NULL; always NULL without root */
	const char *programs; /* the folder of the running program; NULL: not known */
	const char *socket; /* of the launcher's service, PROCTOR_SOCKET; NULL: where it is meant to
			       be */
	bool color;         /* standard output is a terminal that wants it */
	bool terminal;      /* standard error is a terminal: progress can be redrawn */
	size_t width;       /* its columns; 0: not known */
};

/**
 * cli_compare() - proctor compare: two runs of AgentKernelArena's tasks side by side
 *
 * Each returns the program's exit code, or -1 with @err set.
 */
int cli_compare(const struct cli *cli, int argc, char **argv, struct err *err) must_check;

/**
 * cli_doctor() - proctor doctor: what this host enforces
 */
int cli_doctor(const struct cli *cli, int argc, char **argv, struct err *err) must_check;

/**
 * cli_drill() - proctor drill: the corpus of attacks on this host
 */
int cli_drill(const struct cli *cli, int argc, char **argv, struct err *err) must_check;

/**
 * cli_jail() - proctor jail: run one command in a jail
 */
int cli_jail(const struct cli *cli, int argc, char **argv, struct err *err) must_check;

/**
 * cli_policy() - proctor policy: check policies, explain one, or compare two
 */
int cli_policy(const struct cli *cli, int argc, char **argv, struct err *err) must_check;

/**
 * cli_policy_explain() - proctor policy explain: the jails that a policy makes
 */
int cli_policy_explain(const struct cli *cli, int argc, char **argv, struct err *err) must_check;

/**
 * cli_report() - proctor report: how the agents of one or several runs stand
 */
int cli_report(const struct cli *cli, int argc, char **argv, struct err *err) must_check;

/**
 * cli_run() - proctor run: agents on tasks, frozen and marked
 */
int cli_run(const struct cli *cli, int argc, char **argv, struct err *err) must_check;

/**
 * cli_resume() - proctor resume: go on with a run that was cut off or stopped
 */
int cli_resume(const struct cli *cli, int argc, char **argv, struct err *err) must_check;

/**
 * cli_tasks() - proctor tasks: list tasks, show one, or check some
 */
int cli_tasks(const struct cli *cli, int argc, char **argv, struct err *err) must_check;

/**
 * cli_tasks_check() - proctor tasks check: try tasks out before any agent meets them
 */
int cli_tasks_check(const struct cli *cli, int argc, char **argv, struct err *err) must_check;

/**
 * cli_version() - proctor version: what this program is made of
 */
int cli_version(const struct cli *cli, int argc, char **argv, struct err *err) must_check;
