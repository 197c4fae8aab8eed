/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/config/catalog.h"
#include "harness/evidence/manifest.h"
#include "harness/evidence/tree.h"
#include "harness/run/agent.h"
#include "harness/run/vetting_state.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/path.h"

enum { NOTE_MAX = 64 * 1024 };

static int memfd(const char *name, struct err *err)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	return fd < 0 ? err_sys(err, "create a memfd") : fd;
}

static int rewind_to_start(int fd, struct err *err)
{
	return lseek(fd, 0, SEEK_SET) < 0 ? err_sys(err, "rewind a tree") : 0;
}

static bool is_editable(const struct task *task, const char *path)
{
	for (size_t i = 0; i < task->editable.count; i++) {
		const char *editable = task->editable.items[i];
		size_t len = strlen(editable);

		if (strcmp(editable, path) == 0 ||
		    (editable[len - 1] == '/' && strncmp(editable, path, len) == 0))
			return true;
	}
	return false;
}

/* The files of a solution that take the place of editable ones; others are its author's mistake. */
static int list_files(const struct task *task, const struct manifest *manifest, const char **files,
		      size_t *count, struct err *err)
{
	*count = 0;
	for (size_t i = 0; i < manifest->count; i++) {
		const struct manifest_entry *entry = &manifest->entries[i];

		if (entry->kind != STREAM_FILE || strcmp(entry->path, NOTE_FILE) == 0)
			continue;
		if (!is_editable(task, entry->path))
			return err_set(err, ERR_INPUT,
				       "'%s' is not editable: an agent's would have no effect; "
				       "remove it, or add it to `editable`",
				       entry->path);
		if (*count == TREE_EDITABLE_MAX)
			return err_set(err, ERR_INPUT, "it has more than %d files",
				       TREE_EDITABLE_MAX);
		files[(*count)++] = entry->path;
	}
	if (*count == 0)
		return err_set(err, ERR_INPUT, "it has none of the editable files, such as '%s'",
			       task->editable.items[0]);
	return 0;
}

/* The pristine workspace with the solution's files. */
static int merge(const struct vetting_state *state, const char *name, struct err *err)
{
	const struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	cleanup(manifest_done) struct manifest manifest = MANIFEST_INIT;
	cleanup(tree_report_done) struct tree_report report = TREE_REPORT_INIT;
	const char *files[TREE_EDITABLE_MAX];
	struct tree_edit edit = { .pristine_fd = state->pristine_fd,
				  .editable = files,
				  .limits = limits };
	auto_fd solution = memfd("proctor-solution", err);
	auto_fd merged = solution < 0 ? -1 : memfd("proctor-candidate", err);

	if (merged < 0 || agent_pack_solution(state->vetting->task_fd, name, solution, err) < 0 ||
	    rewind_to_start(solution, err) < 0 ||
	    manifest_read(solution, &limits, &manifest, err) < 0 ||
	    list_files(&state->task, &manifest, files, &edit.editable_count, err) < 0)
		return -1;
	edit.frozen_fd = solution;
	if (rewind_to_start(solution, err) < 0 || rewind_to_start(state->pristine_fd, err) < 0 ||
	    tree_merge(&edit, merged, &report, err) < 0 || rewind_to_start(merged, err) < 0)
		return -1;
	return fd_take(&merged);
}

static int read_note(const struct vetting_state *state, struct vetted_solution *out,
		     struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;
	char path[VETTING_NAME_MAX + 32];

	snprintf(path, sizeof(path), "solutions/%s/" NOTE_FILE, out->name);
	if (io_read_file(state->vetting->task_fd, path, NOTE_MAX, &text, err) < 0)
		return err_wrap(err, "it has to say in a few lines what it does");
	if (note_parse(text.text, text.len, &out->expected, err) < 0)
		return -1;
	if (out->expected.seen == MARK_NONE && out->expected.unseen == MARK_NONE)
		out->expected = note_default(out->name);
	return 0;
}

/* In the judge's words, and with what it keeps from others. */
static void tell_why(const struct vetting_state *state, struct vetting_mark *mark,
		     struct vetted_solution *out)
{
	const struct mark *which =
		out->seen == MARK_VALID ? &mark->told.unseen.mark : &mark->told.seen.mark;
	cleanup(str_done) struct str text = STR_INIT;
	struct marking_case *item = &mark->plan.cases[which->case_index];

	if (mark->told.fate == MARKING_TOO_LONG) {
		snprintf(out->why, sizeof(out->why), "RESOURCE: it took longer than mark.wall");
		return;
	}
	if (which->kind == MARK_VALID)
		return;
	if (which->has_case) {
		char name[VETTING_NAME_MAX];

		vetting_case_name(state, mark, which->case_index, name);
		snprintf(item->name, sizeof(item->name), "%s", name);
		item->unseen = 0;
	}
	verdict_text(which, &mark->plan, &state->task.cases, &text);
	snprintf(out->why, sizeof(out->why), "%s", text.text);
}

static int mark_it(const struct vetting_state *state, int built_fd, struct vetted_solution *out,
		   struct err *err)
{
	cleanup(mem_free) struct vetting_mark *mark = mem_alloc(1, sizeof(*mark));

	mark->candidate_fd = built_fd;
	mark->options = (struct marking_options){ .check_only = true };
	if (vetting_marking(state, mark, err) < 0)
		return -1;
	out->seen = mark->told.seen.mark.kind;
	out->unseen = mark->told.unseen.mark.kind;
	if (mark->told.fate == MARKING_TOO_LONG)
		out->seen = out->unseen = MARK_RESOURCE;
	tell_why(state, mark, out);
	return 0;
}

static int try_solution(const struct vetting_state *state, struct vetted_solution *out,
			struct err *err)
{
	auto_fd merged = -1, built = -1;
	char log[64];

	if (read_note(state, out, err) < 0)
		return -1;
	merged = merge(state, out->name, err);
	if (merged < 0)
		return -1;
	snprintf(log, sizeof(log), "solution-%zu", state->out->solution_count);
	built = vetting_build(state, &state->task.build, merged, log, out->why, err);
	if (built < 0)
		return err->kind == ERR_NONE ? 0 : -1;
	out->is_built = true;
	if (mark_it(state, built, out, err) < 0)
		return -1;
	out->is_expected = note_holds(&out->expected, out->name, out->seen, out->unseen);
	return 0;
}

static const char **list_solutions(const struct vetting_state *state, struct arena *arena,
				   size_t *count, struct err *err)
{
	auto_fd folder =
		openat(state->vetting->task_fd, "solutions", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*count = 0;
	if (folder < 0) {
		err_set(err, ERR_INPUT,
			"there is no folder solutions/: a task needs an honest one at least, or "
			"nobody knows that there is anything to find");
		return NULL;
	}
	return catalog_names(folder, arena, count, err);
}

int vetting_solutions(const struct vetting_state *state, struct err *err)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	size_t count;
	const char **names = list_solutions(state, &arena, &count, err);

	if (!names)
		return -1;
	if (count > VETTING_SOLUTIONS_MAX)
		return err_set(err, ERR_INPUT, "solutions/: %zu are more than %d", count,
			       VETTING_SOLUTIONS_MAX);
	for (size_t i = 0; i < count; i++) {
		struct vetted_solution *out = &state->out->solutions[i];
		char what[2 * VETTING_NAME_MAX];

		snprintf(out->name, sizeof(out->name), "%s", names[i]);
		snprintf(what, sizeof(what), "solution %s", names[i]);
		vetting_say(state, what);
		state->out->solution_count = i + 1;
		if (try_solution(state, out, err) == 0)
			continue;
		if (err->kind != ERR_INPUT)
			return err_wrap(err, "solution '%s'", names[i]);
		snprintf(out->why, sizeof(out->why), "%s", err->text);
		*err = (struct err) ERR_INIT;
	}
	return 0;
}
