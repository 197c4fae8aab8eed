/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/vetting.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/evidence/tree.h"
#include "harness/judge/constants.h"
#include "harness/run/advice.h"
#include "harness/run/agent.h"
#include "harness/run/compose.h"
#include "harness/run/given.h"
#include "harness/run/vetting_state.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/path.h"

enum { TIMED_BLOCKS = 2 };

static void state_done(struct vetting_state *state)
{
	task_done(&state->task);
	fd_close(&state->pristine_fd);
	fd_close(&state->baseline_fd);
	fd_close(&state->oracle_fd);
	fd_close(&state->candidate_fd);
}

static int load(struct vetting_state *state, struct err *err)
{
	const struct policy *policy = &state->vetting->run->policy;

	if (task_load(state->vetting->task_fd, &state->task, err) < 0)
		return -1;
	snprintf(state->out->name, sizeof(state->out->name), "%s", state->task.name);
	state->out->mark_wall_ns = (int64_t) state->task.mark.wall_ms * NS_PER_MS;
	if (compose_check(policy, &state->task, err) < 0)
		return err_wrap(err, "limits.memory, or the policy");
	return 0;
}

/* --- builds --- */

static int pack(const struct vetting_state *state, const char *folder, const char *name,
		struct err *err)
{
	const struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	struct stream_counts counts;
	auto_fd from = path_open_folder(state->vetting->task_fd, folder, err);
	auto_fd to = from < 0 ? -1 : vetting_file(state, name, err);

	if (to < 0)
		return -1;
	if (tree_pack(from, &limits, to, &counts, err) < 0)
		return err_wrap(err, "%s/", folder);
	return fd_take(&to);
}

static int build_own(const struct vetting_state *state, const struct task_build *build, int tree_fd,
		     const char *name, struct err *err)
{
	const char *key = strcmp(name, "oracle") == 0 ? "oracle.build"
			: build == &state->task.build ? "build"
						      : "baseline.build";
	char why[VETTING_WHY_MAX];
	int fd = vetting_build(state, build, tree_fd, name, why, err);

	if (fd < 0 && err->kind == ERR_NONE)
		return err_set(err, ERR_INPUT, "%s.argv: %s: %s", key, name, why);
	return fd;
}

static int build_all(struct vetting_state *state, struct err *err)
{
	const struct task *task = &state->task;
	const bool is_same = task->baseline.argv.items == task->build.argv.items;
	auto_fd evaluate = -1;

	vetting_say(state, "baseline and oracle");
	state->pristine_fd = pack(state, "workspace", "pristine.tree", err);
	if (state->pristine_fd < 0)
		return -1;
	evaluate = pack(state, "evaluate", "evaluate.tree", err);
	if (evaluate < 0)
		return -1;
	state->candidate_fd = build_own(state, &task->build, state->pristine_fd,
					is_same ? "baseline" : "build", err);
	if (state->candidate_fd < 0)
		return -1;
	state->baseline_fd =
		is_same ? fcntl(state->candidate_fd, F_DUPFD_CLOEXEC, 3)
			: build_own(state, &task->baseline, state->pristine_fd, "baseline", err);
	if (state->baseline_fd < 0)
		return err->kind == ERR_NONE ? err_sys(err, "duplicate a descriptor") : -1;
	state->oracle_fd = build_own(state, &task->oracle.build, evaluate, "oracle", err);
	return state->oracle_fd < 0 ? -1 : 0;
}

/* --- marks --- */

/* All is well, or what its author can do about it. */
static int judge_own(const struct vetting_state *state, const struct vetting_mark *mark,
		     struct err *err)
{
	const struct mark *marks[] = { &mark->told.seen.mark, &mark->told.unseen.mark };
	char name[VETTING_NAME_MAX];

	if (mark->told.fate == MARKING_TOO_LONG)
		return err_set(err, ERR_INPUT,
			       "mark.wall: to check baseline and oracle alone takes longer than "
			       "%llu ms; raise it, or have fewer or smaller cases",
			       (unsigned long long) state->task.mark.wall_ms);
	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		if (marks[i]->kind == MARK_VALID)
			continue;
		vetting_case_name(state, mark, marks[i]->case_index, name);
		return advice_on_mark(&state->task, marks[i], name, err);
	}
	return 0;
}

static int check_baseline(struct vetting_state *state, struct vetting_mark *mark, struct err *err)
{
	vetting_say(state, "does the baseline agree with the oracle?");
	mark->options = (struct marking_options){ .check_only = true };
	for (int i = 0; i < VETTING_DRAWS; i++)
		if (vetting_marking(state, mark, err) < 0 || judge_own(state, mark, err) < 0)
			return -1;
	return 0;
}

static void take_times(struct vetting_state *state, const struct vetting_mark *mark)
{
	struct vetted *out = state->out;

	for (uint32_t i = 0; i < mark->plan.case_count; i++) {
		struct vetted_case *item = &out->cases[out->case_count++];

		vetting_case_name(state, mark, i, item->name);
		item->is_unseen = mark->plan.cases[i].unseen != 0;
		item->baseline_ns = mark->told.cases[i].baseline_ns;
		item->floor_ns = mark->told.cases[i].floor_ns;
	}
}

/* The baseline against itself for some blocks; what they took, all would. */
static int time_marking(struct vetting_state *state, struct vetting_mark *mark, struct err *err)
{
	const int64_t checked = mark->told.wall_ns;
	int64_t block;

	vetting_say(state, "how long does a marking take?");
	mark->options = (struct marking_options){ .most_blocks = TIMED_BLOCKS };
	if (vetting_marking(state, mark, err) < 0 || judge_own(state, mark, err) < 0)
		return -1;
	take_times(state, mark);
	block = MAX_OF(mark->told.wall_ns - checked, (int64_t) 0) / TIMED_BLOCKS;
	state->out->marking_ns = checked + JUDGE_BLOCKS * block;
	state->out->busy = mark->told.busy;
	if (state->out->marking_ns <= state->out->mark_wall_ns || state->out->busy > MARKING_BUSY)
		return 0;
	return err_set(
		err, ERR_INPUT,
		"mark.wall: a marking of %d blocks takes about %lld s here, and mark.wall is "
		"%lld s; raise it, or have fewer or smaller cases",
		JUDGE_BLOCKS, (long long) (state->out->marking_ns / NS_PER_S + 1),
		(long long) (state->out->mark_wall_ns / NS_PER_S));
}

/* --- the agent's jail --- */

static void add_quoted(const char *text, struct str *out)
{
	str_addf(out, " '");
	for (; *text; text++)
		str_addf(out, *text == '\'' ? "'\\''" : "%c", *text);
	str_addf(out, "'");
}

/* A script that runs the task's `check`; without times where it is ours. */
static int make_agent(const struct vetting_state *state, struct err *err)
{
	const struct argv *check = &state->task.check;
	cleanup(str_done) struct str text = STR_INIT;
	auto_fd program = -1, tree = -1;

	str_addf(&text, "#!/bin/sh\nexec");
	for (size_t i = 0; i < check->count; i++)
		add_quoted(check->items[i], &text);
	if (strcmp(check->items[0], "proctor-check") == 0)
		str_addf(&text, " --quick");
	str_addf(&text, "\n");
	program = io_memfd("proctor-agent", text.text, text.len, err);
	tree = program < 0 ? -1 : vetting_file(state, "agent.tree", err);
	if (tree < 0 || agent_pack_program(program, tree, err) < 0)
		return -1;
	return fd_take(&tree);
}

static int try_agent(struct vetting_state *state, struct err *err)
{
	const struct vetting *vetting = state->vetting;
	const struct given what = {
		.task_fd = vetting->task_fd,
		.trees_fd = vetting->folder_fd,
		.programs = vetting->run->place->programs,
		.policy = &vetting->run->policy,
	};
	auto_fd given = vetting_file(state, GIVEN_FILE, err);
	auto_fd frozen = given < 0 ? -1 : vetting_file(state, "frozen.tree", err);
	auto_fd script = frozen < 0 ? -1 : make_agent(state, err);
	struct jail_outcome outcome;
	const struct agent_job job = {
		.run = vetting->run,
		.task = &state->task,
		.pristine_fd = state->pristine_fd,
		.script_fd = script,
		.given_fd = given,
		.folder_fd = vetting->folder_fd,
		.frozen_fd = frozen,
	};
	char said[VETTING_WHY_MAX];

	vetting_say(state, "the agent's jail");
	if (script < 0 || given_pack(&what, given, err) < 0 || agent_run(&job, &outcome, err) < 0)
		return -1;
	vetting_said(state, "agent", said);
	return advice_on_agent(&state->task, &outcome, said, err);
}

/* --- all of it --- */

static int vet(struct vetting_state *state, struct err *err)
{
	cleanup(mem_free) struct vetting_mark *mark = mem_alloc(1, sizeof(*mark));

	if (load(state, err) < 0 || build_all(state, err) < 0)
		return -1;
	mark->candidate_fd = state->candidate_fd;
	if (check_baseline(state, mark, err) < 0 || time_marking(state, mark, err) < 0 ||
	    try_agent(state, err) < 0)
		return -1;
	return vetting_solutions(state, err);
}

int vetting_run(const struct vetting *vetting, struct vetted *out, struct err *err)
{
	cleanup(state_done) struct vetting_state state = {
		.vetting = vetting,
		.task = TASK_INIT,
		.pristine_fd = -1,
		.baseline_fd = -1,
		.oracle_fd = -1,
		.candidate_fd = -1,
		.out = out,
	};
	int64_t began = clock_now();
	int rc;

	*out = (struct vetted){ .problem = ERR_INIT };
	rc = vet(&state, err);
	out->wall_ns = clock_now() - began;
	if (rc == 0 || err->kind != ERR_INPUT)
		return rc;
	out->problem = *err;
	*err = (struct err) ERR_INIT;
	return 0;
}

bool vetted_is_good(const struct vetted *vetted)
{
	if (vetted->problem.kind != ERR_NONE)
		return false;
	for (size_t i = 0; i < vetted->solution_count; i++)
		if (!vetted->solutions[i].is_expected)
			return false;
	return true;
}
