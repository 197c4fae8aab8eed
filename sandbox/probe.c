/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/process.h"
#include "sandbox/ids.h"
#include "sandbox/jail.h"
#include "sandbox/landlock.h"
#include "sandbox/launcher.h"
#include "sandbox/namespaces.h"
#include "sandbox/seccomp.h"

_Static_assert((int) TRIAL_LANDLOCK_KNOWN == (int) LANDLOCK_KNOWN, "both name the newest ABI");

/* --- in a process of its own, for what can not be taken back --- */

void probe_tell(int pipe_fd, const struct err *err)
{
	struct err ignored = ERR_INIT;

	/* Without its parent the child has nobody left to tell. */
	best_effort(io_write_all(pipe_fd, err, sizeof(*err), "why it failed", &ignored));
}

int probe_hear(int pipe_fd, struct err *err)
{
	struct err theirs;
	ssize_t got = io_read_some(pipe_fd, &theirs, sizeof(theirs));

	if (got == 0)
		return 0;
	if (got != (ssize_t) sizeof(theirs))
		return err_sys(err, "hear from the process that tried it");
	*err = theirs;
	return -1;
}

/* A child that said nothing has succeeded only if it also ended well. */
static int await_child(struct process *child, int told_fd, struct err *err)
{
	int status, gone;

	if (probe_hear(told_fd, err) < 0)
		return -1;
	gone = process_wait(child, clock_after_ms(PROBE_PATIENCE_MS), &status, err);
	if (gone < 0)
		return -1;
	if (gone == 0 || status != 0)
		return err_set(err, ERR_HOST, "the process that tried it %s",
			       gone == 0 ? "hangs" : "was ended by the kernel");
	return 0;
}

int probe_apart(int (*attempt)(struct probe *probe, struct err *err), struct probe *probe,
		struct err *err)
{
	struct process child = PROCESS_INIT;
	auto_fd told = -1, tell = -1;
	int pair[2], forked, result;

	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_sys(err, "make a pipe");
	told = pair[0];
	tell = pair[1];
	forked = process_fork(&child, err);
	if (forked < 0)
		return -1;
	if (forked == 0) {
		struct err theirs = ERR_INIT;

		/* A child that waits for something must not outlive us. */
		alarm(2 * PROBE_PATIENCE_MS / 1000);
		if (attempt(probe, &theirs) < 0)
			probe_tell(tell, &theirs);
		_exit(0);
	}
	fd_close(&tell);
	result = await_child(&child, told, err);
	process_kill(&child);
	return result;
}

/* --- the process itself --- */

static int try_capabilities(struct probe *probe, struct trial *trial)
{
	(void) probe;
	return caps_require(LAUNCHER_NEEDS, &trial->err);
}

static int try_leases(struct probe *probe, struct trial *trial)
{
	auto_fd folder_fd = lease_open_folder(LAUNCHER_STATE, &trial->err);
	uint32_t count;

	if (folder_fd < 0 || site_load(SITE_FILE, &probe->site, &trial->err) < 0)
		return -1;
	count = (uint32_t) probe->site.uid_ranges;
	if (lease_take(folder_fd, JAIL_LEASE, count, &probe->lease, &trial->err) < 0)
		return -1;
	snprintf(probe->leaf, sizeof(probe->leaf), JAIL_LEASE "-%04u", probe->lease.number);
	snprintf(trial->found, sizeof(trial->found), "'%s': number %u of %u is free",
		 LAUNCHER_STATE, probe->lease.number, count);
	return 0;
}

/* --- namespaces --- */

static int unshare_each(struct probe *probe, struct err *err)
{
	/* clang-format off */
	static const struct {
		int flag;
		const char *name, *limit;
	} kinds[] = {
		{ CLONE_NEWNS,     "mount",   "mnt" },
		{ CLONE_NEWPID,    "pid",     "pid" },
		{ CLONE_NEWNET,    "network", "net" },
		{ CLONE_NEWIPC,    "IPC",     "ipc" },
		{ CLONE_NEWUTS,    "UTS",     "uts" },
		{ CLONE_NEWCGROUP, "cgroup",  "cgroup" },
	};
	/* clang-format on */

	(void) probe;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (unshare(kinds[i].flag) < 0)
			return err_host(err,
					"make a %s namespace (user.max_%s_namespaces must not be "
					"used up)",
					kinds[i].name, kinds[i].limit);
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return err_host(err, "detach from the host's mounts");
	return 0;
}

static int try_namespaces(struct probe *probe, struct trial *trial)
{
	snprintf(trial->found, sizeof(trial->found), "mount, pid, network, IPC, UTS, cgroup");
	return probe_apart(unshare_each, probe, &trial->err);
}

static uint32_t first_id(const struct probe *probe)
{
	return (uint32_t) probe->site.uid_base + probe->lease.number * IDS_RANGE;
}

/* As enter.c does it: owned by the range's base, the maps written by us. */
static int map_range(struct probe *probe, struct err *err)
{
	const struct ids ids = { .base = first_id(probe) };
	auto_fd proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct process child = PROCESS_INIT;
	int result;

	if (proc_fd < 0)
		return err_sys(err, "open '/proc'");
	if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0) < 0)
		return err_host(err, "keep capabilities over the change of user");
	if (setresgid((gid_t) -1, ids.base, (gid_t) -1) < 0 ||
	    setresuid((uid_t) -1, ids.base, (uid_t) -1) < 0)
		return err_host(err, "become user %u, the first of the range", ids.base);
	child.pid = namespaces_clone_user(&child.pid_fd, err);
	if (child.pid < 0)
		return -1;
	if (child.pid == 0) {
		alarm(PROBE_PATIENCE_MS / 1000);
		pause();
		_exit(0);
	}
	result = ids_write_maps(&ids, proc_fd, child.pid, err);
	process_kill(&child);
	return result < 0 ? err_wrap(err, "map %d ids from %u", IDS_RANGE, ids.base) : 0;
}

static int try_user_namespace(struct probe *probe, struct trial *trial)
{
	snprintf(trial->found, sizeof(trial->found), "%d ids from %u", IDS_RANGE, first_id(probe));
	return probe_apart(map_range, probe, &trial->err);
}

/* --- system calls and files --- */

static int be_filtered(struct probe *probe, struct err *err)
{
	cleanup(mem_free) struct seccomp_program *filter = mem_alloc(1, sizeof(*filter));

	(void) probe;
	seccomp_filter(SECCOMP_PROFILE_PLAIN, 0, filter);
	if (caps_no_new_privs(err) < 0 || seccomp_install(filter, NULL, err) < 0)
		return -1;
	if (unshare(0) == 0 || errno != EPERM)
		return err_set(err, ERR_HOST, "the filter does not refuse what it has to refuse");
	return 0;
}

static int try_seccomp(struct probe *probe, struct trial *trial)
{
	snprintf(trial->found, sizeof(trial->found), "a filter refuses a call with EPERM");
	return probe_apart(be_filtered, probe, &trial->err);
}

static int listen_to_filter(struct probe *probe, struct err *err)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	const struct sock_fprog program = { .len = 1, .filter = &allow };
	auto_fd listener_fd = -1;

	(void) probe;
	if (caps_no_new_privs(err) < 0)
		return -1;
	listener_fd = (int) syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				    SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (listener_fd < 0)
		return err_host(err, "make a filter with a listener%s",
				errno == EBUSY ? ": a filter around us has one already" : "");
	return 0;
}

static int try_notifier(struct probe *probe, struct trial *trial)
{
	snprintf(trial->found, sizeof(trial->found), "a filter with a listener");
	return probe_apart(listen_to_filter, probe, &trial->err);
}

static int be_restricted(struct probe *probe, struct err *err)
{
	struct landlock_slice slice = { .count = 0 };
	auto_fd fd = -1;

	(void) probe;
	if (landlock_add(&slice, "/", LANDLOCK_READ_EXEC, err) < 0 || caps_no_new_privs(err) < 0 ||
	    landlock_restrict(&slice, err) < 0)
		return -1;
	fd = open("/proc/self/comm", O_WRONLY | O_CLOEXEC);
	if (fd >= 0 || errno != EACCES)
		return err_set(err, ERR_HOST, "a rule that grants reading lets write");
	return 0;
}

static int try_landlock(struct probe *probe, struct trial *trial)
{
	int abi = landlock_abi();

	if (abi == 0)
		return err_set(&trial->err, ERR_HOST, "this kernel has no Landlock, or it is off");
	snprintf(trial->found, sizeof(trial->found), "ABI %d%s%s%s", abi,
		 abi < 3 ? "; no rule for truncation" : "",
		 abi < 5 ? "; no rule for device ioctls" : "",
		 abi < (int) LANDLOCK_KNOWN ? "; no rule for signals and abstract sockets" : "");
	if (abi < (int) LANDLOCK_KNOWN)
		trial->result = TRIAL_PARTLY;
	return probe_apart(be_restricted, probe, &trial->err);
}

/* --- all of them --- */

/* clang-format off */

/* What a trial can not be made without. */
enum { NOTHING = 0, ROOT = 1 << 0, LEASE = 1 << 1, GROUPS = 1 << 2 };

static const struct {
	int (*attempt)(struct probe *probe, struct trial *trial);
	int takes;
} trials[TRIAL_KINDS] = {
	[TRIAL_CAPABILITIES]   = { try_capabilities,   ROOT },
	[TRIAL_LEASES]         = { try_leases,         ROOT },
	[TRIAL_NAMESPACES]     = { try_namespaces,     ROOT },
	[TRIAL_USER_NAMESPACE] = { try_user_namespace, ROOT | LEASE },
	[TRIAL_CGROUPS]        = { probe_cgroups,        ROOT | LEASE },
	[TRIAL_MEMORY]         = { probe_memory,         ROOT | LEASE | GROUPS },
	[TRIAL_SWAP]           = { probe_swap,           ROOT | LEASE | GROUPS },
	[TRIAL_PIDS]           = { probe_pids,           ROOT | LEASE | GROUPS },
	[TRIAL_CPU]            = { probe_cpu,            ROOT | LEASE | GROUPS },
	[TRIAL_CPUSET]         = { probe_cpuset,         ROOT | LEASE | GROUPS },
	[TRIAL_FREEZE]         = { probe_freeze,         ROOT | LEASE | GROUPS },
	[TRIAL_KILL]           = { probe_kill,           ROOT | LEASE | GROUPS },
	[TRIAL_NODES]          = { probe_nodes,          ROOT },
	[TRIAL_DEVICES]        = { probe_devices,        ROOT | LEASE | GROUPS },
	[TRIAL_SECCOMP]        = { try_seccomp,        NOTHING },
	[TRIAL_NOTIFIER]       = { try_notifier,       NOTHING },
	[TRIAL_LANDLOCK]       = { try_landlock,       NOTHING },
};

/* clang-format on */

/* Why a trial can not be made, or NULL. */
static const char *what_lacks(const struct probe *probe, int takes)
{
	if ((takes & ROOT) != 0 && geteuid() != 0)
		return "only root can try it";
	if ((takes & LEASE) != 0 && probe->lease.lock_fd < 0)
		return "it takes a lease, and there is none";
	if ((takes & GROUPS) != 0 && probe->cgroups.unified_fd < 0)
		return "it takes a control group, and there is none";
	return NULL;
}

static struct trial make_trial(struct probe *probe, enum trial_kind kind)
{
	struct trial trial = { .kind = kind, .result = TRIAL_WORKS, .err = ERR_INIT };
	const char *lacks = what_lacks(probe, trials[kind].takes);

	if (lacks) {
		trial.result = TRIAL_UNTRIED;
		best_effort(err_set(&trial.err, ERR_HOST, "%s", lacks));
	} else if (trials[kind].attempt(probe, &trial) < 0) {
		trial.result = TRIAL_FAILS;
		trial.found[0] = '\0';
	}
	return trial;
}

static void probe_done(struct probe *probe)
{
	fd_close(&probe->nodes_fd);
	cgroup_host_done(&probe->cgroups);
	lease_done(&probe->lease);
}

int probe_host(int socket_fd, struct err *err)
{
	cleanup(probe_done) struct probe probe = {
		.lease = LEASE_INIT,
		.cgroups = CGROUP_HOST_INIT,
		.nodes_fd = -1,
	};

	for (int kind = 0; kind < TRIAL_KINDS; kind++) {
		struct trial trial = make_trial(&probe, (enum trial_kind) kind);

		if (trial_send(socket_fd, &trial, err) < 0)
			return -1;
	}
	return 0;
}
