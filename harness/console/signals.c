/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/console/signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static sigset_t ending_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	return set;
}

int signals_open_stop(struct err *err)
{
	sigset_t set = ending_signals();
	int fd;

	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return err_sys(err, "block the signals that end us");
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "make a signalfd");
	return fd;
}

int signals_which(int stop_fd)
{
	struct pollfd ready = { .fd = stop_fd, .events = POLLIN };
	struct signalfd_siginfo info;

	if (poll(&ready, 1, 0) <= 0 || read(stop_fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	return (int) info.ssi_signo;
}

void signals_let_go(void)
{
	sigset_t set = ending_signals();

	sigprocmask(SIG_UNBLOCK, &set, NULL);
}
