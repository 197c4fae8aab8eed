/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "tests/lib/check.h"

/* clang-format off */
static const struct {
	const char *path, *text;
} good[] = {
	{ "proc/sys/kernel/osrelease", "6.1.0-18-amd64\n" },
	{ "proc/sys/kernel/core_pattern", "core\n" },
	{ "proc/sys/kernel/seccomp/actions_avail", "kill_process kill_thread trap errno user_notif trace log allow\n" },
	{ "proc/sys/user/max_user_namespaces", "65536\n" },
	{ "proc/sys/user/max_mnt_namespaces", "65536\n" },
	{ "proc/sys/user/max_pid_namespaces", "65536\n" },
	{ "proc/sys/user/max_net_namespaces", "65536\n" },
	{ "proc/sys/user/max_ipc_namespaces", "65536\n" },
	{ "proc/sys/user/max_uts_namespaces", "65536\n" },
	{ "proc/sys/user/max_cgroup_namespaces", "65536\n" },
	{ "proc/self/mountinfo",
	  "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
	  "31 22 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n" },
	{ "proc/self/cgroup", "0::/user.slice/run.scope\n" },
	{ "proc/self/uid_map", "         0          0 4294967295\n" },
	{ "proc/self/gid_map", "         0          0 4294967295\n" },
	{ "proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n" },
	{ "proc/meminfo", "MemTotal:       24683652 kB\nMemFree:        2767780 kB\nMemAvailable:   23584832 kB\n" },
	{ "proc/stat", "cpu  1039996 20998 315149 1764496 6470 0 2329 0 0 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n" },
	{ "proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc msr\n" },
	{ "sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n" },
	{ "sys/fs/cgroup/user.slice/run.scope/cgroup.subtree_control", "cpuset cpu memory pids\n" },
	{ "sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n" },
	{ "sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc kvm-clock\n" },
	{ "sys/devices/system/cpu/isolated", "2-3\n" },
	{ "sys/devices/system/cpu/smt/active", "0\n" },
	{ "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n" },
	{ "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n" },
	{ "sys/devices/system/cpu/intel_pstate/no_turbo", "1\n" },
	{ "etc/passwd", "root:x:0:0:root:/root:/bin/bash\nproctor:x:999:999::/:/usr/sbin/nologin\n" },
	{ "etc/group", "root:x:0:\nproctor:x:999:\n" },
	{ "etc/subuid", "someone:100000:65536\n" },
	{ "etc/subgid", "someone:100000:65536\n" },
	{ "usr/bin/cc", "" },
	{ "sys/class/kfd/kfd/topology/nodes/0/gpu_id", "0\n" },
	{ "sys/class/kfd/kfd/topology/nodes/1/gpu_id", "51110\n" },
	{ "sys/class/kfd/kfd/topology/nodes/1/properties", "cpu_cores_count 0\ndrm_render_minor 128\ngfx_target_version 90402\n" },
	{ "sys/module/amdgpu/version", "6.8.5\n" },
	{ "dev/kfd", "" },
	{ "dev/dri/renderD128", "" },
	{ "proc/devices", "Character devices:\n  1 mem\n195 nvidia\n195 nvidiactl\n226 drm\n240 kfd\n511 nvidia-uvm\n\nBlock devices:\n  7 loop\n" },
	{ "proc/driver/nvidia/version",
	  "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\nGCC version:  gcc version 12.2.0\n" },
	{ "proc/driver/nvidia/gpus/0000:19:00.0/information", "Model: \t\t NVIDIA H200\nIRQ:   \t\t 188\nDevice Minor: \t 0\n" },
	{ "dev/nvidiactl", "" },
	{ "dev/nvidia-uvm", "" },
	{ "dev/nvidia0", "" },
	{ "run/lock", "" },
};
static const struct {
	const char *path, *target;
} good_links[] = {
	{ "sys/dev/char/226:128", "../../devices/pci0000:c0/0000:c1:00.0/drm/renderD128" },
	{ "sys/bus/pci/devices/0000:19:00.0", "../../../devices/pci0000:15/0000:19:00.0" },
};
/* clang-format on */

static const char status[] = "Name:\tproctor\nCapInh:\t0000000000000000\n"
			     "CapEff:\t000001ffffffffff\nCapBnd:\t000001ffffffffff\n";

static int open_folder(const char *path)
{
	int fd = openat(check_folder(), path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK(fd >= 0);
	return fd;
}

static void make_folders(const char *path)
{
	char folder[256];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(folder, sizeof(folder), "%.*s", (int) (slash - path), path);
		CHECK(mkdirat(check_folder(), folder, 0755) == 0 || errno == EEXIST);
	}
}

void hosts_link(const char *path, const char *target)
{
	make_folders(path);
	CHECK(symlinkat(target, check_folder(), path) == 0 || errno == EEXIST);
}

void hosts_put(const char *path, const char *text)
{
	auto_fd fd = -1;

	if (!text) {
		CHECK(unlinkat(check_folder(), path, 0) == 0);
		return;
	}
	make_folders(path);
	fd = openat(check_folder(), path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	CHECK(fd >= 0);
	CHECK_INT(write(fd, text, strlen(text)), strlen(text));
}

struct doctor_host hosts_good(void)
{
	static struct trial trials[TRIAL_KINDS];
	struct site site;

	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		hosts_put(good[i].path, good[i].text);
	for (size_t i = 0; i < ARRAY_LEN(good_links); i++)
		hosts_link(good_links[i].path, good_links[i].target);
	for (uint32_t kind = 0; kind < TRIAL_KINDS; kind++) {
		trials[kind] = (struct trial){ .kind = kind, .result = TRIAL_WORKS };
		snprintf(trials[kind].found, sizeof(trials[kind].found), "it works");
	}
	site_default(&site);
	return (struct doctor_host){
		.site = site,
		.proc_fd = open_folder("proc"),
		.sys_fd = open_folder("sys"),
		.dev_fd = open_folder("dev"),
		.etc_fd = open_folder("etc"),
		.usr_fd = open_folder("usr"),
		.run_fd = open_folder("run"),
		.status = status,
		.account = "proctor",
		.trials = trials,
		.is_jail_tried = true,
		.cpus = 8,
		.disk_free = 64 * GIB,
		.policy = policy_default(),
	};
}

struct doctor_sight hosts_look(void (*look)(const struct doctor_host *, struct doctor_sight *),
			       const struct doctor_host *host)
{
	static struct doctor_sight sight = { .found = { .text = str_empty } };

	sight_done(&sight);
	sight = DOCTOR_SIGHT_INIT;
	look(host, &sight);
	return sight;
}
