/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/io.h"
#include "sandbox/net.h"
#include "tests/lib/check.h"
#include "tests/lib/relays.h"

enum { PATIENCE_MS = 20 * 1000 };

TEST(what_is_said_on_one_side_is_heard_on_the_other)
{
	struct relay_counts counts[NET_SERVICES_MAX];
	struct relay_line line;
	int inside, outside;
	char byte;

	relays_add_service();
	relays_start();
	inside = relays_knock(0);
	outside = relays_answer(0);
	relays_say(inside, "question");
	relays_expect(outside, "question");
	relays_say(outside, "an answer");
	relays_expect(inside, "an answer");
	relays_check_rests("with a connection that says nothing");
	/* Half of it ends; the other half goes on. */
	CHECK(shutdown(inside, SHUT_WR) == 0);
	CHECK_INT(relays_hear(outside, &byte, 1), 0);
	relays_check_rests("with a connection of which half is over");
	relays_say(outside, "more");
	relays_expect(inside, "more");
	close(outside);
	CHECK_INT(relays_hear(inside, &byte, 1), 0);
	line = relays_expect_line(RELAY_CLOSED);
	CHECK_INT(line.number, 1);
	CHECK_INT(line.sent, 8);
	CHECK_INT(line.received, 13);
	relays_finish(counts);
	CHECK_INT(counts[0].connections, 1);
	CHECK_INT(counts[0].sent, 8);
	CHECK_INT(counts[0].received, 13);
	CHECK_INT(counts[0].capped, 0);
}

TEST(an_endpoint_may_end_first_and_still_listen)
{
	int inside, outside;
	char byte;

	relays_add_service();
	relays_start();
	inside = relays_knock(0);
	outside = relays_answer(0);
	CHECK(shutdown(outside, SHUT_WR) == 0);
	CHECK_INT(relays_hear(inside, &byte, 1), 0);
	relays_check_rests("with a connection that the endpoint has half ended");
	relays_say(inside, "still here");
	relays_expect(outside, "still here");
	close(inside);
	CHECK_INT(relays_hear(outside, &byte, 1), 0);
	relays_expect_line(RELAY_CLOSED);
}

TEST(a_reset_is_handed_on_either_way)
{
	static const struct linger at_once = { 1, 0 };
	int inside, outside;

	relays_add_service();
	relays_start();
	inside = relays_knock(0);
	outside = relays_answer(0);
	setsockopt(inside, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(inside);
	relays_expect_reset(outside);
	relays_expect_line(RELAY_RESET);
	inside = relays_knock(0);
	outside = relays_answer(0);
	setsockopt(outside, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(outside);
	relays_expect_reset(inside);
	relays_expect_line(RELAY_ENDPOINT);
}

TEST(an_endpoint_that_is_not_there_is_told_and_found_when_it_is)
{
	struct relay_counts counts[NET_SERVICES_MAX];
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct relay_line line;
	int inside, outside;
	char text[200];

	relays_add_service();
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", check_folder_path());
	snprintf(text, sizeof(text), "unix:%s", address.sun_path);
	CHECK(!relay_endpoint_parse(text, &relays_relay.services[0].endpoint));
	close(relays_endpoints[0]);
	relays_endpoints[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	relays_start();
	inside = relays_knock(0);
	relays_expect_reset(inside);
	line = relays_expect_line(RELAY_UNREACHABLE);
	CHECK_INT(line.error, ENOENT);
	CHECK(bind(relays_endpoints[0], (const struct sockaddr *) &address, sizeof(address)) == 0);
	inside = relays_knock(0);
	relays_expect_reset(inside);
	line = relays_expect_line(RELAY_UNREACHABLE);
	CHECK_INT(line.error, ECONNREFUSED);
	CHECK(listen(relays_endpoints[0], 8) == 0);
	inside = relays_knock(0);
	outside = relays_answer(0);
	relays_say(inside, "there");
	relays_expect(outside, "there");
	relays_finish(counts);
	CHECK_INT(counts[0].unreachable, 2);
	CHECK_INT(counts[0].connections, 1);
}

/*
 * Where nobody listens at a port that the kernel hands out, a socket that connects to it may be
 * given that very port, and TCP then connects it to itself. Here there is no other port.
 */
TEST(a_connection_to_itself_is_no_endpoint)
{
	static const char port[] = "127.0.0.1:45000";
	struct relay_counts counts[NET_SERVICES_MAX];
	struct relay_line line;
	struct err err = ERR_INIT;

	if (geteuid() != 0)
		SKIP("needs root");
	CHECK_INT(unshare(CLONE_NEWNET), 0);
	CHECK_OK(net_loopback_up(&err));
	relays_add_service();
	close(relays_endpoints[0]);
	CHECK(!relay_endpoint_parse(port, &relays_relay.services[0].endpoint));
	CHECK_OK(io_write_kernel_file(AT_FDCWD, "/proc/sys/net/ipv4/ip_local_port_range",
				      "45000 45000", &err));
	relays_start();
	relays_expect_reset(relays_knock(0));
	line = relays_expect_line(RELAY_UNREACHABLE);
	CHECK_INT(line.error, ECONNREFUSED);
	relays_finish(counts);
	CHECK_INT(counts[0].unreachable, 1);
	CHECK_INT(counts[0].connections, 0);
}

TEST(who_does_not_read_is_waited_for_without_work)
{
	static char bytes[RELAY_BUFFER];
	int inside, outside, fds;
	ssize_t len;

	relays_add_service();
	relays_start();
	inside = relays_knock(0);
	outside = relays_answer(0);
	fds = relays_count_fds();
	while ((len = send(inside, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0 ||
	       poll(&(struct pollfd){ .fd = inside, .events = POLLOUT }, 1, 300) == 1)
		continue;
	relays_check_rests("with a reader that does not read");
	CHECK_INT(relays_count_fds(), fds);
	relays_say(outside, "the other way is open");
	relays_expect(inside, "the other way is open");
}

TEST(what_was_sent_before_the_jail_ended_arrives)
{
	struct relay_counts counts[NET_SERVICES_MAX];
	int inside, outside;
	char byte;

	relays_add_service();
	relays_start();
	inside = relays_knock(0);
	relays_say(inside, "last words");
	close(inside);
	relays_finish(counts);
	CHECK_INT(counts[0].sent, 10);
	outside = relays_answer(0);
	relays_expect(outside, "last words");
	CHECK_INT(relays_hear(outside, &byte, 1), 0);
}

TEST(with_the_jail_all_ends_whoever_still_holds_a_connection)
{
	struct relay_counts counts[NET_SERVICES_MAX];
	int64_t begun;
	int inside, outside;
	char byte;

	relays_add_service();
	relays_start();
	inside = relays_knock(0);
	outside = relays_answer(0);
	relays_say(inside, "x");
	relays_expect(outside, "x");
	begun = clock_now();
	close(relays_payload_fd);
	relays_payload_fd = -1;
	relays_expect_line(RELAY_ENDED);
	relays_finish(counts);
	CHECK(clock_now() - begun < 10 * NS_PER_S);
	CHECK_INT(relays_hear(outside, &byte, 1), 0);
	CHECK_INT(counts[0].connections, 1);
}

TEST(it_ends_with_who_has_started_it)
{
	int status;

	relays_add_service();
	relays_start();
	CHECK(relays_knock(0) >= 0);
	close(relays_parent_fd);
	CHECK(waitpid(relays_child, &status, 0) == relays_child);
	CHECK_INT(status, 0);
}

TEST(much_is_carried_both_ways_at_once)
{
	enum { AMOUNT = 16 * 1024 * 1024 };
	static char bytes[RELAY_BUFFER];
	size_t sent[2] = { 0, 0 }, got[2] = { 0, 0 };
	int fd[2];

	relays_add_service();
	relays_start();
	fd[0] = relays_knock(0);
	fd[1] = relays_answer(0);
	while (got[0] < AMOUNT || got[1] < AMOUNT) {
		struct pollfd ready[2];

		for (int i = 0; i < 2; i++)
			ready[i] = (struct pollfd){
				.fd = fd[i],
				.events = (short) (POLLIN | (sent[i] < AMOUNT ? POLLOUT : 0)),
			};
		CHECK(poll(ready, 2, PATIENCE_MS) > 0);
		for (int i = 0; i < 2; i++) {
			ssize_t len;

			if (sent[i] < AMOUNT && ready[i].revents & POLLOUT) {
				len = send(fd[i], bytes, MIN_OF(sizeof(bytes), AMOUNT - sent[i]),
					   MSG_DONTWAIT);
				sent[i] += len > 0 ? (size_t) len : 0;
			}
			if (ready[i].revents & POLLIN) {
				len = recv(fd[i], bytes, sizeof(bytes), MSG_DONTWAIT);
				CHECK(len > 0);
				got[i] += (size_t) len;
			}
		}
	}
	close(fd[0]);
	close(fd[1]);
	CHECK_INT(relays_expect_line(RELAY_CLOSED).sent, AMOUNT);
}

TEST(services_do_not_mix)
{
	struct relay_counts counts[NET_SERVICES_MAX];
	int inside[NET_SERVICES_MAX], outside[NET_SERVICES_MAX];
	char text[16];

	for (int i = 0; i < NET_SERVICES_MAX; i++)
		relays_add_service();
	relays_start();
	for (uint32_t i = 0; i < NET_SERVICES_MAX; i++) {
		inside[i] = relays_knock(i);
		outside[i] = relays_answer(i);
	}
	for (uint32_t i = 0; i < NET_SERVICES_MAX; i++) {
		snprintf(text, sizeof(text), "service %u", i);
		relays_say(inside[i], text);
		relays_expect(outside[i], text);
	}
	relays_finish(counts);
	for (uint32_t i = 0; i < NET_SERVICES_MAX; i++)
		CHECK_INT(counts[i].sent, 9);
}
