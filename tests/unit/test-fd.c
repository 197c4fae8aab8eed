/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "tests/lib/check.h"

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static int open_null(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

TEST(closing_leaves_none_and_keeps_errno)
{
	int fd = open_null(), number = fd;

	errno = EPIPE;
	fd_close(&fd);
	CHECK_INT(errno, EPIPE);
	CHECK_INT(fd, -1);
	CHECK(!is_open(number));
	errno = EPIPE;
	fd_close(&fd);
	CHECK_INT(errno, EPIPE);
}

TEST(a_descriptor_is_closed_when_its_scope_ends)
{
	int number;

	{
		auto_fd fd = open_null();

		number = fd;
		CHECK(is_open(number));
	}
	CHECK(!is_open(number));
}

TEST(a_descriptor_that_was_taken_stays_open)
{
	auto_fd kept = -1;

	{
		auto_fd fd = open_null();

		kept = fd_take(&fd);
		CHECK_INT(fd, -1);
	}
	CHECK(is_open(kept));
}

TEST(descriptor_zero_is_a_descriptor)
{
	int fd = 0;

	fd_close(&fd);
	CHECK(!is_open(0));
}
