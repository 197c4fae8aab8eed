/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/console/table.h"
#include "harness/run/vetting.h"

/*
 * What came of trying a task out, as text and as JSON
 */

/**
 * vetted_print() - append what was found
 * @folder: of the task, as it was given
 */
void vetted_print(const struct vetted *vetted, const char *folder, const struct table_style *style,
		  struct str *out);

/**
 * vetted_put() - the same as one JSON object
 */
void vetted_put(const struct vetted *vetted, const char *folder, struct json_writer *json);
