/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "harness/console/table.h"
#include "harness/doctor/doctor.h"

/*
 * What the doctor found: why a run would be refused, first; a row a check; what to do
 */

/**
 * checks_print() - append all of it as text
 * @explain: say of each check what it means, not only of those that are not ok
 */
void checks_print(const struct doctor *doctor, const struct table_style *style, bool explain,
		  struct str *out);

/**
 * checks_put() - write it as one JSON object: run, why, checks
 */
void checks_put(const struct doctor *doctor, struct json_writer *json);

/**
 * checks_refuse() - would a run be refused?
 */
bool checks_refuse(const struct doctor *doctor);
