/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/doctor/kernel.h"

#include <string.h>

#include "sandbox/launcher.h"
#include "tests/lib/check.h"
#include "tests/lib/hosts.h"

TEST(a_release_is_compared_with_the_baseline_as_numbers)
{
	struct doctor_host host = hosts_good();

	CHECK_LOOK(look_kernel, &host, DOCTOR_OK, "Linux 6.1.0-18-amd64");
	hosts_put("proc/sys/kernel/osrelease", "6.18.44\n");
	CHECK_LOOK(look_kernel, &host, DOCTOR_OK, "6.18.44");
	hosts_put("proc/sys/kernel/osrelease", "10.0.1\n");
	CHECK_LOOK(look_kernel, &host, DOCTOR_OK, "10.0.1");
	hosts_put("proc/sys/kernel/osrelease", "5.15.0-91-generic\n");
	CHECK_LOOK(look_kernel, &host, DOCTOR_DEGRADED, "older than the baseline of 6.1");
	hosts_put("proc/sys/kernel/osrelease", "Linux\n");
	CHECK_LOOK(look_kernel, &host, DOCTOR_UNKNOWN, "does not say");
	hosts_put("proc/sys/kernel/osrelease", NULL);
	CHECK_LOOK(look_kernel, &host, DOCTOR_UNKNOWN, "does not say");
}

TEST(the_launcher_needs_what_the_table_says_that_it_needs)
{
	uint64_t needed = 0;

	for (const struct kernel_capability *row = kernel_capabilities; row->name; row++)
		if (row->is_needed)
			needed |= CAPS_MASK(row->number);
	CHECK_INT(needed, LAUNCHER_NEEDS);
}

static struct doctor_sight look_as_tried(const struct doctor_host *host, enum doctor_verdict trial)
{
	struct doctor_sight sight = DOCTOR_SIGHT_INIT;

	sight.is_tried = true;
	sight.verdict = trial;
	look_capabilities(host, &sight);
	return sight;
}

TEST(capabilities_that_lack_are_named)
{
	struct doctor_host host = hosts_good();
	cleanup(sight_done) struct doctor_sight whole = look_as_tried(&host, DOCTOR_OK), lacking;

	CHECK_INT(whole.verdict, DOCTOR_OK);
	CHECK_STR(whole.found.text, "all that are needed");
	/* Without 24, SYS_RESOURCE, and 27, MKNOD. */
	host.status = "Name:\tx\nCapEff:\t000001fff6ffffff\nCapBnd:\t000001ffffffffff\n";
	lacking = look_as_tried(&host, DOCTOR_MISSING);
	CHECK_INT(lacking.verdict, DOCTOR_MISSING);
	CHECK_STR(lacking.found.text,
		  "without cap_mknod; without cap_sys_resource, which nothing needs");
	sight_done(&lacking);
}

TEST(who_is_not_root_learns_whether_root_could)
{
	struct doctor_host host = hosts_good();

	host.status = "Name:\tx\nCapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\n";
	CHECK_LOOK(look_capabilities, &host, DOCTOR_UNKNOWN, "the bounding set has all");
	host.status = "Name:\tx\nCapEff:\t0000000000000000\nCapBnd:\t000001fffddfffff\n";
	CHECK_LOOK(look_capabilities, &host, DOCTOR_MISSING,
		   "the bounding set is without cap_sys_admin");
	host.status = NULL;
	CHECK_LOOK(look_capabilities, &host, DOCTOR_UNKNOWN, "");
}

TEST(the_tightest_limit_of_namespaces_counts)
{
	struct doctor_host host = hosts_good();

	CHECK_LOOK(look_namespace_limits, &host, DOCTOR_OK, "is 65536");
	CHECK_LOOK(look_namespace_limits, &host, DOCTOR_OK, "everybody");
	hosts_put("proc/sys/user/max_net_namespaces", "10\n");
	CHECK_LOOK(look_namespace_limits, &host, DOCTOR_DEGRADED, "max_net_namespaces is 10");
	hosts_put("proc/sys/user/max_user_namespaces", "0\n");
	CHECK_LOOK(look_namespace_limits, &host, DOCTOR_MISSING, "max_user_namespaces is 0");
}

TEST(unprivileged_user_namespaces_are_nothing_that_proctor_needs)
{
	struct doctor_host host = hosts_good();

	hosts_put("proc/sys/kernel/unprivileged_userns_clone", "0\n");
	CHECK_LOOK(look_namespace_limits, &host, DOCTOR_OK, "only root makes");
	hosts_put("proc/sys/kernel/unprivileged_userns_clone", "1\n");
	CHECK_LOOK(look_namespace_limits, &host, DOCTOR_OK, "everybody");
	hosts_put("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n");
	CHECK_LOOK(look_namespace_limits, &host, DOCTOR_OK, "only root makes");
}

TEST(a_proc_without_limits_of_namespaces_says_nothing)
{
	struct doctor_host host = hosts_good();

	host.proc_fd = host.etc_fd;
	CHECK_LOOK(look_namespace_limits, &host, DOCTOR_UNKNOWN, "no limits");
	CHECK_LOOK(look_core_pattern, &host, DOCTOR_UNKNOWN, "can not be read");
	CHECK_LOOK(look_actions, &host, DOCTOR_UNKNOWN, "");
}

TEST(a_kernel_without_an_action_that_filters_take_is_refused)
{
	struct doctor_host host = hosts_good();

	CHECK_LOOK(look_actions, &host, DOCTOR_UNKNOWN, "actions: kill_process");
	hosts_put("proc/sys/kernel/seccomp/actions_avail", "kill_thread trap errno trace allow\n");
	CHECK_LOOK(look_actions, &host, DOCTOR_MISSING, "there is no action kill_process");
}

TEST(a_crash_that_starts_a_program_is_told)
{
	struct doctor_host host = hosts_good();

	CHECK_LOOK(look_core_pattern, &host, DOCTOR_OK, "'core' is a file");
	hosts_put("proc/sys/kernel/core_pattern", "|/usr/lib/systemd/systemd-coredump %P\n");
	CHECK_LOOK(look_core_pattern, &host, DOCTOR_DEGRADED, "systemd-coredump");
}
