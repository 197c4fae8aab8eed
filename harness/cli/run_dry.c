/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli/run_dry.h"

#include <sched.h>
#include <unistd.h>

#include "harness/aka/aka_list.h"
#include "harness/aka/aka_timing.h"
#include "harness/explain/explain.h"
#include "harness/run/aka_choice.h"
#include "harness/run/compose.h"
#include "sandbox/base/io.h"

#define SCHEMA "proctor/run-dry/1"

static const enum explain_role roles[] = { EXPLAIN_AGENT, EXPLAIN_EVALUATOR };

struct dry {
	const struct run_plan *plan;
	const char *python;
	struct arena arena;
	struct policy policy;
	struct aka_choice choice;
	struct describe_host host;
	struct cpus cpus;
	struct explained jails[ARRAY_LEN(roles)];
	size_t run, dropped; /* tasks */
	struct str text;     /* of the tasks, or their members of the JSON object */
};

static void dry_done(struct dry *dry)
{
	aka_choice_done(&dry->choice);
	policy_done(&dry->policy);
	arena_done(&dry->arena);
	str_done(&dry->text);
}

static int look_at_jails(struct dry *dry, struct err *err)
{
	struct explain_question question = { .policy = &dry->policy, .host = &dry->host };
	struct err ignored = ERR_INIT;
	cpu_set_t allowed;

	if (compose_check_evaluator(&dry->policy, err) < 0)
		return -1;
	/* A host that can not run anything can still be asked. */
	if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0 &&
	    cpus_choose(&allowed, &dry->cpus, &ignored) == 0)
		question.cpus = &dry->cpus;
	if (explain_look(&dry->arena, &dry->host, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(roles); i++)
		if (explain_make(&question, roles[i], &dry->arena, &dry->jails[i], err) < 0)
			return -1;
	return 0;
}

static uint32_t rounds_of(const struct dry *dry)
{
	return dry->plan->aka.rounds ? dry->plan->aka.rounds : (uint32_t) AKA_ROUNDS;
}

static size_t attempts_of(const struct dry *dry)
{
	return dry->run * dry->plan->agent_count * dry->plan->repeats;
}

/* ---- as text ---- */

static int print_task(struct dry *dry, size_t index, struct err *err)
{
	cleanup(aka_task_done) struct aka_task task = AKA_TASK_INIT;
	const char *why;

	if (aka_choice_load(&dry->choice, index, &task, err) < 0)
		return err_wrap(err, "task '%s'", dry->choice.entries[index].name);
	why = aka_choice_why_dropped(&task, dry->plan->aka.arch, &dry->arena);
	str_addf(&dry->text, "%s", index > 0 ? "\n" : "");
	aka_list_print(&task, dry->python, &dry->text);
	if (why)
		str_addf(&dry->text, "NOT RUN        %s\n", why);
	*(why ? &dry->dropped : &dry->run) += 1;
	return 0;
}

static void print_plan(struct dry *dry)
{
	const struct run_plan *plan = dry->plan;

	str_addf(&dry->text,
		 "\n%zu tasks, %zu of them not run; %zu agents, %u attempts of each: %zu attempts, "
		 "%u at a time\n"
		 "of each: the agent's jail; then one jail a command: compile baseline and "
		 "candidate, check the\ncandidate, and time both in 1 to %u rounds of baseline, "
		 "candidate, candidate, baseline\n\n",
		 dry->choice.count + (size_t) dry->choice.absent.count,
		 dry->dropped + (size_t) dry->choice.absent.count, plan->agent_count, plan->repeats,
		 attempts_of(dry), plan->seats, rounds_of(dry));
}

static int tell_text(struct dry *dry, const struct cli *cli, struct err *err)
{
	const struct table_style style = { .has_color = cli->color };

	for (size_t i = 0; i < dry->choice.count; i++)
		if (print_task(dry, i, err) < 0)
			return -1;
	for (size_t i = 0; i < dry->choice.absent.count; i++)
		str_addf(&dry->text, "\ntask           %s\nNOT RUN        " AKA_CHOICE_ABSENT "\n",
			 dry->choice.absent.items[i]);
	print_plan(dry);
	explain_print_policy(&dry->policy, &style, &dry->text);
	for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
		str_addf(&dry->text, "%s", i > 0 ? "\n" : "");
		explain_print(&dry->jails[i], i > 0 ? &dry->jails[0] : NULL, &style, &dry->text);
	}
	return io_write_waiting(STDOUT_FILENO, dry->text.text, dry->text.len, "the plan", err);
}

/* ---- as JSON ---- */

static int put_task(struct dry *dry, struct json_writer *json, size_t index, struct err *err)
{
	cleanup(aka_task_done) struct aka_task task = AKA_TASK_INIT;
	const char *why;

	if (aka_choice_load(&dry->choice, index, &task, err) < 0)
		return err_wrap(err, "task '%s'", dry->choice.entries[index].name);
	why = aka_choice_why_dropped(&task, dry->plan->aka.arch, &dry->arena);
	json_put_object(json, NULL);
	json_put_text(json, "task", task.name);
	json_put_text(json, "dropped", why);
	json_put_array(json, "plan");
	aka_list_put(&task, dry->python, json);
	json_put_end(json);
	json_put_end(json);
	*(why ? &dry->dropped : &dry->run) += 1;
	return 0;
}

static void put_absent(const struct dry *dry, struct json_writer *json)
{
	for (size_t i = 0; i < dry->choice.absent.count; i++) {
		json_put_object(json, NULL);
		json_put_text(json, "task", dry->choice.absent.items[i]);
		json_put_text(json, "dropped", AKA_CHOICE_ABSENT);
		json_put_array(json, "plan");
		json_put_end(json);
		json_put_end(json);
	}
}

static int tell_json(struct dry *dry, int json_fd, struct err *err)
{
	struct json_writer json;

	json_writer_init(&json, &dry->text);
	json_put_object(&json, NULL);
	json_put_text(&json, "schema", SCHEMA);
	json_put_array(&json, "tasks");
	for (size_t i = 0; i < dry->choice.count; i++)
		if (put_task(dry, &json, i, err) < 0)
			return -1;
	put_absent(dry, &json);
	json_put_end(&json);
	json_put_int(&json, "agents", (int64_t) dry->plan->agent_count);
	json_put_int(&json, "repeats", dry->plan->repeats);
	json_put_int(&json, "attempts", (int64_t) attempts_of(dry));
	json_put_int(&json, "seats", dry->plan->seats);
	json_put_int(&json, "rounds", rounds_of(dry));
	explain_put_policy(&dry->policy, &json);
	explain_put_host(&dry->host, &json);
	json_put_array(&json, "jails");
	for (size_t i = 0; i < ARRAY_LEN(roles); i++)
		explain_put(&dry->jails[i], &json);
	json_put_end(&json);
	json_put_end(&json);
	str_add(&dry->text, "\n", 1);
	if (!json_writer_is_whole(&json))
		return err_set(err, ERR_INPUT,
			       "the plan is larger than %llu bytes: select fewer tasks",
			       (unsigned long long) STR_MAX);
	return io_write_waiting(json_fd, dry->text.text, dry->text.len, "the JSON object", err);
}

int run_dry(const struct cli *cli, const struct run_plan *plan, int json_fd, struct err *err)
{
	cleanup(dry_done) struct dry dry = {
		.plan = plan,
		.python = plan->aka.python ? plan->aka.python : AKA_PYTHON,
		.arena = ARENA_INIT,
		.policy = policy_default(),
		.choice = AKA_CHOICE_INIT,
		.text = STR_INIT,
	};

	if (policy_file_read(&plan->policy, &dry.policy, NULL, err) < 0 ||
	    aka_choice_make(&plan->aka, &dry.arena, &dry.choice, err) < 0 ||
	    look_at_jails(&dry, err) < 0)
		return -1;
	return json_fd >= 0 ? tell_json(&dry, json_fd, err) : tell_text(&dry, cli, err);
}
