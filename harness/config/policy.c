/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/policy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "harness/config/schema_write.h"
#include "sandbox/base/mem.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

/* The smallest tmpfs, and the least memory that covers three of them: see check_role(). */
enum { TMPFS_MIN = 64 * KIB, INODES_MIN = 16 };
#define MEMORY_MIN (POLICY_WORKING_MEMORY + MIB)
_Static_assert(3 * (TMPFS_MIN + INODES_MIN * POLICY_INODE_MEMORY) <= MIB,
	       "what a row allows can be written");

/* Every default; policies/default.yaml says the same. */
static const struct policy defaults = {
	.schema = 1,
	.name = "default",
	.retries = 2,
	.agent = {
		.wall_ms = 30 * MINUTE,
		.cpu_ms = 2 * HOUR,
		.grace_ms = 5 * SECOND,
		.memory = 4 * GIB,
		.pids = 512,
		.cpus_milli = 2000,
		.output = 16 * MIB,
		.nofile = 1024,
		.workspace = { GIB, 65536 },
		.tmp = { 512 * MIB, 16384 },
		.shm = { 64 * MIB, 1024 },
		.changes = { 0, 16384 },
		.image = POLICY_IMAGE_HOST,
	},
	.build = {
		.wall_ms = 5 * MINUTE,
		.cpu_ms = 10 * MINUTE,
		.grace_ms = 1 * SECOND,
		.memory = 2 * GIB,
		.pids = 256,
		.cpus_milli = 2000,
		.output = MIB,
		.nofile = 1024,
		.workspace = { 512 * MIB, 32768 },
		.tmp = { 256 * MIB, 8192 },
		.shm = { 16 * MIB, 256 },
		.changes = { 0, 16384 },
		.image = POLICY_IMAGE_HOST,
	},
	.worker = {
		.wall_ms = 10 * MINUTE,
		.cpu_ms = 10 * MINUTE,
		.grace_ms = 0,
		.memory = GIB,
		.pids = 64,
		.cpus_milli = 1000,
		.output = MIB,
		.nofile = 256,
		.workspace = { 64 * MIB, 1024 },
		.tmp = { 16 * MIB, 256 },
		.shm = { 16 * MIB, 256 },
		.changes = { 0, 16384 },
		.image = POLICY_IMAGE_HOST,
	},
	.evaluator = {
		.wall_ms = 1 * HOUR,
		.cpu_ms = 2 * HOUR,
		.grace_ms = 1 * SECOND,
		.memory = 4 * GIB,
		.pids = 512,
		.cpus_milli = 2000,
		.output = 16 * MIB,
		.nofile = 1024,
		.workspace = { GIB, 65536 },
		.tmp = { GIB, 32768 },
		.shm = { 64 * MIB, 1024 },
		.changes = { 0, 16384 },
		.image = POLICY_IMAGE_HOST,
	},
};

/* --- the environment --- */

static int check_variable(const struct yaml_node *item, struct err *err)
{
	char room[YAML_SHOWN];

	if (!types_is_identifier(item->key))
		return yaml_err(item, err,
				"'%s' is not the name of a variable: letters, digits and _, at "
				"most 63",
				yaml_shown(item->key, room));
	if (item->kind != YAML_TEXT)
		return schema_expected(NULL, item, "a text, the value of a variable", err);
	if (strlen(item->text) > POLICY_VALUE_MAX)
		return yaml_err(item, err, "a value of %zu bytes; at most %d are possible",
				strlen(item->text), (int) POLICY_VALUE_MAX);
	return 0;
}

/* What the policy that is extended has stays, unless it is named again. */
static int parse_environment(const struct field *field, const struct yaml_node *node,
			     struct arena *arena, void *member, struct err *err)
{
	struct policy_environment *out = member;
	struct policy_variable *items;
	size_t count = out->count;

	if (node->kind != YAML_MAP)
		return schema_expected(field, node, "a mapping such as {OMP_NUM_THREADS: 2}", err);
	items = arena_alloc(arena, count + node->count + 1, sizeof(*items));
	for (size_t i = 0; i < count; i++)
		items[i] = out->items[i];
	for (const struct yaml_node *item = node->first; item; item = item->next) {
		size_t at = 0;

		if (check_variable(item, err) < 0)
			return -1;
		while (at < count && strcmp(items[at].name, item->key) != 0)
			at++;
		items[at] = (struct policy_variable){ item->key, item->text };
		count = MAX_OF(count, at + 1);
	}
	if (node->count <= POLICY_VARIABLES_MAX && count > POLICY_VARIABLES_MAX)
		return yaml_err(node, err,
				"with those of the policy that is extended %zu variables, of which "
				"%d are possible",
				count, (int) POLICY_VARIABLES_MAX);
	*out = (struct policy_environment){ items, count };
	return 0;
}

static void print_environment(const struct field *field, const void *member, struct str *out)
{
	const struct policy_environment *environment = member;

	(void) field;
	str_addf(out, "{");
	for (size_t i = 0; i < environment->count; i++) {
		const struct policy_variable *item = &environment->items[i];

		str_addf(out, "%s%s: ", i > 0 ? ", " : "", item->name);
		str_add_json(out, item->value, strlen(item->value));
	}
	str_addf(out, "}");
}

/* clang-format off */
static const struct name accepts[] = {
	{ "memory", ACCEPT_MEMORY }, { "swap", ACCEPT_SWAP },
	{ "pids", ACCEPT_PIDS },     { "cpus", ACCEPT_CPUS }, { "landlock", ACCEPT_LANDLOCK }, { NULL },
};
/* What GPUs take comes with them. */
static const struct name syscall_lists[] = { { "profiler", SYSCALLS_PROFILER }, { "gpu", WORD_LATER }, { NULL } };
static const struct name on_fulls[] = { { "report", ON_FULL_REPORT }, { "end", ON_FULL_END }, { NULL } };

static const struct schema_type type_environment = { "variables", HOLDS_STRUCT, parse_environment, print_environment, "entries" };

static const struct field tmpfs_fields[] = {
	{ "size",   &type_size,  U64_AT(struct policy_tmpfs, size),   OPTIONAL, TMPFS_MIN, TIB, NULL,
	  "bytes that it holds" },
	{ "inodes", &type_count, U64_AT(struct policy_tmpfs, inodes), OPTIONAL, INODES_MIN, 10000000, NULL,
	  "files and folders that it holds" },
};
static const struct schema tmpfs_schema = { "a tmpfs", tmpfs_fields, ARRAY_LEN(tmpfs_fields), false };

static const struct field changes_fields[] = {
	{ "size",   &type_size,  U64_AT(struct policy_tmpfs, size),   OPTIONAL, 0, TIB, NULL,
	  "bytes that changes may take, at least 64KiB; 0: the root is read-only" },
	{ "inodes", &type_count, U64_AT(struct policy_tmpfs, inodes), OPTIONAL, INODES_MIN, 10000000, NULL,
	  "files and folders that may be new or changed" },
};
static const struct schema changes_schema = { "the changes", changes_fields, ARRAY_LEN(changes_fields), false };

static const struct field role_fields[] = {
	{ "wall",      &type_duration, U64_AT(struct policy_role, wall_ms),    OPTIONAL, SECOND, 168 * (uint64_t) HOUR, NULL,
	  "time from start to end" },
	{ "cpu",       &type_duration, U64_AT(struct policy_role, cpu_ms),     OPTIONAL, SECOND, 10000 * (uint64_t) HOUR, NULL,
	  "CPU time of all processes together" },
	{ "idle",      &type_duration, U64_AT(struct policy_role, idle_ms),    OPTIONAL, 0, 168 * (uint64_t) HOUR, NULL,
	  "time without output and with less than 1ms of CPU time a second; 0 for no limit; not for workers" },
	{ "grace",     &type_duration, U64_AT(struct policy_role, grace_ms),   OPTIONAL, 0, MINUTE, NULL,
	  "time from SIGTERM to the end of everything" },
	{ "memory",    &type_size,     U64_AT(struct policy_role, memory),     OPTIONAL, MEMORY_MIN, 16 * TIB, NULL,
	  "memory, what the workspace, tmp and shm hold included" },
	{ "pids",      &type_count,    U64_AT(struct policy_role, pids),       OPTIONAL, 16, 32768, NULL,
	  "processes and threads at a time" },
	{ "cpus",      &type_milli,    U64_AT(struct policy_role, cpus_milli), OPTIONAL, 50, 4096000, NULL,
	  "CPUs, in thousandths at the finest" },
	{ "output",    &type_size,     U64_AT(struct policy_role, output),     OPTIONAL, 4 * KIB, GIB, NULL,
	  "bytes on stdout and stderr together" },
	{ "nofile",    &type_count,    U64_AT(struct policy_role, nofile),     OPTIONAL, 32, 1048576, NULL,
	  "open descriptors of a process" },
	{ "stack",     &type_size,     U64_AT(struct policy_role, stack),      OPTIONAL, 0, TIB, NULL,
	  "stack of the first thread, at least 128KiB; 0 for the host's" },
	{ "memlock",   &type_size,     U64_AT(struct policy_role, memlock),    OPTIONAL, 0, TIB, NULL,
	  "locked memory of a process; 0 for the host's" },
	{ "file_size", &type_size,     U64_AT(struct policy_role, file_size),  OPTIONAL, 0, TIB, NULL,
	  "the largest file; 0 for the host's" },
	{ "msgqueue",  &type_size,     U64_AT(struct policy_role, msgqueue),   OPTIONAL, 0, GIB, NULL,
	  "bytes in POSIX message queues; 0 for the host's" },
	{ "sigpending", &type_count,   U64_AT(struct policy_role, sigpending), OPTIONAL, 0, 1048576, NULL,
	  "signals that wait; 0 for the host's" },
	{ "io",        &type_later, NOWHERE, LATER, 0, 0, NULL, "bytes and operations a second of disks" },
	{ "vram",      &type_later, NOWHERE, LATER, 0, 0, NULL, "memory of GPUs" },
	{ "workspace", &type_map, STRUCT_AT(struct policy_role, workspace, struct policy_tmpfs), OPTIONAL, 0, 0, &tmpfs_schema,
	  "the workspace" },
	{ "tmp",       &type_map, STRUCT_AT(struct policy_role, tmp, struct policy_tmpfs),       OPTIONAL, 0, 0, &tmpfs_schema,
	  "/tmp" },
	{ "shm",       &type_map, STRUCT_AT(struct policy_role, shm, struct policy_tmpfs),       OPTIONAL, 0, 0, &tmpfs_schema,
	  "/dev/shm" },
	{ "image",     &type_image, TEXT_AT(struct policy_role, image), OPTIONAL, 0, 0, NULL,
	  "what its programs see as their root: an image that the host's site.conf names, or host, for the host's own /usr" },
	{ "changes",   &type_map, STRUCT_AT(struct policy_role, changes, struct policy_tmpfs), OPTIONAL, 0, 0, &changes_schema,
	  "what its programs may change in the image" },
	{ "on_full",   &type_word,     INT_AT(struct policy_role, on_full),    OPTIONAL, 0, 0, on_fulls,
	  "what it does that one of these three is full: report, or end the jail" },
	{ "environment", &type_environment, STRUCT_AT(struct policy_role, environment, struct policy_environment), OPTIONAL, 0, POLICY_VARIABLES_MAX, NULL,
	  "variables that its programs get, beside those that they have anyhow or in their place" },
	/* Not for workers: what is marked has no more calls than every worker. */
	{ "syscalls",  &type_words,    U64_AT(struct policy_role, syscalls),   OPTIONAL, 0, 0, syscall_lists,
	  "lists of system calls beside those of every jail; each is named in the record" },
	/* Nor for builds, which compile and run nothing. An evaluator does all that in one jail. */
	{ "gpus",      &type_count,    U64_AT(struct policy_role, gpus),       OPTIONAL, 0, POLICY_GPUS_MAX, NULL,
	  "GPUs that it has to itself, those that are free" },
};
static const struct schema agent_schema = { "the agent", role_fields, ARRAY_LEN(role_fields), false };
static const struct schema role_schema = { "a role", role_fields, ARRAY_LEN(role_fields) - 1, false, &agent_schema };
static const struct schema worker_schema = { "the worker", role_fields, ARRAY_LEN(role_fields) - 2, false, &agent_schema };
static const struct schema evaluator_schema = { "the evaluator", role_fields, ARRAY_LEN(role_fields), false };

static const struct field policy_fields[] = {
	{ "schema",   &type_count, U64_AT(struct policy, schema), REQUIRED, 1, 1, NULL, "the version of this format" },
	{ "name",     &type_name,  TEXT_AT(struct policy, name),  REQUIRED, 0, 0, NULL, "the policy's name in records" },
	{ "agent",    &type_map, STRUCT_AT(struct policy, agent, struct policy_role),  OPTIONAL, 0, 0, &agent_schema, "limits of an agent's jail" },
	{ "build",    &type_map, STRUCT_AT(struct policy, build, struct policy_role),  OPTIONAL, 0, 0, &role_schema, "limits of a build's jail" },
	{ "worker",   &type_map, STRUCT_AT(struct policy, worker, struct policy_role), OPTIONAL, 0, 0, &worker_schema, "limits of a worker's jail" },
	{ "evaluator", &type_map, STRUCT_AT(struct policy, evaluator, struct policy_role), OPTIONAL, 0, 0, &evaluator_schema, "limits of the jail in which a benchmark's own harness compiles, checks and times" },
	{ "retries",  &type_count, U64_AT(struct policy, retries), OPTIONAL, 0, POLICY_RETRIES_MAX, NULL, "new attempts for one that ended INFRA, that is, by our doing" },
	{ "accept",   &type_words, U64_AT(struct policy, accept), OPTIONAL, 0, 0, accepts, "limits to do without where the host can not enforce them; each is named in the record" },
	{ "extends",  &type_location, TEXT_AT(struct policy, extends), OPTIONAL, 0, 0, NULL, "the policy whose values hold where this one has none: the name of one that came with proctor, or a file" },
	{ "services", &type_services, STRUCT_AT(struct policy, services, struct services), OPTIONAL, 0, NET_SERVICES_MAX, &services_collection, "what the agent may reach, each a port of its loopback; each is named in the record" },
	{ "profiler", &type_later, NOWHERE, LATER, 0, 0, NULL, "what profilers of GPUs need" },
	{ "clock",    &type_later, NOWHERE, LATER, 0, 0, NULL, "what clocks show in jails" },
	{ "devices",  &type_later, NOWHERE, LATER, 0, 0, NULL, "devices of a seat that are no GPUs" },
};
const struct schema policy_schema = { "the policy", policy_fields, ARRAY_LEN(policy_fields), false };
/* clang-format on */

/* See shipped-policies.S. */
extern const char default_policy[], default_policy_end[];
extern const char profiler_policy[], profiler_policy_end[];
extern const char agentkernelarena_policy[], agentkernelarena_policy_end[];

static const struct {
	const char *name, *text, *end;
} shipped[] = {
	{ "default", default_policy, default_policy_end },
	{ "profiler", profiler_policy, profiler_policy_end },
	{ "agentkernelarena", agentkernelarena_policy, agentkernelarena_policy_end },
};

const char *policy_shipped(const char *name, size_t *len)
{
	for (size_t i = 0; i < ARRAY_LEN(shipped); i++) {
		if (strcmp(shipped[i].name, name) != 0)
			continue;
		*len = (size_t) (shipped[i].end - shipped[i].text);
		return shipped[i].text;
	}
	return NULL;
}

void policy_shipped_names(struct str *out)
{
	for (size_t i = 0; i < ARRAY_LEN(shipped); i++)
		str_addf(out, "%s%s", i > 0 ? ", " : "", shipped[i].name);
}

const char *policy_default_text(size_t *len)
{
	return policy_shipped("default", len);
}

struct policy policy_default(void)
{
	return defaults;
}

/* Where a message about a role points to: the first file of the chain that speaks of it. */
static int role_err(const struct policy *policy, const char *role, const char *key, struct err *err,
		    const char *why)
{
	const struct yaml_node *at = policy->files[0];
	int line = at->line;

	for (size_t i = 0; i < policy->file_count; i++) {
		const struct yaml_node *node = yaml_find(policy->files[i], role);

		if (!node || (key && !yaml_find(node, key)))
			continue;
		at = key ? yaml_find(node, key) : node;
		line = at->key_line;
		break;
	}
	return err_set(err, ERR_INPUT, "%s:%d: key '%s': %s", at->file, line, key ? key : role,
		       why);
}

enum { STACK_MIN = 128 * KIB };

static int check_image(const struct policy *policy, const char *name,
		       const struct policy_role *role, struct err *err)
{
	if (role->changes.size == 0)
		return 0;
	if (strcmp(role->image, POLICY_IMAGE_HOST) == 0)
		return role_err(policy, name, "changes", err,
				"nobody changes the host's files: name an image, or leave it out");
	if (role->changes.size < TMPFS_MIN)
		return role_err(policy, name, "changes", err,
				"no change fits into less than 64KiB; 0 is a read-only root");
	return 0;
}

/* Every term is bounded by its row, so that the sum can not overflow. */
static int check_role(const struct policy *policy, const char *name, const struct policy_role *role,
		      struct err *err)
{
	uint64_t size = role->workspace.size + role->tmp.size + role->shm.size;
	uint64_t inodes = role->workspace.inodes + role->tmp.inodes + role->shm.inodes;
	const struct policy_tmpfs *changes = &role->changes;
	uint64_t need = size + inodes * POLICY_INODE_MEMORY + POLICY_WORKING_MEMORY;
	char why[256];

	if (changes->size > 0)
		need += changes->size + changes->inodes * POLICY_INODE_MEMORY;
	if (role->stack > 0 && role->stack < STACK_MIN)
		return role_err(
			policy, name, "stack", err,
			"no program starts with less than 128KiB of stack; 0 is the host's");
	if (check_image(policy, name, role, err) < 0)
		return -1;
	if (role->memory >= need)
		return 0;
	snprintf(why, sizeof(why),
		 "memory of %" PRIu64 "MiB is less than workspace, tmp%s shm%s can take, with 2KiB "
		 "for each inode and 64MiB to work in: %" PRIu64 "MiB; give more, or these less",
		 role->memory / MIB, changes->size > 0 ? "," : " and",
		 changes->size > 0 ? " and changes" : "", (need + MIB - 1) / MIB);
	return role_err(policy, name, NULL, err, why);
}

static int check_roles(const struct policy *policy, struct err *err)
{
	if (check_role(policy, "agent", &policy->agent, err) < 0 ||
	    check_role(policy, "build", &policy->build, err) < 0 ||
	    check_role(policy, "worker", &policy->worker, err) < 0 ||
	    check_role(policy, "evaluator", &policy->evaluator, err) < 0)
		return -1;
	return 0;
}

/* Each role is looked for: what is marked, or built, must not learn or tell anything. */
static int check_places(const struct yaml_node *root, struct err *err)
{
	static const char *const roles[] = { "agent", "build", "worker", "evaluator" };

	for (size_t i = 0; root->kind == YAML_MAP && i < ARRAY_LEN(roles); i++) {
		const struct yaml_node *role = yaml_find(root, roles[i]);
		const struct yaml_node *node =
			role && role->kind == YAML_MAP ? yaml_find(role, "services") : NULL;

		if (node && i == 0)
			return yaml_err(node, err,
					"services stand beside 'agent' and not in it: put the list "
					"one level further out");
		if (node)
			return yaml_err(node, err,
					"%s %s reaches nothing, and can not be given services: the "
					"agent alone can, by the key 'services' beside '%s'",
					roles[i][0] == 'e' ? "an" : "a", roles[i], roles[i]);
	}
	return 0;
}

int policy_bind(struct policy *policy, struct err *err)
{
	for (size_t i = policy->file_count; i-- > 0;) {
		policy->extends = NULL;
		if (check_places(policy->files[i], err) < 0)
			return -1;
		if (schema_bind(&policy_schema, policy->files[i], &policy->arena, policy, err) < 0)
			return -1;
	}
	return check_roles(policy, err);
}

void policy_print(const struct policy *policy, struct str *out)
{
	cleanup(mem_free) struct policy *whole = mem_alloc(1, sizeof(*whole));

	*whole = *policy;
	whole->extends = NULL;
	str_addf(out, "# All of the policy '%s', and of those that it extends.\n", policy->name);
	schema_write(&policy_schema, whole, out);
}

bool policy_accepts(const struct policy *policy, enum policy_accept limit)
{
	return policy->accept >> limit & 1;
}

void policy_done(struct policy *policy)
{
	arena_done(&policy->arena);
	*policy = defaults;
}

/* clang-format off */
static const struct key_table tables[] = {
	{ "a policy",            &policy_schema, &defaults },
	{ "agent",               &agent_schema,  &defaults.agent },
	{ "build",               &role_schema,   &defaults.build },
	{ "worker",              &worker_schema, &defaults.worker },
	{ "evaluator",           &evaluator_schema, &defaults.evaluator },
	{ "workspace, tmp, shm", &tmpfs_schema,  NULL },
	{ "changes",             &changes_schema, &defaults.agent.changes },
	{ "services: each service", &service_schema, &service_default },
};
/* clang-format on */
const struct key_tables policy_keys = { tables, ARRAY_LEN(tables) };
