/* SPDX-License-Identifier: Apache-2.0 */

/* Of sandbox/relay.c: what happens where a cap is met. */

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "tests/lib/check.h"
#include "tests/lib/relays.h"

static struct err err;

TEST(one_too_many_at_a_time_is_reset_and_the_others_go_on)
{
	struct relay_counts counts[NET_SERVICES_MAX];
	int inside[3], outside[3];

	relays_add_service();
	relays_relay.services[0].connections = 2;
	relays_start();
	for (int i = 0; i < 2; i++) {
		inside[i] = relays_knock(0);
		outside[i] = relays_answer(0);
	}
	for (int i = 0; i < 5; i++) {
		inside[2] = relays_knock(0);
		relays_expect_reset(inside[2]);
		CHECK_INT(relays_expect_line(RELAY_CONNECTIONS).number, 3 + i);
		close(inside[2]);
	}
	for (int i = 0; i < 2; i++) {
		relays_say(inside[i], "still");
		relays_expect(outside[i], "still");
	}
	close(inside[0]);
	close(outside[0]);
	relays_expect_line(RELAY_CLOSED);
	inside[2] = relays_knock(0);
	outside[2] = relays_answer(0);
	relays_say(outside[2], "room");
	relays_expect(inside[2], "room");
	relays_finish(counts);
	CHECK_INT(counts[0].refused, 5);
	CHECK_INT(counts[0].connections, 3);
	CHECK_INT(counts[0].capped, 1U << RELAY_CONNECTIONS);
}

TEST(after_the_last_connection_there_is_none_and_no_work_with_those_who_try)
{
	struct relay_counts counts[NET_SERVICES_MAX];
	int inside, outside;

	relays_add_service();
	relays_relay.services[0].total = 2;
	relays_start();
	for (int i = 0; i < 2; i++) {
		inside = relays_knock(0);
		outside = relays_answer(0);
		relays_say(inside, "x");
		relays_expect(outside, "x");
		if (i == 0)
			close(inside);
		if (i == 0)
			close(outside);
	}
	relays_expect_line(RELAY_CLOSED);
	relays_expect_reset(relays_knock(0));
	CHECK_INT(relays_expect_line(RELAY_TOTAL).number, 3);
	relays_check_rests("with a listener that is shut");
	for (int i = 0; i < 10; i++) {
		CHECK_INT(relays_knock(0), -1);
		CHECK_INT(errno, ECONNREFUSED);
	}
	relays_say(inside, "the second");
	relays_expect(outside, "the second");
	relays_finish(counts);
	CHECK_INT(counts[0].connections, 2);
	CHECK_INT(counts[0].refused, 1);
	CHECK_INT(counts[0].capped, 1U << RELAY_TOTAL);
}

TEST(bytes_of_all_connections_are_capped_each_way)
{
	struct relay_counts counts[NET_SERVICES_MAX];
	int inside, outside;
	char byte;

	relays_add_service();
	relays_add_service();
	relays_relay.services[0].sent = 10;
	relays_relay.services[1].received = 10;
	relays_start();
	inside = relays_knock(0);
	outside = relays_answer(0);
	relays_say(inside, "123456");
	relays_expect(outside, "123456");
	close(inside);
	close(outside);
	relays_expect_line(RELAY_CLOSED);
	inside = relays_knock(0);
	outside = relays_answer(0);
	relays_say(inside, "7890");
	relays_expect(outside, "7890");
	relays_say(outside, "what comes back is not counted there");
	relays_expect(inside, "what comes back is not counted there");
	relays_say(inside, "!");
	relays_expect_reset(inside);
	CHECK_INT(relays_expect_line(RELAY_SENT).sent, 4);
	CHECK_INT(relays_hear(outside, &byte, 1), -1);
	inside = relays_knock(1);
	outside = relays_answer(1);
	relays_say(outside, "12345678901");
	CHECK_INT(relays_expect_line(RELAY_RECEIVED).received, 10);
	relays_check_rests("with two caps met");
	relays_finish(counts);
	CHECK_INT(counts[0].sent, 10);
	CHECK_INT(counts[0].capped, 1U << RELAY_SENT);
	CHECK_INT(counts[1].received, 10);
	CHECK_INT(counts[1].capped, 1U << RELAY_RECEIVED);
}

TEST(who_says_nothing_for_too_long_is_reset)
{
	int inside, outside;

	relays_add_service();
	relays_relay.services[0].idle_ms = 300;
	relays_start();
	inside = relays_knock(0);
	outside = relays_answer(0);
	for (int i = 0; i < 4; i++) {
		poll(NULL, 0, 100);
		relays_say(inside, "x");
		relays_expect(outside, "x");
	}
	relays_expect_reset(inside);
	CHECK_INT(relays_expect_line(RELAY_IDLE).sent, 4);
}

TEST(a_flood_leaves_no_descriptor_and_shuts_nobody_out)
{
	struct relay_counts counts[NET_SERVICES_MAX];
	int inside, outside, before;
	uint64_t lines = 0;

	relays_add_service();
	relays_relay.services[0].connections = 4;
	relays_start();
	inside = relays_knock(0);
	outside = relays_answer(0);
	before = relays_count_fds();
	for (int i = 0; i < 2000; i++) {
		int fd = relays_knock(0);

		if (fd >= 0)
			close(fd);
		while (poll(&(struct pollfd){ .fd = relays_lines_fd, .events = POLLIN }, 1, 0) ==
		       1) {
			relays_next_line();
			lines++;
		}
	}
	while (poll(&(struct pollfd){ .fd = relays_endpoints[0], .events = POLLIN }, 1, 100) == 1)
		close(accept4(relays_endpoints[0], NULL, NULL, SOCK_CLOEXEC));
	while (lines < 2000) {
		relays_next_line();
		lines++;
	}
	CHECK_INT(relays_count_fds(), before);
	relays_say(inside, "still here");
	relays_expect(outside, "still here");
	relays_finish(counts);
	CHECK_INT(counts[0].connections + counts[0].refused, 2001);
}

TEST(more_connections_than_there_may_be_are_refused_before_anything_begins)
{
	struct relay_counts counts[NET_SERVICES_MAX];

	relays_add_service();
	relays_relay.services[0].connections = RELAY_CONNECTIONS_MAX + 1;
	relays_relay.payload_fd = relays_relay.parent_fd = relays_relay.services[0].listen_fd;
	CHECK_INT(relay_run(&relays_relay, counts, &err), -1);
	CHECK_STR(err.text, "relay: 257 connections at a time; 256 at most");
}
