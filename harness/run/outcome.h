/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/run/attempt.h"

/*
 * What an attempt came to, for the journal and for its record
 */

/**
 * outcome_take_ending() - how the agent's jail ended, and what it used
 */
void outcome_take_ending(struct attempt *attempt, const struct jail_outcome *outcome);

/**
 * outcome_tell_agent() - what the transition to AGENT adds to its line: all that is known of the
 * agent's end
 */
void outcome_tell_agent(const struct attempt *attempt, struct json_writer *json);

/**
 * outcome_tell_frozen() - the roots of the frozen tree and of the candidate
 */
void outcome_tell_frozen(const struct attempt *attempt, struct json_writer *json);

/**
 * outcome_tell_built() - whether the candidate was built, and why not
 */
void outcome_tell_built(const struct attempt *attempt, struct json_writer *json);

/**
 * outcome_tell_judged() - the marks and the verdict
 */
void outcome_tell_judged(const struct attempt *attempt, struct json_writer *json);

/**
 * outcome_record() - make the record of an attempt and write it into its folder, the raw samples
 * beside it
 * @out: borrows its texts from the run's arena and from tables; of the lists of files it keeps the
 *       totals
 */
int outcome_record(struct attempt *attempt, struct record *out, struct err *err) must_check;
