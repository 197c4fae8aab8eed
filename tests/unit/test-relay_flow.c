/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/relay.h"
#include "tests/lib/check.h"

/* What goes in at source[1] is moved from source[0] to target[0] and comes out at target[1]. */
static int source[2], target[2];
static struct relay_flow flow;
static uint64_t left;
static uint8_t buffer[RELAY_BUFFER];

static void make(uint64_t allowed)
{
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, source) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, target) == 0);
	flow = (struct relay_flow){ .bytes = buffer };
	left = allowed;
}

static enum relay_moved move(void)
{
	return relay_flow_move(&flow, source[0], target[0], &left);
}

static void put(const char *text)
{
	CHECK(write(source[1], text, strlen(text)) == (ssize_t) strlen(text));
}

static void expect(const char *text)
{
	char got[64] = "";
	ssize_t len = read(target[1], got, sizeof(got) - 1);

	CHECK_INT(len, strlen(text));
	CHECK_STR(got, text);
}

TEST(bytes_are_carried_as_they_are_and_counted)
{
	char got[8];

	make(100);
	CHECK_INT(move(), RELAY_WAITS);
	CHECK(write(source[1], "a\0\x1b]\xff", 5) == 5);
	CHECK_INT(move(), RELAY_WAITS);
	CHECK(read(target[1], got, sizeof(got)) == 5 && memcmp(got, "a\0\x1b]\xff", 5) == 0);
	CHECK_INT(flow.passed, 5);
	CHECK_INT(left, 95);
}

TEST(the_end_is_handed_on_behind_the_last_byte_and_the_other_way_stays_open)
{
	char byte;

	make(100);
	put("last");
	CHECK(shutdown(source[1], SHUT_WR) == 0);
	CHECK_INT(move(), RELAY_DONE);
	expect("last");
	CHECK_INT(read(target[1], &byte, 1), 0);
	CHECK_INT(move(), RELAY_DONE);
	CHECK(write(target[1], "x", 1) == 1);
	CHECK(read(target[0], &byte, 1) == 1);
}

TEST(exactly_so_many_bytes_may_be_carried)
{
	char byte;

	make(4);
	put("four");
	CHECK_INT(move(), RELAY_WAITS);
	CHECK_INT(left, 0);
	CHECK_INT(move(), RELAY_WAITS); /* that there are no more is no offence */
	put("5");
	CHECK_INT(move(), RELAY_CAPPED);
	expect("four");
	CHECK_INT(flow.passed, 4);
	make(4);
	put("four");
	CHECK(shutdown(source[1], SHUT_WR) == 0);
	CHECK_INT(move(), RELAY_DONE);
	expect("four");
	CHECK_INT(read(target[1], &byte, 1), 0);
	make(3);
	put("four");
	CHECK_INT(move(), RELAY_CAPPED);
	expect("fou");
}

TEST(a_target_that_does_not_read_is_waited_for_and_costs_one_buffer)
{
	static char bytes[RELAY_BUFFER];
	uint64_t written = 0, taken = 0;
	bool was_full = false;
	ssize_t len;

	make(UINT64_MAX);
	memset(bytes, 'x', sizeof(bytes));
	for (int i = 0; i < 1000 && !was_full; i++) {
		len = write(source[1], bytes, sizeof(bytes));
		written += len > 0 ? (uint64_t) len : 0;
		CHECK_INT(move(), RELAY_WAITS);
		was_full = len < 0;
	}
	CHECK(was_full);
	CHECK(written < 4 * MIB);
	CHECK(flow.len > 0 && flow.len <= RELAY_BUFFER);
	CHECK(shutdown(source[1], SHUT_WR) == 0);
	while ((len = read(target[1], bytes, sizeof(bytes))) != 0) {
		taken += len > 0 ? (uint64_t) len : 0;
		best_effort(move());
	}
	CHECK_INT(taken, written);
	CHECK_INT(flow.passed, written);
}

TEST(one_turn_is_bounded)
{
	static char bytes[RELAY_BUFFER];
	int size = 4 * 1024 * 1024;
	uint64_t written = 0;
	ssize_t len;

	make(UINT64_MAX);
	CHECK(setsockopt(source[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)) == 0);
	CHECK(setsockopt(target[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)) == 0);
	while ((len = write(source[1], bytes, sizeof(bytes))) > 0)
		written += (uint64_t) len;
	CHECK_INT(move(), RELAY_WAITS);
	CHECK(flow.passed <= 4 * (uint64_t) RELAY_BUFFER);
	CHECK(flow.passed <= written);
}

TEST(who_failed_is_told)
{
	make(100);
	put("x");
	close(target[1]);
	CHECK_INT(move(), RELAY_TARGET);
	CHECK_INT(errno, EPIPE);
	make(100);
	/* What the source did not read makes its end a reset. */
	CHECK(write(source[0], "x", 1) == 1);
	close(source[1]);
	CHECK_INT(move(), RELAY_SOURCE);
	CHECK_INT(errno, ECONNRESET);
}
