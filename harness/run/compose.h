/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/config/policy.h"
#include "harness/config/task.h"
#include "sandbox/spec.h"

/*
 * Task and policy become jails: the only file that sees both and the spec.
 *
 * A limit is the policy's; where the task asks for less, the task's. Trees, descriptors and the
 * CPUs of agents and builds are the caller's to add: these functions say where they go.
 */

/* Where things are inside. */
#define COMPOSE_WORK  "/work"      /* the workspace */
#define COMPOSE_OUT   "/run/out"   /* what a build leaves */
#define COMPOSE_AGENT "/run/agent" /* the agent's own files */
#define COMPOSE_TASK  "/run/task"  /* what the agent is given beside the workspace: given.h */

/* What every program in a build or worker jail has; NULL is behind the last. */
extern const char *const compose_environment[];

/**
 * compose_role() - the limits of a role of the policy, and what the policy does without; the rest
 * of the spec stays as it is
 */
void compose_role(const struct policy *policy, const struct policy_role *role,
		  struct jail_spec *spec);

/**
 * compose_image() - the role's root: an image, and what may be changed in it, which is the last
 * tmpfs of a spec
 */
void compose_image(const struct policy_role *role, struct jail_spec *spec);

/**
 * compose_agent() - the agent's jail: tree 0 is the workspace, tree 1 the agent's own files, tree 2
 * what it is given; the workspace is collected, all that fits into it
 * @limits: what the task asks for; NULL: for nothing of its own
 * @given:  what tree 2 holds; NULL: there is none
 * @argv:   the agent's command, a NULL behind the last
 */
int compose_agent(const struct policy *policy, const struct task_limits *limits,
		  const struct stream_counts *given, const char *const *argv, struct jail_spec *out,
		  struct err *err) must_check;

/**
 * compose_candidate_limits() - what a candidate may hold that a build jail of this policy is to
 * unpack; more is the agent's failure and not ours
 */
struct stream_limits compose_candidate_limits(const struct policy *policy);

/**
 * compose_evaluator_limits() - the same of an evaluator's jail
 */
struct stream_limits compose_evaluator_limits(const struct policy *policy);

/**
 * compose_workspace_limits() - what a task may have that an evaluator marks: both the agent's jail
 * and the evaluator's can hold it, and something more
 */
struct stream_limits compose_workspace_limits(const struct policy *policy);

/**
 * compose_product_limits() - what a build may leave that a worker's jail can hold
 */
struct stream_limits compose_product_limits(const struct policy *policy);

/**
 * compose_build() - a build jail: tree 0 goes to /work, where the build's command runs; what it
 * leaves in /run/out is collected
 */
int compose_build(const struct policy *policy, const struct task_build *build,
		  struct jail_spec *out, struct err *err) must_check;

/**
 * compose_worker() - a worker's jail: tree 0 is what was built; descriptors 3, 4 and 5 are the
 * judge's
 * @library: the file to load, beneath /work; NULL: the worker program's own entries only
 * @cpu:     the one CPU that it may use
 */
int compose_worker(const struct policy *policy, const char *library, const char *symbol,
		   uint32_t cpu, struct jail_spec *out, struct err *err) must_check;

/**
 * compose_evaluator() - an evaluator's jail: tree 0 goes to /work, where one command of a
 * benchmark's own harness runs; the workspace is collected, all that fits into it
 * @wall_ms:     what the command may take, if the policy does not give it less; 0: as the policy
 * @argv:        the command, a NULL behind the last
 * @environment: "NAME=VALUE", each name once, a NULL behind the last, or NULL: over what this jail
 *               has anyhow, and under the policy's own
 */
int compose_evaluator(const struct policy *policy, uint64_t wall_ms, const char *const *argv,
		      const char *const *environment, struct jail_spec *out,
		      struct err *err) must_check;

/**
 * compose_gpus() - a jail of a seat has the seat's own GPUs in the place of any that are free
 * @spec:  composed; what it asks for by name stays. Not to be used after a failure
 * @names: as in a spec, those of the seat; those that the jail does not ask for are not used
 * @count: 0: the seat has none of its own, and nothing changes
 *
 * Return: 0, or -1 with an ERR_INPUT error where the jail asks for more, or a name is none.
 */
int compose_gpus(struct jail_spec *spec, const char *const *names, size_t count,
		 struct err *err) must_check;

/**
 * compose_check() - can every jail of a task be composed under a policy? Whoever asks before the
 * first attempt does not find out in each of them
 *
 * Return: 0, or -1 with an ERR_INPUT error that names the jail: each limit may be possible by
 * itself, and memory that the task tightens too little for the tmpfs of the policy.
 */
int compose_check(const struct policy *policy, const struct task *task, struct err *err) must_check;

/**
 * compose_check_evaluator() - the same for a task that a benchmark's own harness marks: the jails
 * of agent and evaluator, for which such a task has no limits of its own
 */
int compose_check_evaluator(const struct policy *policy, struct err *err) must_check;
