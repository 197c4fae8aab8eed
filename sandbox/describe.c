/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/describe.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/caps.h"
#include "sandbox/devices.h"
#include "sandbox/gpu_seat.h"
#include "sandbox/ids.h"
#include "sandbox/jail.h"
#include "sandbox/launcher.h"
#include "sandbox/monitor.h"
#include "sandbox/mounts.h"

enum { LIMITS_MAX = 64 };

static const char *copy(struct arena *arena, const struct str *text)
{
	return text->len > 0 ? arena_copy(arena, text->text, text->len) : NULL;
}

/* --- the host --- */

static const char *own_mems(const struct cgroup_place *place, char *out, size_t room)
{
	cleanup(str_done) struct str path = STR_INIT;
	struct err none = ERR_INIT;

	out[0] = '\0';
	if (!place->mount)
		return out;
	str_addf(&path, "%s%s/cpuset.mems", place->mount, place->own);
	best_effort(io_read_kernel_file(AT_FDCWD, path.text, out, room, &none));
	return out;
}

static void look_at_gpus(struct describe_host *out)
{
	auto_fd proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	auto_fd sys_fd = open("/sys", O_PATH | O_DIRECTORY | O_CLOEXEC);
	auto_fd dev_fd = open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct gpu_host where = { proc_fd, sys_fd, dev_fd };
	struct err none = ERR_INIT;

	gpu_find(&where, &out->gpus);
	for (uint32_t i = 0; i < out->gpus.count; i++)
		if (gpu_nodes(&where, &out->gpus.list[i], out->nodes[i].list, &out->nodes[i].count,
			      &none) < 0)
			out->nodes[i].count = 0;
}

int describe_look(const char *site, const char *const *masks, struct arena *arena,
		  struct describe_host *out, struct err *err)
{
	struct describe_host host = { .landlock_abi = landlock_abi() };
	cleanup(str_done) struct str path = STR_INIT;
	struct err none = ERR_INIT;
	char text[512];

	if (site_load(site, &host.site, err) < 0 ||
	    cgroup_look(arena, &host.layout, &host.has_swap, err) < 0)
		return -1;
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		host.v1 |= host.layout.v1[i].mount ? CGROUP_BIT(i) : 0;
	str_addf(&path, "%s/cgroup.controllers", host.layout.unified.mount);
	if (io_read_kernel_file(AT_FDCWD, path.text, text, sizeof(text), &none) == 0)
		host.unified = cgroup_controllers(text);
	own_mems(&host.layout.v1[CGROUP_CPUSET], host.mems, sizeof(host.mems));
	for (size_t i = 0; i < PLAN_MASKS_MAX && masks[i]; i++)
		snprintf(host.masks[i], sizeof(host.masks[i]), "%s", masks[i]);
	look_at_gpus(&host);
	*out = host;
	return 0;
}

/* --- the file tree --- */

/* Whether something is there that only root may look at does not matter: it will be covered. */
static bool is_on_host(const char *path)
{
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno == EACCES;
}

static void add_options(const struct mount_option *options, struct str *out)
{
	for (; options && options->key; options++)
		str_addf(out, "%s%s=%s", out->len > 0 ? "," : "", options->key, options->value);
}

/* What the host has a link for is a link inside. */
static void follow_host(struct described_entry *entry, struct arena *arena)
{
	char link[PATH_MAX];
	ssize_t len = readlink(entry->source, link, sizeof(link));

	if (len < 0)
		return;
	entry->kind = plan_kind_text(PLAN_LINK);
	entry->source = arena_copy(arena, link, (size_t) len);
	entry->attributes = entry->type = NULL;
}

static bool is_there(const struct plan_row *row, const char *path)
{
	if (!row->optional)
		return true;
	/* Covers lie over what the host shows, in its folders and in procfs. */
	return is_on_host(row->kind == PLAN_MASK || row->kind == PLAN_READ_ONLY ||
					  row->kind == PLAN_COVER
				  ? path
				  : row->source);
}

static struct described_entry describe_row(const struct plan_row *row, struct arena *arena)
{
	const struct mount_form *form = mounts_form(row->kind);
	cleanup(str_done) struct str attributes = STR_INIT, options = STR_INIT;
	struct described_entry entry = {
		.path = arena_printf(arena, "/%s", row->target),
		.kind = plan_kind_text(row->kind),
		.source = row->kind == PLAN_TEXT || row->kind == PLAN_COVER ? NULL : row->source,
	};
	struct mounts_tmpfs tmpfs;

	entry.is_there = is_there(row, entry.path);
	if (form && form->attributes != 0) {
		mounts_add_attributes(form->attributes, &attributes);
		add_options(form->options, &options);
		entry.type = form->type;
	}
	if (row->tmpfs) {
		mounts_tmpfs_options(row->tmpfs, IDS_PAYLOAD, &tmpfs);
		add_options(tmpfs.options, &options);
	}
	entry.attributes = copy(arena, &attributes);
	entry.options = copy(arena, &options);
	if (row->kind == PLAN_AS_HOST && entry.source)
		follow_host(&entry, arena);
	return entry;
}

/* Its type is overlay, whatever the image's is: that the launcher knows. */
static struct described_entry describe_image(const struct plan_row *row, struct arena *arena)
{
	const struct plan_row bare = { row->kind, row->target, row->source };
	struct described_entry entry = describe_row(&bare, arena);
	cleanup(str_done) struct str attributes = STR_INIT;

	/* The row is a local of the caller's. */
	entry.source = arena_copy(arena, row->source, strlen(row->source));
	if (!row->tmpfs)
		return entry;
	mounts_add_attributes(mounts_form(PLAN_IMAGE)->attributes & ~(uint64_t) MOUNT_ATTR_RDONLY,
			      &attributes);
	entry.attributes = copy(arena, &attributes);
	return entry;
}

static struct described_entry describe_root(struct arena *arena)
{
	cleanup(str_done) struct str attributes = STR_INIT, options = STR_INIT;

	mounts_add_attributes(mounts_root_form.attributes, &attributes);
	add_options(mounts_root_form.options, &options);
	return (struct described_entry){
		.path = "/",
		.kind = "root",
		.type = mounts_root_form.type,
		.attributes = copy(arena, &attributes),
		.options = copy(arena, &options),
		.is_there = true,
	};
}

static void describe_tree(const struct plan_slice *slice, struct arena *arena,
			  struct jail_description *out)
{
	struct described_entry *entries = arena_alloc(arena, PLAN_ROWS_MAX + 1, sizeof(*entries));
	size_t count = 0, i = 0;
	struct plan plan;

	plan_make(slice, &plan);
	if (slice->root == PLAN_ROOT_IMAGE)
		entries[count++] = describe_image(&plan.rows[i++], arena);
	else
		entries[count++] = describe_root(arena);
	while (i < plan.count)
		entries[count++] = describe_row(&plan.rows[i++], arena);
	out->tree = entries;
	out->tree_count = count;
}

/* --- GPUs --- */

/* Where the GPU that is meant stands in the host's list; -1: there is no such one. */
static int find_gpu(const struct describe_host *host, const char *name, const bool *is_taken)
{
	for (uint32_t i = 0; i < host->gpus.count; i++) {
		char node[32], place[16];

		if (is_taken[i])
			continue;
		gpu_node_name(&host->gpus.list[i], node, sizeof(node));
		snprintf(place, sizeof(place), "%u", i);
		if (strcmp(name, SPEC_ANY_GPU) == 0 || strcmp(name, node) == 0 ||
		    strcmp(name, place) == 0 || strcmp(name, host->gpus.list[i].address) == 0)
			return (int) i;
	}
	return -1;
}

/* Those that the launcher would take if all were free. Return: how many of those that are asked
 * for. */
static uint32_t add_gpus(const struct jail_spec *spec, const struct describe_host *host,
			 struct device_slice *devices, struct plan_extras *extras)
{
	bool is_taken[GPU_MAX] = { false };
	struct gpu own[SPEC_GPUS_MAX];
	struct err none = ERR_INIT;
	uint32_t count = 0;

	for (uint32_t i = 0; i < spec->gpu_count; i++) {
		int at = find_gpu(host, spec->gpus[i].name, is_taken);

		if (at < 0)
			continue;
		is_taken[at] = true;
		own[count++] = host->gpus.list[at];
		best_effort(gpu_seat_devices(host->nodes[at].list, host->nodes[at].count, devices,
					     &none));
	}
	if (count > 0)
		best_effort(gpu_seat_tree(&host->gpus, own, count, extras, &none));
	return count;
}

/* --- /dev --- */

static const char *number_of(const struct device *device, struct arena *arena)
{
	char type = device->type == DEVICE_BLOCK ? 'b' : 'c';

	if (device->minor == DEVICE_ANY_MINOR)
		return arena_printf(arena, "%c %" PRIu32 ":*", type, device->major);
	return arena_printf(arena, "%c %" PRIu32 ":%" PRIu32, type, device->major, device->minor);
}

static void describe_devices(const struct device_slice *slice, struct arena *arena,
			     struct jail_description *out)
{
	struct described_device *list = arena_alloc(arena, DEVICES_MAX + 16, sizeof(*list));
	size_t count = 0;

	for (uint32_t i = 0; i < slice->count; i++) {
		const struct device *device = &slice->devices[i];
		const char *name = device->name;

		list[count++] = (struct described_device){
			.name = name[0] ? arena_copy(arena, name, strlen(name)) : NULL,
			.number = number_of(device, arena),
			.access = device->access == DEVICE_READ  ? "r"
				: device->access == DEVICE_WRITE ? "w"
								 : "rw",
			.mode = device->mode,
		};
	}
	for (const struct mount_option *link = mounts_device_links; link->key; link++)
		list[count++] = (struct described_device){ .name = link->key, .link = link->value };
	out->devices = list;
	out->device_count = count;
}

/* --- limits --- */

struct limits {
	struct arena *arena;
	struct described_limit *list;
	size_t count;
};

static void add_limit(struct limits *limits, struct described_limit limit)
{
	if (limits->count < LIMITS_MAX)
		limits->list[limits->count++] = limit;
}

static const char *number(struct limits *limits, uint64_t value)
{
	return arena_printf(limits->arena, "%" PRIu64, value);
}

static void add_knobs(struct limits *limits, const struct jail_spec *spec,
		      const struct describe_host *host)
{
	struct cgroup_knob knobs[CGROUP_KNOBS_MAX];
	const size_t count = cgroup_plan(&spec->cgroup, host->v1, host->mems, knobs);

	for (size_t i = 0; i < count; i++) {
		const bool is_v1 = (host->v1 & CGROUP_BIT(knobs[i].controller)) != 0;
		const char *mount = is_v1 ? host->layout.v1[knobs[i].controller].mount
					  : host->layout.unified.mount;

		add_limit(limits, (struct described_limit){
					  .name = cgroup_controller_names[knobs[i].controller],
					  .value = arena_copy(limits->arena, knobs[i].text,
							      strlen(knobs[i].text)),
					  .unit = knobs[i].unit,
					  .by = is_v1 ? "cgroup v1" : "cgroup v2",
					  .file = arena_printf(limits->arena, "%s/…/%s", mount,
							       knobs[i].file),
					  .holds = ((host->v1 | host->unified) &
						    CGROUP_BIT(knobs[i].controller)) != 0,
				  });
	}
}

static void add_rlimits(struct limits *limits, const struct jail_spec *spec)
{
	struct rlimit_row rows[RLIMITS_MAX];
	const size_t count = rlimits_plan(&spec->rlimits, rows);

	for (size_t i = 0; i < count; i++)
		add_limit(
			limits,
			(struct described_limit){
				.name = rows[i].what,
				.value = rows[i].is_opened ? "hard limit"
							   : number(limits, rows[i].value),
				.unit = rows[i].unit,
				.by = "rlimit",
				.file = arena_printf(limits->arena, "setrlimit(%s)", rows[i].name),
				.holds = true,
			});
}

static void add_tmpfs(struct limits *limits, const struct jail_spec *spec)
{
	for (uint32_t i = 0; i < spec->plan.tmpfs_count; i++) {
		const struct tmpfs_slice *tmpfs = &spec->plan.tmpfs[i];
		struct described_limit limit = {
			.name = arena_copy(limits->arena, tmpfs->path, strlen(tmpfs->path)),
			.value = number(limits, tmpfs->bytes),
			.unit = "bytes",
			.by = "tmpfs",
			.file = "mount option size",
			.holds = true,
		};

		add_limit(limits, limit);
		limit.value = number(limits, tmpfs->inodes);
		limit.unit = "inodes";
		limit.file = "mount option nr_inodes";
		add_limit(limits, limit);
	}
}

/* The monitor looks at what raises no event at each tick. */
static void add_times(struct limits *limits, const struct jail_spec *spec)
{
	const struct {
		const char *name, *unit, *file;
		uint64_t value;
		bool is_watched;
	} rows[] = {
		{ "wall", "ms", "timer, then SIGTERM", spec->time.wall_ms, false },
		{ "CPU time", "ms of all processes", "cpu.stat usage_usec", spec->time.cpu_ms,
		  true },
		{ "idle", "ms", "cpu.stat usage_usec and output", spec->time.idle_ms, true },
		{ "grace", "ms after SIGTERM", "cgroup.kill", spec->time.grace_ms, false },
		{ "a full tmpfs ends it", "", "fstatfs", spec->ends_on_full, true },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].is_watched && rows[i].value == 0)
			continue;
		add_limit(limits,
			  (struct described_limit){
				  .name = rows[i].name,
				  .value = number(limits, rows[i].value),
				  .unit = rows[i].unit,
				  .by = "monitor",
				  .file = rows[i].is_watched
						? arena_printf(limits->arena, "%s, each %d ms",
							       rows[i].file, MONITOR_TICK_MS)
						: rows[i].file,
				  .holds = true,
			  });
	}
}

static void add_collected(struct limits *limits, const struct jail_spec *spec)
{
	const struct collect_slice *collect = &spec->collect;
	const struct {
		const char *unit;
		uint64_t value;
	} rows[] = {
		{ "bytes", collect->limits.total },
		{ "files and folders", collect->limits.entries },
		{ "ms", collect->wall_ms },
	};

	for (size_t i = 0; collect->wanted && i < ARRAY_LEN(rows); i++)
		add_limit(limits,
			  (struct described_limit){
				  .name = arena_printf(limits->arena, "what is collected of %s",
						       spec->plan.tmpfs[collect->tmpfs].path),
				  .value = number(limits, rows[i].value),
				  .unit = rows[i].unit,
				  .by = "collector",
				  .file = i + 1 < ARRAY_LEN(rows) ? "its stream" : "timer",
				  .holds = true,
			  });
}

static void add_leases(struct limits *limits, const struct jail_spec *spec,
		       const struct describe_host *host, uint32_t gpus)
{
	if (spec->gpu_count == 0)
		return;
	add_limit(limits, (struct described_limit){
				  .name = "GPUs",
				  .value = number(limits, spec->gpu_count),
				  .unit = arena_printf(limits->arena, "of this host's %u",
						       host->gpus.count),
				  .by = "lease",
				  .file = LAUNCHER_STATE "/gpu-…, flock",
				  .holds = gpus == spec->gpu_count,
			  });
}

static void describe_limits(const struct jail_spec *spec, const struct describe_host *host,
			    uint32_t gpus, struct arena *arena, struct jail_description *out)
{
	struct limits limits = { .arena = arena };

	limits.list = arena_alloc(arena, LIMITS_MAX, sizeof(*limits.list));
	add_knobs(&limits, spec, host);
	add_rlimits(&limits, spec);
	add_tmpfs(&limits, spec);
	add_times(&limits, spec);
	add_collected(&limits, spec);
	add_leases(&limits, spec, host, gpus);
	out->limits = limits.list;
	out->limit_count = limits.count;
}

/* --- calls, Landlock, credentials --- */

static void describe_calls(const struct jail_spec *spec, struct arena *arena,
			   struct jail_description *out)
{
	const enum seccomp_profile profile = jail_profile(spec);
	const uint32_t extras = jail_extra_calls(spec);
	const size_t count = seccomp_calls(profile, extras, NULL, 0);
	const size_t rule_count = seccomp_rules(profile, extras, NULL, 0);
	struct seccomp_call *calls = arena_alloc(arena, count, sizeof(*calls));
	struct seccomp_rule *rules = arena_alloc(arena, rule_count, sizeof(*rules));

	out->call_count = seccomp_calls(profile, extras, calls, count);
	out->call_rule_count = seccomp_rules(profile, extras, rules, rule_count);
	out->calls = calls;
	out->call_rules = rules;
	out->profile = profile;
	out->refusals_are_counted = !spec->freezable;
}

static const char *rights_of(uint32_t access, int abi, struct arena *arena)
{
	cleanup(str_done) struct str text = STR_INIT;
	const char *right;

	for (size_t i = 0; (right = landlock_rights((enum landlock_access) access, abi, i)); i++)
		str_addf(&text, "%s%s", i > 0 ? " " : "", right);
	return arena_copy(arena, text.text, text.len);
}

static int describe_landlock(const struct jail_spec *spec, int abi, struct arena *arena,
			     struct jail_description *out, struct err *err)
{
	struct landlock_slice slice = { .count = 0 };
	struct described_rule *rules;
	const char **scopes = arena_alloc(arena, 8, sizeof(*scopes));

	if (jail_make_landlock(&spec->plan, &slice, err) < 0)
		return -1;
	rules = arena_alloc(arena, slice.count + 1, sizeof(*rules));
	for (uint32_t i = 0; i < slice.count; i++)
		rules[i] = (struct described_rule){
			.path = arena_copy(arena, slice.rules[i].path, strlen(slice.rules[i].path)),
			.rights = rights_of(slice.rules[i].access, abi, arena),
		};
	while (landlock_scopes(abi, out->scope_count)) {
		scopes[out->scope_count] = landlock_scopes(abi, out->scope_count);
		out->scope_count++;
	}
	out->landlock = rules;
	out->landlock_count = abi > 0 ? slice.count : 0;
	out->scopes = scopes;
	return 0;
}

static void describe_securebits(struct arena *arena, struct jail_description *out)
{
	static const struct {
		unsigned int bit;
		const char *name;
	} names[] = {
		{ SECBIT_NOROOT, "noroot" },
		{ SECBIT_NOROOT_LOCKED, "noroot_locked" },
		{ SECBIT_NO_SETUID_FIXUP, "no_setuid_fixup" },
		{ SECBIT_NO_SETUID_FIXUP_LOCKED, "no_setuid_fixup_locked" },
		{ SECBIT_KEEP_CAPS, "keep_caps" },
		{ SECBIT_KEEP_CAPS_LOCKED, "keep_caps_locked" },
		{ SECBIT_NO_CAP_AMBIENT_RAISE, "no_cap_ambient_raise" },
		{ SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED, "no_cap_ambient_raise_locked" },
	};
	const char **set = arena_alloc(arena, ARRAY_LEN(names), sizeof(*set));

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if ((caps_locked_bits() & names[i].bit) != 0)
			set[out->securebit_count++] = names[i].name;
	out->securebits = set;
}

int describe_jail(const struct jail_spec *spec, const struct describe_host *host,
		  struct arena *arena, struct jail_description *out, struct err *err)
{
	struct jail_description made = {
		.inside_id = IDS_PAYLOAD,
		.range_base = (uint32_t) host->site.uid_base,
		.range_count = (uint32_t) host->site.uid_ranges,
		.range_size = IDS_RANGE,
	};
	struct jail_spec *bound = arena_alloc(arena, 1, sizeof(*bound));
	struct plan_slice *plan = arena_alloc(arena, 1, sizeof(*plan));
	struct device_slice devices;
	uint32_t gpus;

	*bound = *spec;
	if (site_bound(&host->site, bound, err) < 0)
		return -1;
	*plan = spec->plan;
	memcpy(plan->masks, host->masks, sizeof(plan->masks));
	devices_base(&devices);
	gpus = add_gpus(spec, host, &devices, &plan->extras);
	describe_tree(plan, arena, &made);
	describe_devices(&devices, arena, &made);
	describe_limits(bound, host, gpus, arena, &made);
	describe_calls(bound, arena, &made);
	describe_securebits(arena, &made);
	if (describe_landlock(bound, host->landlock_abi, arena, &made, err) < 0)
		return -1;
	*out = made;
	return 0;
}
