/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli/signals.h"

#include <signal.h>
#include <sys/signalfd.h>

int signals_open_stop(struct err *err)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return err_sys(err, "block the signals that end us");
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "make a signalfd");
	return fd;
}
