/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/attempt_state.h"

const struct name attempt_state_names[] = {
	{ "PLANNED", ATTEMPT_PLANNED },   { "LEASED", ATTEMPT_LEASED },
	{ "AGENT", ATTEMPT_AGENT },       { "FROZEN", ATTEMPT_FROZEN },
	{ "BUILT", ATTEMPT_BUILT },       { "JUDGED", ATTEMPT_JUDGED },
	{ "RECORDED", ATTEMPT_RECORDED }, { NULL, 0 },
};
