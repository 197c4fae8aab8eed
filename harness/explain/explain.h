/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/config/policy_diff.h"
#include "harness/config/task.h"
#include "harness/console/table.h"
#include "harness/evidence/json.h"
#include "harness/run/cpus.h"
#include "sandbox/describe.h"

/*
 * The jails of a policy, before there is any: composed as a run composes them
 * (harness/run/compose.h) and described out of the tables that the sandbox works by
 * (sandbox/describe.h)
 */
enum explain_role {
	EXPLAIN_AGENT,
	EXPLAIN_BUILD,
	EXPLAIN_WORKER,
	EXPLAIN_EVALUATOR,
	EXPLAIN_ROLES,
};

extern const struct name explain_role_names[];

/* What is asked about. All borrowed. */
struct explain_question {
	const struct policy *policy;
	const struct task *task; /* NULL: one that asks for nothing of its own */
	const struct cpus *cpus; /* NULL: not known */
	const struct describe_host *host;
};

/* One jail; all of it belongs to the arena. */
struct explained {
	enum explain_role role;
	const struct jail_spec *spec;
	const char *const *argv, *const *envp; /* NULL is behind the last */
	const struct services *services;       /* NULL: none can be */
	uint64_t output; /* bytes that are kept, and end the jail; 0: none are */
	struct jail_description jail;
};

/**
 * explain_look() - look at this host as describe_look() does, with the folders that the launcher
 * covers
 */
int explain_look(struct arena *arena, struct describe_host *out, struct err *err) must_check;

/**
 * explain_make() - compose and describe one jail
 *
 * What a task gives its agent is not known before it is built: /run/task is shown at its least.
 * An ERR_INPUT error where task and policy do not go together.
 */
int explain_make(const struct explain_question *question, enum explain_role role,
		 struct arena *arena, struct explained *out, struct err *err) must_check;

/**
 * explain_print_policy() - append what the policy is made of, and what it changes
 */
void explain_print_policy(const struct policy *policy, const struct table_style *style,
			  struct str *out);

/**
 * explain_print() - append all of one jail
 * @same: another jail whose system calls are shown already; NULL: none
 */
void explain_print(const struct explained *jail, const struct explained *same,
		   const struct table_style *style, struct str *out);

/**
 * explain_put_policy() - write the members "policy", "files", "weaker" and "changes" of the object
 * that is open
 */
void explain_put_policy(const struct policy *policy, struct json_writer *json);

/**
 * explain_put() - write one jail as an object of the array that is open
 */
void explain_put(const struct explained *jail, struct json_writer *json);

/**
 * explain_put_host() - write the member "host" of the object that is open
 */
void explain_put_host(const struct describe_host *host, struct json_writer *json);

/**
 * explain_changes() - fill an empty table with what differs between two policies
 * @has_origin: with a column that says which file of @after a value is from
 * @arena:      owns what the cells borrow
 * @out:        table_done() frees it
 */
void explain_changes(const struct policy *before, const struct policy *after, bool has_origin,
		     struct arena *arena, struct table *out);
