/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/message.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
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

TEST(descriptors_that_have_no_room_are_closed_also_where_the_sender_is_not_told)
{
	struct message_fds sent = { .count = MESSAGE_MAX_FDS }, got = MESSAGE_FDS_INIT;
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int) * (MESSAGE_MAX_FDS + 8))];
	} control = { .bytes = { 0 } };
	char text[1] = "x";
	struct iovec data = { .iov_base = text, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes) };
	struct err err = ERR_INIT;
	int pair[2], next, more[MESSAGE_MAX_FDS + 8];

	make_pair(pair);
	for (size_t i = 0; i < MESSAGE_MAX_FDS; i++)
		sent.fd[i] = pair[0];
	CHECK_OK(message_send(pair[0], text, 1, &sent, &err));
	CHECK_INT(message_receive(pair[1], text, 1, &got, &err), 1);
	CHECK_INT(got.count, MESSAGE_MAX_FDS);
	message_fds_done(&got);
	next = dup(0);
	close(next);
	for (size_t i = 0; i < MESSAGE_MAX_FDS + 8; i++)
		more[i] = pair[0];
	control.head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
					 .cmsg_type = SCM_RIGHTS,
					 .cmsg_len = CMSG_LEN(sizeof(more)) };
	memcpy(CMSG_DATA(&control.head), more, sizeof(more));
	CHECK_INT(sendmsg(pair[0], &message, 0), 1);
	CHECK_INT(message_receive(pair[1], text, 1, &got, &err), -1);
	CHECK_INT(got.count, 0);
	CHECK_INT(dup(0), next);
}

TEST(nobody_is_waited_for_though_the_socket_would_block)
{
	struct message_in in = { .room = 0 };
	struct err err = ERR_INIT;
	static char text[4096];
	int pair[2], sent = 0;

	make_pair(pair);
	in.bytes = text;
	in.room = sizeof(text);
	CHECK_INT(fcntl(pair[0], F_GETFL) & O_NONBLOCK, 0);
	CHECK_INT(message_try_receive(pair[1], &in, &err), -1);
	CHECK_INT(err.sys, EAGAIN);
	while (message_try_send(pair[0], text, sizeof(text), NULL, &err) == 0)
		sent++;
	CHECK_INT(err.sys, EAGAIN);
	CHECK(sent > 0);
	CHECK_INT(message_try_receive(pair[1], &in, &err), sizeof(text));
	CHECK_INT(in.sender, 0);
}

TEST(a_socket_that_was_asked_to_says_who_sent)
{
	struct message_fds fds = { .count = MESSAGE_MAX_FDS };
	struct message_in in = { .room = 0 };
	struct err err = ERR_INIT;
	int pair[2], yes = 1, status;
	char text[4];
	pid_t pid;

	make_pair(pair);
	in.bytes = text;
	in.room = sizeof(text);
	CHECK(setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) == 0);
	for (size_t i = 0; i < MESSAGE_MAX_FDS; i++)
		fds.fd[i] = pair[0];
	pid = fork();
	if (pid == 0) {
		CHECK_OK(message_send(pair[0], "hi", 2, &fds, &err));
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_INT(message_peek(pair[1], &in, &err), 2);
	CHECK_INT(in.sender, pid);
	/* The sender takes no room away from the descriptors. */
	CHECK_INT(message_receive(pair[1], text, sizeof(text), &fds, &err), 2);
	CHECK_INT(fds.count, MESSAGE_MAX_FDS);
	message_fds_done(&fds);
}

TEST(who_takes_no_descriptors_gets_none)
{
	struct message_fds fds = { .count = 2 };
	struct message_in in = { .room = 0 };
	struct err err = ERR_INIT;
	int pair[2], next;
	char text[4];

	make_pair(pair);
	in.bytes = text;
	in.room = sizeof(text);
	fds.fd[0] = fds.fd[1] = pair[0];
	CHECK_OK(message_send(pair[0], "x", 1, &fds, &err));
	next = dup(0);
	close(next);
	CHECK_INT(message_try_receive(pair[1], &in, &err), 1);
	CHECK(in.has_fds);
	CHECK_INT(dup(0), next);
}

TEST(a_message_can_be_looked_at_and_its_descriptors_left_where_they_are)
{
	struct message_fds fds = { .count = 3 };
	struct message_in in = { .room = 0 };
	struct err err = ERR_INIT;
	int pair[2], yes = 1, next;
	char text[4];

	make_pair(pair);
	in.bytes = text;
	in.room = sizeof(text);
	CHECK(setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) == 0);
	CHECK_INT(message_peek(pair[1], &in, &err), -1);
	CHECK_INT(err.sys, EAGAIN);
	CHECK_INT(message_drop(pair[1]), 0);
	for (size_t i = 0; i < fds.count; i++)
		fds.fd[i] = pair[0];
	CHECK_OK(message_send(pair[0], "one", 3, &fds, &err));
	CHECK_OK(message_send(pair[0], "two", 3, NULL, &err));
	CHECK_OK(message_send(pair[0], "three", 5, &fds, &err));
	next = dup(0);
	close(next);
	for (int i = 0; i < 2; i++) {
		CHECK_INT(message_peek(pair[1], &in, &err), 3);
		CHECK(memcmp(text, "one", 3) == 0 && in.has_fds);
		CHECK_INT(in.sender, getpid());
	}
	CHECK_OK(message_take_fds(pair[1], &fds, &err));
	CHECK_INT(fds.count, 3);
	message_fds_done(&fds);
	CHECK_INT(message_peek(pair[1], &in, &err), 3);
	CHECK(memcmp(text, "two", 3) == 0 && !in.has_fds);
	CHECK_INT(message_drop(pair[1]), 1);
	CHECK_INT(message_peek(pair[1], &in, &err), -1);
	CHECK_INT(err.sys, EMSGSIZE);
	CHECK_INT(message_drop(pair[1]), 1);
	CHECK_INT(dup(0), next);
	close(pair[0]);
	CHECK_INT(message_peek(pair[1], &in, &err), 0);
}
