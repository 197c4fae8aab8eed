/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/compose.h"

#include <fcntl.h>
#include <string.h>

#include "tests/lib/check.h"

static struct jail_spec spec;
static struct task task = TASK_INIT;
static struct policy policy;
static struct err err;

static void load(void)
{
	int folder = open(SOURCE_ROOT "/tasks/c2c/row-softmax", O_RDONLY | O_DIRECTORY);

	policy = policy_default();
	CHECK(folder >= 0);
	CHECK_OK(task_load(folder, &task, &err));
}

TEST(an_agents_jail_has_the_tighter_of_both_limits)
{
	static const char *const argv[] = { "/bin/true", NULL };

	load();
	CHECK_OK(compose_agent(&policy, &task.limits, NULL, argv, &spec, &err));
	CHECK_INT(spec.time.wall_ms, MIN_OF(policy.agent.wall_ms, task.limits.wall_ms));
	CHECK_INT(spec.plan.tmpfs[0].bytes, task.limits.workspace);
	CHECK_INT(spec.cgroup.pids, MIN_OF(policy.agent.pids, task.limits.pids));
	task.limits.workspace = 0; /* it does not ask */
	CHECK_OK(compose_agent(&policy, &task.limits, NULL, argv, &spec, &err));
	CHECK_INT(spec.plan.tmpfs[0].bytes, policy.agent.workspace.size);
	CHECK_INT(spec.tree_count, 2);
	CHECK_INT(spec.collect.wanted, 1);
}

#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

TEST(an_image_of_the_policy_is_the_root_and_changes_are_the_last_tmpfs)
{
	static const char *const argv[] = { "/bin/true", NULL };
	const struct stream_counts given = { .files = 1 };

	load();
	CHECK_OK(compose_agent(&policy, &task.limits, &given, argv, &spec, &err));
	CHECK_INT(spec.plan.root, PLAN_ROOT_HOST);
	CHECK_STR(spec.plan.image, "");
	policy.agent.image = "rocm";
	CHECK_OK(compose_agent(&policy, &task.limits, &given, argv, &spec, &err));
	CHECK_INT(spec.plan.root, PLAN_ROOT_IMAGE);
	CHECK_STR(spec.plan.image, "rocm");
	policy.agent.changes.size = 16 * MIB;
	CHECK_OK(compose_agent(&policy, &task.limits, &given, argv, &spec, &err));
	CHECK_STR(spec.plan.tmpfs[spec.plan.tmpfs_count - 1].path, "/");
	CHECK_INT(spec.plan.tmpfs[spec.plan.tmpfs_count - 1].bytes, 16 * MIB);
	/* Each role has its own. */
	CHECK_OK(compose_build(&policy, &task.build, &spec, &err));
	CHECK_INT(spec.plan.root, PLAN_ROOT_HOST);
	policy.worker.image = "other";
	CHECK_OK(compose_worker(&policy, "a.so", "f", 0, &spec, &err));
	CHECK_STR(spec.plan.image, "other");
	CHECK_STR(spec.plan.content, "");
	policy.worker.content = DIGEST;
	CHECK_OK(compose_worker(&policy, "a.so", "f", 0, &spec, &err));
	CHECK_STR(spec.plan.content, DIGEST);
}

TEST(what_an_agent_is_given_lies_in_a_tmpfs_that_holds_it_and_no_more)
{
	static const char *const argv[] = { "/bin/true", NULL };
	const struct stream_counts given = { .folders = 3, .files = 4, .bytes = 1000000 };
	const char *args[4], *env[16];
	uint64_t memory;

	load();
	CHECK_OK(compose_agent(&policy, &task.limits, NULL, argv, &spec, &err));
	memory = spec.cgroup.memory;
	CHECK_OK(compose_agent(&policy, &task.limits, &given, argv, &spec, &err));
	CHECK_INT(spec.tree_count, 3);
	CHECK_STR(spec.trees[2].path, COMPOSE_TASK);
	CHECK_STR(spec.plan.tmpfs[4].path, COMPOSE_TASK);
	/* Each file and folder may take a page more than its bytes. */
	CHECK(spec.plan.tmpfs[4].bytes >= 1000000 + 7 * 4096);
	CHECK(spec.plan.tmpfs[4].bytes < 1000000 + 32 * 4096);
	CHECK(spec.plan.tmpfs[4].inodes >= 8 && spec.plan.tmpfs[4].inodes < 64);
	/* The agent's own memory is not what pays for it. */
	CHECK_INT(spec.cgroup.memory - memory,
		  spec.plan.tmpfs[4].bytes + spec.plan.tmpfs[4].inodes * SPEC_INODE_MEMORY);
	spec_strings(&spec, args, env);
	CHECK_STR(env[0], "PATH=/run/task/bin:/usr/local/bin:/usr/bin:/bin");
	CHECK_OK(compose_build(&policy, &task.build, &spec, &err));
	spec_strings(&spec, (const char *[32]){ NULL }, env);
	CHECK_STR(env[0], "PATH=/usr/local/bin:/usr/bin:/bin");
}

TEST(what_a_policy_does_without_and_when_it_ends_a_jail_is_in_the_spec)
{
	static const char *const argv[] = { "/bin/true", NULL };

	load();
	CHECK_OK(compose_agent(&policy, &task.limits, NULL, argv, &spec, &err));
	CHECK_INT(spec.cgroup.accept, 0);
	CHECK_INT(spec.accept_landlock, 0);
	CHECK_INT(spec.ends_on_full, 0);
	CHECK_INT(spec.time.idle_ms, 0);
	policy.accept = 1U << ACCEPT_SWAP | 1U << ACCEPT_CPUS | 1U << ACCEPT_LANDLOCK;
	policy.agent.on_full = ON_FULL_END;
	policy.agent.idle_ms = policy.worker.idle_ms = 60000;
	CHECK_OK(compose_agent(&policy, &task.limits, NULL, argv, &spec, &err));
	CHECK_INT(spec.cgroup.accept,
		  CGROUP_BIT(CGROUP_LIMIT_SWAP) | CGROUP_BIT(CGROUP_LIMIT_CPUS));
	CHECK_INT(spec.accept_landlock, 1);
	CHECK_INT(spec.ends_on_full, 1);
	CHECK_INT(spec.time.idle_ms, 60000);
	CHECK_OK(compose_build(&policy, &task.build, &spec, &err));
	CHECK_INT(spec.ends_on_full, 0);
	/* A worker waits for the judge. */
	CHECK_OK(compose_worker(&policy, NULL, NULL, 3, &spec, &err));
	CHECK_INT(spec.time.idle_ms, 0);
	CHECK_INT(spec.accept_landlock, 1);
}

TEST(limits_of_processes_and_lists_of_calls_are_in_the_spec)
{
	static const char *const argv[] = { "/bin/true", NULL };

	load();
	CHECK_OK(compose_agent(&policy, &task.limits, NULL, argv, &spec, &err));
	CHECK_INT(spec.extra_calls, 0);
	CHECK_INT(spec.rlimits.stack, 0);
	policy.agent.syscalls = 1U << SYSCALLS_PROFILER;
	policy.agent.stack = MIB;
	policy.agent.memlock = 2 * MIB;
	policy.agent.file_size = 3 * MIB;
	policy.agent.msgqueue = 4 * MIB;
	policy.agent.sigpending = 5;
	CHECK_OK(compose_agent(&policy, &task.limits, NULL, argv, &spec, &err));
	CHECK_INT(spec.extra_calls, SECCOMP_BIT(SECCOMP_EXTRA_PROFILER));
	CHECK_INT(spec.rlimits.stack, MIB);
	CHECK_INT(spec.rlimits.memlock, 2 * MIB);
	CHECK_INT(spec.rlimits.file_size, 3 * MIB);
	CHECK_INT(spec.rlimits.msgqueue, 4 * MIB);
	CHECK_INT(spec.rlimits.sigpending, 5);
	CHECK_OK(compose_build(&policy, &task.build, &spec, &err));
	CHECK_INT(spec.extra_calls, 0);
}

TEST(variables_of_the_policy_are_beside_and_over_those_of_the_jail)
{
	static const struct policy_variable items[] = { { "HOME", "/work" },
							{ "OMP", "a b" },
							{ "PATHS", "x" } };
	static const char *const wanted[] = { "PATH=/usr/local/bin:/usr/bin:/bin",
					      "TMPDIR=/tmp",
					      "LANG=C.UTF-8",
					      "USER=agent",
					      "HOME=/work",
					      "OMP=a b",
					      "PATHS=x" };
	const char *args[32], *env[32];
	static char huge[SPEC_STRINGS_MAX + 1];
	const struct policy_variable too_long = { "A", huge };

	load();
	policy.build.environment = (struct policy_environment){ items, ARRAY_LEN(items) };
	CHECK_OK(compose_build(&policy, &task.build, &spec, &err));
	spec_strings(&spec, args, env);
	CHECK_INT(spec.command.envc, ARRAY_LEN(wanted));
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		CHECK_STR(env[i], wanted[i]);
	memset(huge, 'x', SPEC_STRINGS_MAX);
	policy.build.environment = (struct policy_environment){ &too_long, 1 };
	CHECK_INT(compose_build(&policy, &task.build, &spec, &err), -1);
	CHECK(strstr(err.text, "environment: the arguments and the environment are longer than"));
}

TEST(what_a_jail_gives_the_next_jail_can_hold)
{
	static const char *const argv[] = { "/bin/true", NULL };

	load();
	CHECK_OK(compose_agent(&policy, &task.limits, NULL, argv, &spec, &err));
	CHECK_INT(spec.collect.limits.total, spec.plan.tmpfs[0].bytes);
	CHECK(compose_candidate_limits(&policy).total < policy.build.workspace.size);
	CHECK(compose_candidate_limits(&policy).entries < policy.build.workspace.inodes);
	CHECK_OK(compose_build(&policy, &task.build, &spec, &err));
	CHECK(spec.collect.limits.total < policy.worker.workspace.size);
	CHECK_STR(spec.plan.tmpfs[spec.collect.tmpfs].path, COMPOSE_OUT);
	CHECK_INT(spec.time.wall_ms, MIN_OF(policy.build.wall_ms, task.build.wall_ms));
}

TEST(services_are_the_agents_alone_and_the_launcher_learns_their_ports)
{
	static const char text[] = "schema: 1\nname: mine\nservices:\n"
				   "  - {name: a, listen: 8080, connect: '127.0.0.1:9000'}\n"
				   "  - {name: b, listen: 81, connect: 'unix:/run/b'}\n";
	static const char *const argv[] = { "/bin/true", NULL };
	cleanup(policy_done) struct policy mine = policy_default();

	CHECK_OK(policy_parse("p.yaml", text, strlen(text), &mine, &err));
	CHECK_OK(compose_agent(&mine, NULL, NULL, argv, &spec, &err));
	CHECK_INT(spec.net.count, 2);
	CHECK_INT(spec.net.ports[0], 8080);
	CHECK_INT(spec.net.ports[1], 81);
	CHECK_OK(compose_worker(&mine, "l.so", "entry", 0, &spec, &err));
	CHECK_INT(spec.net.count, 0);
}

TEST(a_worker_is_confined_to_one_cpu_and_can_be_frozen)
{
	const char *args[4], *env[16];

	load();
	CHECK_OK(compose_worker(&policy, "softmax.so", "row_softmax", 3, &spec, &err));
	CHECK_STR(spec.cgroup.cpus, "3");
	CHECK_INT(spec.freezable, 1);
	CHECK_INT(spec.pass_count, 3);
	CHECK_INT(spec.time.grace_ms, 0);
	spec_strings(&spec, args, env);
	CHECK_STR(args[1], "/work/softmax.so");
	CHECK_STR(args[2], "row_softmax");
	CHECK_OK(compose_worker(&policy, NULL, NULL, 3, &spec, &err));
	CHECK_INT(spec.command.argc, 1);
	CHECK_INT(spec.tree_count, 0);
}

TEST(an_agent_of_a_task_without_limits_has_the_policys)
{
	static const char *const argv[] = { "/bin/true", NULL };

	policy = policy_default();
	CHECK_OK(compose_agent(&policy, NULL, NULL, argv, &spec, &err));
	CHECK_INT(spec.time.wall_ms, policy.agent.wall_ms);
	CHECK_INT(spec.cgroup.pids, policy.agent.pids);
	CHECK_INT(spec.plan.tmpfs[0].bytes, policy.agent.workspace.size);
	CHECK_INT(spec.plan.tmpfs[0].inodes, policy.agent.workspace.inodes);
}

TEST(an_evaluator_runs_one_command_over_a_workspace_that_is_collected)
{
	static const char *const argv[] = { "/bin/sh", "-c", "make && ./run", NULL };
	const char *args[4], *env[16];

	policy = policy_default();
	policy.evaluator.image = "rocm";
	policy.evaluator.gpus = 2;
	policy.evaluator.pids = 99;
	CHECK_OK(compose_evaluator(&policy, 1800000, argv, NULL, &spec, &err));
	CHECK_STR(spec.name, "evaluator");
	CHECK_STR(spec.command.folder, COMPOSE_WORK);
	CHECK_INT(spec.tree_count, 1);
	CHECK_STR(spec.trees[0].path, COMPOSE_WORK);
	CHECK_INT(spec.trees[0].limits.total, policy.evaluator.workspace.size);
	CHECK_INT(spec.collect.wanted, 1);
	CHECK_STR(spec.plan.tmpfs[spec.collect.tmpfs].path, COMPOSE_WORK);
	CHECK_INT(spec.collect.limits.total, policy.evaluator.workspace.size);
	CHECK_INT(spec.collect.limits.entries, policy.evaluator.workspace.inodes);
	CHECK_STR(spec.plan.image, "rocm");
	CHECK_INT(spec.cgroup.pids, 99);
	CHECK_INT(spec.cgroup.memory, policy.evaluator.memory);
	CHECK_INT(spec.gpu_count, 2);
	CHECK_STR(spec.gpus[1].name, SPEC_ANY_GPU);
	CHECK_INT(spec.net.count, 0);
	CHECK_INT(spec.freezable, 0);
	CHECK_INT(spec.pass_count, 0);
	spec_strings(&spec, args, env);
	CHECK_INT(spec.command.argc, 3);
	CHECK_STR(args[2], "make && ./run");
}

TEST(a_command_of_an_evaluator_has_the_tighter_of_both_walls)
{
	static const char *const argv[] = { "/bin/true", NULL };

	policy = policy_default();
	CHECK_OK(compose_evaluator(&policy, 1800000, argv, NULL, &spec, &err));
	CHECK_INT(spec.time.wall_ms, 1800000);
	CHECK_OK(compose_evaluator(&policy, 7200000, argv, NULL, &spec, &err));
	CHECK_INT(spec.time.wall_ms, policy.evaluator.wall_ms);
	CHECK_OK(compose_evaluator(&policy, 0, argv, NULL, &spec, &err));
	CHECK_INT(spec.time.wall_ms, policy.evaluator.wall_ms);
}

TEST(variables_of_a_command_are_over_those_of_the_jail_and_under_the_policys)
{
	static const struct policy_variable items[] = { { "HOME", "/work" }, { "ARCH", "gfx950" } };
	static const char *const argv[] = { "/bin/true", NULL };
	static const char *const own[] = { "ARCH=gfx942", "LANG=C", "PATHS=x", NULL };
	static const char *const wanted[] = { "PATH=/usr/local/bin:/usr/bin:/bin",
					      "TMPDIR=/tmp",
					      "USER=agent",
					      "PYTHONDONTWRITEBYTECODE=1",
					      "PYTHONNOUSERSITE=1",
					      "TRITON_CACHE_DIR=/tmp/triton",
					      "TORCH_EXTENSIONS_DIR=/tmp/torch-extensions",
					      "XDG_CACHE_HOME=/tmp/cache",
					      "MPLCONFIGDIR=/tmp/matplotlib",
					      "LANG=C",
					      "PATHS=x",
					      "HOME=/work",
					      "ARCH=gfx950" };
	static char huge[SPEC_STRINGS_MAX + 1];
	const char *const too_long[] = { huge, NULL };
	const char *args[4], *env[32];

	policy = policy_default();
	CHECK_OK(compose_evaluator(&policy, 0, argv, NULL, &spec, &err));
	CHECK_INT(spec.command.envc, 11);
	policy.evaluator.environment = (struct policy_environment){ items, ARRAY_LEN(items) };
	CHECK_OK(compose_evaluator(&policy, 0, argv, own, &spec, &err));
	spec_strings(&spec, args, env);
	CHECK_INT(spec.command.envc, ARRAY_LEN(wanted));
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		CHECK_STR(env[i], wanted[i]);
	memset(huge, 'x', SPEC_STRINGS_MAX);
	CHECK_INT(compose_evaluator(&policy, 0, argv, too_long, &spec, &err), -1);
	CHECK(strstr(err.text, "environment: the arguments and the environment are longer than"));
}

static int take_gpus(const char *const *names, size_t count)
{
	static const char *const argv[] = { "/bin/true", NULL };

	CHECK_OK(compose_evaluator(&policy, 0, argv, NULL, &spec, &err));
	return compose_gpus(&spec, names, count, &err);
}

TEST(a_jail_of_a_seat_has_the_seats_own_gpus)
{
	static const char *const names[] = { "gpu3", "0000:c1:00.0" };

	policy = policy_default();
	CHECK_OK(take_gpus(names, 2)); /* it wants none */
	CHECK_INT(spec.gpu_count, 0);
	policy.evaluator.gpus = 1;
	CHECK_OK(take_gpus(names, 2));
	CHECK_INT(spec.gpu_count, 1);
	CHECK_STR(spec.gpus[0].name, "gpu3");
	CHECK_OK(take_gpus(NULL, 0));
	CHECK_STR(spec.gpus[0].name, SPEC_ANY_GPU);
	policy.evaluator.gpus = 2;
	CHECK_OK(take_gpus(names, 2));
	CHECK_STR(spec.gpus[0].name, "gpu3");
	CHECK_STR(spec.gpus[1].name, "0000:c1:00.0");
	CHECK_OK(compose_gpus(&spec, names + 1, 1, &err)); /* both are named */
	CHECK_STR(spec.gpus[0].name, "gpu3");
}

TEST(gpus_that_a_seat_can_not_give_are_refused)
{
	static const char *const twice[] = { "gpu3", "gpu3" }, *const bad[] = { "../gpu", "gpu3" };
	static const char *const long_name[] = { "gpu-0123456789012345678901234567890", "gpu3" };

	policy = policy_default();
	policy.evaluator.gpus = 2;
	CHECK_INT(take_gpus(twice, 1), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_STR(err.text, "jail 'evaluator': 2 GPUs are asked for, and its seat has 1: lower the "
			    "role's gpus in the policy, or give seats more");
	CHECK_INT(take_gpus(twice, 2), -1);
	CHECK(strstr(err.text, "the GPU 'gpu3' is asked for twice"));
	CHECK_INT(take_gpus(bad, 2), -1);
	CHECK(strstr(err.text, "a GPU has a name of 1 to 31 letters"));
	CHECK_INT(take_gpus(long_name, 2), -1);
	CHECK_STR(err.text, "a GPU's name of 35 bytes; 31 at most");
}

TEST(an_agent_or_evaluator_that_no_jail_can_be_made_of_is_found_before_any)
{
	policy = policy_default();
	CHECK_OK(compose_check_evaluator(&policy, &err));
	policy.worker.memory = 17 * MIB; /* it has none */
	CHECK_OK(compose_check_evaluator(&policy, &err));
	policy.evaluator.memory = 17 * MIB;
	CHECK_INT(compose_check_evaluator(&policy, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK(strstr(err.text, "the evaluator's jail under policy 'default': a memory limit of "));
	policy.agent.memory = 17 * MIB;
	CHECK_INT(compose_check_evaluator(&policy, &err), -1);
	CHECK(strstr(err.text, "the agent's jail under policy 'default': a memory limit of "));
}

TEST(limits_that_do_not_go_together_are_found_before_any_jail)
{
	load();
	CHECK_OK(compose_check(&policy, &task, &err));
	task.limits.memory = 17 * MIB;
	CHECK_INT(compose_check(&policy, &task, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK(strstr(err.text, "the agent's jail: the task's limits under policy 'default': a "
			       "memory limit of "));
	task.limits.memory = 0;
	policy.worker.memory = 17 * MIB;
	CHECK_INT(compose_check(&policy, &task, &err), -1);
	CHECK(strstr(err.text, "the worker under policy 'default': a memory limit of "));
}

/* What policy_parse() lets through is what a jail can be made of. */
TEST(the_smallest_and_the_largest_policy_make_jails)
{
	static const char head[] = "schema: 1\nname: p\n";
	static const char *const roles[] = {
		"%s: {wall: 1s, cpu: 1s, grace: 0, memory: 65MiB, pids: 16, cpus: 0.05, "
		"output: 4KiB, nofile: 32, workspace: {size: 64KiB, inodes: 16}, "
		"tmp: {size: 64KiB, inodes: 16}, shm: {size: 64KiB, inodes: 16}}\n",
		"%s: {wall: 168h, cpu: 10000h, grace: 1m, memory: 16TiB, pids: 32768, cpus: 4096, "
		"output: 1GiB, nofile: 1048576, workspace: {size: 1TiB, inodes: 10000000}, "
		"tmp: {size: 1TiB, inodes: 10000000}, shm: {size: 1TiB, inodes: 10000000}}\n",
	};

	load();
	task.limits = (struct task_limits){ .wall_ms = 0 };
	for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
		static const char *const names[] = { "agent", "build", "worker", "evaluator" };
		cleanup(str_done) struct str text = STR_INIT;

		str_addf(&text, "%s", head);
		for (size_t k = 0; k < ARRAY_LEN(names); k++)
			str_addf(&text, "%s%s", names[k], roles[i] + 2);
		CHECK_OK(policy_parse("p.yaml", text.text, text.len, &policy, &err));
		CHECK_OK(compose_check(&policy, &task, &err));
		CHECK_OK(compose_check_evaluator(&policy, &err));
		policy_done(&policy);
	}
}
