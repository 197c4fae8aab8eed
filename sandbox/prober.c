/* SPDX-License-Identifier: Apache-2.0 */

/*
 * proctor-probe: what of this host's walls and limits holds, tried
 *
 *	proctor-probe --socket=FD
 *
 * Started by proctor doctor, and a program of its own so that the launcher, which runs all day,
 * has nothing in it that is only tried out. It takes no input, prints nothing, sends one record
 * for each trial and ends.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/process.h"
#include "sandbox/probe.h"

/* All trials together are done in a second; a kernel that hangs must not hang its operator. */
#define PATIENCE_S 60

int main(int argc, char **argv)
{
	static const char option[] = "--socket=";
	struct err err = ERR_INIT;
	int socket_fd = -1;
	char *end = NULL;

	if (argc == 2 && strncmp(argv[1], option, sizeof(option) - 1) == 0)
		socket_fd = (int) strtol(argv[1] + sizeof(option) - 1, &end, 10);
	if (!end || *end != '\0' || socket_fd < 3 || fcntl(socket_fd, F_SETFD, FD_CLOEXEC) < 0) {
		fprintf(stderr, "proctor-probe is started by proctor, see proctor-doctor(1)\n");
		return 2;
	}
	alarm(PATIENCE_S);
	process_expect_children();
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return 5;
	return probe_host(socket_fd, &err) < 0 ? err_exit_code(&err) : 0;
}
