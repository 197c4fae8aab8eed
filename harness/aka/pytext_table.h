/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sandbox/base/compiler.h"

/* Letters and digits beyond ASCII, as sorted runs; and the zeros of all scripts with decimal
 * digits. */
extern const uint32_t pytext_words[][2];
extern const size_t pytext_words_count;
extern const uint32_t pytext_zeros[];
extern const size_t pytext_zeros_count;
