/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/run/agent.h"
#include "harness/run/attempt_aka.h"
#include "harness/run/attempt_recall.h"
#include "harness/run/build.h"
#include "harness/run/compose.h"
#include "harness/run/given.h"
#include "harness/run/outcome.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/path.h"

/*
 * Theory of operation
 *
 * An attempt walks down the table of transitions. Each has a line in the journal before it begins
 * ("attempt.begun", with the state that is aimed at) and one when it is done, with what it found.
 * Where one of our own parts fails, the error is kept, the transitions that are left do nothing,
 * and the attempt is recorded as INFRA: each planned attempt has exactly one record, always.
 *
 * An attempt that goes on begins with what the journal says of its agent, and at the transition to
 * FROZEN: from the archive on everything can be made again, and the first root of its candidate in
 * the journal is the only one that the keeper has a key for.
 */

enum { NAME_BYTES = 128 }; /* of an entry in a stream, as a rule */

static bool is_aka(const struct attempt *attempt)
{
	return attempt->run->planned.kind == PLANNED_AKA;
}

static void attempt_done(struct attempt *attempt)
{
	task_done(&attempt->task);
	aka_task_done(&attempt->aka);
	evaluation_free(&attempt->evaluation);
	fd_close(&attempt->task_fd);
	fd_close(&attempt->folder_fd);
	fd_close(&attempt->pristine_fd);
	fd_close(&attempt->frozen_fd);
	fd_close(&attempt->candidate_fd);
	fd_close(&attempt->built_fd);
	manifest_done(&attempt->frozen);
	tree_report_done(&attempt->changes);
	samples_done(&attempt->samples);
	mem_free(&attempt->judged);
	attempt->judged = NULL;
}

/* --- the transitions: each does its work and leaves what it found in the attempt --- */

int attempt_new_file(const struct attempt *attempt, const char *name, struct err *err)
{
	return path_new_file(attempt->folder_fd, name, err);
}

/*
 * Room on the disk for all that the agent may leave, before it begins: it could else end the run by
 * filling the disk, and its own attempt as a failure of ours. Names come on top of the content.
 */
static int reserve(const struct attempt *attempt, struct err *err)
{
	const struct policy_tmpfs *most = &attempt->run->policy.agent.workspace;
	const struct task_limits *task = &attempt->task.limits;
	uint64_t bytes = task->workspace != 0 ? MIN_OF(task->workspace, most->size) : most->size;
	uint64_t inodes = task->inodes != 0 ? MIN_OF(task->inodes, most->inodes) : most->inodes;

	if (fallocate(attempt->frozen_fd, FALLOC_FL_KEEP_SIZE, 0,
		      (off_t) (bytes + inodes * NAME_BYTES + MIB)) == 0 ||
	    errno == EOPNOTSUPP)
		return 0;
	return err_sys(err, "reserve %llu MiB for what the agent may leave",
		       (unsigned long long) (bytes >> 20));
}

/* An attempt that was cut off before its agent began has its folder already. */
static int lease(struct attempt *attempt, struct err *err)
{
	int run_fd = attempt->run->place->folder_fd;
	char name[PLANNED_PATH_MAX];

	if (attempt_open_task(attempt, err) < 0)
		return -1;
	attempt_folder(attempt, name);
	if (mkdirat(run_fd, "attempts", 0755) < 0 && errno != EEXIST)
		return err_sys(err, "create folder 'attempts'");
	if (mkdirat(run_fd, name, 0755) < 0 &&
	    (errno != EEXIST || attempt->slot->state != SLOT_BEGUN))
		return err_sys(err, "create folder '%s'", name);
	attempt->times.leased_ns = clock_wall_ns();
	if (attempt_open_folder(attempt, err) < 0)
		return -1;
	attempt->frozen_fd = attempt_new_file(attempt, "frozen.tree", err);
	if (attempt->frozen_fd < 0)
		return -1;
	return reserve(attempt, err);
}

static int open_agent_tree(const struct attempt *attempt, struct err *err)
{
	const struct run *run = attempt->run;
	char path[PLANNED_PATH_MAX];

	planned_path(&run->planned, attempt->slot->task, attempt->slot->agent, path);
	return path_open_file(run->place->folder_fd, path, err);
}

/* The log of what it has connected to is the relay's, and as good as the archive. */
static int digest_services(struct attempt *attempt, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;

	if (attempt->run->policy.services.count == 0)
		return 0;
	if (io_read_file(attempt->folder_fd, RELAYING_LOG, 2 * (size_t) RELAYING_LOG_MAX, &text,
			 err) < 0)
		return -1;
	attempt->services = digest_sha256(text.text, text.len);
	attempt->has_services = true;
	return 0;
}

/* 0: this kind of task has nothing beside the workspace. */
static int open_given(const struct attempt *attempt, struct err *err)
{
	if (is_aka(attempt))
		return 0;
	return path_open(attempt->task_fd, GIVEN_FILE, O_RDONLY, 0, err);
}

static int run_agent(struct attempt *attempt, struct err *err)
{
	auto_fd script = open_agent_tree(attempt, err);
	auto_fd given = open_given(attempt, err);
	auto_fd services = -1;
	struct jail_outcome outcome;
	off_t size;
	struct agent_job job = {
		.run = attempt->run,
		.task = &attempt->task,
		.is_solution = attempt->agent->is_solution,
		.pristine_fd = attempt->pristine_fd,
		.script_fd = script,
		.given_fd = given,
		.folder_fd = attempt->folder_fd,
	};

	if (script < 0 || given < 0)
		return -1;
	if (attempt->run->policy.services.count > 0) {
		services = attempt_new_file(attempt, RELAYING_LOG, err);
		if (services < 0)
			return -1;
		job.services_fd = services;
	}
	attempt->times.agent_ns = clock_wall_ns();
	job.frozen_fd = attempt->frozen_fd;
	if (agent_run(&job, &outcome, err) < 0)
		return -1;
	outcome_take_ending(attempt, &outcome);
	attempt->stopped = outcome.stopped;
	if (outcome.stopped)
		return err_set(err, ERR_SYS, "stopped by the operator");
	if (outcome.last.kind != EVENT_ENDED) {
		*err = outcome.last.err;
		return err_wrap(err, "agent jail");
	}
	if (!outcome.last.result.collected)
		return err_set(err, ERR_SYS, "the workspace was not collected");
	/* What was reserved and not needed goes back. */
	size = lseek(attempt->frozen_fd, 0, SEEK_CUR);
	if (size < 0 || ftruncate(attempt->frozen_fd, size) < 0)
		return err_sys(err, "cut the archive of the workspace");
	if (digest_services(attempt, err) < 0)
		return -1;
	/* From the line in the journal on, this archive is the agent's work. */
	if (fsync(attempt->frozen_fd) < 0 || fsync(attempt->folder_fd) < 0)
		return err_sys(err, "sync the archive of the workspace");
	return 0;
}

static int make_candidate(struct attempt *attempt, struct err *err)
{
	const struct task *task = &attempt->task;
	const struct tree_edit edit = {
		.pristine_fd = attempt->pristine_fd,
		.frozen_fd = attempt->frozen_fd,
		.editable = task->editable.items,
		.editable_count = task->editable.count,
		.limits = tree_own_limits(),
	};

	attempt->candidate_fd = attempt_new_file(attempt, "candidate.tree", err);
	if (attempt->candidate_fd < 0)
		return -1;
	if (lseek(edit.pristine_fd, 0, SEEK_SET) < 0 || lseek(edit.frozen_fd, 0, SEEK_SET) < 0)
		return err_sys(err, "rewind a tree");
	if (tree_merge(&edit, attempt->candidate_fd, &attempt->changes, err) < 0)
		return err_wrap(err, "make the candidate");
	return 0;
}

int attempt_name_candidate(struct attempt *attempt, struct err *err)
{
	const struct stream_limits limits = tree_own_limits();
	cleanup(manifest_done) struct manifest candidate = MANIFEST_INIT;

	if (lseek(attempt->candidate_fd, 0, SEEK_SET) < 0)
		return err_sys(err, "rewind a tree");
	if (manifest_read(attempt->candidate_fd, &limits, &candidate, err) < 0)
		return err_wrap(err, "the candidate");
	attempt->candidate_root = candidate.root;
	if (attempt->has_root_before && !digest_equal(&attempt->root_before, &candidate.root))
		return err_set(
			err, ERR_SYS,
			"the archive of the workspace is not what was frozen: it was changed");
	attempt->times.frozen_ns = clock_wall_ns();
	return 0;
}

static int freeze(struct attempt *attempt, struct err *err)
{
	const struct stream_limits limits = tree_own_limits();

	if (lseek(attempt->frozen_fd, 0, SEEK_SET) < 0 ||
	    manifest_read(attempt->frozen_fd, &limits, &attempt->frozen, err) < 0)
		return err_wrap(err, "the archive of the workspace");
	if ((is_aka(attempt) ? attempt_aka_candidate(attempt, err) : make_candidate(attempt, err)) <
	    0)
		return -1;
	return attempt_name_candidate(attempt, err);
}

/* A candidate that its build jail could not even unpack: false, with the reason in @why. */
static bool can_be_built(const struct attempt *attempt, char *why, size_t room)
{
	const struct stream_limits limits = compose_candidate_limits(&attempt->run->policy);

	return build_takes(&limits, &attempt->changes.counts, "build", why, room);
}

/* What a build printed that was cut off: no log is written over, so it has to go. */
static int remove_logs(const struct attempt *attempt, struct err *err)
{
	static const char *const names[] = { "build.stdout", "build.stderr" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (unlinkat(attempt->folder_fd, names[i], 0) < 0 && errno != ENOENT)
			return err_sys(err, "remove '%s'", names[i]);
	return 0;
}

static int build_native(struct attempt *attempt, struct err *err)
{
	struct build_job job = {
		.run = attempt->run,
		.build = &attempt->task.build,
		.tree_fd = attempt->candidate_fd,
		.folder_fd = attempt->folder_fd,
		.name = "build",
	};
	struct build_result result = { .is_built = false };

	attempt->built_fd = memfd_create("proctor-built", MFD_CLOEXEC);
	if (attempt->built_fd < 0)
		return err_sys(err, "create a memfd");
	job.products_fd = attempt->built_fd;
	if (remove_logs(attempt, err) < 0)
		return -1;
	if (can_be_built(attempt, result.why, sizeof(result.why)) &&
	    build_tree(&job, &result, err) < 0) {
		attempt->stopped = result.stopped;
		return err_wrap(err, "build the candidate");
	}
	attempt->is_built = result.is_built;
	attempt->artifact = result.digest;
	snprintf(attempt->build_why, sizeof(attempt->build_why), "%s", result.why);
	attempt->times.built_ns = clock_wall_ns();
	return 0;
}

static int build(struct attempt *attempt, struct err *err)
{
	return is_aka(attempt) ? attempt_aka_compile(attempt, err) : build_native(attempt, err);
}

/* What each side's worker loads; the trees are opened here and stay the source's. */
struct role {
	enum worker_role role;
	const char *file, *symbol; /* of the library; NULL: the worker's own entries */
	int tree_fd;
};

static int compose_roles(struct attempt *attempt, const struct role *roles, size_t count,
			 struct jail_spec *specs, struct jail_source *source, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		if (compose_worker(&attempt->run->policy, roles[i].file, roles[i].symbol,
				   attempt->run->cpus.worker, &specs[i], err) < 0)
			return -1;
		source->roles[roles[i].role] =
			(struct jail_role){ .spec = &specs[i], .tree_fd = roles[i].tree_fd };
	}
	return 0;
}

static int ask_judge(struct attempt *attempt, struct jail_source *source, struct err *err)
{
	const struct task *task = &attempt->task;
	struct run *run = attempt->run;
	auto_fd keeper_fd = -1;
	struct judging what = {
		.task = task,
		.root = attempt->candidate_root,
		.source = source,
		.judge_cpu = run->cpus.judge,
		.worker_cpu = run->cpus.worker,
		.deadline = clock_after_ms(task->mark.wall_ms),
		.stop_fd = run->stop_fd,
	};

	if (seat_bind(attempt->seat, &keeper_fd, err) < 0)
		return -1;
	what.keeper_fd = keeper_fd;
	attempt->judged = mem_alloc(1, sizeof(*attempt->judged));
	if (judging_run(&what, attempt->judged, &attempt->samples, err) < 0)
		return -1;
	attempt->times.judged_ns = clock_wall_ns();
	attempt->stopped = attempt->judged->stopped;
	if (attempt->judged->has_error) {
		*err = attempt->judged->err;
		return err_wrap(err, "judge");
	}
	/* The oracle or the baseline failed: no mark of the candidate's. */
	if (attempt->judged->seen.mark.kind == MARK_INFRA)
		return err_set(err, ERR_SYS, "judge: %s", attempt->judged->seen_why);
	return 0;
}

static int judge_native(struct attempt *attempt, struct err *err)
{
	cleanup(mem_free) struct jail_spec *specs = mem_alloc(JAIL_SOURCE_ROLES, sizeof(*specs));
	auto_fd oracle = path_open_file(attempt->task_fd, "oracle.tree", err);
	auto_fd baseline = path_open_file(attempt->task_fd, "baseline.tree", err);
	const struct task *task = &attempt->task;
	const struct role roles[] = {
		{ WORKER_ORACLE, task->oracle.build.out.items[0], task->oracle.symbol, oracle },
		{ WORKER_PATH, NULL, NULL, -1 },
		{ WORKER_BASELINE, task->baseline.out.items[0], task->entry.symbol, baseline },
		{ WORKER_CANDIDATE, task->build.out.items[0], task->entry.symbol,
		  attempt->built_fd },
	};
	struct jail_source source;

	if (!attempt->is_built)
		return 0;
	if (oracle < 0 || baseline < 0)
		return -1;
	if (seat_use(attempt->seat, TIMING_MARK, err) < 0) {
		attempt->stopped = seat_wants_to_stop(attempt->seat);
		return -1;
	}
	jail_source_init(&source);
	source.launcher_fd = attempt->run->launcher->socket_fd;
	source.program_fd = attempt->run->worker_fd;
	source.null_fd = attempt->run->null_fd;
	if (compose_roles(attempt, roles, ARRAY_LEN(roles), specs, &source, err) < 0)
		return -1;
	return ask_judge(attempt, &source, err);
}

static int judge(struct attempt *attempt, struct err *err)
{
	return is_aka(attempt) ? attempt_aka_mark(attempt, err) : judge_native(attempt, err);
}

/* --- the table --- */

/* clang-format off */
static const struct transition {
	enum attempt_state from, to;
	const char *event;
	int (*act)(struct attempt *attempt, struct err *err);
	void (*tell)(const struct attempt *attempt, struct json_writer *json);
} transitions[] = {
	{ ATTEMPT_PLANNED, ATTEMPT_LEASED, ATTEMPT_LEASED_LINE, lease,     NULL },
	{ ATTEMPT_LEASED,  ATTEMPT_AGENT,  ATTEMPT_AGENT_LINE,  run_agent, outcome_tell_agent },
	{ ATTEMPT_AGENT,   ATTEMPT_FROZEN, KEEPER_FROZEN,       freeze,    outcome_tell_frozen },
	{ ATTEMPT_FROZEN,  ATTEMPT_BUILT,  "attempt.built",     build,     outcome_tell_built },
	{ ATTEMPT_BUILT,   ATTEMPT_JUDGED, "attempt.judged",    judge,     outcome_tell_judged },
};
/* clang-format on */

static int write_begun(struct attempt *attempt, enum attempt_state to, struct err *err)
{
	struct json_writer *json = seat_begin(attempt->seat, ATTEMPT_BEGUN);

	json_put_text(json, "agent", attempt->agent->name);
	json_put_text(json, "state", names_text(attempt_state_names, (int) to));
	return seat_commit(attempt->seat, err);
}

static int write_infra(struct attempt *attempt, struct err *err)
{
	struct json_writer *json = seat_begin(attempt->seat, "attempt.infra");

	json_put_text(json, "state", names_text(attempt_state_names, (int) attempt->state));
	json_put_text(json, "why", attempt->infra.text);
	return seat_commit(attempt->seat, err);
}

void attempt_say(struct attempt *attempt, const char *what)
{
	char status[512];

	snprintf(status, sizeof(status), "%s: %s: %s", attempt->planned->name, attempt->agent->name,
		 what);
	seat_say(attempt->seat, status);
}

static void say(struct attempt *attempt, enum attempt_state to)
{
	/* clang-format off */
	static const char *const doing[] = {
		[ATTEMPT_LEASED]   = "begins",       [ATTEMPT_AGENT]  = "agent runs",
		[ATTEMPT_FROZEN]   = "freezing",     [ATTEMPT_BUILT]  = "building",
		[ATTEMPT_JUDGED]   = "judging",      [ATTEMPT_RECORDED] = "recording",
	};
	/* clang-format on */

	attempt_say(attempt, doing[to]);
}

/* May be left as it is: nothing of an agent would be lost, and none would run twice. */
static bool can_rest(const struct attempt *attempt)
{
	return attempt->state != ATTEMPT_LEASED || !attempt->stopped;
}

/* The next attempt would find no more room than this one. */
static bool is_disk_full(const struct err *err)
{
	return err->sys == ENOSPC || err->sys == EDQUOT;
}

static int step(struct attempt *attempt, const struct transition *transition, struct err *err)
{
	struct json_writer *json;

	say(attempt, transition->to);
	if (write_begun(attempt, transition->to, err) < 0)
		return -1;
	if (transition->act(attempt, &attempt->infra) < 0) {
		if (attempt->stopped && can_rest(attempt))
			return 0;
		if (is_disk_full(&attempt->infra)) {
			*err = attempt->infra;
			return err_wrap(err, "attempt %u of task '%s'", attempt->slot->attempt,
					attempt->planned->name);
		}
		return write_infra(attempt, err);
	}
	attempt->state = transition->to;
	json = seat_begin(attempt->seat, transition->event);
	if (transition->tell)
		transition->tell(attempt, json);
	return seat_commit(attempt->seat, err);
}

/* The record on the disk is the result; the line in the journal says that it is complete. */
static int record(struct attempt *attempt, struct err *err)
{
	struct json_writer *json;
	struct record made;

	attempt->times.recorded_ns = clock_wall_ns();
	if (outcome_record(attempt, &made, err) < 0)
		return err_wrap(err, "attempt %u of task '%s'", attempt->slot->attempt,
				attempt->planned->name);
	attempt->state = ATTEMPT_RECORDED;
	json = seat_begin(attempt->seat, ATTEMPT_RECORDED_LINE);
	json_put_bool(json, "stopped", attempt->stopped);
	json_put_digest(json, "file", attempt->has_file ? &attempt->record_file : NULL);
	record_put(json, "record", &made);
	return seat_commit(attempt->seat, err);
}

static int carry_out(struct attempt *attempt, struct err *err)
{
	if (attempt->infra.kind != ERR_NONE)
		return record(attempt, err);
	for (size_t i = 0; i < ARRAY_LEN(transitions); i++) {
		if (attempt->state != transitions[i].from)
			continue;
		if (seat_wants_to_stop(attempt->seat))
			return 0;
		if (step(attempt, &transitions[i], err) < 0)
			return -1;
		if (attempt->state == transitions[i].from)
			break;
	}
	if (attempt->stopped && can_rest(attempt))
		return 0;
	return record(attempt, err);
}

int attempt_run(struct run *run, const struct slot *slot, enum slot_work work, struct seat *seat,
		struct err *err)
{
	cleanup(attempt_done) struct attempt attempt = {
		.run = run,
		.slot = slot,
		.planned = &run->planned.tasks[slot->task],
		.agent = &run->planned.agents[slot->agent],
		.seat = seat,
		.task = TASK_INIT,
		.aka = AKA_TASK_INIT,
		.task_fd = -1,
		.folder_fd = -1,
		.ending = { .code = RECORD_UNKNOWN, .signal = RECORD_UNKNOWN },
		.usage = { RECORD_UNKNOWN, RECORD_UNKNOWN, RECORD_UNKNOWN, RECORD_UNKNOWN,
			   RECORD_UNKNOWN, RECORD_UNKNOWN },
		.pristine_fd = -1,
		.frozen_fd = -1,
		.candidate_fd = -1,
		.built_fd = -1,
		.frozen = MANIFEST_INIT,
		.changes = TREE_REPORT_INIT,
		.samples = SAMPLES_INIT,
		.infra = ERR_INIT,
	};

	if (work == SLOT_CUT || work == SLOT_GIVE_UP)
		attempt_cut_off(&attempt, work);
	else if (seat_use(seat, TIMING_WORK, err) < 0)
		return seat_wants_to_stop(seat) ? 0 : -1;
	else if (work == SLOT_CONTINUE && attempt_take_up(&attempt, &attempt.infra) == 0)
		attempt.state = ATTEMPT_AGENT;
	return carry_out(&attempt, err);
}
