/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/clock.h"

#include <limits.h>
#include <time.h>

#include "sandbox/base/compiler.h"

static int64_t read_clock(clockid_t which)
{
	struct timespec now;

	/* Fails only for a clock that does not exist. */
	clock_gettime(which, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t clock_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_wall_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

int64_t clock_after_ms(uint64_t ms)
{
	int64_t now = clock_now();

	if (ms > (uint64_t) ((CLOCK_NEVER - now) / NS_PER_MS))
		return CLOCK_NEVER;
	return now + (int64_t) ms * NS_PER_MS;
}

int clock_poll_ms(int64_t deadline)
{
	int64_t left;

	if (deadline == CLOCK_NEVER)
		return -1;
	left = deadline - clock_now();
	if (left <= 0)
		return 0;
	return (int) MIN_OF((left + NS_PER_MS - 1) / NS_PER_MS, (int64_t) INT_MAX);
}
