/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/spec.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "sandbox/base/path.h"
#include "sandbox/base/units.h"

/* What a payload needs to run at all, beyond its files. */
#define WORKING_MEMORY (16 * MIB)

#define DAY_MS (UINT64_C(24) * 3600 * 1000)

const struct name spec_limit_names[] = {
	{ "memory", CGROUP_LIMIT_MEMORY },   { "swap", CGROUP_LIMIT_SWAP },
	{ "pids", CGROUP_LIMIT_PIDS },       { "cpus", CGROUP_LIMIT_CPUS },
	{ "landlock", SPEC_LIMIT_LANDLOCK }, { NULL, 0 },
};

uint32_t spec_add_tmpfs(struct jail_spec *spec, const char *path, uint64_t bytes, uint64_t inodes)
{
	struct tmpfs_slice *tmpfs = &spec->plan.tmpfs[spec->plan.tmpfs_count];

	assert(spec->plan.tmpfs_count < PLAN_TMPFS_MAX);
	snprintf(tmpfs->path, sizeof(tmpfs->path), "%s", path);
	tmpfs->bytes = bytes;
	tmpfs->inodes = inodes;
	return spec->plan.tmpfs_count++;
}

void spec_init(struct jail_spec *spec, const char *name)
{
	*spec = (struct jail_spec){
		.command = { .folder = "/work" },
		.plan = { .root = PLAN_ROOT_HOST },
		.cgroup = { .memory = GIB, .pids = 256 },
		.rlimits = { .files = 4096 },
		.time = { .wall_ms = 60 * 1000, .grace_ms = 500 },
	};
	snprintf(spec->name, sizeof(spec->name), "%s", name);
	spec_add_tmpfs(spec, "/work", 256 * MIB, 65536);
	spec->plan.tmpfs[spec_add_tmpfs(spec, "/tmp", 128 * MIB, 16384)].shared = 1;
	spec->plan.tmpfs[spec_add_tmpfs(spec, "/dev/shm", 64 * MIB, 4096)].shared = 1;
}

int spec_add_gpu(struct jail_spec *spec, const char *name, struct err *err)
{
	struct device_name *gpu = &spec->gpus[spec->gpu_count];

	if (spec->gpu_count == SPEC_GPUS_MAX)
		return err_set(err, ERR_INPUT, "more than %u GPUs", (unsigned) SPEC_GPUS_MAX);
	if (strlen(name) >= sizeof(gpu->name))
		return err_set(err, ERR_INPUT, "a GPU's name of %zu bytes; %zu at most",
			       strlen(name), sizeof(gpu->name) - 1);
	snprintf(gpu->name, sizeof(gpu->name), "%s", name);
	spec->gpu_count++;
	return 0;
}

static int add_string(struct command_slice *command, const char *text, struct err *err)
{
	size_t size = strlen(text) + 1;

	if (size > sizeof(command->strings) - command->length)
		return err_set(err, ERR_INPUT,
			       "the arguments and the environment are longer than %zu bytes",
			       sizeof(command->strings));
	memcpy(command->strings + command->length, text, size);
	command->length += (uint32_t) size;
	return 0;
}

int spec_add_arg(struct jail_spec *spec, const char *arg, struct err *err)
{
	assert(spec->command.envc == 0);
	if (add_string(&spec->command, arg, err) < 0)
		return -1;
	spec->command.argc++;
	return 0;
}

int spec_add_env(struct jail_spec *spec, const char *entry, struct err *err)
{
	if (add_string(&spec->command, entry, err) < 0)
		return -1;
	spec->command.envc++;
	return 0;
}

void spec_strings(const struct jail_spec *spec, const char **argv, const char **envp)
{
	const char *at = spec->command.strings;

	for (uint32_t i = 0; i < spec->command.argc; i++, at += strlen(at) + 1)
		argv[i] = at;
	argv[spec->command.argc] = NULL;
	for (uint32_t i = 0; i < spec->command.envc; i++, at += strlen(at) + 1)
		envp[i] = at;
	envp[spec->command.envc] = NULL;
}

bool spec_fd_wanted(const struct jail_spec *spec, enum spec_fd role)
{
	if (role == SPEC_FD_PROGRAM)
		return spec->has_program;
	if (role == SPEC_FD_COLLECT)
		return spec->collect.wanted;
	if (role >= SPEC_FD_PASS)
		return (uint32_t) role - SPEC_FD_PASS < spec->pass_count;
	if (role >= SPEC_FD_TREES)
		return (uint32_t) role - SPEC_FD_TREES < spec->tree_count;
	return true;
}

static bool ends(const char *text, size_t room)
{
	return memchr(text, '\0', room) != NULL;
}

static int check_name(const struct jail_spec *spec, struct err *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";

	if (!ends(spec->name, sizeof(spec->name)) || spec->name[0] == '\0' ||
	    spec->name[strspn(spec->name, allowed)] != '\0')
		return err_set(err, ERR_INPUT,
			       "a jail's name is 1 to 63 letters, digits and '-', not '%.64s'",
			       spec->name);
	return 0;
}

static int check_command(const struct command_slice *command, struct err *err)
{
	uint64_t count = 0;

	if (command->length > sizeof(command->strings))
		return err_set(err, ERR_INPUT, "the command has %u bytes", command->length);
	if (command->length > 0 && command->strings[command->length - 1] != '\0')
		return err_set(err, ERR_INPUT, "the last string of the command does not end");
	for (uint32_t i = 0; i < command->length; i++)
		count += command->strings[i] == '\0';
	if (command->argc == 0 || (uint64_t) command->argc + command->envc != count)
		return err_set(
			err, ERR_INPUT,
			"the command has %u arguments, %u environment strings and %llu texts",
			command->argc, command->envc, (unsigned long long) count);
	if (!ends(command->folder, sizeof(command->folder)) || command->folder[0] != '/' ||
	    (command->folder[1] && !path_is_relative(command->folder + 1)))
		return err_set(err, ERR_INPUT, "the working folder '%.128s' is no plain path",
			       command->folder);
	return 0;
}

static int check_time(const struct time_slice *time, struct err *err)
{
	if (time->wall_ms == 0 || time->wall_ms > 7 * DAY_MS)
		return err_set(err, ERR_INPUT,
			       "a wall limit of %llu ms; 1 ms to 7 days are possible",
			       (unsigned long long) time->wall_ms);
	if (time->cpu_ms > 7000 * DAY_MS)
		return err_set(err, ERR_INPUT, "a CPU limit of %llu ms is too large",
			       (unsigned long long) time->cpu_ms);
	if (time->idle_ms > 7 * DAY_MS)
		return err_set(err, ERR_INPUT,
			       "an idle limit of %llu ms; at most 7 days are possible",
			       (unsigned long long) time->idle_ms);
	if (time->grace_ms > 60 * 1000)
		return err_set(err, ERR_INPUT, "a grace of %llu ms; at most one minute is possible",
			       (unsigned long long) time->grace_ms);
	return 0;
}

static int check_cgroup(const struct cgroup_limits *limits, struct err *err)
{
	if (limits->memory == 0 || limits->pids < 4)
		return err_set(err, ERR_INPUT,
			       "a jail has a memory limit and at least 4 processes, not %llu",
			       (unsigned long long) limits->pids);
	if (limits->cpu_milli != 0 && limits->cpu_milli < 10)
		return err_set(err, ERR_INPUT, "%llu thousandths of a CPU; 10 or more are possible",
			       (unsigned long long) limits->cpu_milli);
	if (limits->accept >> CGROUP_LIMITS != 0)
		return err_set(err, ERR_INPUT, "limits to do without that nobody knows: %#x",
			       limits->accept);
	if (!ends(limits->cpus, sizeof(limits->cpus)) ||
	    limits->cpus[strspn(limits->cpus, "0123456789,-")] != '\0')
		return err_set(err, ERR_INPUT, "'%.64s' is no list of CPUs", limits->cpus);
	return 0;
}

static int check_memory(const struct jail_spec *spec, struct err *err)
{
	uint64_t need = WORKING_MEMORY;

	for (size_t i = 0; i < spec->plan.tmpfs_count; i++)
		need += spec->plan.tmpfs[i].bytes + spec->plan.tmpfs[i].inodes * SPEC_INODE_MEMORY;
	if (spec->cgroup.memory < need)
		return err_set(
			err, ERR_INPUT,
			"a memory limit of %s is less than the %s that it takes: its tmpfs "
			"filled to the brim, and %s to work with; give more memory, or less to "
			"the tmpfs (proctor jail: --work, --files, --tmp)",
			units_write(UNITS_BYTES, spec->cgroup.memory).text,
			units_write(UNITS_BYTES, need).text,
			units_write(UNITS_BYTES, WORKING_MEMORY).text);
	return 0;
}

/* Is @path a tmpfs of the plan, or below one? */
static bool is_in_tmpfs(const struct plan_slice *plan, const char *path)
{
	if (path[0] != '/' || !path_is_relative(path + 1))
		return false;
	for (size_t i = 0; i < plan->tmpfs_count; i++) {
		size_t len = strlen(plan->tmpfs[i].path);

		if (strncmp(path, plan->tmpfs[i].path, len) == 0 &&
		    (path[len] == '\0' || path[len] == '/'))
			return true;
	}
	return false;
}

static int check_trees(const struct jail_spec *spec, struct err *err)
{
	if (spec->tree_count > SPEC_TREES_MAX || spec->pass_count > SPEC_PASS_MAX)
		return err_set(err, ERR_INPUT, "%u trees and %u descriptors; %u and %u at most",
			       spec->tree_count, spec->pass_count, (unsigned) SPEC_TREES_MAX,
			       (unsigned) SPEC_PASS_MAX);
	for (size_t i = 0; i < spec->tree_count; i++) {
		const struct tree_slice *tree = &spec->trees[i];

		if (!ends(tree->path, sizeof(tree->path)) || !is_in_tmpfs(&spec->plan, tree->path))
			return err_set(err, ERR_INPUT, "a tree can not be unpacked at '%.64s'",
				       tree->path);
		if (stream_limits_check(&tree->limits, err) < 0)
			return err_wrap(err, "the tree at '%s'", tree->path);
	}
	return 0;
}

static int check_collect(const struct jail_spec *spec, struct err *err)
{
	const struct collect_slice *collect = &spec->collect;

	if (collect->wanted > 1 || spec->has_program > 1 || spec->freezable > 1 ||
	    spec->ends_on_full > 1 || spec->accept_landlock > 1)
		return err_set(err, ERR_INPUT, "the spec has unknown flags");
	if (!collect->wanted)
		return 0;
	if (collect->tmpfs >= spec->plan.tmpfs_count)
		return err_set(err, ERR_INPUT, "there is no tmpfs %u to collect", collect->tmpfs);
	if (strcmp(spec->plan.tmpfs[collect->tmpfs].path, "/") == 0)
		return err_set(err, ERR_INPUT, "what is changed in an image is not collected");
	if (!ends(collect->folder, sizeof(collect->folder)) ||
	    (collect->folder[0] && !path_is_relative(collect->folder)))
		return err_set(err, ERR_INPUT, "the folder to collect, '%.64s', is no plain path",
			       collect->folder);
	if (collect->wall_ms == 0 || collect->wall_ms > DAY_MS)
		return err_set(err, ERR_INPUT, "collecting may take 1 ms to a day, not %llu ms",
			       (unsigned long long) collect->wall_ms);
	return stream_limits_check(&collect->limits, err);
}

/* A worker talks to the judge, and has no calls for sockets. */
static int check_services(const struct jail_spec *spec, struct err *err)
{
	if (net_check(&spec->net, err) < 0)
		return -1;
	if (spec->freezable && spec->net.count > 0)
		return err_set(err, ERR_INPUT,
			       "a jail that can be frozen has no services, and %u are asked for",
			       spec->net.count);
	return 0;
}

static int check_devices(const struct jail_spec *spec, struct err *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

	if (spec->device_count > SPEC_DEVICES_MAX)
		return err_set(err, ERR_INPUT, "%u devices; %u at most", spec->device_count,
			       (unsigned) SPEC_DEVICES_MAX);
	for (size_t i = 0; i < spec->device_count; i++) {
		const char *name = spec->devices[i].name;

		if (!ends(name, sizeof(spec->devices[i].name)) || name[0] == '\0' ||
		    name[strspn(name, allowed)] != '\0')
			return err_set(err, ERR_INPUT,
				       "a device has a name of 1 to 31 letters, digits, '-', '_' "
				       "and '.', no path");
	}
	return 0;
}

static int check_gpus(const struct jail_spec *spec, struct err *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:";

	if (spec->gpu_count > SPEC_GPUS_MAX)
		return err_set(err, ERR_INPUT, "%u GPUs; %u at most", spec->gpu_count,
			       (unsigned) SPEC_GPUS_MAX);
	for (size_t i = 0; i < spec->gpu_count; i++) {
		const char *name = spec->gpus[i].name;

		if (!ends(name, sizeof(spec->gpus[i].name)) || name[0] == '\0' ||
		    name[strspn(name, allowed)] != '\0')
			return err_set(err, ERR_INPUT,
				       "a GPU has a name of 1 to 31 letters, digits, '-', '_', "
				       "'.' and ':', no path");
		for (size_t k = 0; k < i && strcmp(name, SPEC_ANY_GPU) != 0; k++)
			if (strcmp(spec->gpus[k].name, name) == 0)
				return err_set(err, ERR_INPUT, "the GPU '%s' is asked for twice",
					       name);
	}
	return 0;
}

int spec_check(const struct jail_spec *spec, struct err *err)
{
	if (check_name(spec, err) < 0 || check_command(&spec->command, err) < 0 ||
	    plan_check(&spec->plan, err) < 0 || check_cgroup(&spec->cgroup, err) < 0 ||
	    check_time(&spec->time, err) < 0 || check_memory(spec, err) < 0 ||
	    check_trees(spec, err) < 0 || check_collect(spec, err) < 0 ||
	    check_devices(spec, err) < 0 || check_gpus(spec, err) < 0 ||
	    check_services(spec, err) < 0)
		return -1;
	if (spec->extra_calls >> SECCOMP_EXTRAS != 0)
		return err_set(err, ERR_INPUT, "lists of calls that nobody knows: %#x",
			       spec->extra_calls);
	if (spec->plan.root != PLAN_ROOT_HOST && spec->plan.root != PLAN_ROOT_IMAGE)
		return err_set(err, ERR_INPUT, "a client's jail has the host's root, or an image");
	for (size_t i = 0; i < PLAN_MASKS_MAX; i++)
		if (spec->plan.masks[i][0])
			return err_set(err, ERR_INPUT, "masks are the launcher's");
	if (spec->plan.extras.count > 0 || spec->plan.extras.has_nvidia > 0)
		return err_set(err, ERR_INPUT, "what else the tree has is the launcher's");
	return 0;
}
