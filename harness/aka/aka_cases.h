/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "harness/aka/pyvalue.h"
#include "sandbox/base/arena.h"
#include "sandbox/base/str.h"

/*
 * What a performance command has measured, as AgentKernelArena reads it
 *
 * A command leaves a report in one of five places, or prints its times. Reading is its reading,
 * rule for rule, since marks that are to be compared with its own hang on it. It has never failed
 * here: where its own reader ends with an exception, and the task vanishes from all reports, the
 * cases are those that could be read, and `lost_why` says what would have happened. Whatever makes
 * a figure doubtful is noted on the way, and aka_strict.h refuses it.
 */
enum {
	AKA_CASES_MAX = 2048, /* each is compared with each */
};

/* Where results may be, in the order of their places. */
enum aka_channel {
	AKA_BUILD_PERFORMANCE_REPORT,
	AKA_PERFORMANCE_REPORT,
	AKA_BUILD_PERF_REPORT,
	AKA_PERF_REPORT,
	AKA_BENCHMARK_RESULTS,
	AKA_REPORTS, /* how many files there are */
	AKA_STDOUT = AKA_REPORTS,
	AKA_NOWHERE,
};

enum aka_doubt {
	AKA_DOUBT_REPEATED_KEY = 1 << 0,    /* an object has two members of one name */
	AKA_DOUBT_UNIT_GUESSED = 1 << 1,    /* 1000 and more under "time" count as seconds */
	AKA_DOUBT_HOST_TIME = 1 << 2,       /* the time of a host's clock, by its name */
	AKA_DOUBT_SKIPPED = 1 << 3,         /* an entry of the report was not a test case */
	AKA_DOUBT_SEVERAL_REPORTS = 1 << 4, /* more than one report is there */
	AKA_DOUBT_BROKEN_REPORT = 1 << 5,   /* a report is there and says nothing */
	AKA_DOUBT_REPEATED_OUTPUT = 1 << 6, /* the one time of the output is there several times */
	AKA_DOUBT_UNLABELLED_TIME = 1 << 7, /* any number with a unit in the output */
	AKA_DOUBT_NO_NUMBER = 1 << 8,       /* a time of the output is no number, "..." */
	AKA_DOUBT_TOO_LARGE = 1 << 9,       /* over a limit of ours */
	AKA_DOUBT_NON_FINITE = 1 << 10,     /* NaN or Infinity anywhere in a report */
	AKA_DOUBT_TIME_FROM_TEXT = 1 << 11, /* a time that is a text or a truth value */
	AKA_DOUBTS = 12,
};

struct aka_case {
	const struct pyvalue *id;
	const struct pyvalue *shape;    /* NULL: none */
	const struct pyvalue *params;   /* NULL: none; may be None */
	const struct pyvalue *method;   /* NULL: not said */
	const struct pyvalue *fallback; /* why a method was not the usual one; NULL: not said */
	bool id_is_made_up;
	double time_ms;
	const char *source; /* the member or the pattern that the time is from */
};

struct aka_cases {
	struct arena arena; /* all of it */
	struct aka_case *list;
	size_t count;
	enum aka_channel channel;
	unsigned int doubts;
	const char *lost_why; /* NULL: its own reader gets through */
};

#define AKA_CASES_INIT ((struct aka_cases){ .channel = AKA_NOWHERE })

/* The bytes of a file; NULL where there is none. */
struct aka_bytes {
	const void *bytes;
	size_t len;
};

struct aka_measured {
	const char *task_type;
	bool is_baseline;
	struct aka_bytes reports[AKA_REPORTS]; /* regular files that the command has written */
	const struct str *output;              /* standard output and standard error: a text */
};

/**
 * aka_report_path() - where the report of a channel is, beneath the workspace
 */
const char *aka_report_path(enum aka_channel channel);

/**
 * aka_channel_name() - the same, or words for what is no file
 */
const char *aka_channel_name(enum aka_channel channel);

/**
 * aka_cases_read() - the cases of a command that has ended well; none is a result as well
 * @out: AKA_CASES_INIT; the caller's to release with aka_cases_done()
 */
void aka_cases_read(struct aka_cases *out, const struct aka_measured *measured);

/**
 * aka_cases_add() - one more case, all zero but for its id; NULL when there are too many
 */
struct aka_case *aka_cases_add(struct aka_cases *cases, const struct pyvalue *id);

/**
 * aka_cases_done() - release them; AKA_CASES_INIT again
 */
void aka_cases_done(struct aka_cases *cases);

/**
 * aka_case_is_valid() - is its time a number above zero? Infinity is
 */
bool aka_case_is_valid(const struct aka_case *test_case);

/**
 * aka_doubt_text() - what is wrong, for a reason
 */
const char *aka_doubt_text(enum aka_doubt doubt);
