/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/cli/cli.h"

/*
 * proctor tasks list and show, of a checkout of AgentKernelArena
 */
struct tasks_aka {
	const char *folder; /* of the checkout; NULL: not asked for */
	const char *set;    /* NULL: no set is named */
	const char *arch;   /* NULL: not named */
	int json_fd;        /* -1: nobody wants it */
};

/**
 * cli_tasks_aka() - list or show tasks of a checkout
 * @words: list: selectors, none for all; show: one task's name
 *
 * Return: the program's exit code, or -1 with @err set.
 */
int cli_tasks_aka(const struct cli *cli, const struct tasks_aka *options, bool is_list, int count,
		  char **words, struct err *err) must_check;
