/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/drill/drill.h"
#include "harness/report/table.h"

/*
 * What a drill found: what got through, first; a row an attack; how many of what
 */

/**
 * drilled_print() - append all of it as text
 */
void drilled_print(const struct drill_report *report, const struct table_style *style,
		   struct str *out);

/**
 * drilled_put() - write it as one JSON object
 */
void drilled_put(const struct drill_report *report, struct json_writer *json);

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
