/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/doctor/rehearsal.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>

#include "harness/run/jail.h"
#include "sandbox/base/mem.h"

enum { WALL_MS = 20000, OUTPUT_MAX = 65536 };

static int choose_cpu(struct jail_spec *spec, struct err *err)
{
	cpu_set_t allowed;
	int last = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return err_sys(err, "ask for our CPUs");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			last = cpu;
	snprintf(spec->cgroup.cpus, sizeof(spec->cgroup.cpus), "%d", last);
	return 0;
}

static int make_spec(const struct policy_role *role, struct jail_spec *spec, struct err *err)
{
	const struct policy_tmpfs *const sizes[] = { &role->workspace, &role->tmp, &role->shm };

	spec_init(spec, "doctor");
	spec->time.wall_ms = WALL_MS;
	spec->time.grace_ms = 0;
	spec->cgroup.memory = role->memory;
	spec->cgroup.pids = role->pids;
	spec->cgroup.cpu_milli = role->cpus_milli;
	spec->rlimits.files = role->nofile;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		spec->plan.tmpfs[i].bytes = sizes[i]->size;
		spec->plan.tmpfs[i].inodes = sizes[i]->inodes;
	}
	if (choose_cpu(spec, err) < 0 || spec_add_arg(spec, "true", err) < 0 ||
	    spec_add_env(spec, "PATH=/usr/bin:/bin", err) < 0)
		return -1;
	return spec_check(spec, err);
}

static int judge(const struct jail_outcome *outcome, struct err *err)
{
	const struct jail_result *result = &outcome->last.result;

	if (outcome->last.kind == EVENT_LOST)
		return err_set(err, ERR_SYS, "the launcher ended in the middle of it");
	if (outcome->last.kind != EVENT_ENDED) {
		*err = outcome->last.err;
		return -1;
	}
	if (result->ending != ENDING_EXITED || result->code != 0)
		return err_set(err, ERR_HOST, "true(1) in a jail: %s %d",
			       names_text(ending_names, (int) result->ending), result->code);
	return 0;
}

int rehearsal_run(int launcher_fd, const struct policy *policy, struct err *err)
{
	cleanup(mem_free) struct jail_spec *spec = mem_alloc(1, sizeof(*spec));
	const struct jail_io io = { .folder_fd = -1, .stop_fd = -1, .output_max = OUTPUT_MAX };
	struct jail_outcome outcome;
	struct spec_fds fds;

	spec_fds_init(&fds);
	if (make_spec(&policy->agent, spec, err) < 0 ||
	    jail_run(launcher_fd, spec, &fds, &io, &outcome, err) < 0)
		return -1;
	return judge(&outcome, err);
}
