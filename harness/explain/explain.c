/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/explain/explain.h"

#include <stdio.h>

#include "harness/run/compose.h"
#include "harness/run/launcher.h"

const struct name explain_role_names[] = {
	{ "agent", EXPLAIN_AGENT },
	{ "build", EXPLAIN_BUILD },
	{ "worker", EXPLAIN_WORKER },
	{ "evaluator", EXPLAIN_EVALUATOR },
	{ NULL, 0 },
};

/* What stands where a task would. */
static const char *const words[] = { "COMMAND", NULL };
static const char *const library[] = { "LIBRARY", NULL };
static const struct task no_task = {
	.build = { .argv = { words, 1 }, .out = { library, 1 } },
	.entry = { .symbol = "ENTRY" },
};

int explain_look(struct arena *arena, struct describe_host *out, struct err *err)
{
	return describe_look(SITE_FILE, launcher_prefixes, arena, out, err);
}

static int compose(const struct explain_question *question, enum explain_role role,
		   const struct task *task, struct jail_spec *spec, struct err *err)
{
	static const char *const program[] = { COMPOSE_AGENT "/program", NULL };
	const struct cpus *cpus = question->cpus;
	const struct stream_counts given = { .files = 0 };
	int result = -1;

	switch (role) {
	case EXPLAIN_AGENT:
		result = compose_agent(question->policy, &task->limits, &given, program, spec, err);
		break;
	case EXPLAIN_BUILD:
		result = compose_build(question->policy, &task->build, spec, err);
		break;
	case EXPLAIN_WORKER:
		result = compose_worker(question->policy, task->build.out.items[0],
					task->entry.symbol, cpus ? cpus->worker : 0, spec, err);
		break;
	case EXPLAIN_EVALUATOR:
		result = compose_evaluator(question->policy, 0, words, NULL, spec, err);
		break;
	case EXPLAIN_ROLES:
		break;
	}
	if (result == 0 && role != EXPLAIN_WORKER && cpus)
		snprintf(spec->cgroup.cpus, sizeof(spec->cgroup.cpus), "%s", cpus->others);
	return result;
}

/* Bytes of output that are kept; a worker's go nowhere. */
static uint64_t output_of(const struct explain_question *question, enum explain_role role)
{
	const struct policy *policy = question->policy;
	const uint64_t asked = question->task ? question->task->limits.output : 0;

	if (role == EXPLAIN_WORKER)
		return 0;
	if (role == EXPLAIN_BUILD)
		return policy->build.output;
	if (role == EXPLAIN_EVALUATOR)
		return policy->evaluator.output;
	return asked != 0 ? MIN_OF(asked, policy->agent.output) : policy->agent.output;
}

int explain_make(const struct explain_question *question, enum explain_role role,
		 struct arena *arena, struct explained *out, struct err *err)
{
	struct jail_spec *spec = arena_alloc(arena, 1, sizeof(*spec));
	struct explained made = { .role = role, .spec = spec };
	const char **argv, **envp;

	if (compose(question, role, question->task ? question->task : &no_task, spec, err) < 0 ||
	    describe_jail(spec, question->host, arena, &made.jail, err) < 0)
		return err_wrap(err, "the %s's jail under policy '%s'",
				names_text(explain_role_names, (int) role), question->policy->name);
	argv = arena_alloc(arena, spec->command.argc + 1, sizeof(*argv));
	envp = arena_alloc(arena, spec->command.envc + 1, sizeof(*envp));
	spec_strings(spec, argv, envp);
	made.argv = argv;
	made.envp = envp;
	made.services = role == EXPLAIN_AGENT ? &question->policy->services : NULL;
	made.output = output_of(question, role);
	*out = made;
	return 0;
}
