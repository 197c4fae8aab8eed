/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/**
 * flush_probe() - does this processor flush lines without order; to be asked once
 *
 * The question leaves a virtual machine, which takes tens of microseconds.
 */
bool flush_probe(void);

/**
 * flush_caches() - put [@at, @at + @bytes) out of every cache of the host
 * @unordered: what flush_probe() said
 *
 * By line (clflushopt, else clflush; dc civac on ARM) and not by reading something large, since a
 * shared last-level cache may be larger than anything sensible.
 */
void flush_caches(const void *at, uint64_t bytes, bool unordered);
