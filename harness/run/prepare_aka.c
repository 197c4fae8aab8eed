/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/prepare_aka.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/aka/aka_carry.h"
#include "harness/aka/aka_heldout.h"
#include "harness/aka/aka_helper.h"
#include "harness/aka/aka_list.h"
#include "harness/aka/aka_task.h"
#include "harness/aka/aka_timing.h"
#include "harness/evidence/manifest.h"
#include "harness/evidence/tree.h"
#include "harness/evidence/tree_files.h"
#include "harness/run/aka_choice.h"
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
	struct aka_choice chosen;
	struct aka_helpers helpers;
	bool has_helpers;
	struct planned_dropped *dropped;
	size_t dropped_count;
};

static void choice_done(struct choice *choice)
{
	aka_choice_done(&choice->chosen);
	aka_helper_done(&choice->helpers);
}

static void drop(struct choice *choice, const char *name, const char *why)
{
	struct arena *arena = &choice->run->planned.arena;

	log_say(LOG_NOTICE, "task.dropped", "task '%s' is not run: %s", name, why);
	choice->dropped[choice->dropped_count++] =
		(struct planned_dropped){ arena_copy(arena, name, strlen(name)),
					  arena_printf(arena, "%.*s", (int) PLANNED_NAME_MAX,
						       why) };
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
static int pack_raw(int task_fd, struct manifest *manifest, struct err *err)
{
	const struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	struct stream_counts counts;
	auto_fd tree = memfd_create("proctor-task", MFD_CLOEXEC);

	if (tree < 0)
		return err_sys(err, "create a memfd");
	if (tree_pack(task_fd, &limits, tree, &counts, err) < 0)
		return -1;
	if (lseek(tree, 0, SEEK_SET) < 0)
		return err_sys(err, "rewind a tree");
	if (manifest_read(tree, &limits, manifest, err) < 0)
		return -1;
	return fd_take(&tree);
}

/* ---- what is known to go wrong in each attempt ---- */

static int check_room(const struct policy *policy, const struct stream_counts *has, struct err *err)
{
	const struct stream_limits limits = compose_workspace_limits(policy);
	const uint64_t entries = has->files + has->folders;

	if (has->bytes <= limits.total && entries <= limits.entries)
		return 0;
	return err_set(err, ERR_INPUT,
		       "it has %" PRIu64 " bytes in %" PRIu64 " files and folders, and a workspace "
		       "of the policy's agent and evaluator half full takes %" PRIu64
		       " in %" PRIu32,
		       has->bytes, entries, limits.total, limits.entries);
}

/* Where only functions are taken: can the task's own file be cut? */
static int check_functions(const struct aka_edit *edit, int raw_fd, struct err *err)
{
	const struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	const struct aka_bytes none = { NULL, 0 };
	cleanup(aka_carried_done) struct aka_carried report = AKA_CARRIED_INIT;
	cleanup(str_done) struct str made = STR_INIT;
	struct tree_file file = { .path = edit->path, .bytes = STR_INIT };
	int result = tree_files_read(raw_fd, &limits, &file, 1, SCRIPT_MAX, err);

	if (result == 0 && (!file.is_there || file.is_too_large))
		result = err_set(err, ERR_INPUT,
				 "there is no such file, or it is larger than %d bytes",
				 (int) SCRIPT_MAX);
	if (result == 0)
		result = aka_carry(edit, &(struct aka_bytes){ file.bytes.text, file.bytes.len },
				   &none, &made, &report, err);
	tree_files_done(&file, 1);
	return result;
}

static const struct manifest_entry *find_entry(const struct manifest *manifest, const char *path)
{
	for (size_t i = 0; i < manifest->count; i++)
		if (strcmp(manifest->entries[i].path, path) == 0)
			return &manifest->entries[i];
	return NULL;
}

static int check_edits(const struct aka_task *task, const struct manifest *manifest, int raw_fd,
		       struct err *err)
{
	size_t cut = 0;

	for (size_t i = 0; i < task->edit_count; i++) {
		const struct aka_edit *edit = &task->edits[i];
		const struct manifest_entry *entry = find_entry(manifest, edit->path);
		const bool is_tree = edit->scope == AKA_SCOPE_TREE;

		if (entry && is_tree != (entry->kind == STREAM_FOLDER))
			return err_set(err, ERR_INPUT, "'%s' may be edited as a %s, and is a %s",
				       edit->path, is_tree ? "folder" : "file",
				       is_tree ? "file" : "folder");
		if (edit->scope != AKA_SCOPE_SYMBOLS)
			continue;
		if (++cut > TREE_FILES_MAX)
			return err_set(err, ERR_INPUT,
				       "functions of more than %d files may be edited",
				       (int) TREE_FILES_MAX);
		if (check_functions(edit, raw_fd, err) < 0)
			return err_wrap(err, "'%s', of which functions may be edited", edit->path);
	}
	return 0;
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

/* What becomes of some files of a workspace, in the order of their paths. */
struct changes {
	struct tree_file files[AKA_REPORTS + 2];
	size_t count;
};

static void changes_done(struct changes *changes)
{
	tree_files_done(changes->files, changes->count);
}

static struct tree_file *add_change(struct changes *changes, const char *path)
{
	size_t at = changes->count++;

	for (;
	     at > 0 && stream_compare(changes->files[at - 1].path,
				      strlen(changes->files[at - 1].path), path, strlen(path)) > 0;
	     at--)
		changes->files[at] = changes->files[at - 1];
	changes->files[at] = (struct tree_file){ .path = path, .bytes = STR_INIT };
	return &changes->files[at];
}

/* A report that came with the task would be read where its performance command leaves none. */
static void drop_reports(const struct manifest *manifest, struct changes *changes)
{
	for (int channel = 0; channel < AKA_REPORTS; channel++) {
		const char *path = aka_report_path((enum aka_channel) channel);
		const struct manifest_entry *entry = find_entry(manifest, path);

		if (entry && entry->kind == STREAM_FILE)
			add_change(changes, path);
	}
}

/* The helpers that measure take the places of their stubs. */
static int put_helpers(struct choice *choice, const struct aka_task *task, int raw_fd,
		       struct changes *changes, struct err *err)
{
	struct tree_file *file;

	if (task->helpers != 0 && load_helpers(choice, err) < 0)
		return -1;
	if (task->helpers & AKA_HELPER_PYTEST) {
		file = add_change(changes, AKA_HELPER_FILE);
		file->is_there = true;
		str_add(&file->bytes, choice->helpers.file.text, choice->helpers.file.len);
	}
	if (task->helpers & AKA_HELPER_RUNNER) {
		file = add_change(changes, AKA_HELPER_SCRIPT);
		file->is_there = true;
		return fill_script(choice, raw_fd, file, err);
	}
	return 0;
}

static int keep_workspace(struct choice *choice, const struct aka_task *task, int task_fd,
			  int folder_fd, struct planned_task *planned, struct err *err)
{
	cleanup(manifest_done) struct manifest manifest = MANIFEST_INIT;
	auto_fd raw = pack_raw(task_fd, &manifest, err);
	const struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	cleanup(changes_done) struct changes changes = { .count = 0 };
	auto_fd out = -1;

	if (raw < 0 || check_room(&choice->run->policy, &manifest.counts, err) < 0 ||
	    check_edits(task, &manifest, raw, err) < 0)
		return -1;
	planned->tree = manifest.root;
	out = path_new_file(folder_fd, "pristine.tree", err);
	if (out < 0)
		return -1;
	drop_reports(&manifest, &changes);
	if (put_helpers(choice, task, raw, &changes, err) < 0 ||
	    tree_files_put(raw, &limits, changes.files, changes.count, out, err) < 0)
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

/* What the agent is not to know, checked; an empty file where there is nothing of this task. */
static int keep_heldout(const struct choice *choice, const char *task, int folder_fd,
			struct err *err)
{
	const struct run_aka *aka = &choice->plan->aka;
	cleanup(aka_heldout_done) struct aka_heldout heldout = AKA_HELDOUT_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	struct err absent = ERR_INIT;
	auto_fd from = aka->heldout ? path_open_folder(aka->heldout_fd, task, &absent) : -1;
	char what[PLANNED_PATH_MAX];

	if (from < 0 && absent.kind != ERR_NONE && absent.sys != ENOENT) {
		*err = absent;
		return err_wrap(err, "%s", aka->heldout);
	}
	if (from >= 0 && faccessat(from, PLANNED_HELDOUT, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		snprintf(what, sizeof(what), "%s/%s/" PLANNED_HELDOUT, aka->heldout, task);
		if (io_read_file(from, PLANNED_HELDOUT, CONFIG_MAX, &text, err) < 0 ||
		    aka_heldout_parse(what, text.text, text.len, &heldout, err) < 0)
			return -1;
	}
	return io_replace_file(folder_fd, PLANNED_HELDOUT, text.text, text.len, 0644, err);
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
	auto_fd task_fd = path_open_folder(choice->chosen.tree.fd, task->name, err);
	auto_fd folder = -1;

	if (task_fd < 0)
		return -1;
	planned->name = arena_copy(&all->arena, task->name, strlen(task->name));
	planned->folder = planned_folder(PLANNED_AKA, planned->name, &all->arena);
	if (!planned->folder)
		return err_set(
			err, ERR_INPUT,
			"no folder can have its name: it has a '+' or what can not be shown, or is "
			"too long");
	all->task_count++;
	folder = make_folder(choice, planned, err);
	if (folder < 0 || keep_config(task_fd, folder, err) < 0 ||
	    keep_heldout(choice, task->name, folder, err) < 0 ||
	    keep_workspace(choice, task, task_fd, folder, planned, err) < 0 ||
	    digest_agents(choice, planned, index, err) < 0)
		return -1;
	return prepare_digest_files(folder, PLANNED_AKA, planned, err);
}

static int take_entry(struct choice *choice, size_t index, struct err *err)
{
	const char *name = choice->chosen.entries[index].name;
	cleanup(aka_task_done) struct aka_task task = AKA_TASK_INIT;
	char status[512];
	const char *why;

	if (aka_choice_load(&choice->chosen, index, &task, err) < 0)
		return -1;
	why = aka_choice_why_dropped(&task, choice->plan->aka.arch, &choice->run->planned.arena);
	if (why) {
		drop(choice, name, why);
		return 0;
	}
	if (choice->run->planned.task_count == RUN_TASKS_MAX)
		return err_set(err, ERR_INPUT, "more than %d tasks", (int) RUN_TASKS_MAX);
	snprintf(status, sizeof(status), "%s: its files", name);
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
		.chosen = AKA_CHOICE_INIT,
		.helpers = AKA_HELPERS_INIT,
	};
	struct planned *planned = &run->planned;

	begin(&choice);
	if (check_agents(plan, err) < 0 || compose_check_evaluator(&run->policy, err) < 0 ||
	    aka_choice_make(&plan->aka, &run->arena, &choice.chosen, err) < 0)
		return -1;
	planned->tasks = arena_alloc(&planned->arena, RUN_TASKS_MAX, sizeof(*planned->tasks));
	choice.dropped =
		arena_alloc(&planned->arena, choice.chosen.count + choice.chosen.absent.count + 1,
			    sizeof(*choice.dropped));
	for (size_t i = 0; i < choice.chosen.absent.count; i++)
		drop(&choice, choice.chosen.absent.items[i], AKA_CHOICE_ABSENT);
	for (size_t i = 0; i < choice.chosen.count; i++)
		if (take_entry(&choice, i, err) < 0)
			return err_wrap(err, "task '%s'", choice.chosen.entries[i].name);
	planned->aka.dropped = choice.dropped;
	planned->aka.dropped_count = choice.dropped_count;
	if (planned->task_count == 0)
		return err_set(err, ERR_INPUT, "none of the %zu tasks that were selected is run",
			       choice.chosen.count + (size_t) choice.chosen.absent.count);
	if (planned->task_count * planned->agent_count * planned->repeats > RUN_CONFIG_ATTEMPTS_MAX)
		return err_set(err, ERR_INPUT, "more than %d attempts",
			       (int) RUN_CONFIG_ATTEMPTS_MAX);
	return 0;
}
