/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/aka/aka_config.h"
#include "harness/config/run_config.h"
#include "harness/run/run.h"

/*
 * What a new run was told, as open files: by its command line, which was typed by whoever is root
 * and is opened as root, or by a run plan, which is opened with the rights of the account.
 */
struct opened {
	struct run_plan plan;
	char id[64];
	struct run_config config;     /* owns the texts, if there is one */
	int config_fd;                /* the folder of the run plan */
	struct arena arena;           /* of what is made of the command line's texts */
	struct aka_config aka_config; /* of a run configuration of AgentKernelArena */
	const char *aka_config_path;  /* NULL: there is none */
	int aka_config_fd;
};

#define OPENED_INIT                                                                        \
	((struct opened){ .plan = { .policy = { .fd = -1, .folder_fd = -1 },               \
				    .retries = -1,                                         \
				    .aka = { .fd = -1, .set_fd = -1, .heldout_fd = -1 } }, \
			  .config = run_config_default(),                                  \
			  .config_fd = -1,                                                 \
			  .aka_config = AKA_CONFIG_INIT,                                   \
			  .aka_config_fd = -1 })

/**
 * opened_input() - open what messages call "@what '@path'"; a failure is ERR_INPUT
 */
int opened_input(int folder_fd, const char *path, int flags, const char *what,
		 struct err *err) must_check;

/**
 * opened_file() - the same of a file with text; what could keep us waiting, or never ends, is none
 */
int opened_file(int folder_fd, const char *path, const char *what, struct err *err) must_check;

/**
 * opened_task() - add a task
 * @folder_fd: where @path starts; AT_FDCWD
 */
int opened_task(struct opened *opened, int folder_fd, const char *path, struct err *err) must_check;

/**
 * opened_agent() - add an agent
 * @solution: of each task; NULL: @program, the path of a file
 */
int opened_agent(struct opened *opened, int folder_fd, const char *name, const char *solution,
		 const char *program, struct err *err) must_check;

/**
 * opened_policy() - set the policy: a file, or the name of one that came with proctor
 */
int opened_policy(struct opened *opened, int folder_fd, const char *path,
		  struct err *err) must_check;

/**
 * opened_config_folder() - open the folder of a run plan, of which @name_out is the name in it
 */
int opened_config_folder(struct opened *opened, const char *path, const char **name_out,
			 struct err *err) must_check;

/**
 * opened_config() - read the run plan and open all that it names; needs no privilege
 */
int opened_config(struct opened *opened, const char *name, struct err *err) must_check;

/**
 * opened_done() - close everything
 */
void opened_done(struct opened *opened);
