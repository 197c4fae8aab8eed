/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/jail.h"
#include "sandbox/launcher.h"
#include "sandbox/probe.h"
#include "tests/lib/check.h"

/* A probe with lease and group, as probe_host() has it after its first trials. */
static struct probe probe = { .lease = { .lock_fd = -1 }, .nodes_fd = -1 };
static struct err err;

static void begin(void)
{
	struct trial trial = { .kind = TRIAL_CGROUPS };
	auto_fd folder_fd = -1;

	if (geteuid() != 0)
		SKIP("needs root");
	probe.cgroups = CGROUP_HOST_INIT;
	folder_fd = lease_open_folder(LAUNCHER_STATE, &err);
	CHECK(folder_fd >= 0);
	CHECK_OK(lease_take(folder_fd, JAIL_LEASE, 1024, &probe.lease, &err));
	snprintf(probe.leaf, sizeof(probe.leaf), JAIL_LEASE "-%04u", probe.lease.number);
	if (probe_cgroups(&probe, &trial) < 0)
		check_fail(__FILE__, __LINE__, "%s", trial.err.text);
	CHECK(strstr(trial.found, "proctor"));
}

/* No leaf is left: nobody else may use the name while the lease is ours. */
static void end(void)
{
	char path[320];
	struct stat info;

	snprintf(path, sizeof(path), "%s/%s", probe.cgroups.path, probe.leaf);
	CHECK_INT(stat(path, &info), -1);
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (probe.cgroups.v1_fds[i] >= 0)
			CHECK_INT(fstatat(probe.cgroups.v1_fds[i], probe.leaf, &info, 0), -1);
	fd_close(&probe.nodes_fd);
	cgroup_host_done(&probe.cgroups);
	lease_done(&probe.lease);
}

static struct trial run(int (*attempt)(struct probe *, struct trial *), int want)
{
	struct trial trial = { .result = TRIAL_WORKS };
	int got = attempt(&probe, &trial);

	check_note("%s%s", trial.found, got < 0 ? trial.err.text : "");
	CHECK_INT(got, want);
	return trial;
}

TEST(each_limit_names_the_file_that_holds_it)
{
	struct trial trial;

	begin();
	trial = run(probe_memory, 0);
	CHECK(strstr(trial.found, "memory.") && strstr(trial.found, "= 67108864"));
	CHECK(!strstr(trial.found, "swap") && !strstr(trial.found, "memsw"));
	trial = run(probe_swap, 0);
	CHECK(strstr(trial.found, "swap") || strstr(trial.found, "memsw"));
	trial = run(probe_pids, 0);
	CHECK(strstr(trial.found, "pids.max = 16"));
	trial = run(probe_cpu, 0);
	CHECK(strstr(trial.found, "150000"));
	trial = run(probe_cpuset, 0);
	CHECK(strstr(trial.found, "cpuset.cpus = "));
	end();
}

TEST(a_process_in_a_leaf_is_frozen_and_killed)
{
	begin();
	CHECK_STR(run(probe_freeze, 0).found, "cgroup.freeze (v2)");
	CHECK_STR(run(probe_kill, 0).found, "cgroup.kill (v2)");
	end();
}

TEST(what_a_dead_owner_left_under_the_name_is_in_nobodys_way)
{
	const struct cgroup_limits limits = { .pids = 3 };
	struct cgroup left = CGROUP_INIT;

	begin();
	CHECK_OK(cgroup_create(&probe.cgroups, probe.leaf, &limits, &left, &err));
	cgroup_done(&left);
	run(probe_pids, 0);
	end();
}

TEST(a_limit_without_its_controller_fails)
{
	const uint32_t cpu = CGROUP_BIT(CGROUP_CPU);
	struct trial trial;

	begin();
	probe.cgroups.v1 &= ~cpu;
	probe.cgroups.unified &= ~cpu;
	trial = run(probe_cpu, -1);
	CHECK(strstr(trial.err.text, "can not enforce a limit of cpu"));
	run(probe_pids, 0);
	end();
}

TEST(the_device_program_is_seen_at_work)
{
	struct trial trial;

	begin();
	run(probe_nodes, 0);
	CHECK(probe.nodes_fd >= 0);
	run(probe_devices, 0);
	/* Nodes that the program allows both: what has to be refused is not. */
	fd_close(&probe.nodes_fd);
	probe.nodes_fd = check_folder();
	CHECK(mknodat(probe.nodes_fd, "null", S_IFCHR | 0666, makedev(1, 3)) == 0);
	CHECK(mknodat(probe.nodes_fd, "kmsg", S_IFCHR | 0666, makedev(1, 5)) == 0);
	trial = run(probe_devices, -1);
	CHECK(strstr(trial.err.text, "could be opened"));
	probe.nodes_fd = -1;
	end();
}
