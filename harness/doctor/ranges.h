/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/*
 * The host ids that jails use; the launcher has the same numbers, and a test compares them.
 */
#define RANGES_FIRST UINT64_C(0x70000000)
#define RANGES_COUNT (UINT64_C(1024) * 65536)
