/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/prepare_aka.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/aka/aka_helper.h"
#include "harness/aka/aka_list.h"
#include "harness/aka/aka_select.h"
#include "harness/aka/aka_set.h"
#include "harness/aka/aka_task.h"
#include "harness/aka/aka_timing.h"
#include "harness/evidence/manifest.h"
#include "harness/evidence/tree.h"
#include "harness/evidence/tree_files.h"
#include "harness/run/compose.h"
#include "harness/run/prepare.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/log.h"
#include "sandbox/base/path.h"

enum { CONFIG_MAX = 1 << 20, SCRIPT_MAX = 4 << 20 };

/* A run's tasks, from the checkout into its folder. */
struct choice {
	struct run *run;
	const struct run_plan *plan;
	struct aka_tree tree;
	struct aka_helpers helpers;
	bool has_helpers;
	struct aka_entry *entries;
	size_t count;
	struct planned_dropped *dropped;
	size_t dropped_count;
};

static void choice_done(struct choice *choice)
{
	aka_tree_done(&choice->tree);
	aka_helper_done(&choice->helpers);
}

/* ---- which ---- */

static int choose_set(struct choice *choice, struct err *err)
{
	const struct run_aka *aka = &choice->plan->aka;
	cleanup(str_done) struct str read = STR_INIT;
	struct argv names, absent;
	size_t len;
	const char *text = aka_set_shipped(aka->set, &len);

	if (aka->set_fd >= 0) {
		if (io_read_fd(aka->set_fd, AKA_SET_FILE_MAX, aka->set, &read, err) < 0)
			return -1;
		text = read.text;
		len = read.len;
	}
	if (aka_set_parse(aka->set, text, len, &choice->run->arena, &names, err) < 0)
		return -1;
	aka_select_names(&choice->tree, &names, &choice->run->arena, &choice->entries,
			 &choice->count, &absent);
	if (absent.count > 0)
		return err_set(err, ERR_INPUT,
			       "the set '%s' has the task '%s' and %zu others that '%s' does not "
			       "have",
			       aka->set, absent.items[0], (size_t) absent.count - 1, aka->path);
	return 0;
}

static int choose(struct choice *choice, struct err *err)
{
	static const char *const everything[] = { "all", NULL };
	const struct run_aka *aka = &choice->plan->aka;
	struct argv selectors = aka->selectors;

	if (aka_tree_open(aka->fd, aka->path, &choice->tree, err) < 0)
		return -1;
	if (aka->set)
		return choose_set(choice, err);
	if (selectors.count == 0)
		selectors = (struct argv){ everything, 1 };
	return aka_select(&choice->tree, &selectors, &choice->run->arena, &choice->entries,
			  &choice->count, err);
}

static const char *why_dropped(const struct choice *choice, const struct aka_task *task)
{
	struct arena *arena = &choice->run->planned.arena;

	if (task->brought_count > 0)
		return arena_printf(arena, "its sources come from %s, which runs do not fetch yet",
				    task->brought->from);
	if (task->version != 1)
		return "runs do not speak the protocol of schema_version 2 yet";
	return aka_select_dropped(task, choice->plan->aka.arch, arena);
}

static void drop(struct choice *choice, const char *name, const char *why)
{
	struct arena *arena = &choice->run->planned.arena;

	log_say(LOG_NOTICE, "task.dropped", "task '%s' is not run: %s", name, why);
	choice->dropped[choice->dropped_count++] =
		(struct planned_dropped){ arena_copy(arena, name, strlen(name)), why };
}

/* ---- into the run's folder ---- */

static int sync_it(int fd, const char *what, struct err *err)
{
	if (fsync(fd) < 0)
		return err_sys(err, "sync '%s'", what);
	return 0;
}

static int make_folder(const struct choice *choice, const struct planned_task *planned,
		       struct err *err)
{
	char path[PLANNED_PATH_MAX];

	snprintf(path, sizeof(path), "tasks/%s", planned->folder);
	if (mkdirat(choice->run->place->folder_fd, path, 0755) < 0)
		return err_sys(err, "create folder '%s'", path);
	return path_open_folder(choice->run->place->folder_fd, path, err);
}

/* The task's folder as it is. Return: its tree. */
static int pack_raw(int task_fd, struct planned_task *planned, struct err *err)
{
	cleanup(manifest_done) struct manifest manifest = MANIFEST_INIT;
	const struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	struct stream_counts counts;
	auto_fd tree = memfd_create("proctor-task", MFD_CLOEXEC);

	if (tree < 0)
		return err_sys(err, "create a memfd");
	if (tree_pack(task_fd, &limits, tree, &counts, err) < 0)
		return -1;
	if (lseek(tree, 0, SEEK_SET) < 0)
		return err_sys(err, "rewind a tree");
	if (manifest_read(tree, &limits, &manifest, err) < 0)
		return -1;
	planned->tree = manifest.root;
	return fd_take(&tree);
}

static int load_helpers(struct choice *choice, struct err *err)
{
	if (choice->has_helpers)
		return 0;
	if (aka_helper_read(choice->plan->aka.fd, &choice->helpers, err) < 0)
		return err_wrap(err, "%s", choice->plan->aka.path);
	choice->has_helpers = true;
	return 0;
}

static int fill_script(const struct choice *choice, int raw_fd, struct tree_file *script,
		       struct err *err)
{
	const struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	struct tree_file before = { .path = AKA_HELPER_SCRIPT, .bytes = STR_INIT };
	int result = tree_files_read(raw_fd, &limits, &before, 1, SCRIPT_MAX, err);

	if (result == 0 && (!before.is_there || before.is_too_large))
		result = err_set(err, ERR_INPUT, "'" AKA_HELPER_SCRIPT "' is larger than %d bytes",
				 (int) SCRIPT_MAX);
	if (result == 0)
		result = aka_helper_replace(&choice->helpers, before.bytes.text, before.bytes.len,
					    &script->bytes, err);
	tree_files_done(&before, 1);
	return result;
}

/* The helpers that measure take the places of their stubs. */
static int put_helpers(struct choice *choice, const struct aka_task *task, int raw_fd, int out_fd,
		       struct err *err)
{
	const struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	struct tree_file files[2];
	size_t count = 0;
	int result = 0;

	if (task->helpers != 0 && load_helpers(choice, err) < 0)
		return -1;
	if (task->helpers & AKA_HELPER_PYTEST) {
		files[count] = (struct tree_file){ .path = AKA_HELPER_FILE, .is_there = true };
		files[count].bytes = STR_INIT;
		str_add(&files[count++].bytes, choice->helpers.file.text, choice->helpers.file.len);
	}
	if (task->helpers & AKA_HELPER_RUNNER) {
		files[count] = (struct tree_file){ .path = AKA_HELPER_SCRIPT, .is_there = true };
		files[count].bytes = STR_INIT;
		result = fill_script(choice, raw_fd, &files[count++], err);
	}
	if (result == 0)
		result = tree_files_put(raw_fd, &limits, files, count, out_fd, err);
	tree_files_done(files, count);
	return result;
}

static int keep_workspace(struct choice *choice, const struct aka_task *task, int task_fd,
			  int folder_fd, struct planned_task *planned, struct err *err)
{
	auto_fd raw = pack_raw(task_fd, planned, err);
	auto_fd out = raw < 0 ? -1 : path_new_file(folder_fd, "pristine.tree", err);

	if (out < 0 || put_helpers(choice, task, raw, out, err) < 0)
		return -1;
	return sync_it(out, "pristine.tree", err);
}

static int keep_config(int task_fd, int folder_fd, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;

	if (io_read_file(task_fd, "config.yaml", CONFIG_MAX, &text, err) < 0)
		return -1;
	return io_replace_file(folder_fd, "config.yaml", text.text, text.len, 0644, err);
}

static int digest_agents(const struct choice *choice, struct planned_task *planned, size_t index,
			 struct err *err)
{
	struct planned *all = &choice->run->planned;
	char path[PLANNED_PATH_MAX];

	planned->agents = arena_alloc(&all->arena, all->agent_count, sizeof(*planned->agents));
	for (size_t i = 0; i < all->agent_count; i++) {
		planned_path(all, index, i, path);
		if (planned_digest_file(choice->run->place->folder_fd, path, &planned->agents[i],
					err) < 0)
			return -1;
	}
	return 0;
}

static int keep_task(struct choice *choice, const struct aka_task *task, struct err *err)
{
	struct planned *all = &choice->run->planned;
	const size_t index = all->task_count;
	struct planned_task *planned = &all->tasks[index];
	auto_fd task_fd = path_open_folder(choice->tree.fd, task->name, err);
	auto_fd folder = -1;

	if (task_fd < 0)
		return -1;
	planned->name = arena_copy(&all->arena, task->name, strlen(task->name));
	planned->folder = planned_folder(PLANNED_AKA, planned->name, &all->arena);
	if (!planned->folder)
		return err_set(err, ERR_INPUT,
			       "no folder can have its name: it has a '+', or is too long");
	all->task_count++;
	folder = make_folder(choice, planned, err);
	if (folder < 0 || keep_config(task_fd, folder, err) < 0 ||
	    keep_workspace(choice, task, task_fd, folder, planned, err) < 0 ||
	    digest_agents(choice, planned, index, err) < 0)
		return -1;
	return prepare_digest_files(folder, PLANNED_AKA, planned, err);
}

static int take_entry(struct choice *choice, const struct aka_entry *entry, struct err *err)
{
	cleanup(aka_task_done) struct aka_task task = AKA_TASK_INIT;
	char status[512];
	const char *why;

	if (entry->why)
		return err_set(err, ERR_INPUT, "%s", entry->why);
	if (aka_task_load(choice->tree.fd, entry->name, &task, err) < 0)
		return -1;
	why = why_dropped(choice, &task);
	if (why) {
		drop(choice, entry->name, why);
		return 0;
	}
	if (choice->run->planned.task_count == RUN_TASKS_MAX)
		return err_set(err, ERR_INPUT, "more than %d tasks", (int) RUN_TASKS_MAX);
	snprintf(status, sizeof(status), "%s: its files", entry->name);
	progress_say(choice->run->progress, status, clock_now());
	return keep_task(choice, &task, err);
}

static int check_agents(const struct run_plan *plan, struct err *err)
{
	for (size_t i = 0; i < plan->agent_count; i++)
		if (plan->agents[i].solution)
			return err_set(err, ERR_INPUT,
				       "agent '%s': a task of AgentKernelArena has no solutions; "
				       "name a program, scripted:./PROGRAM",
				       plan->agents[i].name);
	return 0;
}

static void begin(struct choice *choice)
{
	struct planned *planned = &choice->run->planned;
	const struct run_aka *aka = &choice->plan->aka;
	const char *python = aka->python ? aka->python : AKA_PYTHON;

	planned->kind = PLANNED_AKA;
	planned->aka.python = arena_copy(&planned->arena, python, strlen(python));
	planned->aka.gpu =
		aka->gpu ? arena_copy(&planned->arena, aka->gpu, strlen(aka->gpu)) : NULL;
	planned->aka.rounds = aka->rounds ? aka->rounds : AKA_ROUNDS;
}

int prepare_aka(struct run *run, const struct run_plan *plan, struct err *err)
{
	cleanup(choice_done) struct choice choice = {
		.run = run,
		.plan = plan,
		.tree = AKA_TREE_INIT,
		.helpers = AKA_HELPERS_INIT,
	};
	struct planned *planned = &run->planned;

	begin(&choice);
	if (check_agents(plan, err) < 0 || compose_check_evaluator(&run->policy, err) < 0 ||
	    choose(&choice, err) < 0)
		return -1;
	planned->tasks = arena_alloc(&planned->arena, RUN_TASKS_MAX, sizeof(*planned->tasks));
	choice.dropped = arena_alloc(&planned->arena, choice.count + 1, sizeof(*choice.dropped));
	for (size_t i = 0; i < choice.count; i++)
		if (take_entry(&choice, &choice.entries[i], err) < 0)
			return err_wrap(err, "task '%s'", choice.entries[i].name);
	planned->aka.dropped = choice.dropped;
	planned->aka.dropped_count = choice.dropped_count;
	if (planned->task_count == 0)
		return err_set(err, ERR_INPUT, "none of the %zu tasks that were selected is run",
			       choice.count);
	if (planned->task_count * planned->agent_count * planned->repeats > RUN_CONFIG_ATTEMPTS_MAX)
		return err_set(err, ERR_INPUT, "more than %d attempts",
			       (int) RUN_CONFIG_ATTEMPTS_MAX);
	return 0;
}
