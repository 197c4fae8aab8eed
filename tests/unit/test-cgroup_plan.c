/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "sandbox/base/str.h"
#include "sandbox/cgroup.h"
#include "tests/lib/check.h"

static void check_plan(const struct cgroup_limits *limits, uint32_t v1, const char *want)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct cgroup_knob knobs[CGROUP_KNOBS_MAX];
	size_t count = cgroup_plan(limits, v1, "0-1", knobs);

	for (size_t i = 0; i < count; i++)
		str_addf(&text, "%s=%s\n", knobs[i].file, knobs[i].text);
	CHECK_STR(text.text, want);
}

static const struct cgroup_limits all = {
	.memory = 64 * MIB + 1,
	.pids = 100,
	.cpu_milli = 1500,
	.cpus = "0-2,5",
};

TEST(a_v2_leaf_is_limited_by_v2_files)
{
	check_plan(&all, 0,
		   "memory.max=67108864\nmemory.swap.max=0\nmemory.oom.group=1\npids.max=100\n"
		   "cpu.max=150000 100000\ncpuset.cpus=0-2,5\n");
}

TEST(a_v1_leaf_is_limited_by_v1_files)
{
	check_plan(&all, 0xf,
		   "memory.limit_in_bytes=67108864\nmemory.memsw.limit_in_bytes=67108864\n"
		   "pids.max=100\ncpu.cfs_quota_us=150000\ncpuset.mems=0-1\ncpuset.cpus=0-2,5\n");
}

TEST(controllers_may_be_mixed)
{
	check_plan(&all, CGROUP_BIT(CGROUP_CPUSET) | CGROUP_BIT(CGROUP_PIDS),
		   "memory.max=67108864\nmemory.swap.max=0\nmemory.oom.group=1\npids.max=100\n"
		   "cpu.max=150000 100000\ncpuset.mems=0-1\ncpuset.cpus=0-2,5\n");
}

TEST(what_is_not_limited_is_not_written)
{
	const struct cgroup_limits none = { 0 }, tiny = { .memory = 1 };

	check_plan(&none, 0, "");
	check_plan(&none, 0xf, "");
	check_plan(&tiny, CGROUP_BIT(CGROUP_MEMORY),
		   "memory.limit_in_bytes=4096\nmemory.memsw.limit_in_bytes=4096\n");
}

TEST(lists_of_cpus_are_compared_as_sets)
{
	static const struct {
		const char *one, *other;
		bool same;
	} cases[] = {
		{ "0", "0", true },        { "0,1,2", "0-2", true },
		{ "2,0-1", "0-2", true },  { "0-2", "0-1", false },
		{ "", "", true },          { "0", "", false },
		{ "x", "x", false },       { "1-", "1-", false },
		{ "2-1", "2-1", false },   { "0 1", "0 1", false },
		{ "4096", "4096", false }, { "0-99999999999999999999", "0", false },
		{ "-1", "-1", false },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (cgroup_same_cpus(cases[i].one, cases[i].other) != cases[i].same)
			check_fail(__FILE__, __LINE__, "'%s' and '%s'", cases[i].one,
				   cases[i].other);
}

TEST(a_list_has_all_cpus_of_another_or_it_has_not)
{
	CHECK(cgroup_has_cpus("0-3,8", "1,2"));
	CHECK(cgroup_has_cpus("0-3,8", "8"));
	CHECK(cgroup_has_cpus("0-3", ""));
	CHECK(!cgroup_has_cpus("0-3,8", "7"));
	CHECK(!cgroup_has_cpus("0-3", "3-4"));
	CHECK(!cgroup_has_cpus("0-3", "x"));
	CHECK(!cgroup_has_cpus("x", "0"));
}
