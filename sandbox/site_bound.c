/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "sandbox/base/mem.h"
#include "sandbox/base/units.h"
#include "sandbox/site.h"

const struct site_device *site_device(const struct site *site, const char *name)
{
	for (size_t i = 0; i < site->device_count; i++)
		if (strcmp(site->devices[i].name, name) == 0)
			return &site->devices[i];
	return NULL;
}

const struct site_source *site_source(const struct site *site, const char *name)
{
	for (size_t i = 0; i < site->source_count; i++)
		if (strcmp(site->sources[i].name, name) == 0)
			return &site->sources[i];
	return NULL;
}

static int check_root(const struct site *site, const struct jail_spec *spec, struct err *err)
{
	const struct plan_slice *plan = &spec->plan;
	const struct site_source *source;

	if (plan->root == PLAN_ROOT_HOST && !site->has_host_root)
		return err_set(err, ERR_INPUT,
			       "jail '%s': this host does not give jails its own /usr as their "
			       "root: its administrator can, by 'root.host yes' in %s",
			       spec->name, site->file);
	if (plan->root != PLAN_ROOT_IMAGE)
		return 0;
	source = site_source(site, plan->image);
	if (!source)
		return err_set(err, ERR_INPUT,
			       "jail '%s': there is no image '%s' for jails on this host: its "
			       "administrator can list it in %s ('source %s squashfs /PATH')",
			       spec->name, plan->image, site->file, plan->image);
	/* Its files would be the payload's then, also those that root keeps for itself. */
	for (size_t i = 0; i < plan->tmpfs_count; i++)
		if (source->kind == SITE_FOLDER && strcmp(plan->tmpfs[i].path, "/") == 0)
			return err_set(err, ERR_INPUT,
				       "jail '%s': image '%s' is a folder of this host, which no "
				       "jail changes: make a squashfs or erofs image of it, or do "
				       "without a root that can be changed",
				       spec->name, plan->image);
	return 0;
}

/* What the site limits holds: nobody can do without it in the administrator's place. */
static void keep_limits(const struct site *site, struct cgroup_limits *limits)
{
	if (site->jail.memory > 0 || site->client.memory > 0)
		limits->accept &=
			~(CGROUP_BIT(CGROUP_LIMIT_MEMORY) | CGROUP_BIT(CGROUP_LIMIT_SWAP));
	if (site->jail.pids > 0 || site->client.pids > 0)
		limits->accept &= ~CGROUP_BIT(CGROUP_LIMIT_PIDS);
	if (site->jail.cpu_milli > 0)
		limits->accept &= ~CGROUP_BIT(CGROUP_LIMIT_CPUS);
}

const struct site_gpu *site_gpu(const struct site *site, const char *name)
{
	for (size_t i = 0; i < site->gpu_count; i++)
		if (strcmp(site->gpus[i].name, name) == 0)
			return &site->gpus[i];
	return NULL;
}

/* Which of them there are is for the jail's own process to see: this looks at nothing. */
static int check_gpus(const struct site *site, const struct jail_spec *spec, struct err *err)
{
	if (spec->gpu_count > 0 && !site->has_all_gpus && site->gpu_count == 0)
		return err_set(err, ERR_INPUT,
			       "jail '%s': there are no GPUs for jails on this host: its "
			       "administrator can list them in %s ('gpu gpu0 0')",
			       spec->name, site->file);
	for (size_t i = 0; i < spec->gpu_count && !site->has_all_gpus; i++)
		if (strcmp(spec->gpus[i].name, SPEC_ANY_GPU) != 0 &&
		    !site_gpu(site, spec->gpus[i].name))
			return err_set(err, ERR_INPUT,
				       "jail '%s': there is no GPU '%s' for jails on this host: "
				       "its administrator can list it in %s ('gpu %s …')",
				       spec->name, spec->gpus[i].name, site->file,
				       spec->gpus[i].name);
	return 0;
}

static int check_devices(const struct site *site, const struct jail_spec *spec, struct err *err)
{
	for (size_t i = 0; i < spec->device_count; i++)
		if (!site_device(site, spec->devices[i].name))
			return err_set(err, ERR_INPUT,
				       "jail '%s': there is no device '%s' for jails on this host: "
				       "its administrator can list it in %s ('device %s /dev/…')",
				       spec->name, spec->devices[i].name, site->file,
				       spec->devices[i].name);
	return 0;
}

int site_bound(const struct site *site, struct jail_spec *spec, struct err *err)
{
	const struct site_jail *most = &site->jail;
	uint64_t bytes = 0, inodes = 0;

	for (size_t i = 0; i < spec->plan.tmpfs_count; i++) {
		bytes += spec->plan.tmpfs[i].bytes;
		inodes += spec->plan.tmpfs[i].inodes;
	}
	if (most->cpu_milli > 0 && spec->cgroup.cpu_milli == 0)
		spec->cgroup.cpu_milli = most->cpu_milli;
	keep_limits(site, &spec->cgroup);
	const struct {
		const char *key, *what;
		enum units_kind kind;
		uint64_t asked, most;
	} asked[] = {
		{ "jail.memory", "of memory", UNITS_BYTES, spec->cgroup.memory, most->memory },
		{ "jail.pids", "processes", UNITS_COUNT, spec->cgroup.pids, most->pids },
		{ "jail.cpus", "CPUs", UNITS_MILLI, spec->cgroup.cpu_milli, most->cpu_milli },
		{ "jail.wall", "of time", UNITS_MS, spec->time.wall_ms, most->wall_ms },
		{ "jail.wall", "to collect", UNITS_MS, spec->collect.wall_ms, most->wall_ms },
		{ "jail.bytes", "in its file systems", UNITS_BYTES, bytes, most->bytes },
		{ "jail.inodes", "files in its file systems", UNITS_COUNT, inodes, most->inodes },
		{ "jail.output", "to collect", UNITS_BYTES,
		  spec->collect.wanted ? spec->collect.limits.total : 0, most->output },
	};

	for (size_t i = 0; i < ARRAY_LEN(asked); i++)
		if (asked[i].most > 0 && asked[i].asked > asked[i].most)
			return err_set(err, ERR_INPUT,
				       "jail '%s': %s %s are more than the %s that this host "
				       "allows a jail: ask for less, or have its administrator "
				       "raise '%s' in %s",
				       spec->name, units_write(asked[i].kind, asked[i].asked).text,
				       asked[i].what,
				       units_write(asked[i].kind, asked[i].most).text, asked[i].key,
				       site->file);
	if (check_root(site, spec, err) < 0)
		return -1;
	if (!site->has_profiler && (spec->extra_calls & SECCOMP_BIT(SECCOMP_EXTRA_PROFILER)) != 0)
		return err_set(err, ERR_INPUT,
			       "jail '%s': this host does not give jails the system calls of a "
			       "profiler: do without 'profiler' in the policy; its administrator "
			       "can, by 'calls.profiler yes' in %s",
			       spec->name, site->file);
	if (check_gpus(site, spec, err) < 0)
		return -1;
	return check_devices(site, spec, err);
}
