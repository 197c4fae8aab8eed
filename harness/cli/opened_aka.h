/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/cli/opened.h"

/*
 * What a new run of AgentKernelArena's tasks was told: a checkout, which of its tasks, on which
 * GPUs
 */
struct opened_aka {
	const char *folder; /* NULL: the run is of other tasks; then nothing else is given */
	const char *set, *arch, *gpu_model, *python;
	const char *heldout; /* a folder of held-out shapes; NULL: none */
	const char *config;  /* a run configuration of that benchmark; NULL: none */
	uint64_t rounds;
};

/**
 * opened_aka_open() - open checkout, set and configuration with the rights of whoever calls
 * @selectors: of the command line; none with a set or a configuration
 */
int opened_aka_open(struct opened *opened, const struct opened_aka *options,
		    const struct argv *selectors, struct err *err) must_check;

/**
 * opened_aka_read() - read the configuration, if there is one, when root has been left
 *
 * Its tasks, its GPU model and, unless the command line said so, its GPUs and how many attempts go
 * on at one time become the plan's. Its agents are other programs than ours: the plan has to have
 * one.
 */
int opened_aka_read(struct opened *opened, bool has_seats, struct err *err) must_check;

/**
 * opened_gpus() - "0,1,first" as the plan's GPUs
 * @what: whose text it is, for messages
 */
int opened_gpus(struct opened *opened, const char *what, const char *text,
		struct err *err) must_check;
