/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/policy.h"

#include <inttypes.h>
#include <string.h>

#include "sandbox/base/io.h"

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
	},
};

/* clang-format off */
static const struct name accepts[] = {
	{ "memory", ACCEPT_MEMORY }, { "swap", ACCEPT_SWAP },
	{ "pids", ACCEPT_PIDS },     { "cpus", ACCEPT_CPUS }, { NULL },
};

static const struct field tmpfs_fields[] = {
	{ "size",   &type_size,  U64_AT(struct policy_tmpfs, size),   OPTIONAL, TMPFS_MIN, TIB, NULL,
	  "bytes that it holds" },
	{ "inodes", &type_count, U64_AT(struct policy_tmpfs, inodes), OPTIONAL, INODES_MIN, 10000000, NULL,
	  "files and folders that it holds" },
};
static const struct schema tmpfs_schema = { "a tmpfs", tmpfs_fields, ARRAY_LEN(tmpfs_fields), false };

static const struct field role_fields[] = {
	{ "wall",      &type_duration, U64_AT(struct policy_role, wall_ms),    OPTIONAL, SECOND, 168 * (uint64_t) HOUR, NULL,
	  "time from start to end" },
	{ "cpu",       &type_duration, U64_AT(struct policy_role, cpu_ms),     OPTIONAL, SECOND, 10000 * (uint64_t) HOUR, NULL,
	  "CPU time of all processes together" },
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
	{ "io",        &type_later, NOWHERE, LATER, 0, 0, NULL, "bytes and operations a second of disks" },
	{ "vram",      &type_later, NOWHERE, LATER, 0, 0, NULL, "memory of GPUs" },
	{ "workspace", &type_map, STRUCT_AT(struct policy_role, workspace, struct policy_tmpfs), OPTIONAL, 0, 0, &tmpfs_schema,
	  "the workspace" },
	{ "tmp",       &type_map, STRUCT_AT(struct policy_role, tmp, struct policy_tmpfs),       OPTIONAL, 0, 0, &tmpfs_schema,
	  "/tmp" },
	{ "shm",       &type_map, STRUCT_AT(struct policy_role, shm, struct policy_tmpfs),       OPTIONAL, 0, 0, &tmpfs_schema,
	  "/dev/shm" },
	{ "idle",      &type_later, NOWHERE, LATER, 0, 0, NULL, "time without CPU use after which the jail ends" },
	{ "on_full",   &type_later, NOWHERE, LATER, 0, 0, NULL, "what a full workspace does: report or end" },
};
static const struct schema role_schema = { "a role", role_fields, ARRAY_LEN(role_fields), false };

static const struct field policy_fields[] = {
	{ "schema",   &type_count, U64_AT(struct policy, schema), REQUIRED, 1, 1, NULL, "the version of this format" },
	{ "name",     &type_name,  TEXT_AT(struct policy, name),  REQUIRED, 0, 0, NULL, "the policy's name in records" },
	{ "agent",    &type_map, STRUCT_AT(struct policy, agent, struct policy_role),  OPTIONAL, 0, 0, &role_schema, "limits of an agent's jail" },
	{ "build",    &type_map, STRUCT_AT(struct policy, build, struct policy_role),  OPTIONAL, 0, 0, &role_schema, "limits of a build's jail" },
	{ "worker",   &type_map, STRUCT_AT(struct policy, worker, struct policy_role), OPTIONAL, 0, 0, &role_schema, "limits of a worker's jail" },
	{ "retries",  &type_count, U64_AT(struct policy, retries), OPTIONAL, 0, POLICY_RETRIES_MAX, NULL, "new attempts for one that ended INFRA, that is, by our doing" },
	{ "accept",   &type_words, U64_AT(struct policy, accept), OPTIONAL, 0, 0, accepts, "limits to do without where the host can not enforce them; each is named in the record" },
	{ "extends",  &type_later, NOWHERE, LATER, 0, 0, NULL, "the policy whose values hold where this one has none" },
	{ "root",     &type_later, NOWHERE, LATER, 0, 0, NULL, "the image that the jails see as their root" },
	{ "services", &type_later, NOWHERE, LATER, 0, 0, NULL, "endpoints that the agent may reach" },
	{ "profiler", &type_later, NOWHERE, LATER, 0, 0, NULL, "what GPU profilers need" },
	{ "syscalls", &type_later, NOWHERE, LATER, 0, 0, NULL, "lists of system calls beside the base list" },
	{ "clock",    &type_later, NOWHERE, LATER, 0, 0, NULL, "what clocks show in jails" },
	{ "devices",  &type_later, NOWHERE, LATER, 0, 0, NULL, "GPUs of a seat" },
};
const struct schema policy_schema = { "the policy", policy_fields, ARRAY_LEN(policy_fields), false };
/* clang-format on */

/* See default-policy.S. */
extern const char default_policy[], default_policy_end[];

const char *policy_default_text(size_t *len)
{
	*len = (size_t) (default_policy_end - default_policy);
	return default_policy;
}

struct policy policy_default(void)
{
	return defaults;
}

/* Every term is bounded by its row, so that the sum can not overflow. */
static int check_role(const char *file, int line, const char *role_name,
		      const struct policy_role *role, struct err *err)
{
	uint64_t size = role->workspace.size + role->tmp.size + role->shm.size;
	uint64_t inodes = role->workspace.inodes + role->tmp.inodes + role->shm.inodes;
	uint64_t need = size + inodes * POLICY_INODE_MEMORY + POLICY_WORKING_MEMORY;

	if (role->memory >= need)
		return 0;
	return err_set(err, ERR_INPUT,
		       "%s:%d: key '%s': memory of %" PRIu64
		       "MiB is less than workspace, tmp and shm "
		       "can take, with 2KiB for each inode and 64MiB to work in: %" PRIu64 "MiB",
		       file, line, role_name, role->memory / MIB, (need + MIB - 1) / MIB);
}

static int check_roles(const struct yaml_node *root, const struct policy *policy, struct err *err)
{
	const struct {
		const char *name;
		const struct policy_role *role;
	} roles[] = {
		{ "agent", &policy->agent },
		{ "build", &policy->build },
		{ "worker", &policy->worker },
	};

	for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
		const struct yaml_node *node = yaml_find(root, roles[i].name);

		if (check_role(root->file, node ? node->key_line : root->line, roles[i].name,
			       roles[i].role, err) < 0)
			return -1;
	}
	return 0;
}

int policy_parse(const char *file, const char *text, size_t len, struct policy *out,
		 struct err *err)
{
	cleanup(policy_done) struct policy policy = defaults;
	const struct yaml_node *root = yaml_parse(&policy.arena, file, text, len, err);

	if (!root || schema_bind(&policy_schema, root, &policy.arena, &policy, err) < 0 ||
	    check_roles(root, &policy, err) < 0)
		return -1;
	*out = take(policy, defaults);
	return 0;
}

static void text_done(struct str *text)
{
	str_done(text);
}

int policy_load(int folder_fd, const char *path, struct policy *out, struct err *err)
{
	cleanup(text_done) struct str text = STR_INIT;

	if (io_read_file(folder_fd, path, POLICY_FILE_MAX, &text, err) < 0)
		return -1;
	return policy_parse(path, text.text, text.len, out, err);
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
	{ "agent",               &role_schema,   &defaults.agent },
	{ "build",               &role_schema,   &defaults.build },
	{ "worker",              &role_schema,   &defaults.worker },
	{ "workspace, tmp, shm", &tmpfs_schema,  NULL },
};
/* clang-format on */
const struct key_tables policy_keys = { tables, ARRAY_LEN(tables) };
