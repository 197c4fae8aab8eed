/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/aka/aka_summary.h"
#include "sandbox/base/str.h"

/**
 * aka_comparison() - append the reference's comparison report of two runs
 *
 * Figures beside figures: it does not ask whether both runs had the same tasks.
 */
void aka_comparison(struct str *out, const struct aka_summary *first,
		    const struct aka_summary *second);
