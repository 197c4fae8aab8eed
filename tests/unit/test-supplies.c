/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/hosts.h"

TEST(programs_that_are_not_there_are_named)
{
	struct doctor_host host = hosts_good();

	CHECK_LOOK(look_programs, &host, DOCTOR_OK, "proctor-launcher");
	host.programs_why = "open 'proctor-worker'";
	CHECK_LOOK(look_programs, &host, DOCTOR_MISSING, "open 'proctor-worker'");
}

TEST(a_compiler_is_there_also_as_a_link_that_leads_elsewhere)
{
	struct doctor_host host = hosts_good();

	CHECK_LOOK(look_compiler, &host, DOCTOR_OK, "/usr/bin/cc");
	hosts_put("usr/bin/cc", NULL);
	CHECK_LOOK(look_compiler, &host, DOCTOR_MISSING, "there is no /usr/bin/cc");
	CHECK(symlinkat("/etc/alternatives/none", check_folder(), "usr/bin/cc") == 0);
	CHECK_LOOK(look_compiler, &host, DOCTOR_OK, "/usr/bin/cc");
	host.usr_fd = -1;
	CHECK_LOOK(look_compiler, &host, DOCTOR_UNKNOWN, "can not be opened");
}

TEST(memory_is_compared_with_what_an_agent_may_use)
{
	struct doctor_host host = hosts_good();

	CHECK_LOOK(look_free_memory, &host, DOCTOR_OK, "an agent may use 4096 MiB");
	hosts_put("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    4194304 kB\n");
	CHECK_LOOK(look_free_memory, &host, DOCTOR_OK, "4096 MiB are available");
	hosts_put("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    4194303 kB\n");
	CHECK_LOOK(look_free_memory, &host, DOCTOR_DEGRADED, "4095 MiB are available");
	host.policy.agent.memory = GIB;
	CHECK_LOOK(look_free_memory, &host, DOCTOR_OK, "may use 1024 MiB");
	hosts_put("proc/meminfo", "MemTotal: 9 kB\n");
	CHECK_LOOK(look_free_memory, &host, DOCTOR_UNKNOWN, "does not say");
}

TEST(a_disk_has_room_for_frozen_tree_and_candidate)
{
	struct doctor_host host = hosts_good();

	CHECK_LOOK(look_free_disk, &host, DOCTOR_OK, "65536 MiB are free");
	host.disk_free = 2 * GIB - 1;
	CHECK_LOOK(look_free_disk, &host, DOCTOR_DEGRADED, "may leave 2048 MiB");
	host.disk_free = 2 * GIB;
	CHECK_LOOK(look_free_disk, &host, DOCTOR_OK, "may leave 2048 MiB");
}

TEST(a_jail_that_failed_and_one_that_was_not_tried_differ)
{
	struct doctor_host host = hosts_good();

	CHECK_LOOK(look_jail, &host, DOCTOR_OK, "ran a program");
	host.jail_why = "launcher: no";
	CHECK_LOOK(look_jail, &host, DOCTOR_MISSING, "launcher: no");
	host.is_jail_tried = false;
	CHECK_LOOK(look_jail, &host, DOCTOR_UNKNOWN, "launcher: no");
}
