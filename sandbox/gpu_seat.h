/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

#include "sandbox/devices.h"
#include "sandbox/gpu.h"
#include "sandbox/lease.h"
#include "sandbox/plan.h"
#include "sandbox/site.h"

/*
 * The GPUs of one jail
 *
 * What a spec names becomes GPUs of this host, each leased to this jail alone for as long as its
 * monitor lives, and then device nodes, and paths of its tree. Root decides who may have which:
 * site.conf lists them by name; where there is no such file, jails are root's own, who may have
 * all.
 */
struct gpu_seat {
	struct gpus all; /* of the host */
	uint32_t count;
	struct gpu own[SPEC_GPUS_MAX];
	struct lease leases[SPEC_GPUS_MAX];
};

/**
 * gpu_seat_take() - find and lease what @spec asks for; it passed site_bound()
 * @leases_fd: the folder of the leases
 * @out:       gpu_seat_done() gives the leases back; nothing is leased after a failure
 *
 * Never waits. Return: 0, or -1 with an ERR_HOST error that names the GPU and says what to do.
 */
int gpu_seat_take(const struct site *site, const struct jail_spec *spec,
		  const struct gpu_host *host, int leases_fd, struct gpu_seat *out,
		  struct err *err) must_check;

/**
 * gpu_seat_note() - write down whose the GPUs are
 * @pid: the jail's pid 1, which ends after all others of it
 *
 * Where the monitor is killed its locks go at once, and the jail's processes when the driver is
 * done with them, or never: so long nobody else takes these GPUs.
 */
int gpu_seat_note(const struct gpu_seat *seat, pid_t pid, struct err *err) must_check;

/**
 * gpu_seat_devices() - append nodes of a GPU; one that is there already is not added again
 *
 * Every id may open them: they are the jail's own, on a mount that only it has, and the device
 * program of its control group says which devices its processes open. What modes the host has
 * given its nodes, and for which groups, has no meaning for ids of a jail.
 */
int gpu_seat_devices(const struct gpu_node *nodes, uint32_t count, struct device_slice *out,
		     struct err *err) must_check;

/**
 * gpu_seat_tree() - append what of /sys and /proc a jail with these GPUs sees, and what not
 * @all: of the host
 */
int gpu_seat_tree(const struct gpus *all, const struct gpu *own, uint32_t count,
		  struct plan_extras *out, struct err *err) must_check;

/**
 * gpu_seat_done() - give the leases back; nothing of the jail is left
 */
void gpu_seat_done(struct gpu_seat *seat);
