/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/console/table.h"
#include "harness/drill/drill.h"

/*
 * What a drill found: what got through, first; a row an attack; how many of what
 */

#define DRILLED_SCHEMA "proctor/drill/1"

/* What was tried, and where: a result without them certifies nothing. Texts are borrowed. */
struct drilled_facts {
	const char *program, *launcher; /* their SHA-256; NULL: can not be read */
	const char *policy;             /* its name */
	const char *policy_sha256;
	const char *const *weaker; /* the walls that it has weaker than the shipped default */
	size_t weaker_count;
	const char *host, *kernel; /* as uname(2) has them */
	int64_t began_ns;          /* since 1970 */
	size_t corpus;             /* attacks that there are, chosen or not */
};

/**
 * drilled_print() - append all of it as text
 */
void drilled_print(const struct drill_report *report, const struct drilled_facts *facts,
		   const struct table_style *style, struct str *out);

/**
 * drilled_put() - write it as one JSON object
 */
void drilled_put(const struct drill_report *report, const struct drilled_facts *facts,
		 struct json_writer *json);

/**
 * drilled_count() - how many attacks were seen so; those that get through everywhere are not among
 * them
 */
size_t drilled_count(const struct drill_report *report, enum drill_seen seen);

/**
 * drilled_list() - append the corpus as text, without a result
 */
void drilled_list(const struct drill_attack *const *attacks, size_t count,
		  const struct table_style *style, struct str *out);

/**
 * drilled_list_put() - the same as one JSON object
 */
void drilled_list_put(const struct drill_attack *const *attacks, size_t count,
		      struct json_writer *json);
