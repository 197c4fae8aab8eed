/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/drill/victim.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/message.h"

enum { ANSWER_MS = 10 * 1000, LEAVE_MS = 5 * 1000 };

static int try_inotify(void)
{
	auto_fd fd = inotify_init1(IN_CLOEXEC);

	return fd < 0 ? errno : 0;
}

static int try_signal(void)
{
	const struct timespec now = { 0, 0 };
	const union sigval value = { .sival_int = 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0 || sigqueue(getpid(), SIGRTMIN, value) < 0)
		return errno;
	return sigtimedwait(&set, NULL, &now) < 0 ? errno : 0;
}

static int try_passing(void)
{
	struct message_fds fds = { .count = 1, .fd = { STDIN_FILENO } };
	auto_fd first = -1, second = -1;
	struct err err = ERR_INIT;
	int pair[2];

	if (message_pair(pair, &err) < 0)
		return err.sys;
	first = pair[0];
	second = pair[1];
	return message_send(first, "x", 1, &fds, &err) < 0 ? err.sys : 0;
}

static int try_opening(int fd)
{
	char path[32];
	auto_fd again = -1;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY | O_CLOEXEC);
	return again < 0 ? errno : 0;
}

static int answer(const struct victim_part *part, char what)
{
	switch (what) {
	case 'i':
		return try_inotify();
	case 's':
		return try_signal();
	case 'p':
		return try_passing();
	case 'o':
		return try_opening(part->readable_fd);
	default:
		return EINVAL;
	}
}

/* One guest at a time: an attack connects, reads and goes. */
static void serve(int listener, const char *secret)
{
	auto_fd guest = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	struct err ignored = ERR_INIT;

	if (guest >= 0)
		best_effort(io_write_all(guest, secret, strlen(secret), "a secret", &ignored));
}

no_return static void live(const struct victim_part *part, int socket_fd)
{
	struct pollfd ready[1 + VICTIM_LISTENERS] = { { .fd = socket_fd, .events = POLLIN } };

	prctl(PR_SET_NAME, part->name);
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < VICTIM_LISTENERS; i++)
		ready[1 + i] = (struct pollfd){ .fd = part->listeners[i], .events = POLLIN };
	for (;;) {
		int result;
		char what;

		if (poll(ready, ARRAY_LEN(ready), -1) < 0)
			continue;
		for (size_t i = 1; i < ARRAY_LEN(ready); i++)
			if (ready[i].revents)
				serve(ready[i].fd, part->secret);
		if (!ready[0].revents)
			continue;
		if (io_read_some(socket_fd, &what, 1) != 1)
			_exit(0);
		result = answer(part, what);
		if (send(socket_fd, &result, sizeof(result), MSG_NOSIGNAL) < 0)
			_exit(0);
	}
}

int victim_start(const struct victim_part *part, struct victim *out, struct err *err)
{
	struct victim made = VICTIM_INIT;
	auto_fd theirs = -1;
	int pair[2], child;

	if (message_pair(pair, err) < 0)
		return -1;
	made.socket_fd = pair[0];
	theirs = pair[1];
	child = process_fork(&made.process, err);
	if (child == 0) {
		close(pair[0]);
		live(part, pair[1]);
	}
	if (child < 0) {
		fd_close(&made.socket_fd);
		return -1;
	}
	*out = made;
	return 0;
}

int victim_ask(const struct victim *victim, char what, int *answer_out, struct err *err)
{
	struct pollfd ready = { .fd = victim->socket_fd, .events = POLLIN };
	int result;

	if (message_send(victim->socket_fd, &what, 1, NULL, err) < 0)
		return err_wrap(err, "ask root's process");
	if (poll(&ready, 1, ANSWER_MS) <= 0)
		return err_set(err, ERR_SYS, "root's process does not answer");
	if (message_receive(victim->socket_fd, &result, sizeof(result), NULL, err) !=
	    sizeof(result))
		return err_set(err, ERR_SYS, "root's process has gone");
	*answer_out = result;
	return 0;
}

void victim_done(struct victim *victim)
{
	struct err ignored = ERR_INIT;
	int status;

	fd_close(&victim->socket_fd);
	/* It is root's, and we may not be any more: it ends by itself. */
	if (victim->process.pid_fd >= 0)
		best_effort(process_wait(&victim->process, clock_after_ms(LEAVE_MS), &status,
					 &ignored));
	fd_close(&victim->process.pid_fd);
	*victim = VICTIM_INIT;
}
