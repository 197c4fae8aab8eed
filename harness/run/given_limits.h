/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/config/policy.h"
#include "sandbox/base/str.h"
#include "sandbox/stream.h"

/*
 * What the judge allows a candidate, as far as an agent that tries its own work can hold to it:
 * a file beside the task that it is given, made of the policy
 */
#define GIVEN_LIMITS_FILE "limits.yaml"

enum { GIVEN_LIMITS_MAX = 4096 };

struct given_limits {
	uint64_t candidate_bytes, candidate_entries; /* what is to be built */
	uint64_t product_bytes, product_entries;     /* what a build leaves */
	uint64_t worker_memory;                      /* bytes */
	uint64_t worker_pids;                        /* processes and threads at a time */
	uint64_t worker_nofile;                      /* descriptors of one process */
};

/**
 * given_limits_of() - those of a policy
 */
struct given_limits given_limits_of(const struct policy *policy);

/**
 * given_limits_text() - append them as the file
 */
void given_limits_text(const struct given_limits *limits, struct str *out);

/**
 * given_limits_parse() - read the file
 * @file: what messages call it
 */
int given_limits_parse(const char *file, const char *text, size_t len, struct given_limits *out,
		       struct err *err) must_check;

/**
 * given_limits_candidate() - as a limit of the tree that is built
 */
struct stream_limits given_limits_candidate(const struct given_limits *limits);

/**
 * given_limits_products() - as a limit of the tree that a build leaves
 */
struct stream_limits given_limits_products(const struct given_limits *limits);
