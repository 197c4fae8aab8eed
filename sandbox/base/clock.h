/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/*
 * Time on CLOCK_MONOTONIC in nanoseconds. A deadline is a point on that clock; CLOCK_NEVER is
 * later than every other.
 */
#define CLOCK_NEVER INT64_MAX

/**
 * clock_now() - nanoseconds on CLOCK_MONOTONIC
 */
int64_t clock_now(void);

/**
 * clock_after_ms() - the deadline @ms milliseconds from now; it saturates at CLOCK_NEVER
 */
int64_t clock_after_ms(uint64_t ms);

/**
 * clock_poll_ms() - what poll(2) should be told to wait for @deadline: -1 for CLOCK_NEVER,
 * 0 if it has passed, else milliseconds, rounded up so that poll does not return early
 */
int clock_poll_ms(int64_t deadline);

/**
 * clock_wall_ns() - nanoseconds since 1970 (CLOCK_REALTIME), for records only
 */
int64_t clock_wall_ns(void);
