/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/evidence/digest.h"
#include "harness/evidence/json.h"
#include "harness/run/score.h"
#include "sandbox/base/err.h"

/*
 * The record of one attempt: what is known of it when it is over, apart in the parts that must not
 * replace each other (how the agent ended; what the seen cases say; what the unseen cases say;
 * what went wrong on our side).
 *
 * A record only borrows: texts come from the plan and from the tables of names of those who own
 * the meaning (endings, marks, verdicts), NULL where there is nothing to say. So a record has no
 * second copy of an enumeration, and knows nothing but texts and numbers.
 *
 * The raw samples are in a file of their own, as integers. The mark is a pure function of them.
 */
#define RECORD_SCHEMA         "proctor/record/1"
#define RECORD_SAMPLES_SCHEMA "proctor/samples/1"
#define RECORD_FILE           "record.json"
#define RECORD_SAMPLES_FILE   "samples.json"

enum { RECORD_LISTED_MAX = 1000 }; /* entries of one list; the total is always told */

#define RECORD_UNKNOWN INT64_C(-1)

/* A set of cases, marked. Filled from the judge's struct mark and struct stats_mark. */
struct record_mark {
	const char *kind;   /* "VALID", "WRONG", …; NULL: not marked */
	const char *stage;  /* where it was decided */
	const char *reason; /* "value", "late", … */
	const char *role;   /* whose worker it was */
	const char *why;    /* in words, for people */
	uint32_t cases;     /* how many the set has; 0: not known */

	int64_t case_index; /* the first failing case; RECORD_UNKNOWN: none */
	int64_t call;
	int64_t arg;
	int64_t index; /* its first wrong element */
	/* Of seen cases only; an unseen set's are never written. */
	const char *case_name;
	bool has_values;
	double got;
	double want;

	uint32_t blocks;     /* 0: not timed; the rest is then without meaning */
	const char *verdict; /* "FAST", "SLOW", "SAME", "AMBG" */
	double ratio;        /* of log(baseline / candidate) */
	double ratio_low;    /* may be -INFINITY */
	double ratio_high;   /* may be INFINITY */
	double margin;
	bool launch_bound;
};

#define RECORD_MARK_NONE                                     \
	((struct record_mark){ .case_index = RECORD_UNKNOWN, \
			       .call = RECORD_UNKNOWN,       \
			       .arg = RECORD_UNKNOWN,        \
			       .index = RECORD_UNKNOWN })

struct record_ending {
	const char *how;          /* "exited", "timeout", …; NULL: no agent was started */
	int64_t code;             /* exit code; RECORD_UNKNOWN: none */
	int64_t signal;           /* RECORD_UNKNOWN: none */
	const char *const *flags; /* "pids_hit", "denied:ptrace", … */
	size_t flag_count;
};

/* A file of the workspace that has no effect, and why. The name is the agent's: any bytes. */
struct record_entry {
	const char *path;
	size_t path_len;
	const char *reason;
};

struct record_entries {
	const struct record_entry *list; /* the first of them */
	size_t count;
	uint64_t total; /* how many there were, listed or not */
};

/* Nanoseconds since 1970; 0: it did not come to that. */
struct record_times {
	int64_t leased_ns;
	int64_t agent_ns;
	int64_t frozen_ns;
	int64_t built_ns;
	int64_t judged_ns;
	int64_t recorded_ns;
};

/* RECORD_UNKNOWN where this host does not say. */
struct record_usage {
	int64_t wall_ns; /* of the agent */
	int64_t cpu_us;
	int64_t memory_peak; /* bytes */
	int64_t pids_peak;
	int64_t stdout_bytes; /* also those over the cap, which were not kept */
	int64_t stderr_bytes;
};

/* NULL: there is none. */
struct record_digests {
	const struct digest *task; /* of the task's tree */
	const struct digest *policy;
	const struct digest *judge; /* of the program */
	const struct digest *frozen;
	const struct digest *candidate;
	const struct digest *baseline; /* of what was built */
	const struct digest *artifact; /* the candidate's */
	const struct digest *samples;  /* of RECORD_SAMPLES_FILE */
	const struct digest *services; /* of the log of the agent's services */
};

/*
 * Of a task of AgentKernelArena: what its own evaluator would say of the first run of each side,
 * and what all runs bear out. Its speedups and scores may be infinite.
 */
struct record_aka {
	bool is_there;
	bool compiles, is_correct;
	double speedup, score;
	const char *lost; /* why it would have no result; NULL: it has this one */
	double strict_speedup, strict_score;
	const char *reason; /* why something was refused; NULL: nothing was */
};

/* What became of the functions of a file whose tests are the task's, see aka_carry.h. */
struct record_carried {
	bool is_there;
	uint64_t replaced, added, missing, idle, hosted;
	const char *why; /* why nothing was carried over; NULL: it could be */
};

/* Of a task of AgentKernelArena on shapes that its agent did not know, see aka_unseen.h. */
struct record_heldout {
	bool is_there;
	const char *status; /* "both_pass", … */
	bool compiles, is_correct, original_compiles, original_is_correct;
	double time_ms, original_time_ms, speedup, score; /* may be infinite */
	const char *error;                                /* NULL: none */
};

struct record {
	const char *run;
	const char *task;
	const char *agent;
	const char *policy;
	const char *const *weaker; /* walls that the policy has weaker than the shipped default */
	size_t weaker_count;
	const char *const *images; /* of the jails, see images.h */
	size_t image_count;
	uint32_t attempt;        /* from 1 */
	const char *tier;        /* "T1", "T2", "T3", "IN-PROCESS" */
	const char *trust;       /* "OPERATOR-TRUSTED", or which witness */
	bool is_committed_first; /* see keeper.h */
	struct record_ending ending;
	bool is_built;         /* the candidate compiles */
	const char *build_why; /* if it does not */
	struct record_mark seen;
	struct record_mark unseen;
	struct record_aka aka;
	struct record_carried carried;
	struct record_heldout heldout;
	const char *infra; /* what went wrong on our side; NULL: nothing */
	const char *const *labels;
	size_t label_count;
	struct record_times times;
	struct record_usage usage;
	struct record_digests digests;
	struct record_entries rejected; /* not taken out of the workspace */
	struct record_entries unused;   /* taken, and without effect: not editable */
};

/**
 * record_result() - what the seen cases come to, as score.h takes it
 *
 * SUSPECT is advisory and changes no score.
 */
struct score_result record_result(const struct record *record);

/**
 * record_is_marked() - false where a failure of ours kept the attempt from having a score
 *
 * It still is a selected task: over all tasks it counts as failed.
 */
bool record_is_marked(const struct record *record);

/**
 * record_is_right() - is every output of the set right? VALID, or SUSPECT, which is advisory
 */
bool record_is_right(const struct record_mark *mark);

/**
 * record_speedup() - exp(ratio); 0 if the set is not VALID or was not timed
 */
double record_speedup(const struct record_mark *mark);

/**
 * record_put() - write the record as a JSON object, the member @key of what is open
 */
void record_put(struct json_writer *json, const char *key, const struct record *record);

/**
 * record_put_texts() - write a list of texts, the member @key of the object that is open
 */
void record_put_texts(struct json_writer *json, const char *key, const char *const *texts,
		      size_t count);

/**
 * record_put_ending() - write the members "ending" and "usage" of the object that is open
 */
void record_put_ending(struct json_writer *json, const struct record_ending *ending,
		       const struct record_usage *usage);

/**
 * record_write() - put the record into the attempt's folder, in place of an earlier one
 *
 * @digest_out: of the file
 *
 * After a crash there is the old file or the new one. A full disk is ERR_HOST.
 */
int record_write(const struct record *record, int dir_fd, struct digest *digest_out,
		 struct err *err) must_check;

/* One timed call. Filled from the judge's struct sample, member by member. */
struct record_sample {
	uint32_t block;
	uint32_t half;
	uint32_t role; /* index into record_samples.roles */
	uint32_t case_index;
	uint32_t call;
	uint32_t flags;
	int64_t sealed_ns;  /* t1 - t0 by the judge's clock */
	int64_t claimed_ns; /* by the worker's */
};

struct record_case {
	const char *name;
	bool is_unseen;
};

struct record_samples {
	const char *const *roles; /* null workers' calls are samples like any other */
	size_t role_count;
	const struct record_case *cases;
	size_t case_count;
	int64_t floor_ppm; /* the host's A/A floor that the verdict was made with */
	const struct record_sample *list;
	size_t count;
};

/**
 * record_write_samples() - put the raw samples into the attempt's folder
 * @digest_out: receives the digest of the file, for record_digests.samples
 */
int record_write_samples(const struct record_samples *samples, int dir_fd,
			 struct digest *digest_out, struct err *err) must_check;
