/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/console/signals.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "tests/lib/check.h"

static struct err err;

TEST(what_asks_for_the_end_is_read_and_ends_nothing)
{
	static const int asks[] = { SIGINT, SIGTERM, SIGHUP };
	auto_fd stop_fd = signals_open_stop(&err);

	CHECK(stop_fd >= 0);
	CHECK_INT(signals_which(stop_fd), 0);
	for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
		CHECK(raise(asks[i]) == 0);
		CHECK_INT(signals_which(stop_fd), asks[i]);
		CHECK_INT(signals_which(stop_fd), 0);
	}
}

TEST(what_is_let_go_ends_the_process_again)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		auto_fd stop_fd = signals_open_stop(&err);

		signals_let_go();
		raise(SIGTERM);
		_exit(stop_fd < 0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}
