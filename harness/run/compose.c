/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/compose.h"

#include <stdio.h>
#include <string.h>

#include "sandbox/base/mem.h"

/* Collecting gigabytes takes seconds; nothing of the agent runs meanwhile. */
#define COLLECT_MS (10 * 60 * 1000)

/* What a build may leave: libraries and logs. */
#define BUILD_OUT_BYTES  (256 * MIB)
#define BUILD_OUT_INODES 4096

_Static_assert((int) POLICY_GPUS_MAX <= (int) SPEC_GPUS_MAX, "a spec has room for a policy's GPUs");

#define SYSTEM_PATH "/usr/local/bin:/usr/bin:/bin"

const char *const compose_environment[] = {
	/* NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one text of two parts */
	"PATH=" SYSTEM_PATH, "HOME=/tmp", "TMPDIR=/tmp", "LANG=C.UTF-8", "USER=agent", NULL,
};
/* Caches are the jail's own, and empty when it begins. */
static const char *const evaluator_environment[] = {
	/* NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one text of two parts */
	"PATH=" SYSTEM_PATH,
	"HOME=/tmp",
	"TMPDIR=/tmp",
	"LANG=C.UTF-8",
	"USER=agent",
	"PYTHONDONTWRITEBYTECODE=1",
	"PYTHONNOUSERSITE=1",
	"TRITON_CACHE_DIR=/tmp/triton",
	"TORCH_EXTENSIONS_DIR=/tmp/torch-extensions",
	"XDG_CACHE_HOME=/tmp/cache",
	"MPLCONFIGDIR=/tmp/matplotlib",
	NULL,
};
static const char *const agent_environment[] = {
	/* NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one text of three parts */
	"PATH=" COMPOSE_TASK "/bin:" SYSTEM_PATH,
	"HOME=/tmp",
	"TMPDIR=/tmp",
	"LANG=C.UTF-8",
	"USER=agent",
	NULL,
};

/* 0 means that the task does not ask. */
static uint64_t tighter(uint64_t policy, uint64_t task)
{
	return task != 0 && task < policy ? task : policy;
}

/* What the operator does without where the host can not enforce it. */
static void take_accepted(const struct policy *policy, struct jail_spec *spec)
{
	static const uint32_t limits[] = {
		[ACCEPT_MEMORY] = CGROUP_LIMIT_MEMORY,
		[ACCEPT_SWAP] = CGROUP_LIMIT_SWAP,
		[ACCEPT_PIDS] = CGROUP_LIMIT_PIDS,
		[ACCEPT_CPUS] = CGROUP_LIMIT_CPUS,
	};

	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		if (policy_accepts(policy, (enum policy_accept) i))
			spec->cgroup.accept |= CGROUP_BIT(limits[i]);
	spec->accept_landlock = policy_accepts(policy, ACCEPT_LANDLOCK);
}

/* Which ones is for the launcher to say: it knows those that are free. */
static void add_gpus(const struct policy_role *role, struct jail_spec *spec)
{
	struct err none = ERR_INIT;

	for (uint64_t i = 0; i < role->gpus; i++)
		best_effort(spec_add_gpu(spec, SPEC_ANY_GPU, &none)); /* there is room: policy.c */
}

void compose_role(const struct policy *policy, const struct policy_role *role,
		  struct jail_spec *spec)
{
	take_accepted(policy, spec);
	spec->time.wall_ms = role->wall_ms;
	spec->time.cpu_ms = role->cpu_ms;
	spec->time.idle_ms = role->idle_ms;
	spec->time.grace_ms = role->grace_ms;
	spec->cgroup.memory = role->memory;
	spec->cgroup.pids = role->pids;
	spec->cgroup.cpu_milli = role->cpus_milli;
	spec->rlimits.files = role->nofile;
	spec->rlimits.stack = role->stack;
	spec->rlimits.memlock = role->memlock;
	spec->rlimits.file_size = role->file_size;
	spec->rlimits.msgqueue = role->msgqueue;
	spec->rlimits.sigpending = role->sigpending;
	if (role->syscalls >> SYSCALLS_PROFILER & 1)
		spec->extra_calls |= SECCOMP_BIT(SECCOMP_EXTRA_PROFILER);
	add_gpus(role, spec);
	spec->plan.tmpfs[0].bytes = role->workspace.size;
	spec->plan.tmpfs[0].inodes = role->workspace.inodes;
	spec->plan.tmpfs[1].bytes = role->tmp.size;
	spec->plan.tmpfs[1].inodes = role->tmp.inodes;
	spec->plan.tmpfs[2].bytes = role->shm.size;
	spec->plan.tmpfs[2].inodes = role->shm.inodes;
	spec->ends_on_full = role->on_full == ON_FULL_END;
}

static struct stream_limits limits_of(const struct tmpfs_slice *tmpfs)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;

	/* What fits into the tmpfs fits into its stream, but for sparse files. */
	limits.total = MIN_OF(tmpfs->bytes, STREAM_BYTES_MAX);
	limits.file = limits.total;
	limits.entries = (uint32_t) MIN_OF(tmpfs->inodes, (uint64_t) STREAM_ENTRIES_MAX);
	return limits;
}

static void add_tree(struct jail_spec *spec, const char *path, uint32_t tmpfs)
{
	struct tree_slice *tree = &spec->trees[spec->tree_count++];

	snprintf(tree->path, sizeof(tree->path), "%s", path);
	tree->limits = limits_of(&spec->plan.tmpfs[tmpfs]);
}

static void collect_tmpfs(struct jail_spec *spec, uint32_t tmpfs)
{
	spec->collect.wanted = 1;
	spec->collect.tmpfs = tmpfs;
	spec->collect.wall_ms = COLLECT_MS;
	spec->collect.limits = limits_of(&spec->plan.tmpfs[tmpfs]);
}

/* Half of what the next jail's tmpfs holds: whole pages and the pristine files take room too. */
static void bound(struct stream_limits *limits, const struct policy_tmpfs *next)
{
	limits->total = MIN_OF(limits->total, next->size / 2);
	limits->file = limits->total;
	limits->entries = (uint32_t) MIN_OF((uint64_t) limits->entries, next->inodes / 2);
}

/* The variables of a jail, those further down over those above them; NULL is behind the last. */
struct variables {
	const char *const *base; /* what a jail of this role has anyhow */
	const char *const *own;  /* what this one needs; NULL: nothing */
};

static bool is_set(const struct policy_environment *environment, const char *entry)
{
	const size_t len = strcspn(entry, "=");

	for (size_t i = 0; i < environment->count; i++)
		if (strlen(environment->items[i].name) == len &&
		    strncmp(environment->items[i].name, entry, len) == 0)
			return true;
	return false;
}

static bool is_among(const char *const *entries, const char *entry)
{
	const size_t len = strcspn(entry, "=");

	for (size_t i = 0; entries && entries[i]; i++)
		if (strcspn(entries[i], "=") == len && strncmp(entries[i], entry, len) == 0)
			return true;
	return false;
}

/* Those of the policy are beside or over all others. */
static int add_environment(struct jail_spec *spec, const struct variables *variables,
			   const struct policy_environment *more, struct err *err)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	const char *const *base = variables->base, *const *own = variables->own;

	for (size_t i = 0; base[i]; i++)
		if (!is_set(more, base[i]) && !is_among(own, base[i]) &&
		    spec_add_env(spec, base[i], err) < 0)
			return err_wrap(err, "environment");
	for (size_t i = 0; own && own[i]; i++)
		if (!is_set(more, own[i]) && spec_add_env(spec, own[i], err) < 0)
			return err_wrap(err, "environment");
	for (size_t i = 0; i < more->count; i++) {
		const struct policy_variable *item = &more->items[i];

		if (spec_add_env(spec, arena_printf(&arena, "%s=%s", item->name, item->value),
				 err) < 0)
			return err_wrap(err, "environment");
	}
	return 0;
}

void compose_image(const struct policy_role *role, struct jail_spec *spec)
{
	if (strcmp(role->image, POLICY_IMAGE_HOST) == 0)
		return;
	spec->plan.root = PLAN_ROOT_IMAGE;
	snprintf(spec->plan.image, sizeof(spec->plan.image), "%s", role->image);
	if (role->content)
		snprintf(spec->plan.content, sizeof(spec->plan.content), "%s", role->content);
	if (role->changes.size > 0)
		spec_add_tmpfs(spec, "/", role->changes.size, role->changes.inodes);
}

/*
 * The root, the command and its environment, which the spec wants last, and the check of it all.
 */
static int finish(struct jail_spec *spec, const char *const *argv,
		  const struct variables *variables, const struct policy_role *role,
		  struct err *err)
{
	compose_image(role, spec);
	for (size_t i = 0; argv[i]; i++)
		if (spec_add_arg(spec, argv[i], err) < 0)
			return -1;
	if (add_environment(spec, variables, &role->environment, err) < 0)
		return -1;
	return spec_check(spec, err);
}

/* One more tmpfs, and the memory that it can fill. */
static uint32_t add_tmpfs(struct jail_spec *spec, const char *path, uint64_t bytes, uint64_t inodes)
{
	spec->cgroup.memory += bytes + inodes * SPEC_INODE_MEMORY;
	return spec_add_tmpfs(spec, path, bytes, inodes);
}

struct stream_limits compose_candidate_limits(const struct policy *policy)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;

	limits.total = STREAM_BYTES_MAX;
	bound(&limits, &policy->build.workspace);
	return limits;
}

struct stream_limits compose_evaluator_limits(const struct policy *policy)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;

	limits.total = STREAM_BYTES_MAX;
	bound(&limits, &policy->evaluator.workspace);
	return limits;
}

struct stream_limits compose_workspace_limits(const struct policy *policy)
{
	struct stream_limits limits = compose_evaluator_limits(policy);

	bound(&limits, &policy->agent.workspace);
	return limits;
}

/* A library that a worker's jail can not hold was not built. */
struct stream_limits compose_product_limits(const struct policy *policy)
{
	const struct tmpfs_slice out = { .bytes = BUILD_OUT_BYTES, .inodes = BUILD_OUT_INODES };
	struct stream_limits limits = limits_of(&out);

	bound(&limits, &policy->worker.workspace);
	return limits;
}

/* As large as what is given: whole pages, and room for nothing else. */
static void add_given(struct jail_spec *spec, const struct stream_counts *given)
{
	const uint64_t page = 4 * KIB, inodes = given->files + given->folders + 16;
	const uint64_t bytes = (given->bytes + page - 1) / page * page + inodes * page;

	add_tree(spec, COMPOSE_TASK, add_tmpfs(spec, COMPOSE_TASK, bytes, inodes));
}

/* The launcher is told where to listen, and not what it leads to. */
static void add_services(struct jail_spec *spec, const struct services *services)
{
	for (size_t i = 0; i < services->count; i++)
		spec->net.ports[spec->net.count++] = (uint32_t) services->items[i].listen;
}

static void tighten(struct policy_role *role, const struct task_limits *limits)
{
	role->wall_ms = tighter(role->wall_ms, limits->wall_ms);
	role->memory = tighter(role->memory, limits->memory);
	role->pids = tighter(role->pids, limits->pids);
	role->workspace.size = tighter(role->workspace.size, limits->workspace);
	role->workspace.inodes = tighter(role->workspace.inodes, limits->inodes);
}

int compose_agent(const struct policy *policy, const struct task_limits *limits,
		  const struct stream_counts *given, const char *const *argv, struct jail_spec *out,
		  struct err *err)
{
	static const struct variables variables = { .base = agent_environment };
	struct policy_role role = policy->agent;

	if (limits)
		tighten(&role, limits);
	spec_init(out, "agent");
	compose_role(policy, &role, out);
	add_tree(out, COMPOSE_WORK, 0);
	add_tree(out, COMPOSE_AGENT, add_tmpfs(out, COMPOSE_AGENT, 16 * MIB, 4096));
	if (given)
		add_given(out, given);
	add_services(out, &policy->services);
	collect_tmpfs(out, 0);
	return finish(out, argv, &variables, &policy->agent, err);
}

int compose_build(const struct policy *policy, const struct task_build *build,
		  struct jail_spec *out, struct err *err)
{
	static const struct variables variables = { .base = compose_environment };
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	const char *const *argv = task_build_argv(build, COMPOSE_OUT, &arena);

	spec_init(out, "build");
	compose_role(policy, &policy->build, out);
	out->time.wall_ms = tighter(policy->build.wall_ms, build->wall_ms);
	add_tree(out, COMPOSE_WORK, 0);
	collect_tmpfs(out, add_tmpfs(out, COMPOSE_OUT, BUILD_OUT_BYTES, BUILD_OUT_INODES));
	out->collect.limits = compose_product_limits(policy);
	return finish(out, argv, &variables, &policy->build, err);
}

int compose_worker(const struct policy *policy, const char *library, const char *symbol,
		   uint32_t cpu, struct jail_spec *out, struct err *err)
{
	static const struct variables variables = { .base = compose_environment };
	char path[512];
	const char *argv[] = { "proctor-worker", library ? path : NULL, symbol, NULL };

	spec_init(out, "worker");
	compose_role(policy, &policy->worker, out);
	out->time.grace_ms = 0; /* what a worker still had to say does not matter */
	out->time.idle_ms = 0;  /* it waits for the judge, held for most of the time */
	snprintf(out->cgroup.cpus, sizeof(out->cgroup.cpus), "%u", cpu);
	out->has_program = 1;
	out->freezable = 1;
	out->pass_count = 3;
	if (library) {
		add_tree(out, COMPOSE_WORK, 0);
		snprintf(path, sizeof(path), COMPOSE_WORK "/%s", library);
	}
	return finish(out, argv, &variables, &policy->worker, err);
}

int compose_evaluator(const struct policy *policy, uint64_t wall_ms, const char *const *argv,
		      const char *const *environment, struct jail_spec *out, struct err *err)
{
	const struct variables variables = { evaluator_environment, environment };

	spec_init(out, "evaluator");
	compose_role(policy, &policy->evaluator, out);
	out->time.wall_ms = tighter(policy->evaluator.wall_ms, wall_ms);
	add_tree(out, COMPOSE_WORK, 0);
	collect_tmpfs(out, 0);
	return finish(out, argv, &variables, &policy->evaluator, err);
}

int compose_gpus(struct jail_spec *spec, const char *const *names, size_t count, struct err *err)
{
	size_t used = 0;

	if (count == 0)
		return 0;
	for (size_t i = 0; i < spec->gpu_count; i++) {
		struct device_name *gpu = &spec->gpus[i];

		if (strcmp(gpu->name, SPEC_ANY_GPU) != 0)
			continue;
		if (used == count)
			return err_set(err, ERR_INPUT,
				       "jail '%s': %u GPUs are asked for, and its seat has %zu: "
				       "lower the role's gpus in the policy, or give seats more",
				       spec->name, spec->gpu_count, count);
		if (strlen(names[used]) >= sizeof(gpu->name))
			return err_set(err, ERR_INPUT, "a GPU's name of %zu bytes; %zu at most",
				       strlen(names[used]), sizeof(gpu->name) - 1);
		snprintf(gpu->name, sizeof(gpu->name), "%s", names[used++]);
	}
	return spec_check(spec, err);
}

int compose_check(const struct policy *policy, const struct task *task, struct err *err)
{
	static const char *const agent[] = { "/bin/true", NULL };
	cleanup(mem_free) struct jail_spec *spec = mem_alloc(1, sizeof(*spec));
	const struct {
		const char *name;
		const struct task_build *build;
	} builds[] = {
		{ "the candidate's build", &task->build },
		{ "the baseline's build", &task->baseline },
		{ "the oracle's build", &task->oracle.build },
	};

	if (compose_agent(policy, &task->limits, NULL, agent, spec, err) < 0)
		return err_wrap(err, "the agent's jail: the task's limits under policy '%s'",
				policy->name);
	for (size_t i = 0; i < ARRAY_LEN(builds); i++)
		if (compose_build(policy, builds[i].build, spec, err) < 0)
			return err_wrap(err, "%s under policy '%s'", builds[i].name, policy->name);
	if (compose_worker(policy, task->build.out.items[0], task->entry.symbol, 0, spec, err) < 0)
		return err_wrap(err, "the worker under policy '%s'", policy->name);
	return 0;
}

int compose_check_evaluator(const struct policy *policy, struct err *err)
{
	static const char *const argv[] = { "/bin/true", NULL };
	cleanup(mem_free) struct jail_spec *spec = mem_alloc(1, sizeof(*spec));

	if (compose_agent(policy, NULL, NULL, argv, spec, err) < 0)
		return err_wrap(err, "the agent's jail under policy '%s'", policy->name);
	if (compose_evaluator(policy, 0, argv, NULL, spec, err) < 0)
		return err_wrap(err, "the evaluator's jail under policy '%s'", policy->name);
	return 0;
}
