/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/drill/drill.h"

/*
 * What harnesses without our walls do with a workspace: copy it with whoever writes it still there,
 * follow what leads elsewhere, read results where they were left, run what lies around
 *
 * Its word goes to the attack's own descriptor: GOT where such a harness would have been had.
 */
void naive_look(const struct drill *drill, const struct drill_order *order);
