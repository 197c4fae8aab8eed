/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/ledger.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"

static struct ledger ledger = LEDGER_INIT;
static struct cgroup_bounds any = { .memory = CGROUP_ANY,
				    .pids = CGROUP_ANY,
				    .cpu_milli = CGROUP_ANY };
static struct site site;
static struct err err;
static uint32_t clamped;

static struct cgroup_limits limits(uint64_t memory, uint64_t pids)
{
	return (struct cgroup_limits){ .memory = memory, .pids = pids };
}

static void enter(pid_t monitor, uid_t uid, const struct cgroup_limits *asked,
		  const struct cgroup_bounds *bounds)
{
	const struct ledger_jail who = { .monitor = monitor, .client = 7, .uid = uid };

	ledger_enter(&ledger, &who, asked, bounds);
}

static void check_refused(uid_t uid, const struct cgroup_limits *asked, const char *want)
{
	err = (struct err) ERR_INIT;
	CHECK_INT(ledger_admit(&ledger, &site, uid, asked, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK_STR(err.text, want);
}

TEST(an_account_has_so_many_jails_and_not_one_more)
{
	const struct cgroup_limits small = limits(64 * MIB, 8);

	site_default(&site);
	site.client.jails = 2;
	for (pid_t i = 1; i <= 2; i++) {
		CHECK_OK(ledger_admit(&ledger, &site, 1000, &small, &err));
		enter(i, 1000, &small, &any);
	}
	check_refused(1000, &small,
		      "account 1000 has jails with 2 jails together: 1 more are over the 2 that "
		      "this host allows an account; end some, or have its administrator raise "
		      "'client.jails' in /etc/proctor/site.conf");
	/* Others have theirs, and root any. */
	CHECK_OK(ledger_admit(&ledger, &site, 1001, &small, &err));
	enter(3, 0, &small, &any);
	enter(4, 0, &small, &any);
	CHECK_OK(ledger_admit(&ledger, &site, 0, &small, &err));
	ledger_done(&ledger);
}

TEST(a_jail_that_is_over_makes_room_and_a_refusal_takes_none)
{
	const struct ledger_jail refusal = { .monitor = 5, .uid = 1000, .is_over = true };
	const struct cgroup_limits small = limits(64 * MIB, 8);
	struct ledger_jail was;

	site_default(&site);
	site.client.jails = 1;
	ledger_enter(&ledger, &refusal, NULL, NULL);
	CHECK_OK(ledger_admit(&ledger, &site, 1000, &small, &err));
	enter(6, 1000, &small, &any);
	CHECK_INT(ledger_admit(&ledger, &site, 1000, &small, &err), -1);
	CHECK_INT(ledger_leave(&ledger, 99, &was), 0);
	CHECK_INT(ledger_leave(&ledger, 6, &was), 1);
	CHECK_INT(was.client, 7);
	CHECK_INT(ledger_leave(&ledger, 6, &was), 0);
	CHECK_OK(ledger_admit(&ledger, &site, 1000, &small, &err));
	ledger_done(&ledger);
	CHECK_INT(ledger.count, 0);
}

TEST(a_monitor_whose_jail_is_over_is_its_accounts_until_it_has_ended)
{
	const struct cgroup_limits small = limits(64 * MIB, 8);
	struct ledger_jail was;

	site_default(&site);
	site.client.jails = 1;
	enter(6, 1000, &small, &any);
	CHECK_INT(ledger_leaving(&ledger, 1000), 0);
	CHECK_INT(ledger_end(&ledger, 6, &was), 1);
	CHECK_INT(was.client, 7);
	CHECK_INT(ledger_end(&ledger, 6, &was), 0);
	CHECK_OK(ledger_admit(&ledger, &site, 1000, &small, &err));
	CHECK_INT(ledger_leaving(&ledger, 1000), 1);
	CHECK_INT(ledger_leaving(&ledger, 1001), 0);
	CHECK_INT(ledger_leave(&ledger, 6, &was), 1);
	CHECK_INT(was.client, 0);
	CHECK_INT(ledger_leaving(&ledger, 1000), 0);
	ledger_done(&ledger);
}

TEST(memory_and_processes_of_an_account_are_summed_and_can_not_overflow)
{
	const struct cgroup_limits half = limits(512 * MIB, 50), huge = limits(UINT64_MAX, 4);
	const struct cgroup_limits more = limits(513 * MIB, 4), many = limits(16 * MIB, 51);

	site_default(&site);
	site.client.memory = GIB;
	site.client.pids = 100;
	enter(1, 1000, &half, &any);
	CHECK_OK(ledger_admit(&ledger, &site, 1000, &half, &err));
	check_refused(1000, &more,
		      "account 1000 has jails with 512MiB of memory together: 513MiB "
		      "more are over the 1GiB that this host allows an account; end some, or "
		      "have its administrator raise 'client.memory' in /etc/proctor/site.conf");
	check_refused(1000, &many,
		      "account 1000 has jails with 50 processes together: 51 more are over the 100 "
		      "that this host allows an account; end some, or have its administrator raise "
		      "'client.pids' in /etc/proctor/site.conf");
	CHECK_INT(ledger_admit(&ledger, &site, 1000, &huge, &err), -1);
	ledger_done(&ledger);
}

TEST(what_a_clients_groups_do_not_limit_stays_as_it_is)
{
	struct cgroup_limits asked = limits(GIB, 100);

	CHECK_OK(ledger_clamp(&ledger, &any, "0-3", &asked, &clamped, &err));
	CHECK_INT(asked.memory, GIB);
	CHECK_INT(asked.pids, 100);
	CHECK_INT(asked.cpu_milli, 0);
	CHECK_STR(asked.cpus, "");
	CHECK_INT(clamped, 0);
}

TEST(a_jail_gets_no_more_than_its_clients_groups_allow)
{
	struct cgroup_bounds job = any;
	struct cgroup_limits asked = limits(GIB, 100);

	job.memory = 256 * MIB;
	job.pids = 40;
	job.cpu_milli = 1500;
	CHECK_OK(ledger_clamp(&ledger, &job, "0-3", &asked, &clamped, &err));
	CHECK_INT(asked.memory, 256 * MIB);
	CHECK_INT(asked.pids, 40);
	CHECK_INT(asked.cpu_milli, 1500); /* also who asks for no limit */
	CHECK_INT(clamped, CGROUP_BIT(CGROUP_LIMIT_MEMORY) | CGROUP_BIT(CGROUP_LIMIT_PIDS) |
				   CGROUP_BIT(CGROUP_LIMIT_CPUS));
	asked = limits(64 * MIB, 10);
	asked.cpu_milli = 500;
	CHECK_OK(ledger_clamp(&ledger, &job, "0-3", &asked, &clamped, &err));
	CHECK_INT(clamped, 0);
	CHECK_INT(asked.cpu_milli, 500);
}

TEST(jails_outside_of_a_clients_groups_share_what_these_allow)
{
	struct cgroup_bounds job = any;
	struct cgroup_limits asked = limits(GIB, 100);

	job.memory = GIB;
	job.pids = 100;
	job.level_count = 2;
	job.levels[0] = (struct cgroup_level){ 11, 768 * MIB, CGROUP_ANY, CGROUP_ANY };
	job.levels[1] = (struct cgroup_level){ 12, GIB, 100, CGROUP_ANY };
	asked = limits(512 * MIB, 60);
	CHECK_OK(ledger_clamp(&ledger, &job, "0", &asked, &clamped, &err));
	CHECK_INT(clamped, 0);
	enter(1, 1000, &asked, &job);
	asked = limits(512 * MIB, 60);
	CHECK_OK(ledger_clamp(&ledger, &job, "0", &asked, &clamped, &err));
	CHECK_INT(asked.memory, 256 * MIB);
	CHECK_INT(asked.pids, 40);
	enter(2, 1001, &asked, &job); /* another account in the same job */
	asked = limits(512 * MIB, 60);
	CHECK_INT(ledger_clamp(&ledger, &job, "0", &asked, &clamped, &err), -1);
	CHECK_STR(err.text, "the control groups of the client leave 0 of memory for one more "
			    "jail, and it takes 16MiB: end some, or run it as a job with a "
			    "higher limit");
	/* In a job of its own below the same group: what that has left, and no more. */
	job.levels[0].id = 13;
	asked = limits(512 * MIB, 0);
	job.levels[1].pids = CGROUP_ANY;
	CHECK_OK(ledger_clamp(&ledger, &job, "0", &asked, &clamped, &err));
	CHECK_INT(asked.memory, 256 * MIB);
	ledger_done(&ledger);
}

TEST(a_jail_uses_no_cpu_that_is_not_its_clients)
{
	struct cgroup_bounds job = any;
	struct cgroup_limits asked = limits(GIB, 100);

	snprintf(job.cpus, sizeof(job.cpus), "2-3");
	CHECK_OK(ledger_clamp(&ledger, &job, "0-7", &asked, &clamped, &err));
	CHECK_STR(asked.cpus, "2-3");
	CHECK_INT(clamped, CGROUP_BIT(CGROUP_LIMIT_CPUS));
	snprintf(asked.cpus, sizeof(asked.cpus), "3");
	CHECK_OK(ledger_clamp(&ledger, &job, "0-7", &asked, &clamped, &err));
	CHECK_STR(asked.cpus, "3");
	CHECK_INT(clamped, 0);
	snprintf(asked.cpus, sizeof(asked.cpus), "1,3");
	CHECK_INT(ledger_clamp(&ledger, &job, "0-7", &asked, &clamped, &err), -1);
	CHECK_STR(err.text, "the CPUs '1,3' are not all among those of the client's control group, "
			    "'2-3'");
	/* Where the kernel sees to it, or all are the client's, nothing is written. */
	job.cpus_are_held = 1;
	asked.cpus[0] = '\0';
	CHECK_OK(ledger_clamp(&ledger, &job, "0-7", &asked, &clamped, &err));
	CHECK_STR(asked.cpus, "");
	job.cpus_are_held = 0;
	CHECK_OK(ledger_clamp(&ledger, &job, "2-3", &asked, &clamped, &err));
	CHECK_STR(asked.cpus, "");
	memset(job.cpus, '1', 100);
	job.cpus[100] = '\0';
	snprintf(job.cpus, sizeof(job.cpus),
		 "0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40,42,44,46");
	CHECK_INT(ledger_clamp(&ledger, &job, "0-63", &asked, &clamped, &err), -1);
	CHECK(strstr(err.text, "is longer than 63 bytes"));
}
