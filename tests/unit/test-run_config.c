/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/run_config.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"

#define HEAD   "schema: proctor/run/1\n"
#define TASKS  "tasks: [a, ../b]\n"
#define AGENTS "agents: [{name: honest, solution: honest-vector}]\n"
#define GOOD   HEAD TASKS AGENTS
#define SET    "schema: proctor/set/1\ntasks: [t1, ../t2, /srv/t3]\n"

/* Gives @user as the set's text. */
static int give(void *user, const char *path, struct str *text, struct err *err)
{
	if (!user)
		return err_set(err, ERR_INPUT, "open '%s': not today", path);
	str_addf(text, "%s", (const char *) user);
	return 0;
}

static int parse_with(const char *plan, const char *set, struct run_config *config, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT, copy = STR_INIT;

	*err = ERR_INIT;
	str_addf(&text, "%s", plan);
	str_addf(&copy, "%s", set ? set : "");
	return run_config_parse("plan.yaml", &text, give, set ? copy.text : NULL, config, err);
}

static int parse(const char *plan, struct run_config *config, struct err *err)
{
	return parse_with(plan, NULL, config, err);
}

TEST(a_short_plan_is_read_and_the_rest_is_as_the_defaults_say)
{
	cleanup(run_config_done) struct run_config config = run_config_default();
	struct err err;

	CHECK_OK(parse(GOOD, &config, &err));
	CHECK_INT(config.task_count, 2);
	CHECK_STR(config.tasks[0].path, "a");
	CHECK_STR(config.tasks[1].path, "../b");
	CHECK_STR(config.tasks[1].file, "plan.yaml");
	CHECK_INT(config.tasks[1].line, 2);
	CHECK_INT(config.agent_count, 1);
	CHECK_STR(config.agents[0].name, "honest");
	CHECK_STR(config.agents[0].solution, "honest-vector");
	CHECK(!config.agents[0].program);
	CHECK_INT(config.repeats, 1);
	CHECK_INT(config.seats, 1);
	CHECK(config.retries == RUN_CONFIG_AS_POLICY);
	CHECK(!config.name && !config.policy && !config.set);
	CHECK_INT(config.label_count, 0);
	CHECK_INT(run_config_attempts(&config), 2);
	run_config_done(&config);
	CHECK_INT(config.task_count, 0);
}

TEST(every_optional_key_of_a_plan_is_read)
{
	cleanup(run_config_done) struct run_config config = run_config_default();
	struct err err;

	CHECK_OK(parse(HEAD TASKS "name: nightly\nagents:\n  - {name: a, solution: s}\n"
				  "  - {name: b, program: ../b.sh}\n"
				  "repeats: 5\nseats: 4\nretries: 0\npolicy: /etc/p.yaml\n"
				  "labels: {machine: epyc-3, why: \"a: b\"}\n",
		       &config, &err));
	CHECK_STR(config.name, "nightly");
	CHECK_STR(config.agents[1].program, "../b.sh");
	CHECK(!config.agents[1].solution);
	CHECK_INT(config.agents[1].line, 6);
	CHECK_INT(config.repeats, 5);
	CHECK_INT(config.seats, 4);
	CHECK_INT(config.retries, 0);
	CHECK_STR(config.policy, "/etc/p.yaml");
	CHECK_INT(config.label_count, 2);
	CHECK_STR(config.labels[1].key, "why");
	CHECK_STR(config.labels[1].value, "a: b");
	CHECK_INT(run_config_attempts(&config), 20);
}

TEST(tasks_of_a_set_are_relative_to_the_set)
{
	cleanup(run_config_done) struct run_config config = run_config_default();
	struct err err;

	CHECK_OK(parse_with(HEAD "set: ../sets/all.yaml\n" AGENTS, SET, &config, &err));
	CHECK_INT(config.task_count, 3);
	CHECK_STR(config.tasks[0].path, "../sets/t1");
	CHECK_STR(config.tasks[1].path, "../sets/../t2");
	CHECK_STR(config.tasks[2].path, "/srv/t3");
	CHECK_STR(config.tasks[2].file, "../sets/all.yaml");
	CHECK_INT(config.tasks[2].line, 2);
	run_config_done(&config);
	CHECK_OK(parse_with(HEAD "set: all.yaml\n" AGENTS, SET, &config, &err));
	CHECK_STR(config.tasks[0].path, "t1");
}

TEST(a_mistake_in_a_plan_is_named_with_its_line)
{
	static const struct {
		const char *text, *set, *error;
	} cases[] = {
		{ "", NULL, "plan.yaml: the file is empty" },
		{ "schema: 1\n", NULL,
		  "plan.yaml:1: key 'schema': '1' is not one of: proctor/run/1" },
		{ HEAD AGENTS, NULL,
		  "plan.yaml:1: the run plan has to have exactly one of the keys tasks and set" },
		{ GOOD "set: a\n", SET,
		  "plan.yaml:4: key 'set': the tasks are named by 'tasks' in line 2 already; leave "
		  "one of both out" },
		{ HEAD "set: a\n" TASKS AGENTS, SET,
		  "plan.yaml:3: key 'tasks': the tasks are named by 'set' in line 2 already; leave "
		  "one of both out" },
		{ HEAD TASKS, NULL,
		  "plan.yaml:1: the run plan lacks the key 'agents' (who is sat down to each "
		  "task)" },
		{ HEAD TASKS "agents:\n - {name: a, solution: b}\n - {name: c}\n", NULL,
		  "plan.yaml:5: key 'agents': agent 'c' has to have exactly one of the keys "
		  "solution and program" },
		{ HEAD TASKS "agents: [{name: a, solution: b, program: c}]\n", NULL,
		  "plan.yaml:3: key 'agents': agent 'a' has to have exactly one of the keys "
		  "solution and program" },
		{ HEAD TASKS "agents:\n - {name: a, solution: b}\n - {name: a, program: c}\n", NULL,
		  "plan.yaml:5: key 'agents': there is an agent 'a' already, in line 4" },
		{ HEAD TASKS "agents: [{solution: b}]\n", NULL,
		  "plan.yaml:3: key 'agents': an agent lacks the key 'name' (the agent's name in "
		  "records and reports)" },
		{ HEAD TASKS "agents: [honest]\n", NULL,
		  "plan.yaml:3: key 'agents': an agent has to be a mapping of keys such as 'name', "
		  "not 'honest'" },
		{ HEAD TASKS "agents: [{name: a, solution: ../b}]\n", NULL,
		  "plan.yaml:3: key 'solution': '../b' is not a name of lower case letters, digits "
		  "and single hyphens, at most 63" },
		{ HEAD "tasks: [a, a]\n" AGENTS, NULL,
		  "plan.yaml:2: key 'tasks': 'a' is listed twice" },
		{ GOOD "labels: {A: b}\n", NULL,
		  "plan.yaml:4: key 'A': a label has a name of lower case letters, digits and "
		  "single hyphens, at most 63" },
		{ GOOD "labels: {a: [b]}\n", NULL,
		  "plan.yaml:4: key 'a': a list is not a text, with 1..200 bytes" },
		{ GOOD "labels:\n  a: ''\n", NULL,
		  "plan.yaml:5: key 'a': '' is not a text, with 1..200 bytes" },
		{ GOOD "seat: 3\n", NULL,
		  "plan.yaml:4: there is no key 'seat' here; the nearest is 'set'" },
		{ HEAD "set: s.yaml\n" AGENTS, NULL,
		  "plan.yaml:2: key 'set': open 's.yaml': not today" },
		{ HEAD "set: s.yaml\n" AGENTS, "", "s.yaml: the file is empty" },
		{ HEAD "set: s.yaml\n" AGENTS, "schema: proctor/set/1\ntasks: []\n",
		  "s.yaml:2: key 'tasks': 0 items are not within 1..512" },
		{ HEAD "set: s.yaml\n" AGENTS, GOOD,
		  "s.yaml:1: key 'schema': 'proctor/run/1' is not one of: proctor/set/1" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct run_config config = run_config_default();
		struct err err;

		CHECK_INT(parse_with(cases[i].text, cases[i].set, &config, &err), -1);
		CHECK_STR(err.text, cases[i].error);
		CHECK_INT(err.kind, ERR_INPUT);
		CHECK_INT(config.task_count, 0);
	}
}

TEST(a_label_is_as_long_as_allowed_and_no_longer)
{
	for (int extra = 0; extra < 2; extra++) {
		cleanup(run_config_done) struct run_config config = run_config_default();
		cleanup(str_done) struct str text = STR_INIT;
		struct err err;

		str_addf(&text, GOOD "labels: {a: %0*d}\n", 200 + extra, 1);
		CHECK_INT(parse(text.text, &config, &err), -extra);
	}
}

/* 512 x 64 x 3 = 98304; with 4 it is too much. */
TEST(a_plan_has_no_more_attempts_than_the_limit)
{
	for (int repeats = 3; repeats <= 4; repeats++) {
		cleanup(run_config_done) struct run_config config = run_config_default();
		cleanup(str_done) struct str text = STR_INIT;
		struct err err;

		str_addf(&text, HEAD "repeats: %d\ntasks:\n", repeats);
		for (int i = 0; i < RUN_CONFIG_TASKS_MAX; i++)
			str_addf(&text, "- t%d\n", i);
		str_addf(&text, "agents:\n");
		for (int i = 0; i < RUN_CONFIG_AGENTS_MAX; i++)
			str_addf(&text, "- {name: a%d, solution: s}\n", i);
		CHECK_INT(parse(text.text, &config, &err), repeats == 3 ? 0 : -1);
		if (repeats == 3)
			CHECK_INT(run_config_attempts(&config), 98304);
		else
			CHECK_STR(err.text,
				  "plan.yaml:1: 512 tasks x 64 agents x 4 repeats are 131072 "
				  "attempts; a run has at most 100000: make several plans of it");
	}
}

static void put(const char *path, const char *text)
{
	struct err err = ERR_INIT;
	auto_fd fd = openat(check_folder(), path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
	CHECK_OK(io_write_all(fd, text, strlen(text), path, &err));
}

TEST(plan_and_set_are_read_from_the_folder)
{
	cleanup(run_config_done) struct run_config config = run_config_default();
	auto_fd plans_fd = -1;
	struct err err = ERR_INIT;

	CHECK(mkdirat(check_folder(), "plans", 0700) == 0);
	CHECK(mkdirat(check_folder(), "sets", 0700) == 0);
	plans_fd = openat(check_folder(), "plans", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	put("plans/n.yaml", HEAD "set: ../sets/all.yaml\n" AGENTS);
	CHECK_INT(run_config_load(plans_fd, "n.yaml", &config, &err), -1);
	CHECK_STR(err.text, "n.yaml:2: key 'set': open '../sets/all.yaml': No such file or "
			    "directory");
	CHECK_INT(err.kind, ERR_INPUT);
	put("sets/all.yaml", SET);
	CHECK_OK(run_config_load(plans_fd, "n.yaml", &config, &err));
	CHECK_STR(config.tasks[0].path, "../sets/t1");
	run_config_done(&config);
	CHECK(symlinkat("n.yaml", plans_fd, "latest.yaml") == 0);
	CHECK_OK(run_config_load(plans_fd, "latest.yaml", &config, &err));
}

/* Neither waits, nor reads without end, nor takes a folder for a file. */
TEST(what_is_no_file_with_text_is_no_plan)
{
	struct run_config config = run_config_default();
	auto_fd huge_fd = openat(check_folder(), "huge", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct err err = ERR_INIT;
	static const struct {
		const char *name, *error;
	} cases[] = {
		{ "none", "open 'none': No such file or directory" },
		{ "folder", "'folder' is no file with text but a folder" },
		{ "fifo", "'fifo' is no file with text but a device, FIFO or socket" },
		{ "/dev/zero", "'/dev/zero' is no file with text but a device, FIFO or socket" },
		{ "loop", "open 'loop': Too many levels of symbolic links" },
		{ "huge", "huge is larger than 262144 bytes" },
	};

	CHECK(mkdirat(check_folder(), "folder", 0700) == 0);
	CHECK(mkfifoat(check_folder(), "fifo", 0600) == 0);
	CHECK(symlinkat("loop", check_folder(), "loop") == 0);
	CHECK(huge_fd >= 0 && ftruncate(huge_fd, RUN_CONFIG_FILE_MAX + 1) == 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CHECK_INT(run_config_load(check_folder(), cases[i].name, &config, &err), -1);
		CHECK_STR(err.text, cases[i].error);
		CHECK_INT(err.kind, ERR_INPUT);
	}
}
