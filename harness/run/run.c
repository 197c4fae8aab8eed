/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/aka/aka_timing.h"
#include "harness/config/policy_diff.h"
#include "harness/judge/constants.h"
#include "harness/run/prepare.h"
#include "harness/run/record_read.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"

/*
 * Theory of operation
 *
 * Before an agent starts: the tasks are read and hashed, baselines and oracles built in jails of
 * their own, the keeper has committed itself to a secret, and all of it stands in the journal. So
 * nothing that could make a result look better is chosen after a result is known.
 *
 * A run that is resumed goes the same way from the point where its folder stands: planned.json is
 * there before the journal is, so whatever the journal lacks of its first lines is written now.
 */

#define SCORING     "20 if it builds, 100 if correct, 100 * speedup if correct; seen cases"
#define SCORING_AKA "20 if it compiles, 100 if correct, 100 * speedup if correct and borne out"

#define RUN_RESUMED "run.resumed"
#define RUN_PLANNED "run.planned"

/* --- the programs --- */

/*
 * The worker's program in a memfd: Landlock allows a jail what lies beneath its own tree, and what
 * lies in no tree at all; and nobody can change the file between two blocks of a marking.
 */
static int open_worker(struct run *run, struct err *err)
{
	cleanup(str_done) struct str program = STR_INIT;
	auto_fd file = launcher_open_program(run->place->programs, "proctor-worker", err);

	if (file < 0 || io_read_fd(file, STR_MAX - 1, "proctor-worker", &program, err) < 0)
		return -1;
	run->worker_fd = io_memfd("proctor-worker", program.text, program.len, err);
	return run->worker_fd < 0 ? -1 : 0;
}

static int open_programs(struct run *run, struct digest *judge, struct err *err)
{
	auto_fd program = -1;
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return err_sys(err, "ask for our CPUs");
	if (cpus_choose(&allowed, &run->cpus, err) < 0)
		return -1;
	run->null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (run->null_fd < 0)
		return err_sys(err, "open '/dev/null'");
	if (open_worker(run, err) < 0)
		return -1;
	program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (program < 0)
		return err_sys(err, "open the running program");
	return planned_digest_fd(program, "the running program", judge, err);
}

/* --- the journal's first lines --- */

/* How marks come about, before there is one. */
static void put_rules(const struct run *run, struct json_writer *json)
{
	if (run->planned.kind == PLANNED_AKA) {
		json_put_text(json, "scoring", SCORING_AKA);
		json_put_int(json, "rounds", run->planned.aka.rounds);
		json_put_double(json, "margin", AKA_MARGIN);
		json_put_int(json, "dropped", (int64_t) run->planned.aka.dropped_count);
		return;
	}
	json_put_text(json, "scoring", SCORING);
	json_put_int(json, "blocks", JUDGE_BLOCKS);
	json_put_int(json, "look_every", JUDGE_LOOK_EVERY);
	json_put_int(json, "alpha_ppm", JUDGE_ALPHA_PPM);
	json_put_double(json, "margin", JUDGE_MARGIN);
}

static void put_plan(const struct run *run, const struct digest *planned, struct json_writer *json)
{
	planned_put_labels(json, &run->planned);
	json_put_digest(json, "planned", planned);
	json_put_digest(json, "policy", &run->planned.policy);
	json_put_text(json, "policy_name", run->policy.name);
	record_put_texts(json, "weaker", run->weaker, run->weaker_count);
	record_put_texts(json, "images", run->images.items, run->images.count);
	json_put_digest(json, "judge", &run->planned.judge);
	put_rules(run, json);
	json_put_int(json, "tasks", (int64_t) run->planned.task_count);
	json_put_int(json, "agents", (int64_t) run->planned.agent_count);
	json_put_int(json, "repeats", run->planned.repeats);
	json_put_int(json, "retries", run->planned.retries);
}

static int start_keeper(struct run *run, const struct digest *committed, struct err *err)
{
	auto_fd journal_fd = journal_open_read(run->place->folder_fd, err);

	if (journal_fd < 0 || keeper_start(&run->keeper, run->planned.run, journal_fd,
					   run->place->secret_fd, err) < 0)
		return -1;
	if (committed && !digest_equal(committed, &run->keeper.commitment))
		return err_set(err, ERR_INPUT,
			       "the file '" KEEPER_SECRET_FILE
			       "' of the run's folder does not hold "
			       "the secret that the journal has the commitment of");
	return 0;
}

static int write_commitment(struct run *run, struct err *err)
{
	json_put_digest(journal_begin(&run->journal, KEEPER_COMMITTED), "commitment",
			&run->keeper.commitment);
	return journal_commit(&run->journal, err);
}

static int write_plan(struct run *run, const struct digest *planned, struct err *err)
{
	put_plan(run, planned, journal_begin(&run->journal, RUN_PLANNED));
	return journal_commit(&run->journal, err);
}

/* --- GPUs --- */

size_t run_gpus_each(const struct run *run)
{
	return MAX_OF(run->policy.agent.gpus, run->policy.evaluator.gpus);
}

int run_check_gpus(const struct run *run, uint32_t seats, struct err *err)
{
	const size_t each = run_gpus_each(run), named = run->planned.gpu_count;

	if (each == 0 && named > 0)
		return err_set(err, ERR_INPUT,
			       "%zu GPUs are named, and no jail of the policy '%s' has one: see "
			       "agent.gpus and evaluator.gpus",
			       named, run->policy.name);
	if (named > 0 && named < seats * each)
		return err_set(err, ERR_INPUT,
			       "%zu GPUs are named for %u seats that need %zu each: have fewer "
			       "seats, or name more",
			       named, seats, each);
	if (named == 0 && each > 0 && seats > 1 && run->planned.kind == PLANNED_AKA)
		return err_set(err, ERR_INPUT,
			       "%u seats with GPUs: name them (--gpus 0,1,…), so that all jails of "
			       "an attempt have the same",
			       seats);
	return 0;
}

/* --- a new run --- */

static void reset(struct run *run, const struct run_place *place, const struct launcher *launcher,
		  struct progress *progress)
{
	*run = (struct run){
		.place = place,
		.launcher = launcher,
		.stop_fd = place->stop_fd,
		.planned = PLANNED_INIT,
		.policy = policy_default(),
		.journal = JOURNAL_INIT,
		.keeper = KEEPER_INIT,
		.progress = progress,
		.null_fd = -1,
		.worker_fd = -1,
		.arena = ARENA_INIT,
	};
}

/* Until the plan stands there, nothing in the folder is worth keeping. */
static int plan_run(struct run *run, const struct run_plan *plan, struct digest *planned,
		    struct err *err)
{
	if (prepare_run(run, plan, err) == 0 && run_check_gpus(run, run->planned.seats, err) == 0 &&
	    planned_write(&run->planned, run->place->folder_fd, planned, err) == 0)
		return 0;
	prepare_undo(run);
	return -1;
}

int run_create(struct run *run, const struct run_place *place, const struct run_plan *plan,
	       const struct launcher *launcher, struct progress *progress, struct err *err)
{
	struct digest planned;

	reset(run, place, launcher, progress);
	if (open_programs(run, &run->planned.judge, err) < 0 ||
	    plan_run(run, plan, &planned, err) < 0)
		return -1;
	slots_init(&run->slots, &run->planned, &run->arena);
	if (journal_create(&run->journal, place->folder_fd, plan->id, err) < 0 ||
	    start_keeper(run, NULL, err) < 0 || write_commitment(run, err) < 0)
		return -1;
	return write_plan(run, &planned, err);
}

/* --- a run that is resumed --- */

/* What the journal says of the run as a whole. */
struct past {
	bool is_planned, is_committed;
	struct digest planned, commitment;
	struct image_list images; /* in the arena */
	struct arena *arena;
};

static int note_past(struct past *past, const struct journal_entry *entry, struct err *err)
{
	bool is_plan = strcmp(entry->event, RUN_PLANNED) == 0;
	bool is_commitment = strcmp(entry->event, KEEPER_COMMITTED) == 0;

	if (!is_plan && !is_commitment)
		return 0;
	if (json_get_digest(entry->fields, is_plan ? "planned" : "commitment",
			    is_plan ? &past->planned : &past->commitment, err) < 0)
		return err_wrap(err, "line %llu of the journal", (unsigned long long) entry->seq);
	if (is_plan && record_read_texts(json_member(entry->fields, "images"), past->arena,
					 &past->images.items, &past->images.count, err) < 0)
		return err_wrap(err, "line %llu of the journal: images",
				(unsigned long long) entry->seq);
	past->is_planned = past->is_planned || is_plan;
	past->is_committed = past->is_committed || is_commitment;
	return 0;
}

/* Each line to @past, or without one to the slots. */
static int replay(struct run *run, struct past *past, struct err *err)
{
	cleanup(journal_reader_done) struct journal_reader reader;
	auto_fd fd = journal_open_read(run->place->folder_fd, err);
	struct journal_entry entry;
	int got;

	journal_reader_init(&reader, fd);
	if (fd < 0)
		return -1;
	while ((got = journal_read(&reader, &entry, err)) > 0) {
		if (past && note_past(past, &entry, err) < 0)
			return -1;
		if (!past && slots_note(&run->slots, entry.event, entry.fields, err) < 0)
			return err_wrap(err, "line %llu of the journal",
					(unsigned long long) entry.seq);
	}
	return got;
}

/*
 * What the journal says of the run, before anything else in the folder is believed. A run that was
 * ended right after its plan was written has no journal yet, and no attempt.
 */
static int read_past(struct run *run, struct past *past, struct err *err)
{
	int folder = run->place->folder_fd;

	if (faccessat(folder, JOURNAL_FILE, F_OK, 0) == 0)
		return replay(run, past, err);
	if (faccessat(folder, "attempts", F_OK, 0) == 0)
		return err_set(err, ERR_INPUT,
			       "'" JOURNAL_FILE "' is gone, without which nobody knows how far "
			       "the run is; put it back, or begin a new run in another folder");
	return 0;
}

static int load_policy(struct run *run, struct err *err)
{
	if (policy_load(run->place->folder_fd, PLANNED_POLICY, &run->policy, err) < 0)
		return -1;
	run->weaker = policy_weaker(&run->policy, &run->arena, &run->weaker_count);
	return 0;
}

/* Of another image a resumed run would be another one. */
static int look_at_images(struct run *run, const struct past *past, struct err *err)
{
	if (images_look(&run->policy, run->launcher->socket_fd, run->stop_fd, &run->arena,
			&run->images, err) < 0)
		return -1;
	if (!past->is_planned)
		return 0;
	return images_check(&past->images, &run->images, err);
}

/* The journal may have been cut off before its first lines were all there. */
static int open_journal(struct run *run, struct err *err)
{
	int folder = run->place->folder_fd;

	if (faccessat(folder, JOURNAL_FILE, F_OK, 0) == 0) {
		if (journal_open(&run->journal, folder, err) < 0)
			return -1;
		if (strcmp(run->journal.run, run->planned.run) == 0)
			return 0;
		return err_set(err, ERR_INPUT, "its journal is that of run '%s', its plan of '%s'",
			       run->journal.run, run->planned.run);
	}
	return journal_create(&run->journal, folder, run->planned.run, err);
}

static int check_judge(const struct run *run, const struct digest *judge, struct err *err)
{
	if (!digest_equal(judge, &run->planned.judge))
		return err_set(err, ERR_INPUT,
			       "the run was begun by another build of proctor: marks of two "
			       "programs do not belong into one run; resume it with that one");
	return 0;
}

static int write_resumed(struct run *run, struct err *err)
{
	struct json_writer *json = journal_begin(&run->journal, RUN_RESUMED);

	json_put_int(json, "cut", run->journal.cut);
	json_put_int(json, "recorded", (int64_t) run->slots.recorded);
	return journal_commit(&run->journal, err);
}

int run_resume(struct run *run, const struct run_place *place, const struct launcher *launcher,
	       struct progress *progress, struct err *err)
{
	struct digest planned, judge;
	struct past past = { .arena = &run->arena };

	reset(run, place, launcher, progress);
	if (open_programs(run, &judge, err) < 0 || read_past(run, &past, err) < 0)
		return -1;
	if (planned_read(place->folder_fd, past.is_planned ? &past.planned : NULL, &run->planned,
			 &planned, err) < 0)
		return err->sys == ENOENT ? err_wrap(err, "no run was begun there") : -1;
	slots_init(&run->slots, &run->planned, &run->arena);
	if (load_policy(run, err) < 0 || look_at_images(run, &past, err) < 0 ||
	    open_journal(run, err) < 0 || replay(run, NULL, err) < 0 ||
	    check_judge(run, &judge, err) < 0)
		return -1;
	if (start_keeper(run, past.is_committed ? &past.commitment : NULL, err) < 0 ||
	    (!past.is_committed && write_commitment(run, err) < 0) ||
	    (!past.is_planned && write_plan(run, &planned, err) < 0))
		return -1;
	return run->slots.is_closed ? 0 : write_resumed(run, err);
}

void run_done(struct run *run)
{
	keeper_done(&run->keeper);
	journal_done(&run->journal);
	slots_done(&run->slots);
	planned_done(&run->planned);
	policy_done(&run->policy);
	arena_done(&run->arena);
	fd_close(&run->null_fd);
	fd_close(&run->worker_fd);
}
