/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/handshake.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "tests/lib/check.h"

static struct err err;
static int given = -1;

TEST(a_socket_that_ends_after_a_child_was_ready_means_success)
{
	int ends[2];

	CHECK_OK(message_pair(ends, &err));
	CHECK_OK(handshake_ready(ends[1], &err));
	close(ends[1]);
	CHECK_OK(handshake_wait(ends[0], &given, &err));
	CHECK_INT(given, -1);
}

TEST(a_socket_that_ends_before_that_is_a_child_that_was_killed)
{
	auto_fd null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int ends[2];

	CHECK_OK(message_pair(ends, &err));
	CHECK_OK(handshake_give(ends[1], null, &err));
	close(ends[1]);
	CHECK_INT(handshake_wait(ends[0], &given, &err), -1);
	CHECK_STR(err.text, "it was killed before it could execute its program");
	CHECK_INT(given, -1);
}

TEST(what_a_child_gives_before_it_goes_on_arrives)
{
	auto_fd null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct stat one, other;
	int ends[2];

	CHECK_OK(message_pair(ends, &err));
	CHECK_OK(handshake_ready(ends[1], &err));
	CHECK_OK(handshake_give(ends[1], null, &err));
	close(ends[1]);
	CHECK_OK(handshake_wait(ends[0], &given, &err));
	CHECK(fstat(null, &one) == 0 && fstat(given, &other) == 0);
	CHECK(one.st_rdev == other.st_rdev && one.st_ino == other.st_ino);
	CHECK_INT(fcntl(given, F_GETFD), FD_CLOEXEC);
	close(given);
}

TEST(a_child_that_gives_and_then_fails_has_given_nothing)
{
	auto_fd null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct err theirs = ERR_INIT;
	int ends[2];

	CHECK_OK(message_pair(ends, &err));
	CHECK_OK(handshake_give(ends[1], null, &err));
	err_set(&theirs, ERR_INPUT, "execute 'x'");
	handshake_fail(ends[1], &theirs);
	CHECK_INT(handshake_wait(ends[0], &given, &err), -1);
	CHECK_STR(err.text, "execute 'x'");
	CHECK_INT(given, -1);
	/* Giving twice is no word of ours. */
	CHECK_OK(handshake_give(ends[1], null, &err));
	CHECK_OK(handshake_give(ends[1], null, &err));
	CHECK_INT(handshake_wait(ends[0], &given, &err), -1);
	CHECK_STR(err.text, "the child's report is malformed");
}

TEST(a_childs_failure_arrives_in_its_own_words)
{
	struct err theirs = ERR_INIT;
	int ends[2];

	CHECK_OK(message_pair(ends, &err));
	err_set(&theirs, ERR_HOST, "mounts: bind '/usr'");
	handshake_fail(ends[1], &theirs);
	CHECK_INT(handshake_wait(ends[0], &given, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK_STR(err.text, "mounts: bind '/usr'");
}

TEST(a_malformed_failure_is_one_of_ours)
{
	struct err theirs = { .kind = (enum err_kind) 99 };
	int ends[2];

	CHECK_OK(message_pair(ends, &err));
	handshake_fail(ends[1], &theirs);
	CHECK_INT(handshake_wait(ends[0], &given, &err), -1);
	CHECK_STR(err.text, "the child's report is malformed");
	CHECK_INT(write(ends[1], "xy", 2), 2);
	CHECK_INT(handshake_wait(ends[0], &given, &err), -1);
	CHECK_STR(err.text, "the child's report is malformed");
}

TEST(reports_cross_with_their_descriptors)
{
	struct report report = { .kind = REPORT_STARTED }, got;
	struct message_fds fds = { .count = 1 }, received = MESSAGE_FDS_INIT;
	int ends[2];

	CHECK_OK(message_pair(ends, &err));
	fds.fd[0] = open("/dev/null", O_RDONLY);
	CHECK_OK(report_send(ends[0], &report, &fds, &err));
	CHECK_INT(report_receive(ends[1], &got, &received, &err), 1);
	CHECK_INT(received.count, 1);
	close(ends[0]);
	CHECK_INT(report_receive(ends[1], &got, &received, &err), 0);
}

TEST(a_report_of_an_unknown_kind_is_refused_and_texts_always_end)
{
	struct report report = { .kind = REPORT_ENDED + 1 }, got;
	int ends[2];

	CHECK_OK(message_pair(ends, &err));
	CHECK_OK(report_send(ends[0], &report, NULL, &err));
	CHECK_INT(report_receive(ends[1], &got, NULL, &err), -1);
	report.kind = REPORT_FAILED;
	memset(report.err.text, 'a', sizeof(report.err.text));
	CHECK_OK(report_send(ends[0], &report, NULL, &err));
	CHECK_INT(report_receive(ends[1], &got, NULL, &err), 1);
	CHECK_INT(strlen(got.err.text), sizeof(got.err.text) - 1);
}
