/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/cpus.h"

#include "sandbox/base/str.h"
#include "tests/lib/check.h"

static struct cpus cpus;
static struct err err;

/* The CPUs of @list, which ends with -1. */
static void choose(const int *list)
{
	cpu_set_t allowed;

	CPU_ZERO(&allowed);
	for (; *list >= 0; list++)
		CPU_SET(*list, &allowed);
	CHECK_OK(cpus_choose(&allowed, &cpus, &err));
}

#define CHOOSE(...) choose((const int[]){ __VA_ARGS__, -1 })

TEST(judge_and_worker_have_a_cpu_each_and_all_others_are_for_the_rest)
{
	CHOOSE(0, 1, 2, 3, 4, 5, 6, 7);
	CHECK_INT(cpus.judge, 0);
	CHECK_INT(cpus.worker, 7);
	CHECK(cpus.has_others);
	CHECK_STR(cpus.others, "1-6");
}

TEST(two_cpus_leave_none)
{
	CHOOSE(3, 9);
	CHECK_INT(cpus.judge, 3);
	CHECK_INT(cpus.worker, 9);
	CHECK(!cpus.has_others);
	CHECK_STR(cpus.others, "");
}

TEST(three_cpus_leave_too_few)
{
	CHOOSE(0, 1, 2);
	CHECK(!cpus.has_others);
	CHECK_STR(cpus.others, "");
	CHOOSE(0, 1, 2, 5);
	CHECK(cpus.has_others);
	CHECK_STR(cpus.others, "1-2");
}

TEST(a_list_with_gaps_is_written_as_the_kernel_reads_it)
{
	CHOOSE(2, 4, 5, 6, 9, 11, 12, 40);
	CHECK_STR(cpus.others, "4-6,9,11-12");
	CHOOSE(0, 5, 6, 7);
	CHECK_STR(cpus.others, "5-6");
	CHOOSE(CPU_SETSIZE - 6, CPU_SETSIZE - 5, CPU_SETSIZE - 3, CPU_SETSIZE - 1);
	CHECK_STR(cpus.others, "1019,1021");
}

/* Every second one: no two make a range. */
TEST(a_list_that_does_not_fit_loses_cpus_at_its_end_and_stays_a_list)
{
	cleanup(str_done) struct str want = STR_INIT;
	cpu_set_t allowed;

	CPU_ZERO(&allowed);
	for (int i = 100; i < 400; i += 2)
		CPU_SET(i, &allowed);
	for (int i = 0; i < 16; i++)
		str_addf(&want, "%s%d", i > 0 ? "," : "", 102 + 2 * i);
	CHECK_OK(cpus_choose(&allowed, &cpus, &err));
	CHECK_INT(cpus.worker, 398);
	CHECK_STR(cpus.others, want.text);
	CHECK_INT(want.len + 1, CPUS_LIST_MAX);
}

TEST(one_cpu_is_not_enough)
{
	cpu_set_t allowed;

	CPU_ZERO(&allowed);
	CPU_SET(5, &allowed);
	CHECK_INT(cpus_choose(&allowed, &cpus, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK_STR(err.text, "judge and worker need a CPU each, and there is only CPU 5");
}
