/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/drill/drill.h"

/**
 * forger_try() - send the launcher a request that it has to refuse, and see what it says
 * @attack: one of JUDGE_REQUEST
 */
void forger_try(const struct drill *drill, const struct drill_attack *attack,
		struct testimony *out);
