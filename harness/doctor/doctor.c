/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/doctor/doctor.h"

#include <string.h>

#include "harness/doctor/looks.h"

const struct name doctor_verdict_names[] = {
	{ "ok", DOCTOR_OK },
	{ "degraded", DOCTOR_DEGRADED },
	{ "missing", DOCTOR_MISSING },
	{ "unknown", DOCTOR_UNKNOWN },
	{ NULL, 0 },
};

enum { NO_TRIAL = -1 };

#define DELEGATE                                                                                 \
	"start proctor as a service with Delegate=yes ('systemd-run --scope -p Delegate=yes "    \
	"proctor …'), or write '+memory +pids +cpu +cpuset' to cgroup.subtree_control of the " \
	"groups above"
#define PRIVILEGED                                                                            \
	"start as root of the host; in a container give back the capability, or run proctor " \
	"outside of it"

/* What the trial would say, and nothing of what to do about a failure that nobody has seen. */
#define UNTRIED "call proctor doctor as root (sudo), which tries it; as root: see the other checks"

/* clang-format off */
static const struct check {
	const char *name;
	const char *means, *way_out;
	bool is_needed;
	int trial; /* enum trial_kind, or NO_TRIAL */
	void (*look)(const struct doctor_host *host, struct doctor_sight *out); /* or NULL */
} checks[] = {
	{ "kernel", "jails are made for Linux 6.1 and newer",
	  "install a newer kernel; what this one really lacks is in the other checks",
	  false, NO_TRIAL, look_kernel },
	{ "programs", "proctor's own programs stand beside it, or where it was installed",
	  "install all of proctor, or run it from its build folder",
	  true, NO_TRIAL, look_programs },
	{ "capabilities", "what of root's powers building a jail takes",
	  "call proctor as root (sudo); where a container or a service manager took one away, give it back (--cap-add, CapabilityBoundingSet=)",
	  true, TRIAL_CAPABILITIES, look_capabilities },
	{ "account", "proctor drops root for it before it reads anything",
	  "useradd --system --user-group --no-create-home --shell /usr/sbin/nologin proctor, or call proctor through sudo",
	  true, NO_TRIAL, look_account },
	{ "site.conf", "who may have jails, and what they may ask for",
	  "mend the line that is named (proctor-site.conf(5)), or have root alone own the file and its folder",
	  true, NO_TRIAL, look_site },
	{ "leases", "no two jails have the same ids at a time",
	  "make /run writable for root; remove /run/proctor if somebody else made it; end jails that are no longer wanted",
	  true, TRIAL_LEASES, NULL },
	{ "uid-range", "whoever breaks out of a jail is nobody on this host",
	  "give these ids to no account (/etc/passwd, /etc/group, /etc/subuid, /etc/subgid); in a container, map all of them",
	  true, NO_TRIAL, look_ranges },
	{ "namespaces", "a jail sees no process, network or mount of the host",
	  PRIVILEGED "; raise the limits in /proc/sys/user",
	  true, TRIAL_NAMESPACES, NULL },
	{ "user-namespace", "a jail's ids are none of the host's",
	  PRIVILEGED "; raise user.max_user_namespaces; map the range of ids",
	  true, TRIAL_USER_NAMESPACE, NULL },
	{ "namespace-limits", "each jail takes one of each kind, and a worker takes four jails a block",
	  "sysctl user.max_user_namespaces=65536, and the same for the kind that is named",
	  true, NO_TRIAL, look_namespace_limits },
	{ "cgroup-layout", "limits and the end of a jail are matters of control groups",
	  "mount -t cgroup2 none /sys/fs/cgroup, start the kernel with systemd.unified_cgroup_hierarchy=1, or share the host's control groups with the container",
	  true, NO_TRIAL, look_layout },
	{ "cgroups", "each jail has a group of its own",
	  DELEGATE, true, TRIAL_CGROUPS, NULL },
	{ "memory", "a jail uses no more memory than it may",
	  DELEGATE "; start the kernel with cgroup_enable=memory", true, TRIAL_MEMORY, look_memory },
	{ "swap", "what a jail swaps out counts as its memory",
	  "swapoff -a, or start the kernel with swapaccount=1", false, TRIAL_SWAP, look_swap },
	{ "pids", "a jail has no more processes than it may",
	  DELEGATE, true, TRIAL_PIDS, look_pids },
	{ "cpu", "a jail uses no more CPU time than it may",
	  DELEGATE, true, TRIAL_CPU, look_cpu },
	{ "cpuset", "a worker has a CPU of its own",
	  DELEGATE, true, TRIAL_CPUSET, look_cpuset },
	{ "io", "block I/O; what a jail can write is in memory, so that none is needed",
	  "start the kernel with the controller io (v2) or blkio (v1)", false, NO_TRIAL, look_io },
	{ "freeze", "a worker stands still between two calls",
	  "use a kernel whose v2 control groups have cgroup.freeze (5.2)", true, TRIAL_FREEZE, NULL },
	{ "kill", "everything in a jail ends at once",
	  "use a kernel whose v2 control groups have cgroup.kill (5.14)", true, TRIAL_KILL, NULL },
	{ "device-nodes", "a jail's /dev has the harmless nodes and no other",
	  PRIVILEGED, true, TRIAL_NODES, NULL },
	{ "device-program", "a jail opens no device but those of its /dev, whatever nodes it gets",
	  PRIVILEGED "; use a kernel with CONFIG_CGROUP_BPF; in a v1 devices group allow 1:3",
	  true, TRIAL_DEVICES, NULL },
	{ "seccomp", "a jail makes the system calls that are listed and no other",
	  "use a kernel with CONFIG_SECCOMP_FILTER", true, TRIAL_SECCOMP, look_actions },
	{ "seccomp-notifier", "refused calls can be counted by name",
	  "use a kernel from 5.0 on, and no filter with a listener around proctor", false, TRIAL_NOTIFIER, NULL },
	{ "landlock", "a second wall behind the mounts",
	  "start the kernel with lsm=landlock,… ; a newer kernel has more rules", false, TRIAL_LANDLOCK, NULL },
	{ "core-pattern", "a crash in a jail starts no program of the host: jails have a core limit of 1, which says so",
	  "sysctl kernel.core_pattern=core, and nothing depends on that limit", false, NO_TRIAL, look_core_pattern },
	{ "jail", "all of it together: a jail with the limits of the default policy",
	  "see the checks above; if they are all ok, this is a fault of proctor's", true, NO_TRIAL, look_jail },
	{ "compiler", "the shipped tasks are in C, and jails see the host's /usr",
	  "apt-get install gcc, or name another compiler in the task", false, NO_TRIAL, look_compiler },
	{ "free-memory", "an agent that uses all that it may does not make this host swap",
	  "end other programs, or lower agent.memory in the policy", false, NO_TRIAL, look_free_memory },
	{ "free-disk", "a run keeps each frozen tree and each candidate",
	  "make room, or put the run elsewhere with --run", false, NO_TRIAL, look_free_disk },
	{ "cpus", "judge and worker spin on a CPU each",
	  "use a machine with two CPUs, or let proctor use more (taskset, cpuset)", true, NO_TRIAL, look_cpus },
	{ "cpu-isolation", "nobody else is on the CPUs of a measurement",
	  "start the kernel with isolcpus= and nohz_full= for the CPUs of the seats; else keep the machine quiet", false, NO_TRIAL, look_isolation },
	{ "clock", "reading the clock costs nanoseconds",
	  "start the kernel with tsc=reliable if the hypervisor allows it: other clocks cost microseconds", false, NO_TRIAL, look_clock },
	{ "frequency", "the same work takes the same time",
	  "cpupower frequency-set -g performance", false, NO_TRIAL, look_frequency },
	{ "turbo", "the frequency does not depend on heat and neighbours",
	  "write 1 to intel_pstate/no_turbo or 0 to cpufreq/boost", false, NO_TRIAL, look_turbo },
	{ "smt", "no sibling shares the core of a measurement",
	  "write off to /sys/devices/system/cpu/smt/control, or keep the siblings idle", false, NO_TRIAL, look_smt },
	{ "steal", "no hypervisor takes time away in the middle of a call",
	  "use a machine of its own, or one with reserved CPUs", false, NO_TRIAL, look_steal },
	{ "amd-gpu", "HIP tasks; no task of today's needs one",
	  "install the driver amdgpu, and let udev make /dev/kfd and /dev/dri", false, NO_TRIAL, look_amd },
	{ "nvidia-gpu", "CUDA tasks; no task of today's needs one",
	  "install the driver, and run nvidia-modprobe -c 0 -u", false, NO_TRIAL, look_nvidia },
	{ "cdi", "what containers with a GPU get; jails get what their drivers show",
	  "list what jails lack in site.conf: root.folder PATH", false, NO_TRIAL, look_cdi },
};
/* clang-format on */

_Static_assert(ARRAY_LEN(checks) <= DOCTOR_FINDINGS_MAX, "each check has a finding");

static void take_trial(const struct doctor_host *host, int kind, struct doctor_sight *out)
{
	static const enum doctor_verdict verdicts[] = {
		[TRIAL_WORKS] = DOCTOR_OK,
		[TRIAL_PARTLY] = DOCTOR_DEGRADED,
		[TRIAL_FAILS] = DOCTOR_MISSING,
		[TRIAL_UNTRIED] = DOCTOR_UNKNOWN,
	};
	const struct trial *trial = host->trials ? &host->trials[kind] : NULL;

	if (!trial) {
		sight_say(out, DOCTOR_UNKNOWN, "not tried: %s", host->trials_why);
		return;
	}
	out->is_tried = trial->result != TRIAL_UNTRIED;
	out->verdict = verdicts[trial->result];
	if (trial->result == TRIAL_UNTRIED)
		sight_add(out, "not tried: %s", trial->err.text);
	else if (trial->result == TRIAL_FAILS)
		sight_add(out, "%s", trial->err.text);
	else if (trial->found[0] != '\0')
		sight_add(out, "%s", trial->found);
}

static void make(const struct check *check, const struct doctor_host *host, struct doctor *out)
{
	cleanup(sight_done) struct doctor_sight sight = DOCTOR_SIGHT_INIT;
	bool is_untried;

	if (check->trial != NO_TRIAL)
		take_trial(host, check->trial, &sight);
	if (check->look)
		check->look(host, &sight);
	is_untried = sight.verdict == DOCTOR_UNKNOWN &&
		     (check->trial != NO_TRIAL || check->look == look_jail);
	out->findings[out->count++] = (struct doctor_finding){
		.name = check->name,
		.means = check->means,
		.way_out = is_untried ? UNTRIED : check->way_out,
		.verdict = sight.verdict,
		.is_needed = check->is_needed,
		.is_tried = sight.is_tried,
		.found = arena_copy(&out->arena, sight.found.text, sight.found.len),
	};
}

/*
 * A member of the service's group sees a jail of all the default policy's limits, and nothing of
 * what the service's launcher did for it.
 */
static void imply(struct doctor *out)
{
	const struct doctor_finding *jail = doctor_find(out, "jail");

	if (!jail || jail->verdict != DOCTOR_OK || !jail->is_tried)
		return;
	for (size_t i = 0; i < out->count; i++)
		if (checks[i].trial != NO_TRIAL)
			out->findings[i].is_implied = out->findings[i].verdict == DOCTOR_UNKNOWN;
}

void doctor_look(const struct doctor_host *host, struct doctor *out)
{
	for (size_t i = 0; i < ARRAY_LEN(checks); i++)
		make(&checks[i], host, out);
	imply(out);
}

void doctor_done(struct doctor *doctor)
{
	arena_done(&doctor->arena);
	*doctor = DOCTOR_INIT;
}

bool doctor_refuses(const struct doctor_finding *finding)
{
	return finding->is_needed && !finding->is_implied &&
	       (finding->verdict == DOCTOR_MISSING || finding->verdict == DOCTOR_UNKNOWN);
}

const struct doctor_finding *doctor_find(const struct doctor *doctor, const char *name)
{
	for (size_t i = 0; i < doctor->count; i++)
		if (strcmp(doctor->findings[i].name, name) == 0)
			return &doctor->findings[i];
	return NULL;
}
