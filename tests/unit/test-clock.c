/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/clock.h"

#include <limits.h>
#include <poll.h>

#include "tests/lib/check.h"

TEST(a_deadline_lies_as_far_ahead_as_asked)
{
	int64_t before = clock_now(), deadline = clock_after_ms(1500), after = clock_now();

	CHECK(deadline >= before + 1500 * NS_PER_MS);
	CHECK(deadline <= after + 1500 * NS_PER_MS);
}

TEST(a_deadline_too_far_away_is_never)
{
	CHECK_INT(clock_after_ms(UINT64_MAX), CLOCK_NEVER);
	CHECK_INT(clock_after_ms(INT64_MAX / NS_PER_MS), CLOCK_NEVER);
	CHECK(clock_after_ms(UINT64_C(86400000) * 365) < CLOCK_NEVER);
}

TEST(poll_is_told_to_wait_long_enough_and_never_for_ever)
{
	CHECK_INT(clock_poll_ms(CLOCK_NEVER), -1);
	CHECK_INT(clock_poll_ms(0), 0);
	CHECK_INT(clock_poll_ms(clock_now()), 0);
	CHECK_INT(clock_poll_ms(CLOCK_NEVER - 1), INT_MAX);
	CHECK_INT(clock_poll_ms(clock_now() + 3600 * NS_PER_S), 3600 * 1000);
}

TEST(poll_does_not_return_before_the_deadline)
{
	int64_t deadline = clock_now() + 3 * NS_PER_MS + 1;

	CHECK_INT(poll(NULL, 0, clock_poll_ms(deadline)), 0);
	CHECK(clock_now() >= deadline);
}

TEST(wall_time_is_nanoseconds_since_1970)
{
	const int64_t year_2020 = INT64_C(1577836800) * NS_PER_S;

	CHECK(clock_wall_ns() > year_2020);
}
