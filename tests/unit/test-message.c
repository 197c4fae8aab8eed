/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/message.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/check.h"

static void make_pair(int pair[2])
{
	struct err err = ERR_INIT;

	CHECK_OK(message_pair(pair, &err));
}

TEST(a_message_arrives_whole_with_its_descriptors)
{
	struct message_fds sent = { .count = 2 }, got = MESSAGE_FDS_INIT;
	struct err err = ERR_INIT;
	int pair[2], pipes[2];
	char text[16];

	make_pair(pair);
	CHECK(pipe(pipes) == 0);
	sent.fd[0] = pipes[0];
	sent.fd[1] = pipes[1];
	CHECK_OK(message_send(pair[0], "hello", 5, &sent, &err));
	CHECK_INT(message_receive(pair[1], text, sizeof(text), &got, &err), 5);
	CHECK_INT(got.count, 2);
	CHECK(fcntl(got.fd[0], F_GETFD) & FD_CLOEXEC);
	CHECK_INT(write(got.fd[1], "x", 1), 1);
	CHECK_INT(read(pipes[0], text, 1), 1);
	message_fds_done(&got);
	CHECK_INT(got.count, 0);
}

TEST(a_closed_peer_is_no_error_to_the_reader_and_one_to_the_writer)
{
	struct err err = ERR_INIT;
	int pair[2];
	char text[16];

	make_pair(pair);
	close(pair[0]);
	CHECK_INT(message_receive(pair[1], text, sizeof(text), NULL, &err), 0);
	CHECK_INT(message_send(pair[1], "x", 1, NULL, &err), -1);
	CHECK_INT(err.sys, EPIPE);
}

TEST(a_message_that_does_not_fit_is_an_error)
{
	struct err err = ERR_INIT;
	int pair[2];
	char text[4];

	make_pair(pair);
	CHECK_OK(message_send(pair[0], "too long", 8, NULL, &err));
	CHECK_INT(message_receive(pair[1], text, sizeof(text), NULL, &err), -1);
	CHECK_STR(err.text, "a message is larger than 4 bytes or 32 descriptors");
}

TEST(descriptors_that_nobody_expects_are_closed)
{
	struct message_fds sent = { .count = 1 };
	struct err err = ERR_INIT;
	int pair[2], pipes[2];
	char text[4];

	make_pair(pair);
	CHECK(pipe(pipes) == 0);
	sent.fd[0] = pipes[1];
	CHECK_OK(message_send(pair[0], "x", 1, &sent, &err));
	close(pipes[1]);
	CHECK_INT(message_receive(pair[1], text, sizeof(text), NULL, &err), -1);
	/* The only writer was in the message: the pipe has ended. */
	CHECK_INT(read(pipes[0], text, 1), 0);
}

TEST(the_last_word_of_a_peer_that_did_not_read_ours_is_heard)
{
	struct err err = ERR_INIT;
	char text[16];
	int pair[2];

	CHECK_OK(message_pair(pair, &err));
	CHECK_OK(message_send(pair[0], "unread", 6, NULL, &err));
	CHECK_OK(message_send(pair[1], "last", 4, NULL, &err));
	close(pair[1]);
	CHECK_INT(message_receive(pair[0], text, sizeof(text), NULL, &err), 4);
	CHECK_INT(memcmp(text, "last", 4), 0);
	CHECK_INT(message_receive(pair[0], text, sizeof(text), NULL, &err), 0);
	close(pair[0]);
}
