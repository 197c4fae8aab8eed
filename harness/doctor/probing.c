/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/doctor/probing.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/run/launcher.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/message.h"

/* The probe ends itself after a minute. */
#define PATIENCE_MS (90 * 1000)

no_return static void execute(int program_fd, int socket_fd)
{
	static char *const no_environment[] = { NULL };
	char name[] = "proctor-probe", socket[32];
	char *const argv[] = { name, socket, NULL };

	snprintf(socket, sizeof(socket), "--socket=%d", socket_fd);
	if (fcntl(socket_fd, F_SETFD, 0) == 0)
		execveat(program_fd, "", argv, no_environment, AT_EMPTY_PATH);
	_exit(127);
}

/* Return: 1 with the next record, 0 where there are no more, -1 on error. */
static int next(int socket_fd, int64_t deadline, struct trial *out, struct err *err)
{
	struct pollfd ready = { .fd = socket_fd, .events = POLLIN };
	int count;

	do
		count = poll(&ready, 1, clock_poll_ms(deadline));
	while (count < 0 && errno == EINTR);
	if (count < 0)
		return err_sys(err, "wait for proctor-probe");
	if (count == 0)
		return err_set(err, ERR_HOST, "proctor-probe hangs");
	return trial_receive(socket_fd, out, err);
}

static int receive_all(int socket_fd, struct trial *out, struct err *err)
{
	int64_t deadline = clock_after_ms(PATIENCE_MS);
	struct trial trial;
	uint32_t count = 0;
	int got;

	while ((got = next(socket_fd, deadline, &trial, err)) > 0) {
		if (trial.kind != count)
			return err_set(err, ERR_SYS, "proctor-probe speaks out of turn");
		out[count++] = trial;
	}
	if (got < 0)
		return -1;
	if (count < TRIAL_KINDS)
		return err_set(err, ERR_HOST, "proctor-probe ended %s '%s'",
			       count > 0 ? "while it tried" : "before it tried",
			       names_text(trial_names, (int) count));
	return 0;
}

int probing_run(const char *programs, struct trial *trials, struct err *err)
{
	auto_fd program = launcher_open_program(programs, "proctor-probe", err);
	struct trial received[TRIAL_KINDS] = { { 0 } };
	struct process probe = PROCESS_INIT;
	auto_fd ours = -1, theirs = -1;
	int pair[2], child, result;

	if (program < 0 || message_pair(pair, err) < 0)
		return -1;
	ours = pair[0];
	theirs = pair[1];
	child = process_fork(&probe, err);
	if (child == 0)
		execute(program, theirs);
	if (child < 0)
		return -1;
	fd_close(&theirs);
	result = receive_all(ours, received, err);
	/* It has said its last word, or is not worth waiting for. */
	process_kill(&probe);
	if (result == 0)
		memcpy(trials, received, sizeof(received));
	return result;
}
