/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/ties.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/syscalls.h"
#include "tests/lib/check.h"

static struct ties ties = TIES_INIT;
static struct err err;

static bool polls(int ms)
{
	struct pollfd ready = { .fd = ties.fd, .events = POLLIN };

	return poll(&ready, 1, ms) > 0;
}

static pid_t process(int *pid_fd)
{
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	CHECK(pid > 0);
	*pid_fd = sys_pidfd_open(pid, 0);
	CHECK(*pid_fd >= 0);
	return pid;
}

TEST(without_any_nothing_breaks)
{
	CHECK_INT(ties_broken(&ties), TIE_NONE);
	CHECK_OK(ties_open(&ties, &err));
	CHECK_OK(ties_add(&ties, TIE_CLIENT, -1, &err));
	CHECK(!polls(0));
	CHECK_INT(ties_broken(&ties), TIE_NONE);
	ties_done(&ties);
	CHECK_INT(ties.fd, -1);
	ties_done(&ties);
}

TEST(the_end_of_a_process_is_told_and_goes_on_to_be)
{
	int client, launcher;
	pid_t one = process(&client), two = process(&launcher);

	CHECK_OK(ties_open(&ties, &err));
	CHECK_OK(ties_add(&ties, TIE_CLIENT, client, &err));
	CHECK_OK(ties_add(&ties, TIE_LAUNCHER, launcher, &err));
	CHECK(!polls(0));
	kill(one, SIGKILL);
	CHECK(polls(5000));
	CHECK_INT(ties_broken(&ties), TIE_CLIENT);
	CHECK_INT(ties_broken(&ties), TIE_CLIENT);
	/* Where both have gone, the launcher is who is missed. */
	kill(two, SIGKILL);
	CHECK(waitpid(two, NULL, 0) == two);
	CHECK_INT(ties_broken(&ties), TIE_LAUNCHER);
	CHECK(waitpid(one, NULL, 0) == one);
}

TEST(an_event_can_be_a_tie)
{
	const uint64_t one = 1;
	int gone = eventfd(0, EFD_CLOEXEC);

	CHECK_OK(ties_open(&ties, &err));
	CHECK_OK(ties_add(&ties, TIE_CLIENT, gone, &err));
	CHECK(!polls(0));
	CHECK_INT(write(gone, &one, sizeof(one)), sizeof(one));
	CHECK(polls(0));
	CHECK_INT(ties_broken(&ties), TIE_CLIENT);
}

TEST(what_can_not_be_watched_is_an_error)
{
	int file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);

	CHECK_OK(ties_open(&ties, &err));
	CHECK_INT(ties_add(&ties, TIE_CLIENT, file, &err), -1);
	CHECK_INT(err.kind, ERR_SYS);
}
