/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/drill/corpus.h"

#include <stdio.h>
#include <string.h>

#include "sandbox/wire.h"

static const struct drill_attack *const themes[] = {
	drill_attacks_on_the_host,
	drill_attacks_on_the_kernel,
	drill_attacks_on_the_run,
};

/* clang-format off */
const struct drill_threat_row drill_threats[THREATS] = {
	[THREAT_ROOT] = { "become root, or get a capability",
		"id 0 is not mapped; no capability, none to get; no_new_privs; nosuid", "ids, capabilities",
		"walls: host_root_is_not_mapped, every_capability_set_is_empty, no_set_user_id_bit_works" },
	[THREAT_INHERIT] = { "keep something of who started it",
		"the context is reset; descriptors are closed; a keyring of its own", "context reset",
		"test-reset: nothing_of_an_inherited_context_is_left" },
	[THREAT_RANK] = { "raise its rank or its limits",
		"no capability; rlimits, soft and hard alike", "capabilities, rlimits",
		"test-rlimits" },
	[THREAT_CRASH] = { "start a helper of the host by crashing",
		"RLIMIT_CORE is 1 and stays", "rlimits",
		"test-seccomp: the_core_limit_stays_and_others_can_be_lowered" },
	[THREAT_WRITE] = { "write what is the host's",
		"every mount of the host's is read-only, nosuid, nodev; Landlock", "read-only mounts, Landlock",
		"walls: the_root_can_not_be_written; test-landlock: a_jail_writes_its_workspace_and_nothing_else" },
	[THREAT_STEER] = { "steer the kernel by its files",
		"/proc/sys and others read-only, /sys narrowed, no control groups to see", "read-only /proc, /sys",
		"walls: kernel_settings_can_not_be_written; test-plan: proc_sys_is_read_only_without_a_condition" },
	[THREAT_SECRETS] = { "read what the host keeps for some",
		"plain binds of listed paths, never idmapped, never /etc as a whole; no opening by handle", "plain binds, listed paths",
		"walls: no_file_that_the_host_keeps_for_root_is_readable; test-plan: the_hosts_etc_is_never_there_as_a_whole" },
	[THREAT_ANSWERS] = { "reach answers, the journal, proctor's own files",
		"they lie outside of a jail's tree; proctor's folders are covered", "tree of listed paths, masks",
		"test-plan: masks_come_after_what_they_cover; e2e/50-run" },
	[THREAT_LENT] = { "borrow the launcher's rights through a client",
		"descriptors of clients are used as they are: never opened again, never idmapped; what is unpacked, entered and executed is so as the payload's user", "descriptors as they are",
		"test-enter; test-unpack" },
	[THREAT_KERNEL_FACTS] = { "learn the kernel's addresses, keys, logs and tables",
		"masks over /proc; syslog refused", "masks, system call filter",
		"test-plan" },
	[THREAT_OBJECTS] = { "reach shared memory and queues of the host",
		"an IPC namespace and a /dev/shm of its own", "IPC namespace",
		"test-namespaces" },
	[THREAT_NEIGHBOURS] = { "reach another jail",
		"each jail has namespaces and file systems of its own", "namespaces of its own",
		"e2e/25-drill" },
	[THREAT_MOUNTS] = { "make, change or undo a mount, change the root",
		"mounts belong to the host's user namespace; the calls are refused; nothing propagates", "mounts made before the user namespace",
		"walls: nothing_can_be_mounted" },
	[THREAT_NAMESPACES] = { "get a namespace with more power",
		"clone's flags, unshare and setns are refused; clone3 answers ENOSYS", "system call filter",
		"walls: no_namespace_can_be_made_by_unshare, no_namespace_can_be_made_by_clone, no_namespace_can_be_made_by_clone3, no_namespace_can_be_joined" },
	[THREAT_PROCESSES] = { "see or attack processes of the host",
		"a PID namespace; ids of its own; tracing and the like refused", "PID namespace, system call filter",
		"walls: no_process_of_the_host_is_seen, no_process_can_be_traced" },
	[THREAT_INIT] = { "take over pid 1, which is the launcher's",
		"another id, not dumpable, from a sealed memfd", "pid 1 is somebody else's",
		"walls: pid_1_keeps_its_secrets, pid_1_can_not_be_signalled" },
	[THREAT_OUTLIVE] = { "outlive the end",
		"cgroup.kill until the kernel says that the group is empty; the PID namespace ends with pid 1", "cgroup.kill",
		"e2e/10-jail; e2e/42-killed" },
	[THREAT_DELAY] = { "put the end off",
		"wall, CPU and idle time by the monitor, which signals no one that could refuse", "time limits",
		"e2e/40-limits" },
	[THREAT_SURFACE] = { "use parts of the kernel that no agent needs",
		"an allow-list of system calls; refused ones are counted by name", "system call filter",
		"walls: bpf_is_refused, io_uring_is_refused, keyrings_are_refused, perf_events_are_refused, userfaultfd_is_refused" },
	[THREAT_FOREIGN] = { "get around the filter",
		"foreign tables end the process; arguments are compared as the kernel reads them", "system call filter",
		"walls: foreign_system_call_tables_are_closed; test-seccomp: arguments_are_compared_as_the_kernel_reads_them" },
	[THREAT_MACHINE] = { "command the machine",
		"no capability; the calls are refused", "capabilities, system call filter",
		"test-seccomp" },
	[THREAT_TERMINAL] = { "speak to or type for the operator",
		"no terminal, standard input is /dev/null; TIOCSTI and TIOCLINUX refused; output is escaped on terminals", "no terminal, escaped output",
		"walls: terminals_take_no_injected_input; test-output: what_is_shown_on_a_terminal_is_escaped_and_characters_stay_whole" },
	[THREAT_DEVICES] = { "open a device",
		"a read-only /dev of named nodes; nodev; a BPF program on the control group", "/dev, device program",
		"walls: dev_has_the_named_nodes_and_no_other, device_nodes_can_not_be_made; test-devices: a_jail_opens_its_devices_and_makes_none" },
	[THREAT_NETWORK] = { "reach a network, the host's listeners, the hypervisor",
		"an empty network namespace; only AF_UNIX, AF_INET, AF_INET6 and NETLINK_ROUTE", "network namespace, system call filter",
		"walls: the_only_interface_is_loopback, sockets_that_reach_past_the_network_namespace_are_refused" },
	[THREAT_SERVICES] = { "reach more by a service than its endpoint, or keep others from it",
		"a relay that speaks no protocol and connects to one endpoint; caps; a port that is taken", "relay, caps",
		"e2e/46-services; test-relay; test-relay_confine: all_else_ends_it; test-net: nobody_else_can_have_the_port" },
	[THREAT_PROCESS_COUNT] = { "have more processes than it may",
		"pids of the control group", "control group",
		"e2e/40-limits; test-cgroup: processes_end_at_the_limit_and_die_together" },
	[THREAT_MEMORY] = { "have more memory than it may",
		"memory of the control group, all of it together", "control group",
		"e2e/40-limits; test-cgroup: memory_ends_at_the_limit" },
	[THREAT_DISK] = { "fill the disk",
		"file systems in memory with caps on bytes and inodes", "sized tmpfs",
		"e2e/40-limits" },
	[THREAT_OUTPUT] = { "flood whoever reads its output",
		"capped pipes", "capped output",
		"test-output: a_flood_never_stops_the_jail_and_one_turn_is_bounded" },
	[THREAT_COUNTERS] = { "use up what the kernel counts for root",
		"the user namespace is owned by the range's base; rlimits", "owner of the user namespace",
		"test-namespaces: stage_2_is_owned_by_the_effective_user" },
	[THREAT_FREEZE] = { "confuse the freeze",
		"a jailed collector of ours, without links, with caps, on a read-only clone", "collector",
		"e2e/30-freeze; test-collect: what_is_no_regular_file_is_listed_and_not_read" },
	[THREAT_RACE] = { "change what is being collected",
		"every process is gone before; a clone that was never writable", "freeze after the end",
		"test-collect_race: a_file_that_is_replaced_meanwhile_is_itself_or_refused" },
	[THREAT_RESULTS] = { "write its own result",
		"endings come from the kernel, marks from the judge; only the editable files of the frozen tree count", "candidate of editable files",
		"test-tree: a_candidate_has_the_editable_files_of_the_agent_and_no_other; test-journal" },
	[THREAT_CACHES] = { "leave something for a later jail",
		"fresh file systems for each jail", "fresh file systems",
		"test-mounts" },
	[THREAT_LAUNCHER] = { "ask the launcher for more than clients may have",
		"one size, one version, spec_check() of the whole request", "spec_check()",
		"test-wire: nonsense_from_a_client_is_refused; test-spec" },
	[THREAT_KNOWN] = { "signal by locks and watches on the host's files",
		"none: see Residual risks", "none",
		"" },
};
/* clang-format on */

const struct drill_attack *corpus_at(size_t index)
{
	for (size_t i = 0; i < ARRAY_LEN(themes); i++)
		for (const struct drill_attack *attack = themes[i]; attack->id; attack++)
			if (index-- == 0)
				return attack;
	return NULL;
}

const struct drill_attack *corpus_find(const char *id)
{
	const struct drill_attack *attack;

	for (size_t i = 0; (attack = corpus_at(i)); i++)
		if (strcmp(attack->id, id) == 0)
			return attack;
	return NULL;
}

size_t corpus_count(void)
{
	size_t count = 0;

	while (corpus_at(count))
		count++;
	return count;
}

bool corpus_is_known(const struct drill_attack *attack)
{
	return attack->threat == THREAT_KNOWN;
}

struct drill_wish corpus_expected(const struct drill_attack *attack)
{
	struct drill_wish out = { "" };
	const char *ending = names_text(ending_names, attack->want);
	const char *reason = names_text(stream_reason_names, attack->want);

	switch (attack->judge) {
	case JUDGE_WORD:
	case JUDGE_REQUEST:
	case JUDGE_BAIT:
		snprintf(out.text, sizeof(out.text), "%s",
			 corpus_is_known(attack) ? "gets through" : "refused");
		break;
	case JUDGE_ENDING:
		snprintf(out.text, sizeof(out.text), "ended: %s", ending);
		break;
	case JUDGE_EITHER:
		snprintf(out.text, sizeof(out.text), "refused, or ended: %s", ending);
		break;
	case JUDGE_CODE:
		snprintf(out.text, sizeof(out.text), "no effect, code %d", attack->want);
		break;
	case JUDGE_MEANWHILE:
		snprintf(out.text, sizeof(out.text), "root still has some");
		break;
	case JUDGE_ARCHIVE:
		if (attack->want == STREAM_TAKEN)
			snprintf(out.text, sizeof(out.text), "collected whole");
		else
			snprintf(out.text, sizeof(out.text), "listed: %s", reason);
		break;
	case JUDGE_ANY_ARCHIVE:
		snprintf(out.text, sizeof(out.text), "itself, or listed");
		break;
	case JUDGE_CANDIDATE:
		snprintf(out.text, sizeof(out.text), "not in the candidate");
		break;
	case JUDGE_TERMINAL:
		snprintf(out.text, sizeof(out.text), "shown escaped");
		break;
	}
	return out;
}
