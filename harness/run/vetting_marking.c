/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "harness/judge/jail_source.h"
#include "harness/run/build.h"
#include "harness/run/compose.h"
#include "harness/run/hidden.h"
#include "harness/run/vetting_state.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"

/* Of what a jail has printed: it is removed, so this is all that its author gets. */
enum { VETTING_SAID = 300 };

/* What each side's worker loads. */
struct side {
	enum worker_role role;
	const char *shared_object, *symbol;
	int tree_fd;
};

static int compose_sides(const struct vetting_state *state, int candidate_fd,
			 struct jail_spec *specs, struct jail_source *source, struct err *err)
{
	const struct run *run = state->vetting->run;
	const struct task *task = &state->task;
	const struct side sides[] = {
		{ WORKER_ORACLE, task->oracle.build.out.items[0], task->oracle.symbol,
		  state->oracle_fd },
		{ WORKER_PATH, NULL, NULL, -1 },
		{ WORKER_BASELINE, task->baseline.out.items[0], task->entry.symbol,
		  state->baseline_fd },
		{ WORKER_CANDIDATE, task->build.out.items[0], task->entry.symbol, candidate_fd },
	};

	jail_source_init(source);
	source->launcher_fd = run->launcher->socket_fd;
	source->program_fd = run->worker_fd;
	source->null_fd = run->null_fd;
	for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
		if (compose_worker(&run->policy, sides[i].shared_object, sides[i].symbol,
				   run->cpus.worker, &specs[i], err) < 0)
			return -1;
		source->roles[sides[i].role] =
			(struct jail_role){ .spec = &specs[i], .tree_fd = sides[i].tree_fd };
	}
	return 0;
}

int vetting_marking(const struct vetting_state *state, struct vetting_mark *mark, struct err *err)
{
	cleanup(mem_free) struct jail_spec *specs = mem_alloc(JAIL_SOURCE_ROLES, sizeof(*specs));
	const struct run *run = state->vetting->run;
	struct jail_source source;
	const struct worker_source workers = jail_source_workers(&source);
	const struct marking_child child = {
		.plan = &mark->plan,
		.key = mark->key,
		.source = &workers,
		.options = mark->options,
		.deadline = clock_after_ms(state->task.mark.wall_ms),
		.stop_fd = run->stop_fd,
	};

	if (getrandom(mark->key, sizeof(mark->key), 0) != sizeof(mark->key))
		return err_sys(err, "draw a key");
	if (hidden_plan(&state->task, mark->key, &mark->plan, err) < 0 ||
	    hidden_dims(&state->task, mark->key, mark->dims, err) < 0 ||
	    compose_sides(state, mark->candidate_fd, specs, &source, err) < 0)
		return -1;
	mark->plan.judge_cpu = run->cpus.judge;
	mark->plan.worker_cpu = run->cpus.worker;
	if (marking_child_run(&child, &mark->told, err) < 0)
		return -1;
	if (mark->told.fate == MARKING_STOPPED)
		return err_set(err, ERR_SYS, "stopped by the operator");
	return 0;
}

void vetting_case_name(const struct vetting_state *state, const struct vetting_mark *mark,
		       uint32_t index, char out[VETTING_NAME_MAX])
{
	cleanup(str_done) struct str dims = STR_INIT;

	hidden_name_dims(&state->task.cases.dims, mark->dims[index], &dims);
	if (mark->plan.cases[index].unseen)
		snprintf(out, VETTING_NAME_MAX, "%s (%s)", mark->plan.cases[index].name, dims.text);
	else
		snprintf(out, VETTING_NAME_MAX, "%s", dims.text);
}

int vetting_file(const struct vetting_state *state, const char *name, struct err *err)
{
	int fd = openat(state->vetting->folder_fd, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
			0644);

	if (fd < 0)
		return err_sys(err, "create '%s'", name);
	return fd;
}

void vetting_say(const struct vetting_state *state, const char *what)
{
	char status[2 * VETTING_NAME_MAX];

	snprintf(status, sizeof(status), "%s: %s", state->out->name, what);
	progress_say(state->vetting->run->progress, status, clock_now());
}

/* Where the first line that tells of an error begins; NULL: none does. */
static const char *find_error(const char *text, const char *end)
{
	static const char *const signs[] = { "error:", "undefined reference" };

	for (const char *line = text; line && line < end;) {
		const char *newline = memchr(line, '\n', (size_t) (end - line));
		const size_t len = (size_t) ((newline ? newline : end) - line);

		for (size_t i = 0; i < ARRAY_LEN(signs); i++)
			if (memmem(line, len, signs[i], strlen(signs[i])))
				return line;
		line = newline ? newline + 1 : NULL;
	}
	return NULL;
}

/* The last whole lines, or the end of one. */
static const char *find_last(const char *text, const char *end)
{
	const char *from = end - text > VETTING_SAID ? end - VETTING_SAID : text;
	const char *newline = from > text ? memchr(from, '\n', (size_t) (end - from)) : NULL;

	return newline ? newline + 1 : from;
}

void vetting_said(const struct vetting_state *state, const char *name, char out[VETTING_WHY_MAX])
{
	cleanup(str_done) struct str text = STR_INIT, shown = STR_INIT;
	struct err none = ERR_INIT;
	const char *from, *end;
	char file[64];

	snprintf(file, sizeof(file), "%s.stderr", name);
	out[0] = '\0';
	if (io_read_file(state->vetting->folder_fd, file, STR_MAX - 1, &text, &none) < 0)
		return;
	while (text.len > 0 && strchr(" \n", text.text[text.len - 1]))
		text.len--;
	end = text.text + text.len;
	from = find_error(text.text, end);
	if (from) /* What follows mostly follows from it. */
		end = from + strcspn(from, "\n");
	else
		from = find_last(text.text, end);
	end = end - from > VETTING_SAID ? from + VETTING_SAID : end;
	for (char *at = text.text + (from - text.text); at < end; at++)
		if (*at == '\n')
			*at = ' ';
	str_add_shown(&shown, from, (size_t) (end - from));
	snprintf(out, VETTING_WHY_MAX, "it says: %s%s", from > text.text ? "… " : "", shown.text);
	if (shown.len == 0)
		snprintf(out, VETTING_WHY_MAX, "it says nothing");
}

int vetting_build(const struct vetting_state *state, const struct task_build *build, int tree_fd,
		  const char *name, char why[VETTING_WHY_MAX], struct err *err)
{
	struct build_result result;
	struct build_job job = {
		.run = state->vetting->run,
		.build = build,
		.tree_fd = tree_fd,
		.folder_fd = state->vetting->folder_fd,
		.name = name,
	};
	char file[VETTING_NAME_MAX + 8], said[VETTING_WHY_MAX];
	auto_fd products = -1;

	snprintf(file, sizeof(file), "%s.tree", name);
	products = vetting_file(state, file, err);
	if (products < 0)
		return -1;
	job.products_fd = products;
	if (build_tree(&job, &result, err) < 0)
		return err_wrap(err, "%s", name);
	why[0] = '\0';
	if (result.is_built)
		return fd_take(&products);
	vetting_said(state, name, said);
	snprintf(why, VETTING_WHY_MAX, "%s; %s", result.why, said);
	return -1;
}
