/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/doctor/probing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "tests/lib/check.h"

static struct trial trials[TRIAL_KINDS];
static struct err err;

TEST(all_trials_arrive_and_no_child_is_left)
{
	CHECK_OK(probing_run(PROGRAMS, trials, &err));
	for (uint32_t kind = 0; kind < TRIAL_KINDS; kind++)
		CHECK_INT(trials[kind].kind, kind);
	CHECK_INT(trials[TRIAL_SECCOMP].result, TRIAL_WORKS);
	CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
	CHECK_INT(errno, ECHILD);
}

/* A probe of another kind, in check_folder(). */
static void make_probe(const char *script)
{
	auto_fd fd = openat(check_folder(), "proctor-probe", O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	char text[256];

	CHECK(fd >= 0);
	snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", script);
	CHECK_INT(write(fd, text, strlen(text)), strlen(text));
}

TEST(a_probe_that_says_nothing_is_an_error_and_changes_nothing)
{
	make_probe("exit 0");
	trials[0].result = TRIAL_PARTLY;
	CHECK_INT(probing_run(check_folder_path(), trials, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK_STR(err.text, "proctor-probe ended before it tried 'capabilities'");
	CHECK_INT(trials[0].result, TRIAL_PARTLY);
}

TEST(a_probe_that_is_not_there_is_named)
{
	CHECK_INT(probing_run("/nonexistent", trials, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK(strstr(err.text, "open 'proctor-probe'"));
}
