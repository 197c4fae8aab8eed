/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/clients.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/message.h"
#include "tests/lib/check.h"

static struct clients clients;
static struct err err;

static struct client *add(uid_t uid, int *other_end)
{
	const struct peer peer = { .pid = 1, .uid = uid, .pid_fd = -1 };
	struct client *client;
	int pair[2];

	CHECK_OK(message_pair(pair, &err));
	client = clients_add(&clients, pair[1], &peer, &err);
	CHECK(client);
	if (other_end)
		*other_end = pair[0];
	else
		close(pair[0]);
	return client;
}

static bool is_readable(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	return poll(&ready, 1, 0) > 0;
}

TEST(connections_are_counted_by_account)
{
	add(1000, NULL);
	add(1000, NULL);
	add(1001, NULL);
	CHECK_INT(clients_count_of(&clients, 1000), 2);
	CHECK_INT(clients_count_of(&clients, 1001), 1);
	clients_end(clients.list[0]);
	CHECK_INT(clients_count_of(&clients, 1000), 1);
	/* Whoever hangs up can not have more of them by jails that take long to end. */
	clients.list[1]->jails = 1;
	clients_end(clients.list[1]);
	CHECK_INT(clients_count_of(&clients, 1000), 1);
	clients.list[1]->jails = 0;
	for (size_t i = 0; i < clients.count; i++)
		clients_end(clients.list[i]);
	clients_sweep(&clients);
	CHECK_INT(clients.count, 0);
}

TEST(a_client_stays_until_its_last_jail_is_gone_and_its_jails_are_told)
{
	int fd;
	struct client *client = add(1000, &fd);
	uint64_t id = client->id;

	client->jails = 1;
	CHECK(!is_readable(client->gone_fd));
	CHECK(!is_readable(fd));
	clients_end(client);
	CHECK(is_readable(client->gone_fd));
	CHECK(is_readable(fd)); /* its connection is closed */
	clients_end(client);
	clients_sweep(&clients);
	CHECK(clients_find(&clients, id) == client);
	client->jails = 0;
	clients_sweep(&clients);
	CHECK(!clients_find(&clients, id));
	close(fd);
}

TEST(the_table_has_its_limit)
{
	const struct peer peer = { .pid_fd = -1 };
	struct rlimit files;
	int pair[2], next;

	CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
	files.rlim_cur = files.rlim_max; /* two for each client, as the launcher has it */
	CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		add(1000, NULL);
	CHECK_OK(message_pair(pair, &err));
	next = pair[0];
	CHECK(!clients_add(&clients, pair[1], &peer, &err));
	CHECK_INT(err.kind, ERR_HOST);
	CHECK(!is_readable(next)); /* the other end is still ours */
}

/* --- the timing lease --- */

static int ask(struct client *client, enum timing_ask what)
{
	int got = clients_timing(&clients, client, check_folder(), what, 1000, &err);

	CHECK_OK(got);
	return got;
}

/* As long as others have after one has given it back. */
static void rest(void)
{
	usleep(110 * 1000);
}

TEST(of_all_clients_one_has_the_lock_alone)
{
	struct client *one = add(1000, NULL), *two = add(1001, NULL), *three = add(1002, NULL);

	CHECK_INT(ask(one, TIMING_ASK_ALONE), 1);
	CHECK_INT(ask(one, TIMING_ASK_ALONE), 1);
	CHECK_INT(ask(two, TIMING_ASK_ALONE), 0);
	CHECK_INT(ask(two, TIMING_ASK_SHARED), 0);
	/* Nobody gives back what is another's. */
	CHECK_INT(ask(two, TIMING_LEAVE), 1);
	CHECK_INT(ask(two, TIMING_ASK_ALONE), 0);
	CHECK_INT(ask(one, TIMING_LEAVE), 1);
	CHECK_INT(ask(two, TIMING_ASK_SHARED), 1);
	CHECK_INT(ask(three, TIMING_ASK_SHARED), 1);
	CHECK_INT(ask(three, TIMING_ASK_ALONE), 0);
	CHECK_INT(ask(two, TIMING_LEAVE), 1);
	CHECK_INT(ask(one, TIMING_ASK_TURN), 1);
	CHECK_INT(ask(two, TIMING_ASK_TURN), 0);
	CHECK_INT(ask(two, TIMING_LEAVE_TURN), 1);
	CHECK_INT(ask(two, TIMING_ASK_TURN), 0);
}

TEST(what_a_client_holds_ends_with_its_connection_whoever_has_a_copy)
{
	struct client *one = add(1000, NULL), *two = add(1001, NULL);
	int copy, turn;

	CHECK_INT(ask(one, TIMING_ASK_ALONE), 1);
	CHECK_INT(ask(one, TIMING_ASK_TURN), 1);
	copy = dup(one->lock_fd); /* as a child has for a moment */
	turn = dup(one->turn_fd);
	CHECK_INT(ask(two, TIMING_ASK_ALONE), 0);
	clients_end(one);
	CHECK_INT(ask(two, TIMING_ASK_ALONE), 1);
	CHECK_INT(ask(two, TIMING_ASK_TURN), 1);
	close(copy);
	close(turn);
}

TEST(runs_of_root_that_lock_the_files_themselves_are_others_too)
{
	struct client *one = add(1000, NULL);
	int fd;

	CHECK_INT(ask(one, TIMING_ASK_ALONE), 1);
	fd = openat(check_folder(), "timing", O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK(flock(fd, LOCK_EX | LOCK_NB) < 0);
	CHECK_INT(ask(one, TIMING_LEAVE), 1);
	CHECK(flock(fd, LOCK_EX | LOCK_NB) == 0);
	CHECK_INT(ask(one, TIMING_ASK_ALONE), 0);
	close(fd);
}

TEST(who_has_it_for_too_long_loses_it_and_has_to_wait)
{
	struct client *one = add(1000, NULL), *two = add(1001, NULL);

	CHECK_INT(clients_expire(&clients, 1000), CLOCK_NEVER);
	CHECK_INT(ask(one, TIMING_ASK_ALONE), 1);
	CHECK(clients_expire(&clients, 1000) == one->lock_until);
	CHECK_INT(ask(two, TIMING_ASK_ALONE), 0);
	one->lock_until = clock_now();
	CHECK(clients_expire(&clients, 1000) == CLOCK_NEVER);
	CHECK_INT(ask(one, TIMING_ASK_ALONE), 0);
	CHECK_INT(ask(one, TIMING_ASK_SHARED), 0);
	CHECK_INT(ask(two, TIMING_ASK_ALONE), 1);
	CHECK_INT(ask(two, TIMING_LEAVE), 1);
	CHECK_INT(ask(one, TIMING_LEAVE), 1); /* it need not know */
	one->account->closed = 0;
	rest();
	CHECK_INT(ask(one, TIMING_ASK_ALONE), 1);
}

TEST(another_connection_of_the_account_is_no_way_around_that)
{
	struct client *one = add(1000, NULL), *other = add(1000, NULL), *two = add(1001, NULL);

	CHECK_INT(ask(one, TIMING_ASK_ALONE), 1);
	one->lock_until = clock_now();
	CHECK(clients_expire(&clients, 1000) == CLOCK_NEVER);
	CHECK_INT(ask(other, TIMING_ASK_ALONE), 0);
	clients_end(one);
	clients_end(other);
	clients_sweep(&clients);
	other = add(1000, NULL);
	CHECK_INT(ask(other, TIMING_ASK_ALONE), 0);
	CHECK_INT(ask(other, TIMING_ASK_TURN), 0);
	CHECK_INT(ask(two, TIMING_ASK_ALONE), 1);
}

TEST(who_shares_it_does_not_for_ever_and_may_come_again)
{
	struct client *one = add(1000, NULL), *two = add(1001, NULL);

	CHECK_INT(ask(one, TIMING_ASK_SHARED), 1);
	CHECK_INT(ask(two, TIMING_ASK_ALONE), 0);
	one->lock_until = clock_now();
	CHECK(clients_expire(&clients, 1000) == CLOCK_NEVER);
	CHECK_INT(ask(two, TIMING_ASK_ALONE), 1);
	CHECK_INT(ask(two, TIMING_LEAVE), 1);
	rest();
	CHECK_INT(ask(one, TIMING_ASK_SHARED), 1);
}

TEST(of_those_that_want_it_the_one_that_has_had_it_least_recently_comes_first)
{
	const enum timing_ask parts[][2] = { { TIMING_ASK_ALONE, TIMING_LEAVE },
					     { TIMING_ASK_TURN, TIMING_LEAVE_TURN } };
	struct client *one = add(1000, NULL), *two = add(1001, NULL);

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		CHECK_INT(ask(one, parts[i][0]), 1);
		CHECK_INT(ask(one, parts[i][1]), 1);
		CHECK_INT(ask(one, parts[i][0]), 0); /* runs of root are not seen */
		rest();
		CHECK_INT(ask(one, parts[i][0]), 1);
		CHECK_INT(ask(two, parts[i][0]), 0);
		CHECK_INT(ask(one, parts[i][1]), 1);
		for (int j = 0; j < 3; j++) {
			usleep(50 * 1000);
			CHECK_INT(ask(one, parts[i][0]), 0);
			if (j < 2)
				two->account->asked[i] = clock_now(); /* as its looks would */
		}
		CHECK_INT(ask(two, parts[i][0]), 1);
		CHECK_INT(ask(two, parts[i][1]), 1);
		CHECK_INT(ask(one, parts[i][0]), 1);
	}
}

TEST(nobody_keeps_the_turnstile_for_ever)
{
	struct client *one = add(1000, NULL), *two = add(1001, NULL);

	CHECK_INT(ask(one, TIMING_ASK_TURN), 1);
	one->turn_until = clock_now();
	CHECK(clients_expire(&clients, 1000) == CLOCK_NEVER);
	CHECK_INT(ask(two, TIMING_ASK_TURN), 1);
	CHECK_INT(ask(one, TIMING_ASK_ALONE), 1); /* it has done nothing wrong */
}
