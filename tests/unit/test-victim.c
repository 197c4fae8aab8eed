/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/drill/victim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"

static struct err err;
static struct victim victim;
static struct victim_part part = { .name = "a-victim",
				   .secret = "the secret",
				   .listeners = { -1, -1, -1, -1 },
				   .readable_fd = -1 };

static int ask(char what)
{
	int answer = -1;

	CHECK_OK(victim_ask(&victim, what, &answer, &err));
	return answer;
}

TEST(it_has_the_name_that_it_was_given)
{
	char path[64], name[64];

	CHECK_OK(victim_start(&part, &victim, &err));
	ask('s'); /* it has come so far */
	snprintf(path, sizeof(path), "/proc/%d/comm", (int) victim.process.pid);
	CHECK_OK(io_read_kernel_file(AT_FDCWD, path, name, sizeof(name), &err));
	CHECK_STR(name, "a-victim");
	victim_done(&victim);
}

TEST(it_says_what_can_still_be_had)
{
	CHECK_OK(victim_start(&part, &victim, &err));
	CHECK_INT(ask('i'), 0);
	CHECK_INT(ask('s'), 0);
	CHECK_INT(ask('p'), 0);
	CHECK_INT(ask('?'), EINVAL);
	victim_done(&victim);
}

TEST(it_says_that_something_is_used_up)
{
	CHECK_OK(victim_start(&part, &victim, &err));
	for (int i = 0; i < 100000 && inotify_init1(IN_CLOEXEC) >= 0; i++)
		;
	if (inotify_init1(IN_CLOEXEC) >= 0)
		SKIP("no user meets a limit on inotify instances here");
	/* Ours, or descriptors of ours were used up first. */
	if (errno == EMFILE && dup(0) < 0)
		SKIP("descriptors are used up before inotify instances");
	CHECK_INT(ask('i'), EMFILE);
	victim_done(&victim);
}

TEST(it_opens_a_file_anew_when_asked_to)
{
	auto_fd watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char events[512];

	part.readable_fd = openat(check_folder(), "file", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	CHECK(part.readable_fd >= 0);
	CHECK(inotify_add_watch(watch, check_folder_path(), IN_OPEN) >= 0);
	CHECK_OK(victim_start(&part, &victim, &err));
	CHECK_INT(ask('o'), 0);
	CHECK(read(watch, events, sizeof(events)) > 0);
	victim_done(&victim);
}

TEST(it_tells_its_secret_to_whoever_comes)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	auto_fd listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	auto_fd guest = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(sa_family_t);
	char text[64] = "";

	CHECK(bind(listener, (const struct sockaddr *) &address, len) == 0);
	len = sizeof(address);
	CHECK(getsockname(listener, (struct sockaddr *) &address, &len) == 0);
	CHECK(listen(listener, 1) == 0);
	part.listeners[2] = listener;
	CHECK_OK(victim_start(&part, &victim, &err));
	CHECK(connect(guest, (const struct sockaddr *) &address, len) == 0);
	CHECK_INT(read(guest, text, sizeof(text) - 1), strlen(part.secret));
	CHECK_STR(text, "the secret");
	victim_done(&victim);
}

TEST(it_ends_when_nobody_can_ask_it_any_more)
{
	int status = -1;

	CHECK_OK(victim_start(&part, &victim, &err));
	fd_close(&victim.socket_fd);
	CHECK_INT(process_wait(&victim.process, clock_after_ms(5000), &status, &err), 1);
	CHECK_INT(status, 0);
}

TEST(one_that_has_gone_is_told)
{
	int answer;

	CHECK_OK(victim_start(&part, &victim, &err));
	process_kill(&victim.process);
	CHECK_INT(victim_ask(&victim, 'i', &answer, &err), -1);
}
