/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/run.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/evidence/manifest.h"
#include "harness/evidence/tree.h"
#include "harness/judge/constants.h"
#include "harness/run/attempt.h"
#include "harness/run/build.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/path.h"

/*
 * Theory of operation
 *
 * Before an agent starts: the tasks are read and hashed, baselines and oracles built in jails of
 * their own, the keeper has committed itself to a secret, and all of it stands in the journal. So
 * nothing that could make a result look better is chosen after a result is known.
 */

#define SCORING "20 if it builds, 100 if correct, 100 * speedup if correct; seen cases"

/* --- opening --- */

/* One CPU each for judge and worker: the first and the last that we may use. */
static int choose_cpus(struct run *run, struct err *err)
{
	cpu_set_t allowed;
	int first = -1, last = -1;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return err_sys(err, "ask for our CPUs");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		first = first < 0 ? cpu : first;
		last = cpu;
	}
	if (first == last)
		return err_set(err, ERR_HOST,
			       "judge and worker need a CPU each, and there is only CPU %d", first);
	run->judge_cpu = (uint32_t) first;
	run->worker_cpu = (uint32_t) last;
	return 0;
}

static int load_policy(struct run *run, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;
	const struct run_plan *plan = run->plan;

	if (plan->policy_fd < 0) {
		size_t len;
		const char *built_in = policy_default_text(&len);

		run->policy_digest = digest_sha256(built_in, len);
		return 0;
	}
	if (io_read_fd(plan->policy_fd, POLICY_FILE_MAX, plan->policy_path, &text, err) < 0)
		return -1;
	run->policy_digest = digest_sha256(text.text, text.len);
	return policy_parse(plan->policy_path, text.text, text.len, &run->policy, err);
}

/*
 * The worker's program in a memfd: Landlock allows a jail what lies beneath its own tree, and what
 * lies in no tree at all; and nobody can change the file between two blocks of a marking.
 */
static int open_worker(struct run *run, struct err *err)
{
	cleanup(str_done) struct str program = STR_INIT;
	auto_fd file = launcher_open_program(run->plan->programs, "proctor-worker", err);

	if (file < 0 || io_read_fd(file, STR_MAX - 1, "proctor-worker", &program, err) < 0)
		return -1;
	run->worker_fd = io_memfd("proctor-worker", program.text, program.len, err);
	return run->worker_fd < 0 ? -1 : 0;
}

static int open_programs(struct run *run, struct err *err)
{
	cleanup(str_done) struct str program = STR_INIT;
	auto_fd judge = -1;

	run->null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (run->null_fd < 0)
		return err_sys(err, "open '/dev/null'");
	if (open_worker(run, err) < 0)
		return -1;
	judge = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (judge < 0)
		return err_sys(err, "open the running program");
	if (io_read_fd(judge, STR_MAX - 1, "the running program", &program, err) < 0)
		return -1;
	run->judge_digest = digest_sha256(program.text, program.len);
	return 0;
}

/* A file of the run's folder that holds a tree. */
static int new_tree_file(const struct run *run, const char *task, const char *name, struct err *err)
{
	char path[192];
	int fd;

	snprintf(path, sizeof(path), "tasks/%s/%s", task, name);
	fd = openat(run->plan->folder_fd, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_sys(err, "create '%s'", path);
	return fd;
}

static int make_task_folder(const struct run *run, const char *task, struct err *err)
{
	char path[192];

	snprintf(path, sizeof(path), "tasks/%s", task);
	if (mkdirat(run->plan->folder_fd, "tasks", 0755) < 0 &&
	    faccessat(run->plan->folder_fd, "tasks", X_OK, 0) < 0)
		return err_sys(err, "create folder 'tasks'");
	if (mkdirat(run->plan->folder_fd, path, 0755) < 0)
		return err_sys(err, "create folder '%s'", path);
	return openat(run->plan->folder_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Packs a folder of the task into a file of the run. Return: the file. */
static int pack(const struct run *run, const struct run_task *task, const char *folder,
		const char *name, struct err *err)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	struct stream_counts counts;
	auto_fd from = path_open_folder(task->folder_fd, folder, err);
	auto_fd to = -1;

	if (from < 0)
		return -1;
	to = new_tree_file(run, task->task.name, name, err);
	if (to < 0 || tree_pack(from, &limits, to, &counts, err) < 0)
		return -1;
	return fd_take(&to);
}

static int hash_folder(const struct run_task *task, struct digest *out, struct err *err)
{
	cleanup(manifest_done) struct manifest manifest = MANIFEST_INIT;
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	struct stream_counts counts;
	auto_fd tree = memfd_create("proctor-task", MFD_CLOEXEC);

	if (tree < 0)
		return err_sys(err, "create a memfd");
	if (tree_pack(task->folder_fd, &limits, tree, &counts, err) < 0)
		return -1;
	if (lseek(tree, 0, SEEK_SET) < 0)
		return err_sys(err, "rewind a tree");
	if (manifest_read(tree, &limits, &manifest, err) < 0)
		return -1;
	*out = manifest.root;
	return 0;
}

/* The author's own code has to build; where it does not, its author has to know why. */
static int build_own(const struct build_job *job, struct digest *digest, int *out_fd,
		     struct err *err)
{
	struct build_result result;

	if (build_tree(job, &result, out_fd, err) < 0)
		return err_wrap(err, "%s", job->name);
	if (!result.is_built)
		return err_set(err, ERR_INPUT,
			       "%s: %s; its output is in %s.stderr of the run's folder of the task",
			       job->name, result.why, job->name);
	*digest = result.digest;
	return 0;
}

/* What is known to go wrong in each attempt goes wrong before the first. */
static int check_names(const struct run *run, const struct run_task *task, struct err *err)
{
	char path[256];

	for (const struct run_task *other = run->tasks; other < task; other++)
		if (strcmp(other->task.name, task->task.name) == 0)
			return err_set(err, ERR_INPUT, "a task of this name is given twice");
	for (size_t i = 0; i < run->plan->agent_count; i++) {
		const char *name = run->plan->agents[i].solution;
		auto_fd folder = -1;

		if (!name)
			continue;
		snprintf(path, sizeof(path), "solutions/%s", name);
		if (!path_is_relative(path))
			return err_set(err, ERR_INPUT, "'%s' is no name of a solution", name);
		folder = path_open_folder(task->folder_fd, path, err);
		if (folder < 0) {
			err->kind = ERR_INPUT;
			return err_wrap(err, "there is no solution '%s'", name);
		}
	}
	return 0;
}

static int open_task(struct run *run, struct run_task *task, struct err *err)
{
	auto_fd folder = -1, evaluate = -1;
	struct build_job job;
	struct digest oracle;
	char status[256];

	if (task_load(task->folder_fd, &task->task, err) < 0 || check_names(run, task, err) < 0 ||
	    hash_folder(task, &task->digest, err) < 0)
		return -1;
	folder = make_task_folder(run, task->task.name, err);
	if (folder < 0)
		return -1;
	snprintf(status, sizeof(status), "%s: baseline and oracle", task->task.name);
	progress_say(run->progress, status, clock_now());
	task->pristine_fd = pack(run, task, "workspace", "pristine.tree", err);
	if (task->pristine_fd < 0)
		return -1;
	evaluate = pack(run, task, "evaluate", "evaluate.tree", err);
	if (evaluate < 0)
		return -1;
	job = (struct build_job){ run, &task->task.baseline, task->pristine_fd, folder,
				  "baseline" };
	if (build_own(&job, &task->baseline_digest, &task->baseline_fd, err) < 0)
		return -1;
	job = (struct build_job){ run, &task->task.oracle.build, evaluate, folder, "oracle" };
	return build_own(&job, &oracle, &task->oracle_fd, err);
}

static int open_tasks(struct run *run, struct err *err)
{
	for (size_t i = 0; i < run->plan->task_count; i++) {
		struct run_task *task = &run->tasks[i];

		if (open_task(run, task, err) < 0)
			return err_wrap(err, "task '%s'",
					task->task.name ? task->task.name : "(unread)");
	}
	return 0;
}

/* --- the journal's first lines --- */

static void put_digest(struct json_writer *json, const char *key, const struct digest *digest)
{
	char text[DIGEST_HEX];

	digest_hex(digest, text);
	json_put_text(json, key, text);
}

static void put_plan(const struct run *run, struct json_writer *json)
{
	const struct run_plan *plan = run->plan;

	put_digest(json, "policy", &run->policy_digest);
	put_digest(json, "judge", &run->judge_digest);
	json_put_text(json, "scoring", SCORING);
	json_put_int(json, "blocks", JUDGE_BLOCKS);
	json_put_int(json, "look_every", JUDGE_LOOK_EVERY);
	json_put_int(json, "alpha_ppm", JUDGE_ALPHA_PPM);
	json_put_double(json, "margin", JUDGE_MARGIN);
	json_put_int(json, "repeats", plan->repeats);
	json_put_array(json, "tasks");
	for (size_t i = 0; i < plan->task_count; i++) {
		json_put_object(json, NULL);
		json_put_text(json, "name", run->tasks[i].task.name);
		put_digest(json, "tree", &run->tasks[i].digest);
		json_put_end(json);
	}
	json_put_end(json);
	json_put_array(json, "agents");
	for (size_t i = 0; i < plan->agent_count; i++)
		json_put_text(json, NULL, plan->agents[i].name);
	json_put_end(json);
}

static int register_run(struct run *run, struct err *err)
{
	auto_fd journal_fd = -1;

	if (journal_create(&run->journal, run->plan->folder_fd, run->plan->id, err) < 0)
		return -1;
	journal_fd = journal_open_read(run->plan->folder_fd, err);
	if (journal_fd < 0 || keeper_start(&run->keeper, run->plan->id, journal_fd, err) < 0)
		return -1;
	put_digest(journal_begin(&run->journal, KEEPER_COMMITTED), "commitment",
		   &run->keeper.commitment);
	if (journal_commit(&run->journal, err) < 0)
		return -1;
	put_plan(run, journal_begin(&run->journal, "run.planned"));
	return journal_commit(&run->journal, err);
}

static void reset(struct run *run, const struct run_plan *plan, const struct launcher *launcher,
		  struct progress *progress)
{
	*run = (struct run){
		.plan = plan,
		.launcher = launcher,
		.policy = policy_default(),
		.journal = JOURNAL_INIT,
		.keeper = KEEPER_INIT,
		.progress = progress,
		.null_fd = -1,
		.worker_fd = -1,
		.arena = ARENA_INIT,
	};
	run->tasks = mem_alloc(plan->task_count, sizeof(*run->tasks));
	for (size_t i = 0; i < plan->task_count; i++)
		run->tasks[i] = (struct run_task){ .folder_fd = plan->task_fds[i],
						   .task = TASK_INIT,
						   .pristine_fd = -1,
						   .baseline_fd = -1,
						   .oracle_fd = -1 };
	run->records = mem_alloc(plan->task_count * plan->agent_count * plan->repeats,
				 sizeof(*run->records));
}

int run_open(struct run *run, const struct run_plan *plan, const struct launcher *launcher,
	     struct progress *progress, struct err *err)
{
	reset(run, plan, launcher, progress);
	if (choose_cpus(run, err) < 0 || load_policy(run, err) < 0 || open_programs(run, err) < 0 ||
	    open_tasks(run, err) < 0)
		return -1;
	return register_run(run, err);
}

/* --- carrying out --- */

static bool wants_to_stop(const struct run *run)
{
	struct pollfd ready = { .fd = run->plan->stop_fd, .events = POLLIN };

	return ready.fd >= 0 && poll(&ready, 1, 0) > 0;
}

static int run_one(struct run *run, struct run_task *task, size_t agent, uint32_t repeat,
		   struct err *err)
{
	uint32_t number = (uint32_t) agent * run->plan->repeats + repeat + 1;

	if (attempt_run(run, task, &run->plan->agents[agent], number,
			&run->records[run->record_count], err) < 0)
		return err_wrap(err, "task '%s'", task->task.name);
	run->record_count++;
	progress_add(run->progress, 1, clock_now());
	run->stopped = wants_to_stop(run);
	return 0;
}

int run_attempts(struct run *run, struct err *err)
{
	struct json_writer *json;

	for (size_t i = 0; i < run->plan->task_count && !run->stopped; i++)
		for (size_t j = 0; j < run->plan->agent_count && !run->stopped; j++)
			for (uint32_t k = 0; k < run->plan->repeats && !run->stopped; k++)
				if (run_one(run, &run->tasks[i], j, k, err) < 0)
					return -1;
	json = journal_begin(&run->journal, run->stopped ? "run.stopped" : "run.finished");
	json_put_int(json, "attempts", (int64_t) run->record_count);
	return journal_commit(&run->journal, err);
}

void run_done(struct run *run)
{
	keeper_done(&run->keeper);
	journal_done(&run->journal);
	for (size_t i = 0; i < run->plan->task_count; i++) {
		task_done(&run->tasks[i].task);
		fd_close(&run->tasks[i].pristine_fd);
		fd_close(&run->tasks[i].baseline_fd);
		fd_close(&run->tasks[i].oracle_fd);
	}
	mem_free(&run->tasks);
	mem_free(&run->records);
	policy_done(&run->policy);
	arena_done(&run->arena);
	fd_close(&run->null_fd);
	fd_close(&run->worker_fd);
}
