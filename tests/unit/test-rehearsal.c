/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/doctor/rehearsal.h"

#include <string.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/jails.h"

static struct err err;

TEST(a_jail_with_the_limits_of_the_policy_runs_and_is_gone)
{
	const struct policy policy = policy_default();
	struct jails jails;

	jails_start(&jails);
	CHECK_OK(rehearsal_run(jails.launcher.socket_fd, &policy, &err));
	jails_end(&jails);
}

TEST(limits_that_contradict_each_other_are_told)
{
	struct policy policy = policy_default();

	policy.agent.memory = 64 * MIB;
	CHECK_INT(rehearsal_run(-1, &policy, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
}

TEST(a_launcher_that_has_gone_is_told)
{
	const struct policy policy = policy_default();
	struct jails jails;

	jails_start(&jails);
	CHECK_INT(rehearsal_run(STDERR_FILENO, &policy, &err), -1);
	CHECK(strlen(err.text) > 0);
	jails_end(&jails);
}
