/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/seat.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/message.h"
#include "tests/lib/check.h"

static int ours = -1, stop_fd = -1;
static struct process process = PROCESS_INIT;
static struct seat_ask ask;
static struct err err;

/* The seat's end, in a process of its own: fails the test if a check in @act does. */
static void begin(void (*act)(struct seat *seat, int fd))
{
	int pair[2], side;

	stop_fd = eventfd(0, EFD_CLOEXEC);
	CHECK_OK(message_pair(pair, &err));
	ours = pair[0];
	side = process_fork(&process, &err);
	CHECK_OK(side);
	if (side == 0) {
		struct seat seat;

		close(ours);
		seat_init(&seat, pair[1], stop_fd);
		act(&seat, pair[1]);
		seat_done(&seat);
		_exit(0);
	}
	close(pair[1]);
}

static void end(void)
{
	int status = -1;

	CHECK_INT(process_wait(&process, clock_after_ms(10000), &status, &err), 1);
	CHECK_INT(status, 0);
	fd_close(&ours);
	fd_close(&stop_fd);
}

static void hear(enum seat_ask_kind kind)
{
	if (seat_receive(ours, &ask, &err) != 1)
		check_fail(__FILE__, __LINE__, "not heard: %s", err.text);
	CHECK_INT(ask.kind, kind);
}

static void check_text(const char *want)
{
	CHECK_INT(ask.len, strlen(want));
	CHECK(memcmp(ask.text, want, ask.len) == 0);
}

static void grant(int passed_fd)
{
	const struct err none = ERR_INIT;

	CHECK_OK(seat_answer(ours, &none, passed_fd));
}

static int count_fds(void)
{
	int count = 0;

	for (int fd = 0; fd < 1000; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void write_two(struct seat *seat, int fd)
{
	struct json_writer *json = seat_begin(seat, "attempt.forgotten");

	(void) fd;
	json_put_int(json, "lost", 1);
	json = seat_begin(seat, "attempt.built");
	json_put_bool(json, "built", true);
	CHECK_OK(seat_commit(seat, &err));
	seat_begin(seat, "attempt.leased");
	CHECK_INT(seat_commit(seat, &err), -1);
	CHECK_STR(err.text, "no space");
	CHECK_INT(err.kind, ERR_HOST);
	CHECK_INT(err.sys, 28);
}

TEST(a_line_arrives_as_an_object_and_the_answer_in_proctors_words)
{
	struct err why = { .kind = ERR_HOST, .sys = 28, .text = "no space" };

	begin(write_two);
	hear(SEAT_LINE);
	CHECK_STR(ask.event, "attempt.built");
	check_text("{\"built\":true}");
	grant(-1);
	hear(SEAT_LINE);
	check_text("{}");
	CHECK_OK(seat_answer(ours, &why, -1));
	CHECK_INT(seat_receive(ours, &ask, &err), 0); /* it has gone */
	end();
}

static void write_long(struct seat *seat, int fd)
{
	struct json_writer *json = seat_begin(seat, "attempt.x");
	char text[JOURNAL_LINE_MAX];

	(void) fd;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	json_put_text(json, "long", text);
	CHECK_INT(seat_commit(seat, &err), -1);
	CHECK_STR(err.text, "a line of 65546 bytes is too long for the journal");
}

TEST(a_line_that_is_too_long_is_not_sent)
{
	begin(write_long);
	CHECK_INT(seat_receive(ours, &ask, &err), 0);
	end();
}

static void use_both(struct seat *seat, int fd)
{
	(void) fd;
	CHECK_OK(seat_use(seat, TIMING_WORK, &err));
	CHECK_OK(seat_use(seat, TIMING_MARK, &err));
}

TEST(a_seat_waits_until_it_may)
{
	begin(use_both);
	hear(SEAT_USE);
	CHECK_INT(ask.use, TIMING_WORK);
	usleep(50 * 1000);
	CHECK_INT(recv(ours, &ask, 1, MSG_DONTWAIT), -1);
	grant(-1);
	hear(SEAT_USE);
	CHECK_INT(ask.use, TIMING_MARK);
	grant(-1);
	end();
}

static void wait_for_ever(struct seat *seat, int fd)
{
	(void) fd;
	CHECK(!seat_wants_to_stop(seat));
	CHECK_INT(seat_use(seat, TIMING_MARK, &err), -1);
	CHECK_STR(err.text, "stopped by the operator");
	CHECK(seat_wants_to_stop(seat));
}

TEST(the_operators_wish_ends_the_waiting)
{
	const uint64_t one = 1;

	begin(wait_for_ever);
	hear(SEAT_USE);
	CHECK_INT(write(stop_fd, &one, sizeof(one)), sizeof(one));
	end();
}

static void bind_it(struct seat *seat, int fd)
{
	int before = count_fds(), keeper_fd = -1;
	char text[8] = "";

	(void) fd;
	CHECK_OK(seat_bind(seat, &keeper_fd, &err));
	CHECK_INT(pread(keeper_fd, text, sizeof(text), 0), 6);
	CHECK_STR(text, "keeper");
	fd_close(&keeper_fd);
	CHECK_INT(seat_bind(seat, &keeper_fd, &err), -1);
	CHECK_STR(err.text, "proctor sent no socket of the keeper");
	CHECK_INT(seat_bind(seat, &keeper_fd, &err), -1);
	CHECK_STR(err.text, "the keeper is gone");
	CHECK_INT(keeper_fd, -1);
	CHECK_INT(count_fds(), before);
}

TEST(the_keepers_socket_comes_with_the_answer)
{
	struct err why = { .kind = ERR_SYS, .text = "the keeper is gone" };
	auto_fd file = memfd_create("keeper", MFD_CLOEXEC);

	CHECK_INT(write(file, "keeper", 6), 6);
	begin(bind_it);
	hear(SEAT_BIND);
	grant(file);
	hear(SEAT_BIND);
	grant(-1);
	hear(SEAT_BIND);
	CHECK_OK(seat_answer(ours, &why, -1));
	end();
}

static void say_and_fail(struct seat *seat, int fd)
{
	struct err why = { .kind = ERR_HOST, .text = "the disk is full" };

	(void) fd;
	seat_say(seat, "building");
	seat_say(seat, "");
	seat_fail(seat, &why);
}

TEST(what_is_said_has_no_answer)
{
	begin(say_and_fail);
	hear(SEAT_SAY);
	check_text("building");
	hear(SEAT_SAY);
	check_text("");
	hear(SEAT_FAIL);
	check_text("the disk is full");
	CHECK_INT(seat_receive(ours, &ask, &err), 0);
	end();
}

static void lose_proctor(struct seat *seat, int fd)
{
	int keeper_fd = -1;
	char byte;

	CHECK_INT(recv(fd, &byte, 1, 0), 0); /* until it has gone */
	seat_begin(seat, "attempt.x");
	CHECK_INT(seat_commit(seat, &err), -1);
	CHECK(strstr(err.text, "ask proctor: "));
	CHECK_INT(seat_use(seat, TIMING_WORK, &err), -1);
	CHECK_INT(seat_bind(seat, &keeper_fd, &err), -1);
	seat_say(seat, "nobody hears it");
}

TEST(a_proctor_that_is_gone_is_an_error_and_no_hang)
{
	begin(lose_proctor);
	fd_close(&ours);
	end();
}

static void hear_nonsense(struct seat *seat, int fd)
{
	(void) fd;
	for (int i = 0; i < 3; i++) {
		seat_begin(seat, "attempt.x");
		CHECK_INT(seat_commit(seat, &err), -1);
	}
	CHECK_STR(err.text, "proctor is gone");
}

TEST(an_answer_that_is_none_is_an_error)
{
	struct seat_answer answer = { .magic = SEAT_MAGIC + 1 };

	begin(hear_nonsense);
	hear(SEAT_LINE);
	CHECK_INT(send(ours, &answer, sizeof(answer), 0), sizeof(answer));
	hear(SEAT_LINE);
	answer.magic = SEAT_MAGIC;
	CHECK_INT(send(ours, &answer, sizeof(answer) - 1, 0), sizeof(answer) - 1);
	hear(SEAT_LINE);
	fd_close(&ours);
	end();
}

/* --- what proctor hears from a seat that is not ours any more --- */

static int both[2];

static void open_pair(void)
{
	CHECK_OK(message_pair(both, &err));
}

static int receive(void)
{
	err = (struct err) ERR_INIT;
	return seat_receive(both[0], &ask, &err);
}

/* A right one, with @len bytes of text. */
static struct seat_ask *right_ask(uint32_t len)
{
	static struct seat_ask made;

	made = (struct seat_ask){ .magic = SEAT_MAGIC, .kind = SEAT_LINE, .len = len };
	snprintf(made.event, sizeof(made.event), "attempt.x");
	return &made;
}

static void check_nonsense(const void *bytes, size_t len)
{
	CHECK_INT(send(both[1], bytes, len, 0), len);
	CHECK_INT(receive(), -1);
	CHECK(err.text[0]);
	CHECK_INT(recv(both[0], &ask, 1, MSG_DONTWAIT), -1); /* nothing is left of it */
}

TEST(a_right_message_is_taken_with_the_shortest_and_the_longest_text)
{
	const size_t head = offsetof(struct seat_ask, text);

	open_pair();
	CHECK_INT(send(both[1], right_ask(0), head, 0), head);
	CHECK_INT(receive(), 1);
	CHECK_INT(send(both[1], right_ask(JOURNAL_LINE_MAX), sizeof(ask), 0), sizeof(ask));
	CHECK_INT(receive(), 1);
	CHECK_INT(ask.len, JOURNAL_LINE_MAX);
}

TEST(nonsense_is_told_apart_from_the_end)
{
	const size_t head = offsetof(struct seat_ask, text);
	cleanup(mem_free) uint8_t *junk = mem_alloc(sizeof(ask) + 1, 1);
	uint32_t state = 1;

	open_pair();
	for (size_t len = 1; len < 3000; len += 1 + len / 7) {
		for (size_t i = 0; i < len; i++)
			junk[i] = (uint8_t) ((state = state * 1664525 + 1013904223) >> 24);
		check_nonsense(junk, len);
	}
	check_nonsense(right_ask(0), head - 1);
	check_nonsense(right_ask(1), head);     /* cut off */
	check_nonsense(right_ask(0), head + 1); /* more than it says */
	check_nonsense(right_ask(UINT32_MAX), head);
	check_nonsense(junk, sizeof(ask) + 1); /* longer than any */
}

TEST(an_event_without_an_end_and_a_wrong_magic_are_nonsense)
{
	struct seat_ask *made;

	open_pair();
	made = right_ask(0);
	memset(made->event, 'e', sizeof(made->event));
	check_nonsense(made, offsetof(struct seat_ask, text));
	made = right_ask(0);
	made->magic++;
	check_nonsense(made, offsetof(struct seat_ask, text));
}

TEST(descriptors_that_nobody_asked_for_are_closed)
{
	struct message_fds fds = MESSAGE_FDS_INIT;
	int before;

	open_pair();
	before = count_fds();
	for (size_t i = 0; i < MESSAGE_MAX_FDS; i++)
		fds.fd[fds.count++] = 0;
	for (int i = 0; i < 5; i++) {
		CHECK_OK(message_send(both[1], right_ask(0), offsetof(struct seat_ask, text), &fds,
				      &err));
		CHECK_INT(receive(), -1);
	}
	CHECK_INT(count_fds(), before);
}

TEST(a_seat_that_has_gone_has_gone_whatever_it_left_unread)
{
	const struct err none = ERR_INIT;

	open_pair();
	CHECK_OK(seat_answer(both[0], &none, -1));
	close(both[1]);
	CHECK_INT(receive(), 0);
	CHECK_INT(receive(), 0);
	CHECK_OK(seat_answer(both[0], &none, -1));
}

TEST(a_seat_that_does_not_take_its_answers_is_told_apart_and_not_waited_for)
{
	const struct err none = ERR_INIT;
	int count = 0;

	open_pair();
	CHECK_INT(fcntl(both[0], F_SETFL, O_NONBLOCK), 0);
	while (count < 100000 && seat_answer(both[0], &none, -1) == 0)
		count++;
	CHECK(count > 0 && count < 100000);
}
