/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/run_config.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/config/policy.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"

/* What a plan binds to; its lists are read once all of it is known. The plan stands first. */
struct source {
	struct run_config config;
	struct argv tasks;
	const struct yaml_node *agents, *labels;
};

/* What a set binds to. */
struct set {
	int schema;
	const char *name;
	struct argv tasks;
};

static const struct source defaults = {
	.config = { .schema = 1, .repeats = 1, .seats = 1, .retries = RUN_CONFIG_AS_POLICY },
};

/* clang-format off */
static const struct name plan_versions[] = { { RUN_CONFIG_SCHEMA, 1 }, { NULL } };
static const struct name set_versions[] = { { RUN_CONFIG_SET_SCHEMA, 1 }, { NULL } };

static const struct field agent_fields[] = {
	{ "name",     &type_name,     TEXT_AT(struct run_config_agent, name),     REQUIRED, 0, 0, NULL,
	  "the agent's name in records and reports" },
	{ "solution", &type_name,     TEXT_AT(struct run_config_agent, solution), OPTIONAL, 0, 0, NULL,
	  "a folder of each task's solutions/, copied over the workspace; exactly one of solution and program is given" },
	{ "program",  &type_location, TEXT_AT(struct run_config_agent, program),  OPTIONAL, 0, 0, NULL,
	  "a program that is run in the workspace" },
	{ "args",     &type_later,    NOWHERE, LATER, 0, 0, NULL, "arguments of the program" },
	{ "env",      &type_later,    NOWHERE, LATER, 0, 0, NULL, "environment of the program" },
	{ "model",    &type_later,    NOWHERE, LATER, 0, 0, NULL, "the model that an adapter asks" },
	{ "services", &type_later,    NOWHERE, LATER, 0, 0, NULL, "endpoints that it may reach" },
};
static const struct schema agent_schema = { "an agent", agent_fields, ARRAY_LEN(agent_fields), false };

static const struct collection agents = { "a list of agents such as [{name: a, program: ./a.sh}]", &agent_schema };
static const struct collection labels = { "a mapping such as {machine: epyc-3}", NULL };

static const struct field plan_fields[] = {
	{ "schema",  &type_word,      INT_AT(struct source, config.schema),   REQUIRED, 0, 0, plan_versions,
	  "the version of this format" },
	{ "name",    &type_name,      TEXT_AT(struct source, config.name),    OPTIONAL, 0, 0, NULL,
	  "the run's name in its journal and in reports" },
	{ "tasks",   &type_locations, ARGV_AT(struct source, tasks),          OPTIONAL, 1, RUN_CONFIG_TASKS_MAX, NULL,
	  "the tasks' folders; exactly one of tasks and set is given" },
	{ "set",     &type_location,  TEXT_AT(struct source, config.set),     OPTIONAL, 0, 0, NULL,
	  "a file that names the tasks" },
	{ "agents",  &type_items,     NODE_AT(struct source, agents),         REQUIRED, 1, RUN_CONFIG_AGENTS_MAX, &agents,
	  "who is sat down to each task" },
	{ "repeats", &type_count,     U64_AT(struct source, config.repeats),  OPTIONAL, 1, RUN_CONFIG_REPEATS_MAX, NULL,
	  "attempts of each agent on each task" },
	{ "seats",   &type_count,     U64_AT(struct source, config.seats),    OPTIONAL, 1, RUN_CONFIG_SEATS_MAX, NULL,
	  "attempts at one time" },
	{ "retries", &type_count,     U64_AT(struct source, config.retries),  OPTIONAL, 0, POLICY_RETRIES_MAX, NULL,
	  "new attempts for one that ended INFRA; as the policy says where it is left out" },
	{ "policy",  &type_location,  TEXT_AT(struct source, config.policy),  OPTIONAL, 0, 0, NULL,
	  "the policy: the name of one that came with proctor, or a file; default where it is left out" },
	{ "out",     &type_later,     NOWHERE, LATER, 0, 0, NULL, "the run's folder; option --run names it" },
	{ "labels",  &type_entries,   NODE_AT(struct source, labels),         OPTIONAL, 0, RUN_CONFIG_LABELS_MAX, &labels,
	  "names and texts of at most 200 bytes that the journal and reports carry" },
	{ "budget",  &type_later,     NOWHERE, LATER, 0, 0, NULL, "time and money after which no attempt starts" },
	{ "witness", &type_later,     NOWHERE, LATER, 0, 0, NULL, "who is told what is planned" },
};
const struct schema run_config_schema = { "the run plan", plan_fields, ARRAY_LEN(plan_fields), false };

static const struct field set_fields[] = {
	{ "schema", &type_word,      INT_AT(struct set, schema), REQUIRED, 0, 0, set_versions,
	  "the version of this format" },
	{ "name",   &type_name,      TEXT_AT(struct set, name),  OPTIONAL, 0, 0, NULL,
	  "the set's name" },
	{ "tasks",  &type_locations, ARGV_AT(struct set, tasks), REQUIRED, 1, RUN_CONFIG_TASKS_MAX, NULL,
	  "the tasks' folders" },
};
const struct schema run_config_set_schema = { "the set", set_fields, ARRAY_LEN(set_fields), false };

static const struct key_table plan_tables[] = {
	{ "a run plan",              &run_config_schema, &defaults },
	{ "agents: each agent",      &agent_schema,      NULL },
};
const struct key_tables run_config_keys = { plan_tables, ARRAY_LEN(plan_tables) };

static const struct key_table set_tables[] = {
	{ "a set of tasks", &run_config_set_schema, NULL },
};
const struct key_tables run_config_set_keys = { set_tables, ARRAY_LEN(set_tables) };
/* clang-format on */

static void source_done(struct source *source)
{
	run_config_done(&source->config);
}

static int read_agent(const struct yaml_node *node, struct run_config *config, struct err *err)
{
	struct run_config_agent *agent = &config->agents[config->agent_count];

	agent->line = node->line;
	if (schema_bind(&agent_schema, node, &config->arena, agent, err) < 0)
		return -1;
	if (!agent->solution == !agent->program)
		return yaml_err(node, err,
				"agent '%s' has to have exactly one of the keys solution and "
				"program",
				agent->name);
	for (uint64_t i = 0; i < config->agent_count; i++)
		if (strcmp(config->agents[i].name, agent->name) == 0)
			return yaml_err(node, err, "there is an agent '%s' already, in line %d",
					agent->name, config->agents[i].line);
	config->agent_count++;
	return 0;
}

static int read_agents(const struct yaml_node *node, struct run_config *config, struct err *err)
{
	config->agents = arena_alloc(&config->arena, node->count, sizeof(*config->agents));
	for (const struct yaml_node *item = node->first; item; item = item->next)
		if (read_agent(item, config, err) < 0)
			return -1;
	return 0;
}

static int read_labels(const struct yaml_node *node, struct run_config *config, struct err *err)
{
	static const struct field value = { .type = &type_text, .min = 1, .max = 200 };

	if (!node)
		return 0;
	config->labels = arena_alloc(&config->arena, node->count, sizeof(*config->labels));
	for (const struct yaml_node *item = node->first; item; item = item->next) {
		struct run_config_label *label = &config->labels[config->label_count++];

		if (!types_is_name(item->key))
			return yaml_err(item, err,
					"a label has a name of lower case letters, digits and "
					"single hyphens, at most 63");
		if (item->kind != YAML_TEXT || !*item->text || strlen(item->text) > value.max)
			return schema_expected(&value, item, "a text", err);
		*label = (struct run_config_label){ item->key, item->text };
	}
	return 0;
}

/* @set: path of the set whose folder the paths are relative to; NULL: the plan itself */
static void take_tasks(const struct yaml_node *node, const char *set, struct run_config *config)
{
	const char *slash = set ? strrchr(set, '/') : NULL;
	int len = slash ? (int) (slash - set) + 1 : 0;

	config->tasks = arena_alloc(&config->arena, node->count, sizeof(*config->tasks));
	for (const struct yaml_node *item = node->first; item; item = item->next)
		config->tasks[config->task_count++] = (struct run_config_task){
			.path = *item->text == '/' ? item->text
						   : arena_printf(&config->arena, "%.*s%s", len,
								  set ? set : "", item->text),
			.file = item->file,
			.line = item->line,
		};
}

static const struct yaml_node *bind_set(const char *file, const char *text, size_t len,
					struct arena *arena, struct err *err)
{
	const struct yaml_node *root = yaml_parse(arena, file, text, len, err);
	struct set set;

	if (!root || schema_bind(&run_config_set_schema, root, arena, &set, err) < 0)
		return NULL;
	return yaml_find(root, "tasks");
}

int run_config_check_set(const char *file, const char *text, size_t len, struct err *err)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;

	return bind_set(file, text, len, &arena, err) ? 0 : -1;
}

static void text_done(struct str *text)
{
	str_done(text);
}

static int read_tasks(const struct yaml_node *root, struct run_config *config,
		      int (*read_set)(void *user, const char *path, struct str *text,
				      struct err *err),
		      void *user, struct err *err)
{
	cleanup(text_done) struct str text = STR_INIT;
	const struct yaml_node *tasks = yaml_find(root, "tasks"), *set = yaml_find(root, "set");

	if (!tasks && !set)
		return yaml_err(root, err,
				"the run plan has to have exactly one of the keys tasks and set");
	if (tasks && set) {
		const bool is_set_first = set->line < tasks->line;

		return yaml_err(is_set_first ? tasks : set, err,
				"the tasks are named by '%s' in line %d already; leave one of both "
				"out",
				is_set_first ? "set" : "tasks",
				is_set_first ? set->line : tasks->line);
	}
	if (set) {
		if (read_set(user, config->set, &text, err) < 0)
			return err_wrap(err, "%s:%d: key 'set'", set->file, set->line);
		tasks = bind_set(config->set, text.text, text.len, &config->arena, err);
	}
	if (!tasks)
		return -1;
	take_tasks(tasks, config->set, config);
	return 0;
}

static int check_attempts(const struct yaml_node *root, const struct run_config *config,
			  struct err *err)
{
	uint64_t attempts = run_config_attempts(config);

	if (attempts > RUN_CONFIG_ATTEMPTS_MAX)
		return yaml_err(root, err,
				"%" PRIu64 " tasks x %" PRIu64 " agents x %" PRIu64
				" repeats are %" PRIu64
				" attempts; a run has at most %d: make several plans of it",
				config->task_count, config->agent_count, config->repeats, attempts,
				RUN_CONFIG_ATTEMPTS_MAX);
	return 0;
}

int run_config_parse(const char *file, const struct str *text,
		     int (*read_set)(void *user, const char *path, struct str *text,
				     struct err *err),
		     void *user, struct run_config *out, struct err *err)
{
	cleanup(source_done) struct source source = defaults;
	struct run_config *config = &source.config;
	const struct yaml_node *root = yaml_parse(&config->arena, file, text->text, text->len, err);

	if (!root || schema_bind(&run_config_schema, root, &config->arena, &source, err) < 0 ||
	    read_agents(source.agents, config, err) < 0 ||
	    read_labels(source.labels, config, err) < 0 ||
	    read_tasks(root, config, read_set, user, err) < 0 ||
	    check_attempts(root, config, err) < 0)
		return -1;
	if (config->policy)
		config->policy_line = yaml_find(root, "policy")->line;
	*out = take(*config, defaults.config);
	return 0;
}

/* An operator's file: links are followed, and what is none, or never ends, is refused. */
static int read_file(void *user, const char *path, struct str *text, struct err *err)
{
	auto_fd fd =
		openat(*(const int *) user, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat info;

	if (fd < 0) {
		err_sys(err, "open '%s'", path);
		err->kind = ERR_INPUT;
		return -1;
	}
	if (fstat(fd, &info) < 0)
		return err_sys(err, "look at '%s'", path);
	if (!S_ISREG(info.st_mode))
		return err_set(err, ERR_INPUT, "'%s' is no file with text but %s", path,
			       S_ISDIR(info.st_mode) ? "a folder" : "a device, FIFO or socket");
	return io_read_fd(fd, RUN_CONFIG_FILE_MAX, path, text, err);
}

int run_config_load(int folder_fd, const char *name, struct run_config *out, struct err *err)
{
	cleanup(text_done) struct str text = STR_INIT;

	if (read_file(&folder_fd, name, &text, err) < 0)
		return -1;
	return run_config_parse(name, &text, read_file, &folder_fd, out, err);
}

struct run_config run_config_default(void)
{
	return defaults.config;
}

uint64_t run_config_attempts(const struct run_config *config)
{
	return config->task_count * config->agent_count * config->repeats;
}

void run_config_done(struct run_config *config)
{
	arena_done(&config->arena);
	*config = defaults.config;
}
