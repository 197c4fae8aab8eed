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
#include "harness/run/build.h"
#include "harness/run/compose.h"
#include "harness/run/outcome.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"

/*
 * Theory of operation
 *
 * An attempt walks down the table of transitions. Each has a line in the journal before it begins
 * ("attempt.begun", with the state that is aimed at) and one when it is done, with what it found.
 * Where one of our own parts fails, the error is kept, the transitions that are left do nothing,
 * and the attempt is recorded as INFRA: each planned attempt has exactly one record, always.
 */

const struct name attempt_state_names[] = {
	{ "PLANNED", ATTEMPT_PLANNED },   { "LEASED", ATTEMPT_LEASED },
	{ "AGENT", ATTEMPT_AGENT },       { "FROZEN", ATTEMPT_FROZEN },
	{ "BUILT", ATTEMPT_BUILT },       { "JUDGED", ATTEMPT_JUDGED },
	{ "RECORDED", ATTEMPT_RECORDED }, { NULL, 0 },
};

static void attempt_done(struct attempt *attempt)
{
	fd_close(&attempt->folder_fd);
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

static int lease(struct attempt *attempt, struct err *err)
{
	int run_fd = attempt->run->plan->folder_fd;
	char name[192];

	snprintf(name, sizeof(name), "attempts/%s-%04u", attempt->task->task.name, attempt->number);
	if (mkdirat(run_fd, "attempts", 0755) < 0 && errno != EEXIST)
		return err_sys(err, "create folder 'attempts'");
	if (mkdirat(run_fd, name, 0755) < 0)
		return err_sys(err, "create folder '%s'", name);
	attempt->folder_fd = openat(run_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (attempt->folder_fd < 0)
		return err_sys(err, "open folder '%s'", name);
	attempt->times.leased_ns = clock_wall_ns();
	return 0;
}

static int new_file(const struct attempt *attempt, const char *name, struct err *err)
{
	int fd = openat(attempt->folder_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return err_sys(err, "create '%s'", name);
	return fd;
}

static int run_agent(struct attempt *attempt, struct err *err)
{
	const struct event *last = &attempt->agent_outcome.last;
	struct agent_job job = {
		.run = attempt->run,
		.task = attempt->task,
		.agent = attempt->agent,
		.folder_fd = attempt->folder_fd,
	};

	attempt->times.agent_ns = clock_wall_ns();
	attempt->frozen_fd = new_file(attempt, "frozen.tree", err);
	if (attempt->frozen_fd < 0)
		return -1;
	job.frozen_fd = attempt->frozen_fd;
	if (agent_run(&job, &attempt->agent_outcome, err) < 0)
		return -1;
	if (attempt->agent_outcome.stopped)
		return err_set(err, ERR_SYS, "stopped by the operator");
	if (last->kind != EVENT_ENDED) {
		*err = last->err;
		return err_wrap(err, "agent jail");
	}
	if (!last->result.collected)
		return err_set(err, ERR_SYS, "the workspace was not collected");
	return 0;
}

/* What we have written ourselves is bounded by what it was made of. */
static struct stream_limits own_limits(void)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;

	limits.total = limits.file = STREAM_BYTES_MAX;
	limits.entries = STREAM_ENTRIES_MAX;
	return limits;
}

static int make_candidate(struct attempt *attempt, struct err *err)
{
	const struct task *task = &attempt->task->task;
	const struct tree_edit edit = {
		.pristine_fd = attempt->task->pristine_fd,
		.frozen_fd = attempt->frozen_fd,
		.editable = task->editable.items,
		.editable_count = task->editable.count,
		.limits = own_limits(),
	};

	attempt->candidate_fd = new_file(attempt, "candidate.tree", err);
	if (attempt->candidate_fd < 0)
		return -1;
	if (lseek(edit.pristine_fd, 0, SEEK_SET) < 0 || lseek(edit.frozen_fd, 0, SEEK_SET) < 0)
		return err_sys(err, "rewind a tree");
	if (tree_merge(&edit, attempt->candidate_fd, &attempt->changes, err) < 0)
		return err_wrap(err, "make the candidate");
	if (lseek(attempt->candidate_fd, 0, SEEK_SET) < 0)
		return err_sys(err, "rewind a tree");
	return 0;
}

static int freeze(struct attempt *attempt, struct err *err)
{
	const struct stream_limits limits = own_limits();
	cleanup(manifest_done) struct manifest candidate = MANIFEST_INIT;

	if (lseek(attempt->frozen_fd, 0, SEEK_SET) < 0 ||
	    manifest_read(attempt->frozen_fd, &limits, &attempt->frozen, err) < 0)
		return err_wrap(err, "the archive of the workspace");
	if (fsync(attempt->frozen_fd) < 0)
		return err_sys(err, "sync the archive of the workspace");
	if (make_candidate(attempt, err) < 0)
		return -1;
	if (manifest_read(attempt->candidate_fd, &limits, &candidate, err) < 0)
		return err_wrap(err, "the candidate");
	attempt->candidate_root = candidate.root;
	attempt->times.frozen_ns = clock_wall_ns();
	return 0;
}

/* A candidate that its build jail could not even unpack: false, with the reason in @why. */
static bool can_be_built(const struct attempt *attempt, char *why, size_t room)
{
	const struct stream_limits limits = compose_candidate_limits(&attempt->run->policy);
	const struct stream_counts *has = &attempt->changes.counts;

	if (has->bytes <= limits.total && has->files + has->folders <= limits.entries)
		return true;
	snprintf(why, room,
		 "the candidate has %llu bytes in %llu files and folders; the policy's build jail "
		 "takes %llu in %u",
		 (unsigned long long) has->bytes, (unsigned long long) (has->files + has->folders),
		 (unsigned long long) limits.total, limits.entries);
	return false;
}

static int build(struct attempt *attempt, struct err *err)
{
	const struct build_job job = {
		.run = attempt->run,
		.build = &attempt->task->task.build,
		.tree_fd = attempt->candidate_fd,
		.folder_fd = attempt->folder_fd,
		.name = "build",
	};
	struct build_result result = { .is_built = false };

	if (can_be_built(attempt, result.why, sizeof(result.why)) &&
	    build_tree(&job, &result, &attempt->built_fd, err) < 0)
		return err_wrap(err, "build the candidate");
	attempt->is_built = result.is_built;
	attempt->artifact = result.digest;
	snprintf(attempt->build_why, sizeof(attempt->build_why), "%s", result.why);
	attempt->times.built_ns = clock_wall_ns();
	return 0;
}

/* What each side's worker loads. */
static int compose_roles(struct attempt *attempt, struct jail_spec *specs,
			 struct jail_source *source, struct err *err)
{
	const struct task *task = &attempt->task->task;
	const struct {
		enum worker_role role;
		const char *library, *symbol;
		int tree_fd;
	} roles[] = {
		{ WORKER_ORACLE, task->oracle.build.out.items[0], task->oracle.symbol,
		  attempt->task->oracle_fd },
		{ WORKER_PATH, NULL, NULL, -1 },
		{ WORKER_BASELINE, task->baseline.out.items[0], task->entry.symbol,
		  attempt->task->baseline_fd },
		{ WORKER_CANDIDATE, task->build.out.items[0], task->entry.symbol,
		  attempt->built_fd },
	};

	for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
		if (compose_worker(&attempt->run->policy, roles[i].library, roles[i].symbol,
				   attempt->run->worker_cpu, &specs[i], err) < 0)
			return -1;
		source->roles[roles[i].role] =
			(struct jail_role){ .spec = &specs[i], .tree_fd = roles[i].tree_fd };
	}
	return 0;
}

static void show_time(void *progress)
{
	progress_tick(progress, clock_now());
}

static int judge(struct attempt *attempt, struct err *err)
{
	cleanup(mem_free) struct jail_spec *specs = mem_alloc(JAIL_SOURCE_ROLES, sizeof(*specs));
	const struct task *task = &attempt->task->task;
	struct run *run = attempt->run;
	struct jail_source source;
	auto_fd keeper_fd = -1;
	struct judging what = {
		.task = task,
		.root = attempt->candidate_root,
		.source = &source,
		.judge_cpu = run->judge_cpu,
		.worker_cpu = run->worker_cpu,
		.deadline = clock_after_ms(task->mark.wall_ms),
		.stop_fd = run->plan->stop_fd,
		.tick = show_time,
		.context = run->progress,
	};

	if (!attempt->is_built)
		return 0;
	jail_source_init(&source);
	source.launcher_fd = run->launcher->socket_fd;
	source.program_fd = run->worker_fd;
	source.null_fd = run->null_fd;
	if (compose_roles(attempt, specs, &source, err) < 0 ||
	    keeper_bind(&run->keeper, task->name, attempt->number, &keeper_fd, err) < 0)
		return -1;
	what.keeper_fd = keeper_fd;
	attempt->judged = mem_alloc(1, sizeof(*attempt->judged));
	if (judging_run(&what, attempt->judged, &attempt->samples, err) < 0)
		return -1;
	attempt->times.judged_ns = clock_wall_ns();
	if (attempt->judged->has_error) {
		*err = attempt->judged->err;
		return err_wrap(err, "judge");
	}
	/* The oracle or the baseline failed: no mark of the candidate's. */
	if (attempt->judged->seen.mark.kind == MARK_INFRA)
		return err_set(err, ERR_SYS, "judge: %s", attempt->judged->seen_why);
	return 0;
}

/* --- the table --- */

/* clang-format off */
static const struct transition {
	enum attempt_state from, to;
	const char *event;
	int (*act)(struct attempt *attempt, struct err *err);
	void (*tell)(const struct attempt *attempt, struct json_writer *json);
} transitions[] = {
	{ ATTEMPT_PLANNED, ATTEMPT_LEASED, "attempt.leased", lease,     NULL },
	{ ATTEMPT_LEASED,  ATTEMPT_AGENT,  "attempt.agent",  run_agent, outcome_tell_agent },
	{ ATTEMPT_AGENT,   ATTEMPT_FROZEN, KEEPER_FROZEN,    freeze,    outcome_tell_frozen },
	{ ATTEMPT_FROZEN,  ATTEMPT_BUILT,  "attempt.built",  build,     outcome_tell_built },
	{ ATTEMPT_BUILT,   ATTEMPT_JUDGED, "attempt.judged", judge,     outcome_tell_judged },
};
/* clang-format on */

static struct json_writer *begin_line(struct attempt *attempt, const char *event)
{
	struct json_writer *json = journal_begin(&attempt->run->journal, event);

	json_put_text(json, "task", attempt->task->task.name);
	json_put_int(json, "attempt", attempt->number);
	return json;
}

static int write_begun(struct attempt *attempt, enum attempt_state to, struct err *err)
{
	struct json_writer *json = begin_line(attempt, "attempt.begun");

	json_put_text(json, "agent", attempt->agent->name);
	json_put_text(json, "state", names_text(attempt_state_names, (int) to));
	return journal_commit(&attempt->run->journal, err);
}

static int write_infra(struct attempt *attempt, struct err *err)
{
	struct json_writer *json = begin_line(attempt, "attempt.infra");

	json_put_text(json, "state", names_text(attempt_state_names, (int) attempt->state));
	json_put_text(json, "why", attempt->infra.text);
	return journal_commit(&attempt->run->journal, err);
}

static int step(struct attempt *attempt, const struct transition *transition, struct err *err)
{
	struct json_writer *json;
	char status[256];

	snprintf(status, sizeof(status), "%s: %s: %s", attempt->task->task.name,
		 attempt->agent->name, names_text(attempt_state_names, (int) transition->to));
	progress_say(attempt->run->progress, status, clock_now());
	if (write_begun(attempt, transition->to, err) < 0)
		return -1;
	if (transition->act(attempt, &attempt->infra) < 0)
		return write_infra(attempt, err);
	attempt->state = transition->to;
	json = begin_line(attempt, transition->event);
	if (transition->tell)
		transition->tell(attempt, json);
	return journal_commit(&attempt->run->journal, err);
}

/* The record on the disk is the result; the line in the journal says that it is complete. */
static int record(struct attempt *attempt, struct record *out, struct err *err)
{
	struct json_writer *json;

	attempt->times.recorded_ns = clock_wall_ns();
	if (outcome_record(attempt, out, err) < 0)
		return -1;
	attempt->state = ATTEMPT_RECORDED;
	json = begin_line(attempt, "attempt.recorded");
	json_put_text(json, "seen", out->seen.kind);
	json_put_text(json, "unseen", out->unseen.kind);
	json_put_bool(json, "infra", out->infra != NULL);
	return journal_commit(&attempt->run->journal, err);
}

int attempt_run(struct run *run, struct run_task *task, const struct run_agent *agent,
		uint32_t number, struct record *out, struct err *err)
{
	cleanup(attempt_done) struct attempt attempt = {
		.run = run,
		.task = task,
		.agent = agent,
		.number = number,
		.folder_fd = -1,
		.frozen_fd = -1,
		.candidate_fd = -1,
		.built_fd = -1,
		.frozen = MANIFEST_INIT,
		.changes = TREE_REPORT_INIT,
		.samples = SAMPLES_INIT,
		.infra = ERR_INIT,
	};

	for (size_t i = 0; i < ARRAY_LEN(transitions); i++) {
		if (attempt.state != transitions[i].from)
			break;
		if (step(&attempt, &transitions[i], err) < 0)
			return -1;
	}
	return record(&attempt, out, err);
}
