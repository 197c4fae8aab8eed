/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/aka/aka_summary.h"
#include "sandbox/base/str.h"

/*
 * The reports of a run: three files as the reference writes them, byte for byte, and one of ours
 */

/**
 * aka_report_text() - append overall_report.txt
 */
void aka_report_text(struct str *out, const struct aka_summary *summary);

/**
 * aka_report_json() - append task_type_breakdown.json
 */
void aka_report_json(struct str *out, const struct aka_summary *summary);

/**
 * aka_report_csv() - append overall_summary.csv
 */
void aka_report_csv(struct str *out, const struct aka_summary *summary);

/**
 * aka_report_marks() - append proctor_marks.json: what is not in the other three
 * @as_theirs: of the reference's scores
 * @strict:    of the strict ones, over the same tasks in the same order
 *
 * One JSON object: geometric mean, share of tasks faster than 1 and 2 times, for all and by type;
 * and both marks of each task, with the reason where they differ.
 */
void aka_report_marks(struct str *out, const struct aka_summary *as_theirs,
		      const struct aka_summary *strict);
