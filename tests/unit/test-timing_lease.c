/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/timing_lease.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/message.h"
#include "sandbox/clients.h"
#include "tests/lib/check.h"

/* Two runs of one host: descriptors of their own, of the same two files. */
static struct timing a, b;
static struct timing_files files[2];

static int open_file(const char *name)
{
	int fd = openat(check_folder(), name, O_RDONLY | O_CREAT | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
	return fd;
}

static void begin(bool is_scarce)
{
	const struct cpus cpus = { .judge = 0, .worker = 7, .has_others = !is_scarce };

	for (int i = 0; i < 2; i++)
		files[i] = (struct timing_files){ open_file("timing"), open_file("turn"), -1 };
	timing_init(&a, &files[0], &cpus);
	timing_init(&b, &files[1], &cpus);
}

static void end(void)
{
	timing_files_done(&files[0]);
	timing_files_done(&files[1]);
	CHECK_INT(files[0].lock_fd, -1);
	CHECK_INT(files[0].turn_fd, -1);
}

/* A seat comes and gets what it wants at once, or has to wait. */
static bool gets(struct timing *timing, enum timing_use use)
{
	timing_want(timing, use);
	return timing_try(timing, use);
}

/* As after TIMING_REST_MS. */
static void has_rested(struct timing *timing)
{
	timing->rest_until = 0;
}

TEST(of_one_host_one_marking_is_timed_at_a_time)
{
	begin(false);
	CHECK(gets(&a, TIMING_MARK));
	CHECK(!gets(&a, TIMING_MARK)); /* another seat of the same run */
	CHECK(!a.is_waiting_for_others);
	CHECK(!gets(&b, TIMING_MARK));
	CHECK(b.is_waiting_for_others);
	timing_give_back(&a, TIMING_MARK);
	CHECK(timing_try(&b, TIMING_MARK));
	CHECK(!b.is_waiting_for_others);
	CHECK(!timing_try(&a, TIMING_MARK));
	CHECK(a.is_waiting_for_others);
	timing_give_back(&b, TIMING_MARK);
	has_rested(&a);
	CHECK(timing_try(&a, TIMING_MARK));
	timing_give_back(&a, TIMING_MARK);
	end();
}

/* Else a run of many seats would mark all of them before another run's first. */
TEST(who_has_marked_lets_others_go_first)
{
	begin(false);
	CHECK(gets(&a, TIMING_MARK));
	timing_give_back(&a, TIMING_MARK);
	CHECK(!gets(&a, TIMING_MARK));
	CHECK(a.is_waiting_for_others);
	CHECK(gets(&b, TIMING_MARK));
	has_rested(&a);
	CHECK(!timing_try(&a, TIMING_MARK));
	timing_give_back(&b, TIMING_MARK);
	CHECK(timing_try(&a, TIMING_MARK));
	timing_give_back(&a, TIMING_MARK);
	end();
}

TEST(with_cpus_to_spare_agents_never_wait)
{
	begin(false);
	CHECK(gets(&a, TIMING_MARK));
	for (int i = 0; i < 3; i++)
		CHECK(gets(&a, TIMING_WORK) && gets(&b, TIMING_WORK));
	CHECK(!gets(&b, TIMING_MARK));
	CHECK(gets(&b, TIMING_WORK));
	timing_give_back(&a, TIMING_MARK);
	/* It is given back though agents are at work. */
	CHECK(timing_try(&b, TIMING_MARK));
	CHECK(gets(&a, TIMING_WORK));
	end();
}

TEST(on_a_scarce_host_agents_share_and_a_marking_is_alone)
{
	begin(true);
	CHECK(gets(&a, TIMING_WORK) && gets(&a, TIMING_WORK) && gets(&b, TIMING_WORK));
	CHECK(!gets(&a, TIMING_MARK));
	timing_give_back(&a, TIMING_WORK);
	CHECK(!timing_try(&a, TIMING_MARK));
	timing_give_back(&a, TIMING_WORK);
	CHECK(!timing_try(&a, TIMING_MARK)); /* the other run has an agent */
	timing_give_back(&b, TIMING_WORK);
	CHECK(timing_try(&a, TIMING_MARK));
	CHECK(!gets(&b, TIMING_WORK));
	CHECK(b.is_waiting_for_others);
	timing_give_back(&a, TIMING_MARK);
	CHECK(timing_try(&b, TIMING_WORK));
	end();
}

TEST(once_a_marking_waits_no_further_agent_of_its_run_is_let_in)
{
	begin(true);
	CHECK(gets(&a, TIMING_WORK));
	CHECK(!gets(&a, TIMING_MARK));
	CHECK(!gets(&a, TIMING_WORK));
	timing_give_back(&a, TIMING_WORK);
	CHECK(!timing_try(&a, TIMING_WORK));
	CHECK(timing_try(&a, TIMING_MARK));
	CHECK(!timing_try(&a, TIMING_WORK));
	timing_give_back(&a, TIMING_MARK);
	has_rested(&a);
	CHECK(timing_try(&a, TIMING_WORK));
	end();
}

/* Else agents of one run that overlap would keep the markings of another waiting for ever. */
TEST(once_a_marking_waits_no_further_agent_of_another_run_is_let_in)
{
	begin(true);
	CHECK(gets(&a, TIMING_WORK));
	CHECK(!gets(&b, TIMING_MARK));
	CHECK(!gets(&a, TIMING_WORK)); /* although a has the lock already */
	CHECK(a.is_waiting_for_others);
	timing_give_back(&a, TIMING_WORK);
	CHECK(!timing_try(&a, TIMING_WORK));
	CHECK(timing_try(&b, TIMING_MARK));
	timing_give_back(&b, TIMING_MARK);
	CHECK(timing_try(&a, TIMING_WORK));
	end();
}

TEST(two_markings_that_wait_get_their_turns_in_the_order_they_came)
{
	begin(true);
	CHECK(gets(&a, TIMING_WORK));
	CHECK(!gets(&b, TIMING_MARK));
	CHECK(!gets(&a, TIMING_MARK)); /* comes later, and has to end its own agent */
	timing_give_back(&a, TIMING_WORK);
	CHECK(!timing_try(&a, TIMING_MARK));
	CHECK(timing_try(&b, TIMING_MARK));
	CHECK(!timing_try(&a, TIMING_MARK));
	timing_give_back(&b, TIMING_MARK);
	CHECK(timing_try(&a, TIMING_MARK));
	end();
}

TEST(who_waited_and_is_gone_stands_in_nobodys_way)
{
	begin(true);
	CHECK(gets(&a, TIMING_WORK));
	CHECK(!gets(&b, TIMING_MARK));
	CHECK(b.is_waiting_for_others);
	timing_forget(&b, TIMING_MARK);
	CHECK(!b.is_waiting_for_others);
	CHECK(gets(&a, TIMING_WORK));
	CHECK(gets(&b, TIMING_WORK));
	/* One of two who wait goes, and the other one keeps the turn. */
	CHECK(!gets(&b, TIMING_MARK) && !gets(&b, TIMING_MARK));
	timing_give_back(&b, TIMING_WORK);
	CHECK(!timing_try(&b, TIMING_MARK));
	timing_forget(&b, TIMING_MARK);
	CHECK(!gets(&a, TIMING_WORK));
	timing_forget(&b, TIMING_MARK);
	CHECK(timing_try(&a, TIMING_WORK));
	end();
}

TEST(an_agent_that_waited_and_is_gone_changes_nothing)
{
	begin(true);
	CHECK(gets(&a, TIMING_MARK));
	CHECK(!gets(&b, TIMING_WORK));
	timing_forget(&b, TIMING_WORK);
	timing_give_back(&a, TIMING_MARK);
	has_rested(&a);
	CHECK(gets(&a, TIMING_MARK));
	timing_give_back(&a, TIMING_MARK);
	CHECK_INT(b.working + b.marking + b.waiting, 0);
	end();
}

TEST(the_lease_ends_with_its_holder)
{
	begin(true);
	CHECK(gets(&a, TIMING_MARK));
	CHECK(!gets(&b, TIMING_WORK));
	timing_files_done(&files[0]); /* as when a process ends */
	CHECK(timing_try(&b, TIMING_WORK));
	end();
}

TEST(what_a_marking_waits_with_ends_with_its_process_too)
{
	begin(true);
	CHECK(gets(&a, TIMING_WORK));
	CHECK(!gets(&b, TIMING_MARK));
	timing_files_done(&files[1]);
	CHECK(gets(&a, TIMING_WORK));
	end();
}

TEST(without_files_the_lease_is_the_runs_own)
{
	begin(true);
	a.files = b.files = TIMING_FILES_INIT;
	CHECK(gets(&a, TIMING_MARK));
	CHECK(gets(&b, TIMING_MARK)); /* they know nothing of each other */
	CHECK(!gets(&a, TIMING_WORK));
	CHECK(!a.is_waiting_for_others);
	timing_give_back(&a, TIMING_MARK);
	CHECK(timing_try(&a, TIMING_WORK));
	end();
}

/* --- with the launcher's service --- */

static struct clients clients;
static struct client *list[2];
static int ends[2][2];

/* What the service does with one question that waits in its socket. */
static void serve_one(int i)
{
	static struct wire_asked asked;
	struct err err = ERR_INIT;
	int got;

	CHECK_INT(wire_peek(list[i]->socket_fd, &asked, &err), 1);
	CHECK_INT(asked.request.head.kind, REQUEST_TIMING);
	CHECK_INT(message_drop(list[i]->socket_fd), 1);
	got = clients_timing(&clients, list[i], check_folder(),
			     (enum timing_ask) asked.request.head.what, 60000, &err);
	CHECK_OK(got);
	CHECK_OK(wire_tell(list[i]->socket_fd,
			   &(struct event){ .kind = got ? EVENT_READY : EVENT_BUSY }, NULL, &err));
}

/* A child that answers both, until we have gone. */
static void begin_service(bool is_scarce)
{
	const struct cpus cpus = { .judge = 0, .worker = 7, .has_others = !is_scarce };
	const struct peer peer = { .pid_fd = -1 };
	struct err err = ERR_INIT;

	check_folder();
	for (int i = 0; i < 2; i++)
		CHECK_OK(message_pair(ends[i], &err));
	if (fork() == 0) {
		struct pollfd ready[2];

		for (int i = 0; i < 2; i++) {
			close(ends[i][0]);
			list[i] = clients_add(&clients, ends[i][1], &peer, &err);
			ready[i] = (struct pollfd){ .fd = ends[i][1], .events = POLLIN };
		}
		while (poll(ready, 2, 10000) > 0)
			for (int i = 0; i < 2; i++) {
				if (ready[i].revents & POLLHUP) {
					clients_end(list[i]);
					ready[i].fd = -1;
				} else if (ready[i].revents) {
					serve_one(i);
				}
			}
		_exit(0);
	}
	for (int i = 0; i < 2; i++) {
		close(ends[i][1]);
		CHECK_OK(timing_open(ends[i][0], &files[i], &err));
	}
	timing_init(&a, &files[0], &cpus);
	timing_init(&b, &files[1], &cpus);
}

TEST(the_service_keeps_the_lease_for_runs_that_are_not_roots)
{
	begin_service(false);
	CHECK(gets(&a, TIMING_MARK));
	CHECK(!gets(&b, TIMING_MARK));
	CHECK(b.is_waiting_for_others);
	timing_give_back(&a, TIMING_MARK);
	CHECK(timing_try(&b, TIMING_MARK));
	CHECK(!gets(&a, TIMING_MARK));
	timing_give_back(&b, TIMING_MARK);
	has_rested(&a);
	CHECK(timing_try(&a, TIMING_MARK));
	close(ends[0][0]); /* its process has gone */
	has_rested(&b);
	timing_want(&b, TIMING_MARK);
	for (int try = 0; !timing_try(&b, TIMING_MARK); try++) {
		CHECK(try < 500);
		usleep(10000);
	}
	end();
}

TEST(on_a_scarce_host_the_service_lets_agents_share_and_markings_have_their_turn)
{
	begin_service(true);
	CHECK(gets(&a, TIMING_WORK));
	CHECK(gets(&b, TIMING_WORK));
	timing_give_back(&b, TIMING_WORK);
	CHECK(!gets(&b, TIMING_MARK)); /* it holds the turnstile now */
	CHECK(!gets(&a, TIMING_WORK));
	timing_give_back(&a, TIMING_WORK);
	CHECK(timing_try(&b, TIMING_MARK));
	timing_give_back(&b, TIMING_MARK);
	CHECK(timing_try(&a, TIMING_WORK));
	timing_give_back(&a, TIMING_WORK);
	end();
}

TEST(a_service_that_has_gone_grants_nothing_and_its_connection_says_so)
{
	struct pollfd lost;
	struct err err = ERR_INIT;

	check_folder();
	CHECK_OK(message_pair(ends[0], &err));
	CHECK_OK(timing_open(ends[0][0], &files[0], &err));
	timing_init(&a, &files[0], &(const struct cpus){ .has_others = true });
	close(ends[0][1]);
	CHECK(!gets(&a, TIMING_MARK));
	lost = (struct pollfd){ .fd = ends[0][0], .events = POLLRDHUP };
	CHECK_INT(poll(&lost, 1, 0), 1);
}

TEST(nothing_is_had_at_once)
{
	begin(true);
	CHECK(gets(&a, TIMING_MARK));
	CHECK(gets(&a, TIMING_NOTHING));
	timing_give_back(&a, TIMING_NOTHING);
	CHECK_INT(a.marking, 1);
	end();
}
