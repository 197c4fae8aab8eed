/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/config/policy_diff.h"
#include "harness/evidence/manifest.h"
#include "harness/evidence/tree.h"
#include "harness/run/agent.h"
#include "harness/run/build.h"
#include "harness/run/compose.h"
#include "harness/run/given.h"
#include "harness/run/prepare_aka.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/path.h"

/* What is there, each with all before it. */
enum { PREPARED_POLICY = 1, PREPARED_TASKS, PREPARED_AGENTS };

/* One task on its way into the run's folder. */
struct job {
	struct run *run;
	const struct run_plan *plan;
	size_t index;
	int from_fd;   /* borrowed: the task's folder */
	int folder_fd; /* its folder in the run */
	struct task task;
	struct planned_task *planned;
};

static void job_done(struct job *job)
{
	task_done(&job->task);
	fd_close(&job->folder_fd);
}

static int new_file(int folder_fd, const char *name, struct err *err)
{
	int fd = openat(folder_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return err_sys(err, "create '%s'", name);
	return fd;
}

static int make_folder(int folder_fd, const char *name, struct err *err)
{
	if (mkdirat(folder_fd, name, 0755) < 0)
		return err_sys(err, "create folder '%s'", name);
	return 0;
}

static int sync_it(int fd, const char *what, struct err *err)
{
	if (fsync(fd) < 0)
		return err_sys(err, "sync '%s'", what);
	return 0;
}

static int sync_folder(int folder_fd, const char *name, struct err *err)
{
	auto_fd folder = path_open_folder(folder_fd, name, err);

	return folder < 0 ? -1 : sync_it(folder, name, err);
}

/* --- the policy --- */

static int prepare_policy(struct run *run, const struct run_plan *plan, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;

	if (policy_file_read(&plan->policy, &run->policy, &text, err) < 0)
		return -1;
	run->weaker = policy_weaker(&run->policy, &run->arena, &run->weaker_count);
	run->planned.policy = digest_sha256(text.text, text.len);
	if (io_replace_file(run->place->folder_fd, PLANNED_POLICY, text.text, text.len, 0644, err) <
	    0)
		return -1;
	run->prepared = PREPARED_POLICY;
	return 0;
}

/* --- a task --- */

static int open_task_folder(struct job *job, struct err *err)
{
	char path[PLANNED_PATH_MAX];

	snprintf(path, sizeof(path), "tasks/%s", job->task.name);
	if (make_folder(job->run->place->folder_fd, path, err) < 0) {
		if (err->sys == EEXIST)
			return err_set(err, ERR_INPUT, "a task of this name is given twice");
		return -1;
	}
	job->folder_fd = path_open_folder(job->run->place->folder_fd, path, err);
	return job->folder_fd < 0 ? -1 : 0;
}

static int hash_task(const struct job *job, struct digest *out, struct err *err)
{
	cleanup(manifest_done) struct manifest manifest = MANIFEST_INIT;
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	struct stream_counts counts;
	auto_fd tree = memfd_create("proctor-task", MFD_CLOEXEC);

	if (tree < 0)
		return err_sys(err, "create a memfd");
	if (tree_pack(job->from_fd, &limits, tree, &counts, err) < 0)
		return -1;
	if (lseek(tree, 0, SEEK_SET) < 0)
		return err_sys(err, "rewind a tree");
	if (manifest_read(tree, &limits, &manifest, err) < 0)
		return -1;
	*out = manifest.root;
	return 0;
}

static int copy_text(const struct job *job, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;

	if (io_read_file(job->from_fd, "task.yaml", STR_MAX - 1, &text, err) < 0)
		return -1;
	return io_replace_file(job->folder_fd, "task.yaml", text.text, text.len, 0644, err);
}

/* Packs a folder of the task. Return: the tree. */
static int pack(const struct job *job, const char *folder, const char *name, struct err *err)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	struct stream_counts counts;
	auto_fd from = path_open_folder(job->from_fd, folder, err);
	auto_fd to = -1;

	if (from < 0)
		return -1;
	to = new_file(job->folder_fd, name, err);
	if (to < 0 || tree_pack(from, &limits, to, &counts, err) < 0 || sync_it(to, name, err) < 0)
		return -1;
	return fd_take(&to);
}

/* The author's own code has to build; where it does not, its author has to know why. */
static int build_own(const struct job *job, const struct task_build *build, int tree_fd,
		     const char *name, struct digest *root, struct err *err)
{
	char file[64];
	struct build_result result;
	struct build_job what = {
		.run = job->run,
		.build = build,
		.tree_fd = tree_fd,
		.folder_fd = job->folder_fd,
		.name = name,
	};
	auto_fd products = -1;

	snprintf(file, sizeof(file), "%s.tree", name);
	products = new_file(job->folder_fd, file, err);
	if (products < 0)
		return -1;
	what.products_fd = products;
	if (build_tree(&what, &result, err) < 0)
		return err_wrap(err, "%s", name);
	if (!result.is_built) {
		job->run->build_failed = true;
		return err_set(err, ERR_INPUT,
			       "%s: %s; its output is in tasks/%s/%s.stderr of the run's folder",
			       name, result.why, job->task.name, name);
	}
	*root = result.digest;
	return sync_it(products, file, err);
}

static int build_both(const struct job *job, struct err *err)
{
	auto_fd workspace = pack(job, "workspace", "pristine.tree", err);
	auto_fd evaluate = -1;
	struct digest oracle;

	if (workspace < 0)
		return -1;
	evaluate = pack(job, "evaluate", "evaluate.tree", err);
	if (evaluate < 0)
		return -1;
	if (build_own(job, &job->task.baseline, workspace, "baseline", &job->planned->built, err) <
	    0)
		return -1;
	return build_own(job, &job->task.oracle.build, evaluate, "oracle", &oracle, err);
}

static int pack_given(const struct job *job, struct err *err)
{
	const struct given what = {
		.task_fd = job->from_fd,
		.trees_fd = job->folder_fd,
		.programs = job->run->place->programs,
		.policy = &job->run->policy,
	};
	auto_fd tree = new_file(job->folder_fd, GIVEN_FILE, err);

	return tree < 0 ? -1 : given_pack(&what, tree, err);
}

/* What each agent brings along for this task. */
static int pack_agents(const struct job *job, struct err *err)
{
	const struct run_plan *plan = job->plan;
	int run_fd = job->run->place->folder_fd;
	char path[PLANNED_PATH_MAX];

	for (size_t i = 0; i < plan->agent_count; i++) {
		const struct run_agent *agent = &plan->agents[i];
		auto_fd tree = -1;

		planned_path(&job->run->planned, job->index, i, path);
		if (agent->solution) {
			tree = new_file(run_fd, path, err);
			if (tree < 0 ||
			    agent_pack_solution(job->from_fd, agent->solution, tree, err) < 0 ||
			    sync_it(tree, path, err) < 0)
				return err_wrap(err, "%s%sagent '%s'",
						agent->where ? agent->where : "",
						agent->where ? ": " : "", agent->name);
		}
		if (planned_digest_file(run_fd, path, &job->planned->agents[i], err) < 0)
			return -1;
	}
	return 0;
}

int prepare_digest_files(int folder_fd, enum planned_kind kind, struct planned_task *planned,
			 struct err *err)
{
	for (size_t i = 0; i < PLANNED_FILES; i++) {
		const char *name = planned_file_name(kind, (enum planned_file) i);

		if (name && planned_digest_file(folder_fd, name, &planned->files[i], err) < 0)
			return -1;
	}
	return 0;
}

static int digest_files(const struct job *job, struct err *err)
{
	return prepare_digest_files(job->folder_fd, PLANNED_NATIVE, job->planned, err);
}

static int prepare_task(struct job *job, struct err *err)
{
	struct planned *planned = &job->run->planned;
	char status[256];

	if (task_load(job->from_fd, &job->task, err) < 0 ||
	    compose_check(&job->run->policy, &job->task, err) < 0)
		return -1;
	job->planned->name = arena_copy(&planned->arena, job->task.name, strlen(job->task.name));
	job->planned->folder = job->planned->name;
	job->planned->agents =
		arena_alloc(&planned->arena, planned->agent_count, sizeof(struct digest));
	snprintf(status, sizeof(status), "%s: baseline and oracle", job->task.name);
	progress_say(job->run->progress, status, clock_now());
	if (open_task_folder(job, err) < 0 || pack_agents(job, err) < 0 ||
	    hash_task(job, &job->planned->tree, err) < 0 || copy_text(job, err) < 0 ||
	    build_both(job, err) < 0 || pack_given(job, err) < 0 ||
	    sync_it(job->folder_fd, job->task.name, err) < 0)
		return -1;
	return digest_files(job, err);
}

/* --- all of it --- */

static int pack_programs(struct run *run, const struct run_plan *plan, struct err *err)
{
	char path[PLANNED_PATH_MAX];

	if (make_folder(run->place->folder_fd, "agents", err) < 0)
		return -1;
	run->prepared = PREPARED_AGENTS;
	for (size_t i = 0; i < plan->agent_count; i++) {
		auto_fd tree = -1;

		if (plan->agents[i].solution)
			continue;
		snprintf(path, sizeof(path), "agents/%zu.tree", i + 1);
		tree = new_file(run->place->folder_fd, path, err);
		if (tree < 0 || agent_pack_program(plan->agents[i].program_fd, tree, err) < 0 ||
		    sync_it(tree, path, err) < 0)
			return err_wrap(err, "agent '%s'", plan->agents[i].name);
	}
	return sync_folder(run->place->folder_fd, "agents", err);
}

static void take_labels(struct planned *planned, const struct run_plan *plan)
{
	struct arena *arena = &planned->arena;

	planned->label_count = plan->label_count;
	planned->labels = arena_alloc(arena, plan->label_count + 1, sizeof(*planned->labels));
	for (size_t i = 0; i < plan->label_count; i++)
		planned->labels[i] = (struct planned_label){
			arena_copy(arena, plan->labels[i].key, strlen(plan->labels[i].key)),
			arena_copy(arena, plan->labels[i].value, strlen(plan->labels[i].value)),
		};
}

static void take_gpus(struct planned *planned, const struct run_plan *plan)
{
	const char **gpus = arena_alloc(&planned->arena, plan->gpu_count + 1, sizeof(*gpus));

	for (size_t i = 0; i < plan->gpu_count; i++)
		gpus[i] = arena_copy(&planned->arena, plan->gpus[i], strlen(plan->gpus[i]));
	planned->gpus = gpus;
	planned->gpu_count = plan->gpu_count;
}

static void take_plan(struct planned *planned, const struct run_plan *plan,
		      const struct policy *policy)
{
	struct arena *arena = &planned->arena;

	planned->run = arena_copy(arena, plan->id, strlen(plan->id));
	planned->agent_count = plan->agent_count;
	planned->repeats = plan->repeats;
	planned->retries =
		(uint32_t) (plan->retries < 0 ? (int64_t) policy->retries : plan->retries);
	planned->seats = plan->seats;
	planned->name = plan->name ? arena_copy(arena, plan->name, strlen(plan->name)) : NULL;
	take_labels(planned, plan);
	take_gpus(planned, plan);
	planned->agents = arena_alloc(arena, plan->agent_count, sizeof(*planned->agents));
	for (size_t i = 0; i < plan->agent_count; i++)
		planned->agents[i] = (struct planned_agent){
			.name = arena_copy(arena, plan->agents[i].name,
					   strlen(plan->agents[i].name)),
			.is_solution = plan->agents[i].solution != NULL,
		};
}

static int check_names(const struct run_plan *plan, struct err *err)
{
	for (size_t i = 0; i < plan->agent_count; i++)
		if (strlen(plan->agents[i].name) > PLANNED_NAME_MAX)
			return err_set(err, ERR_INPUT,
				       "agent '%.40s…': a name of more than %d bytes",
				       plan->agents[i].name, (int) PLANNED_NAME_MAX);
	return 0;
}

static int prepare_tasks(struct run *run, const struct run_plan *plan, struct err *err)
{
	run->planned.tasks =
		arena_alloc(&run->planned.arena, plan->task_count, sizeof(*run->planned.tasks));
	run->planned.task_count = plan->task_count;
	for (size_t i = 0; i < plan->task_count; i++) {
		cleanup(job_done) struct job job = {
			.run = run,
			.plan = plan,
			.index = i,
			.from_fd = plan->task_fds[i],
			.folder_fd = -1,
			.task = TASK_INIT,
			.planned = &run->planned.tasks[i],
		};

		if (prepare_task(&job, err) < 0)
			return err_wrap(err, "task '%s'", plan->task_paths[i]);
	}
	return 0;
}

int prepare_run(struct run *run, const struct run_plan *plan, struct err *err)
{
	int folder_fd = run->place->folder_fd;

	if (check_names(plan, err) < 0 || prepare_policy(run, plan, err) < 0)
		return -1;
	take_plan(&run->planned, plan, &run->policy);
	if (images_look(&run->policy, run->launcher->socket_fd, run->stop_fd, &run->arena,
			&run->images, err) < 0)
		return -1;
	if (make_folder(folder_fd, "tasks", err) < 0)
		return -1;
	run->prepared = PREPARED_TASKS;
	if (pack_programs(run, plan, err) < 0 ||
	    (plan->aka.path ? prepare_aka(run, plan, err) : prepare_tasks(run, plan, err)) < 0)
		return -1;
	return sync_folder(folder_fd, "tasks", err);
}

/* --- and back --- */

static void remove_trees(int folder_fd, const char *prefix, size_t count)
{
	char name[64];

	for (size_t i = 1; i <= count; i++) {
		snprintf(name, sizeof(name), "%s%zu.tree", prefix, i);
		unlinkat(folder_fd, name, 0);
	}
}

/* The folder stays where somebody else has put something into it. */
static void undo_task(int tasks_fd, const char *name, size_t agent_count)
{
	/* clang-format off */
	static const char *const files[] = {
		"task.yaml",       "pristine.tree",   "evaluate.tree", "baseline.tree",
		"oracle.tree",     GIVEN_FILE,        "baseline.stdout",
		"baseline.stderr", "oracle.stdout",   "oracle.stderr",
		"config.yaml",     PLANNED_HELDOUT,
	};
	/* clang-format on */
	struct err ignored = ERR_INIT;
	auto_fd task = path_open_folder(tasks_fd, name, &ignored);

	if (task < 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		unlinkat(task, files[i], 0);
	remove_trees(task, "agent-", agent_count);
	unlinkat(tasks_fd, name, AT_REMOVEDIR);
}

void prepare_undo(const struct run *run)
{
	const struct planned *planned = &run->planned;
	int folder_fd = run->place->folder_fd;
	struct err ignored = ERR_INIT;
	auto_fd agents = -1, tasks = -1;

	if (run->build_failed)
		return;
	if (run->prepared >= PREPARED_AGENTS) {
		agents = path_open_folder(folder_fd, "agents", &ignored);
		if (agents >= 0)
			remove_trees(agents, "", planned->agent_count);
		unlinkat(folder_fd, "agents", AT_REMOVEDIR);
	}
	if (run->prepared >= PREPARED_TASKS) {
		tasks = path_open_folder(folder_fd, "tasks", &ignored);
		for (size_t i = 0; tasks >= 0 && i < planned->task_count; i++)
			if (planned->tasks[i].folder)
				undo_task(tasks, planned->tasks[i].folder, planned->agent_count);
		unlinkat(folder_fd, "tasks", AT_REMOVEDIR);
	}
	if (run->prepared >= PREPARED_POLICY)
		unlinkat(folder_fd, PLANNED_POLICY, 0);
}
