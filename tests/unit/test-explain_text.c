/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "harness/explain/explain.h"
#include "tests/lib/check.h"

static const struct table_style plain = { .has_color = false };
static struct policy policy;
static struct arena arena;
static struct str out;
static struct err err;

static void begin(const char *text)
{
	out = STR_INIT;
	policy = policy_default();
	if (text)
		CHECK_OK(policy_parse("p.yaml", text, strlen(text), &policy, &err));
}

static void end(void)
{
	str_done(&out);
	policy_done(&policy);
	arena_done(&arena);
}

static void explain(enum explain_role role, struct explained *jail)
{
	struct describe_host host;
	const struct explain_question question = { .policy = &policy, .host = &host };

	CHECK_OK(explain_look(&arena, &host, &err));
	host.landlock_abi = 6;
	CHECK_OK(explain_make(&question, role, &arena, jail, &err));
}

TEST(a_policy_says_what_it_changes_and_where_that_stands)
{
	begin("schema: 1\nname: mine\nextends: profiler\nagent:\n  pids: 600\n");
	explain_print_policy(&policy, &plain, &out);
	CHECK_STR(out.text, "policy   mine (p.yaml, extends profiler, extends default)\n"
			    "weaker   agent.syscalls:profiler\n"
			    "changes  to the shipped default:\n\n"
			    "KEY             BEFORE  AFTER       CHANGE  FILE      LINE\n"
			    "agent.pids      512     600         larger  p.yaml       5\n"
			    "agent.syscalls  []      [profiler]  weaker  profiler     8\n\n");
	end();
	begin(NULL);
	explain_print_policy(&policy, &plain, &out);
	CHECK_STR(out.text, "policy   default\nweaker   no wall than in the shipped default\n"
			    "changes  none to the shipped default\n\n");
	end();
}

TEST(a_jail_is_shown_with_all_that_makes_it)
{
	static const char *const wanted[] = {
		"==== the agent's jail ====\n",
		"environment PATH=/run/task/bin:",
		"privileges  no capability in any set, no_new_privs\n",
		"output      16MiB on stdout and stderr together",
		"endings     exited signaled timeout cpu idle oom output full stopped",
		"\n/usr   ",
		"\nnull ",
		"2h  of all processes ",
		"\nopen files ",
		"  setrlimit(RLIMIT_NOFILE)\n",
		"\nnothing outside is reached by: abstract_unix_socket, signal\n",
		"\nbrk   ",
		"\nptrace  ",
		"refused with EPERM, counted and named in the record:\n",
		"refused ioctls: TIOCSTI, TIOCLINUX, any other of KFD's\n",
		"the memory is the policy's, and on top what /run/agent and /run/task can take",
		"; /run/task is as large as what the task gives",
	};
	struct explained jail;

	begin(NULL);
	explain(EXPLAIN_AGENT, &jail);
	explain_print(&jail, NULL, &plain, &out);
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		if (!strstr(out.text, wanted[i]))
			check_fail(__FILE__, __LINE__, "there is no '%s'", wanted[i]);
	end();
}

TEST(system_calls_that_are_the_same_are_shown_once)
{
	struct explained agent, build, worker;

	begin(NULL);
	explain(EXPLAIN_AGENT, &agent);
	explain(EXPLAIN_BUILD, &build);
	explain(EXPLAIN_WORKER, &worker);
	explain_print(&build, &agent, &plain, &out);
	CHECK(strstr(out.text, "-- system calls --\nthe same as in the agent's jail\n"));
	str_clear(&out);
	explain_print(&worker, &agent, &plain, &out);
	CHECK(strstr(out.text, "refused with EPERM:\n"));
	CHECK(strstr(out.text, "output      to /dev/null\n"));
	end();
	begin("schema: 1\nname: mine\nextends: profiler\n");
	explain(EXPLAIN_AGENT, &agent);
	explain(EXPLAIN_BUILD, &build);
	explain_print(&build, &agent, &plain, &out);
	CHECK(!strstr(out.text, "the same as"));
	end();
}

TEST(an_evaluators_jail_has_caches_of_its_own_and_reaches_nothing)
{
	static const char *const wanted[] = {
		"==== the evaluator's jail ====\ncommand     COMMAND\nfolder      /work\n",
		"\nenvironment PATH=/usr/local/bin:",
		"            TRITON_CACHE_DIR=/tmp/triton\n",
		"            LANG=de\n",
		"network     a namespace of its own with lo alone\nservices    none\n",
		"output      17MiB on stdout and stderr together",
		"\nopen files ",
		"the same as in the agent's jail\n",
	};
	struct explained agent, jail;

	begin("schema: 1\nname: mine\nservices: [{name: a, listen: 80, connect: "
	      "'unix:/run/a'}]\n"
	      "evaluator: {output: 17MiB, nofile: 99, environment: {LANG: de}}\n");
	explain(EXPLAIN_AGENT, &agent);
	explain(EXPLAIN_EVALUATOR, &jail);
	explain_print(&jail, &agent, &plain, &out);
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		if (!strstr(out.text, wanted[i]))
			check_fail(__FILE__, __LINE__, "there is no '%s'", wanted[i]);
	CHECK(!strstr(out.text, "the memory is the policy's, and on top"));
	end();
}

TEST(a_limit_that_does_not_hold_is_told)
{
	struct explained jail;
	struct described_limit *limits;

	begin(NULL);
	explain(EXPLAIN_AGENT, &jail);
	limits = arena_alloc(&arena, 1, sizeof(*limits));
	*limits = (struct described_limit){ "pids", "9", "", "cgroup v2", "pids.max", false };
	jail.jail.limits = limits;
	jail.jail.limit_count = 1;
	explain_print(&jail, NULL, &plain, &out);
	CHECK(strstr(out.text, "NOTHING on this host"));
	end();
}
