/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/gpu_seat.h"

#include <stdio.h>
#include <string.h>

#include "sandbox/base/process.h"

/* By its node's number: the place in a list changes when a GPU comes or goes. */
static const char *const lease_kinds[GPU_VENDORS] = {
	[GPU_AMD] = "gpu-renderD",
	[GPU_NVIDIA] = "gpu-nvidia",
};

/* In a lease: the jail's pid 1, and when that was started. */
#define NOTE "%d %llu"
enum { NOTE_MAX = 64 };

static bool is_same(const struct gpu *one, const struct gpu *two)
{
	return one->vendor == two->vendor && one->number == two->number;
}

static bool is_among(const struct gpu *gpu, const struct gpu *list, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (is_same(&list[i], gpu))
			return true;
	return false;
}

/* Is there anything left of the jail that had it, whose monitor was killed? 1, 0 or -1. */
static int is_left(const struct lease *lease, struct err *err)
{
	unsigned long long started;
	char note[NOTE_MAX];
	int pid;

	if (lease_read(lease, note, sizeof(note), err) < 0)
		return -1;
	return sscanf(note, NOTE, &pid, &started) == 2 && started != 0 &&
	       process_started(pid) == started;
}

/* Return: 1 it is ours, 0 another jail has it, -1. */
static int try_one(struct gpu_seat *seat, const struct gpu *gpu, int leases_fd, struct err *err)
{
	struct lease *lease = &seat->leases[seat->count];
	int got = lease_try(leases_fd, lease_kinds[gpu->vendor], gpu->number, lease, err), left;

	if (got <= 0)
		return got;
	left = is_left(lease, err);
	if (left != 0) {
		lease_done(lease);
		return left < 0 ? -1 : 0;
	}
	seat->own[seat->count++] = *gpu;
	return 1;
}

static int not_there(const struct gpu_seat *seat, const char *name, const char *which,
		     struct err *err)
{
	char listed[80] = "";

	if (strcmp(name, which) != 0)
		snprintf(listed, sizeof(listed), ", which is listed as '%s',", which);
	return err_set(err, ERR_HOST,
		       "there is no GPU '%s'%s on this host: its drivers show %u%s; 'proctor "
		       "doctor' lists them",
		       name, listed, seat->all.count,
		       seat->all.unread[GPU_AMD] + seat->all.unread[GPU_NVIDIA] > 0
			       ? ", and some that can not be read"
			       : "");
}

static int take_named(const struct site *site, const struct gpu_host *host, const char *name,
		      int leases_fd, struct gpu_seat *seat, struct err *err)
{
	const struct site_gpu *listed = site_gpu(site, name);
	const char *which = listed ? listed->which : name;
	struct gpu gpu;
	int got;

	if (!gpu_pick(host, &seat->all, which, &gpu))
		return not_there(seat, name, which, err);
	if (is_among(&gpu, seat->own, seat->count))
		return err_set(err, ERR_HOST, "the GPU '%s' is asked for twice, by two names",
			       name);
	got = try_one(seat, &gpu, leases_fd, err);
	if (got == 0)
		return err_set(err, ERR_HOST,
			       "the GPU '%s' (%s) is another jail's now: wait for its end, or "
			       "take another GPU",
			       name, gpu.model);
	return got < 0 ? -1 : 0;
}

/* The @index-th that jails may have. Return: 1 with it, 0: it is not there; -1: there are no so
 * many. */
static int candidate(const struct site *site, const struct gpu_host *host,
		     const struct gpu_seat *seat, uint32_t index, struct gpu *out)
{
	if (site->has_all_gpus) {
		if (index >= seat->all.count)
			return -1;
		*out = seat->all.list[index];
		return 1;
	}
	if (index >= site->gpu_count)
		return -1;
	return gpu_pick(host, &seat->all, site->gpus[index].which, out) ? 1 : 0;
}

static int take_any(const struct site *site, const struct gpu_host *host, int leases_fd,
		    struct gpu_seat *seat, struct err *err)
{
	uint32_t others = 0;
	struct gpu gpu;
	int got;

	for (uint32_t i = 0; (got = candidate(site, host, seat, i, &gpu)) >= 0; i++) {
		if (got == 0 || is_among(&gpu, seat->own, seat->count))
			continue;
		got = try_one(seat, &gpu, leases_fd, err);
		if (got != 0)
			return got < 0 ? -1 : 0;
		others++;
	}
	if (others > 0)
		return err_set(err, ERR_HOST,
			       "%u GPUs are other jails' now, and no other is free: wait for the "
			       "end of one, or have fewer jails at one time",
			       others);
	return err_set(err, ERR_HOST,
		       "this host has %u GPUs for jails, and more are asked for: 'proctor doctor' "
		       "says what its drivers show",
		       seat->count);
}

/* Those that are named come first, so that 'any' takes none of them. */
static int take_all(const struct site *site, const struct jail_spec *spec,
		    const struct gpu_host *host, int leases_fd, struct gpu_seat *seat,
		    struct err *err)
{
	for (int any = 0; any < 2; any++) {
		for (uint32_t i = 0; i < spec->gpu_count; i++) {
			const char *name = spec->gpus[i].name;
			int result = 0;

			if ((strcmp(name, SPEC_ANY_GPU) == 0) != any)
				continue;
			result = any ? take_any(site, host, leases_fd, seat, err)
				     : take_named(site, host, name, leases_fd, seat, err);
			if (result < 0)
				return -1;
		}
	}
	return 0;
}

int gpu_seat_take(const struct site *site, const struct jail_spec *spec,
		  const struct gpu_host *host, int leases_fd, struct gpu_seat *out, struct err *err)
{
	*out = (struct gpu_seat){ .count = 0 };
	gpu_find(host, &out->all);
	if (take_all(site, spec, host, leases_fd, out, err) < 0) {
		gpu_seat_done(out);
		return -1;
	}
	return 0;
}

int gpu_seat_note(const struct gpu_seat *seat, pid_t pid, struct err *err)
{
	char note[NOTE_MAX];

	snprintf(note, sizeof(note), NOTE, (int) pid, (unsigned long long) process_started(pid));
	for (uint32_t i = 0; i < seat->count; i++)
		if (lease_note(&seat->leases[i], note, err) < 0)
			return -1;
	return 0;
}

int gpu_seat_devices(const struct gpu_node *nodes, uint32_t count, struct device_slice *out,
		     struct err *err)
{
	for (uint32_t i = 0; i < count; i++) {
		struct device device = { .type = DEVICE_CHAR,
					 .major = nodes[i].major,
					 .minor = nodes[i].minor,
					 .access = DEVICE_READ | DEVICE_WRITE,
					 .mode = 0666 };
		bool is_there = false;

		snprintf(device.name, sizeof(device.name), "%s", nodes[i].name);
		for (uint32_t k = 0; k < out->count; k++)
			is_there |= strcmp(out->devices[k].name, device.name) == 0 &&
				    out->devices[k].major == device.major &&
				    out->devices[k].minor == device.minor;
		if (!is_there && devices_add(out, &device, err) < 0)
			return -1;
	}
	return 0;
}

static int add_paths(const struct gpu *gpu, bool is_own, struct plan_extras *out, struct err *err)
{
	static const enum plan_extra kinds[] = {
		[GPU_FOLDER] = PLAN_EXTRA_FOLDER,
		[GPU_FOLDER_IF_THERE] = PLAN_EXTRA_FOLDER_IF_THERE,
		[GPU_LINK] = PLAN_EXTRA_LINK,
		[GPU_HIDE] = PLAN_EXTRA_HIDE,
	};
	struct gpu_path paths[GPU_PATHS_MAX];
	const uint32_t count = gpu_paths(gpu, is_own, paths);

	for (uint32_t i = 0; i < count; i++)
		if (plan_add_extra(out, kinds[paths[i].kind], paths[i].path, err) < 0)
			return -1;
	return 0;
}

int gpu_seat_tree(const struct gpus *all, const struct gpu *own, uint32_t count,
		  struct plan_extras *out, struct err *err)
{
	bool has_vendor[GPU_VENDORS] = { false };

	for (uint32_t i = 0; i < count; i++) {
		has_vendor[own[i].vendor] = true;
		if (add_paths(&own[i], true, out, err) < 0)
			return -1;
	}
	for (uint32_t i = 0; i < all->count; i++)
		if (has_vendor[all->list[i].vendor] && !is_among(&all->list[i], own, count) &&
		    add_paths(&all->list[i], false, out, err) < 0)
			return -1;
	out->has_nvidia = has_vendor[GPU_NVIDIA] ? 1 : 0;
	return 0;
}

void gpu_seat_done(struct gpu_seat *seat)
{
	struct err ignored = ERR_INIT;

	for (uint32_t i = 0; i < seat->count; i++) {
		/* One that stays names a process that has ended. */
		best_effort(lease_note(&seat->leases[i], "", &ignored));
		lease_done(&seat->leases[i]);
	}
	seat->count = 0;
}
