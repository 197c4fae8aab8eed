/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/drill/jailed.h"

#include <string.h>
#include <unistd.h>

#include "harness/drill/trying.h"
#include "harness/run/launcher.h"
#include "tests/lib/check.h"

static struct err err;
static struct bait bait;
static struct launcher launcher;
static struct policy policy;
static struct drill drill = { .bait = &bait, .policy = &policy, .stop_fd = -1, .run = jailed_run };

static void begin(void)
{
	if (geteuid() != 0)
		SKIP("needs root");
	policy = policy_default();
	CHECK_OK(bait_plant(PROGRAMS, 4711, &bait, &err));
	CHECK_OK(launcher_start(PROGRAMS, &launcher, &err));
	CHECK_OK(bait_calm(&bait, &err));
	drill.launcher_fd = launcher.socket_fd;
}

static void end(void)
{
	launcher_done(&launcher);
	bait_done(&bait);
}

TEST(a_harmless_program_sees_the_bait)
{
	uint32_t without = 0;

	begin();
	CHECK_OK(trying_bait(&drill, &without, &err));
	end();
}

static void check_held(const char *id, const char *text)
{
	struct drill_result result;

	trying_attack(&drill, corpus_find(id), &result);
	if (result.seen != DRILL_HELD || !strstr(result.text, text))
		check_fail(__FILE__, __LINE__, "%s: %s", id, result.text);
}

TEST(an_attack_runs_with_the_limits_of_the_policy)
{
	begin();
	policy.agent.pids = 20;
	check_held("res-processes", "with 18 children");
	end();
}

TEST(what_is_handed_in_arrives_and_opens_nothing)
{
	begin();
	check_held("client-descriptor", "is not a memfd, a pipe or /dev/null");
	check_held("client-program", "is not a memfd");
	check_held("client-archive", "");
	end();
}

TEST(a_workspace_comes_back_as_an_archive)
{
	begin();
	check_held("freeze-link", "left a link");
	check_held("result-harness", "edited what marks it");
	end();
}
