/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/evidence/json.h"
#include "harness/run/record.h"
#include "sandbox/base/arena.h"

/*
 * Records, read again: from the journal, where each attempt's last line has its record
 */

/**
 * record_read_texts() - a list of words, copied into @arena; absent: none
 */
int record_read_texts(const struct json_value *list, struct arena *arena, const char *const **out,
		      size_t *count, struct err *err) must_check;

/**
 * record_read() - the inverse of record_put(), but for digests and lists of files, of which it
 * reads the totals
 * @value: the object; NULL is an error
 * @arena: receives all texts
 */
int record_read(const struct json_value *value, struct arena *arena, struct record *out,
		struct err *err) must_check;

/**
 * record_read_ending() - the members "ending" and "usage" of an object
 */
int record_read_ending(const struct json_value *object, struct arena *arena,
		       struct record_ending *ending, struct record_usage *usage,
		       struct err *err) must_check;
