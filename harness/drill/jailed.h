/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/drill/drill.h"

/**
 * jailed_run() - run one attack in a jail with the limits of an agent: drill.run of every drill
 * that is not a control
 */
int jailed_run(const struct drill *drill, const struct drill_order *order, struct jail_outcome *out,
	       struct err *err) must_check;
