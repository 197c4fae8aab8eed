/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check/leftovers.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/check.h"

static struct leftovers leftovers = LEFTOVERS_INIT;
static struct err err;

/* A child in a session of its own, whose child is in another one, and so on; all but the last go.
 */
static void leave(int deep, int said_fd)
{
	pid_t pid = fork();

	if (pid != 0)
		return;
	setsid();
	prctl(PR_SET_NAME, "a) R 1 (b");
	if (deep > 0) {
		leave(deep - 1, said_fd);
		_exit(0);
	}
	pid = getpid();
	if (write(said_fd, &pid, sizeof(pid)) != sizeof(pid))
		_exit(1);
	close(said_fd);
	for (;;)
		pause();
}

no_return static void wait_for_ever(void)
{
	for (;;)
		pause();
}

TEST(whatever_has_left_its_session_and_lost_its_parent_is_ended)
{
	pid_t last = -1;
	int pair[2];

	CHECK(pipe(pair) == 0);
	CHECK_OK(leftovers_adopt(&leftovers, &err));
	leave(3, pair[1]);
	leave(0, pair[1]);
	close(pair[1]);
	for (int i = 0; i < 2; i++)
		CHECK_INT(read(pair[0], &last, sizeof(last)), sizeof(last));
	CHECK(kill(last, 0) == 0);
	CHECK_OK(leftovers_end(&leftovers, &err));
	CHECK(kill(last, 0) < 0 && errno == ESRCH);
	CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
	/* The other end is closed in every one of them. */
	CHECK_INT(read(pair[0], &last, 1), 0);
}

TEST(without_children_there_is_nothing_to_do)
{
	CHECK_OK(leftovers_end(&leftovers, &err));
}

TEST(what_was_there_before_is_somebody_elses)
{
	pid_t before = fork(), later;

	if (before == 0)
		wait_for_ever();
	poll(NULL, 0, 50); /* clock ticks are long */
	CHECK_OK(leftovers_adopt(&leftovers, &err));
	later = fork();
	if (later == 0)
		wait_for_ever();
	CHECK_OK(leftovers_end(&leftovers, &err));
	CHECK(kill(later, 0) < 0 && errno == ESRCH);
	CHECK(kill(before, 0) == 0);
	CHECK(kill(before, SIGKILL) == 0 && waitpid(before, NULL, 0) == before);
}
