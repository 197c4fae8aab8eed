/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/config/policy_file.h"
#include "harness/config/run_config.h"
#include "harness/config/task.h"
#include "harness/console/progress.h"
#include "harness/evidence/digest.h"
#include "harness/evidence/journal.h"
#include "harness/judge/keeper.h"
#include "harness/run/cpus.h"
#include "harness/run/images.h"
#include "harness/run/launcher.h"
#include "harness/run/planned.h"
#include "harness/run/slots.h"
#include "harness/run/timing_lease.h"

/*
 * A run: some agents on some tasks, each so many times
 *
 * What was opened while proctor was root is given to it as descriptors; it parses, builds and
 * judges without privilege. Everything that happens stands in the journal before anything else
 * depends on it, and everything that is needed stands in the run's folder before anything
 * happens: a run that was cut off anywhere is resumed from there.
 */
enum {
	RUN_TASKS_MAX = RUN_CONFIG_TASKS_MAX,
	RUN_AGENTS_MAX = RUN_CONFIG_AGENTS_MAX,
	RUN_ATTEMPTS_MAX = RUN_CONFIG_REPEATS_MAX,
	RUN_SEATS_MAX = RUN_CONFIG_SEATS_MAX,
	RUN_GPUS_MAX = 64,
};

/* An agent that is a script: a solution folder of the task that is copied over the workspace, or a
 * program that is run in it. */
struct run_agent {
	const char *name;     /* "scripted:honest-vector" */
	const char *solution; /* of the task's solutions/; NULL: the program */
	int program_fd;       /* borrowed; -1: the solution */
	const char *where;    /* "plan.yaml:7", for messages; NULL: nowhere */
};

/* Tasks of AgentKernelArena: which of a checkout's, and how they are run. */
struct run_aka {
	const char *path;      /* of the checkout, for messages; NULL: the tasks are native ones */
	int fd;                /* borrowed: its folder */
	struct argv selectors; /* none: all of them, or those of the set */
	int set_fd;            /* borrowed: a file of names; -1: see set */
	const char *set;       /* a set that came with proctor; NULL: none */
	const char *arch;      /* of the GPUs, "gfx942"; NULL: not known */
	const char *gpu;       /* their model, for the reports; NULL: not said */
	const char *python;    /* NULL: AKA_PYTHON */
	uint32_t rounds;       /* 0: AKA_ROUNDS */
	const char *heldout; /* a folder with TASK/held_out_shapes.yaml, for messages; NULL: none */
	int heldout_fd;      /* borrowed: that folder */
};

/* What a new run is to do. */
struct run_plan {
	const char *id;
	struct policy_file policy; /* borrowed; POLICY_FILE_INIT: the default policy */
	size_t task_count, agent_count;
	int task_fds[RUN_TASKS_MAX];           /* borrowed */
	const char *task_paths[RUN_TASKS_MAX]; /* what messages call them */
	struct run_agent agents[RUN_AGENTS_MAX];
	uint32_t repeats; /* attempts of each agent on each task */
	int64_t retries;  /* of an attempt that was INFRA; -1: as the policy says */
	uint32_t seats;   /* attempts at one time */
	const char *name; /* NULL: none */
	const struct run_config_label *labels;
	size_t label_count;
	const char *const *gpus; /* by seat; see struct planned */
	size_t gpu_count;
	struct run_aka aka; /* in the place of task_fds */
};

/* Where it happens, for a new run and for one that is resumed. All borrowed. */
struct run_place {
	const char *programs; /* the folder of proctor's programs, see launcher.h */
	int folder_fd;        /* of the run; ours */
	int secret_fd;        /* see keeper_start() */
	int stop_fd;          /* readable: the operator wants the end; -1 for none */
	struct timing_files timing;
	uint32_t seats; /* 0: as planned */
};

struct run {
	const struct run_place *place;
	const struct launcher *launcher; /* borrowed */
	int stop_fd;                     /* borrowed: the place's, or a seat's own */
	struct planned planned;
	struct policy policy;
	const char *const *weaker; /* walls that the policy has weaker than the shipped default */
	size_t weaker_count;
	struct image_list images; /* of its jails */
	struct journal journal;
	struct keeper keeper;
	struct progress *progress; /* borrowed */
	int null_fd, worker_fd;    /* owned */
	struct cpus cpus;
	struct slots slots;
	struct arena arena; /* texts of the records */
	bool stopped;       /* by the operator */
	uint32_t prepared;  /* how far prepare_run() came, for prepare_undo() */
	bool build_failed;  /* an author's, and what it printed is in the folder */
	const char *const
		*gpus; /* of this seat's jails, in a seat; any that are free beyond these */
	size_t gpu_count;
};

/**
 * run_create() - load policy and tasks, build baselines and oracles, keep all of it in the run's
 * folder, open journal and keeper, and write down what is going to be done
 * @launcher: started before root was dropped; must outlive the run
 *
 * After a failure nothing of an agent has run, and the folder is as it was, unless a build of an
 * author's failed, which left there what it printed, or the plan was written, from where on the run
 * can be resumed. run_done() in any case.
 */
int run_create(struct run *run, const struct run_place *place, const struct run_plan *plan,
	       const struct launcher *launcher, struct progress *progress,
	       struct err *err) must_check;

/**
 * run_resume() - read a run's folder and journal, and stand where it was left
 *
 * What has changed in the folder since then, and another proctor's run, are ERR_INPUT errors.
 * run_done() in any case.
 */
int run_resume(struct run *run, const struct run_place *place, const struct launcher *launcher,
	       struct progress *progress, struct err *err) must_check;

/**
 * run_gpus_each() - how many of the plan's GPUs belong to each seat: what the largest of its jails
 * has
 */
size_t run_gpus_each(const struct run *run);

/**
 * run_check_gpus() - has each seat its own, where the plan names them or several seats need some?
 * @seats: attempts at one time
 */
int run_check_gpus(const struct run *run, uint32_t seats, struct err *err) must_check;

/**
 * run_done() - end the keeper and close everything
 */
void run_done(struct run *run);
