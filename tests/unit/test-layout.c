/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tests/lib/check.h"
#include "tests/lib/hosts.h"

#define V1(controller) \
	"33 31 0:30 / /sys/fs/cgroup/" controller " rw,relatime - cgroup cgroup rw," controller "\n"
#define V2(point) "41 31 0:38 / " point " rw,relatime - cgroup2 cgroup2 rw\n"

static const char hybrid[] =
	V1("cpu") V1("cpuset") V1("memory") V1("blkio") V1("pids") V2("/sys/fs/cgroup/unified");

TEST(a_v2_host_is_recognised_with_what_it_hands_on)
{
	struct doctor_host host = hosts_good();

	CHECK_LOOK(look_layout, &host, DOCTOR_OK,
		   "v2: '/sys/fs/cgroup' with memory pids cpu cpuset io; our own group "
		   "'/user.slice/run.scope' hands on cpuset cpu memory pids");
	hosts_put("sys/fs/cgroup/user.slice/run.scope/cgroup.subtree_control", "\n");
	CHECK_LOOK(look_layout, &host, DOCTOR_OK, "hands on nothing");
	hosts_put("proc/self/cgroup", "0::/elsewhere\n");
	CHECK_LOOK(look_layout, &host, DOCTOR_OK, "'/elsewhere' can not be opened");
}

TEST(a_hierarchy_that_is_covered_is_none)
{
	struct doctor_host host = hosts_good();

	hosts_put("sys/fs/cgroup/cgroup.controllers", NULL);
	CHECK_LOOK(look_layout, &host, DOCTOR_MISSING, "'/sys/fs/cgroup' was the v2 hierarchy");
}

TEST(a_hybrid_host_is_recognised)
{
	struct doctor_host host = hosts_good();

	hosts_put("proc/self/mountinfo", hybrid);
	hosts_put("sys/fs/cgroup/unified/cgroup.controllers", "hugetlb\n");
	CHECK_LOOK(look_layout, &host, DOCTOR_OK,
		   "hybrid: '/sys/fs/cgroup/unified' with none; v1 with memory pids cpu cpuset io");
}

TEST(v1_alone_can_neither_freeze_nor_end_a_jail)
{
	struct doctor_host host = hosts_good();

	hosts_put("proc/self/mountinfo", V1("cpu") V1("memory"));
	CHECK_LOOK(look_layout, &host, DOCTOR_MISSING, "v1 only, with memory cpu");
}

TEST(no_control_groups_at_all_are_told)
{
	struct doctor_host host = hosts_good();

	hosts_put("proc/self/mountinfo", "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n");
	CHECK_LOOK(look_layout, &host, DOCTOR_MISSING, "no control groups are mounted");
	CHECK_LOOK(look_memory, &host, DOCTOR_MISSING, "no hierarchy has the controller");
	CHECK_LOOK(look_io, &host, DOCTOR_DEGRADED, "no hierarchy has the controller");
	hosts_put("proc/self/mountinfo", NULL);
	CHECK_LOOK(look_layout, &host, DOCTOR_UNKNOWN, "can not be read");
	CHECK_LOOK(look_memory, &host, DOCTOR_UNKNOWN, "");
	CHECK_LOOK(look_io, &host, DOCTOR_UNKNOWN, "can not be read");
}

TEST(a_controller_that_no_hierarchy_has_is_named)
{
	struct doctor_host host = hosts_good();

	hosts_put("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io pids\n");
	CHECK_LOOK(look_layout, &host, DOCTOR_MISSING, "no hierarchy has memory");
	CHECK_LOOK(look_memory, &host, DOCTOR_MISSING, "no hierarchy has the controller");
	CHECK_LOOK(look_pids, &host, DOCTOR_UNKNOWN, "'/sys/fs/cgroup' (v2)");
	CHECK_LOOK(look_cpu, &host, DOCTOR_UNKNOWN, "'/sys/fs/cgroup' (v2)");
	CHECK_LOOK(look_cpuset, &host, DOCTOR_UNKNOWN, "'/sys/fs/cgroup' (v2)");
	CHECK_LOOK(look_io, &host, DOCTOR_OK, "'/sys/fs/cgroup' (v2)");
}

TEST(where_a_controller_is_does_not_replace_a_trial)
{
	struct doctor_host host = hosts_good();
	cleanup(sight_done) struct doctor_sight sight = DOCTOR_SIGHT_INIT;

	hosts_put("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io pids\n");
	sight.is_tried = true;
	sight_say(&sight, DOCTOR_OK, "it works");
	look_memory(&host, &sight);
	CHECK_INT(sight.verdict, DOCTOR_OK);
	CHECK_STR(sight.found.text, "it works");
}

TEST(one_controller_is_not_taken_for_another)
{
	struct doctor_host host = hosts_good();

	hosts_put("proc/self/mountinfo", V1("cpuset") V2("/sys/fs/cgroup/unified"));
	hosts_put("sys/fs/cgroup/unified/cgroup.controllers", "hugetlb\n");
	CHECK_LOOK(look_cpuset, &host, DOCTOR_UNKNOWN, "'/sys/fs/cgroup/cpuset' (v1)");
	CHECK_LOOK(look_cpu, &host, DOCTOR_MISSING, "no hierarchy");
}

TEST(lines_that_are_no_mounts_are_passed_over)
{
	struct doctor_host host = hosts_good();

	hosts_put("proc/self/mountinfo", "\n - \n1 2 3\n1 2 3 4 5 - cgroup2\nx - cgroup y\n");
	CHECK_LOOK(look_layout, &host, DOCTOR_MISSING, "no control groups are mounted");
}

static struct doctor_sight look_swap_after(const struct doctor_host *host,
					   enum doctor_verdict trial)
{
	struct doctor_sight sight = DOCTOR_SIGHT_INIT;

	sight_say(&sight, trial, "trial");
	look_swap(host, &sight);
	return sight;
}

TEST(a_limit_of_swap_matters_only_where_there_is_swap)
{
	static const char some[] = "Filename Type Size Used Priority\n/dev/vdb partition 9 0 -2\n";
	static const struct {
		enum doctor_verdict trial, none, some;
	} rows[] = {
		{ DOCTOR_OK, DOCTOR_OK, DOCTOR_OK },
		{ DOCTOR_DEGRADED, DOCTOR_OK, DOCTOR_DEGRADED },
		{ DOCTOR_UNKNOWN, DOCTOR_OK, DOCTOR_UNKNOWN },
		{ DOCTOR_MISSING, DOCTOR_MISSING, DOCTOR_MISSING },
	};
	struct doctor_host host = hosts_good();

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct doctor_sight sight = look_swap_after(&host, rows[i].trial);

		CHECK_INT(sight.verdict, rows[i].none);
		sight_done(&sight);
	}
	hosts_put("proc/swaps", some);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct doctor_sight sight = look_swap_after(&host, rows[i].trial);

		CHECK_INT(sight.verdict, rows[i].some);
		CHECK(strstr(sight.found.text, "this host has swap"));
		sight_done(&sight);
	}
}
