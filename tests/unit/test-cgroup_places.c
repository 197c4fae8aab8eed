/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/io.h"
#include "sandbox/cgroup.h"
#include "tests/lib/check.h"

static struct err err;

TEST(what_a_dead_launcher_left_is_found_by_what_it_wrote_down)
{
	const struct cgroup_limits limits = { .memory = 64 * MIB, .pids = 9 };
	struct cgroup_host host = CGROUP_HOST_INIT;
	struct cgroup leaf = CGROUP_INIT;
	static char text[CGROUP_PLACES_MAX];
	char name[48], path[96], who[16];
	int status;
	pid_t pid;

	if (geteuid() != 0)
		SKIP("needs root");
	CHECK_OK(cgroup_host_open(&host, &err));
	cgroup_places_text(&host, text);
	check_note("%s", text);
	snprintf(name, sizeof(name), "test-places-%d", (int) getpid());
	CHECK_OK(cgroup_places_reap(text, name, &err)); /* nothing there is fine */
	CHECK_OK(cgroup_create(&host, name, &limits, &leaf, &err));
	pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	snprintf(who, sizeof(who), "%d", (int) pid);
	snprintf(path, sizeof(path), "%s/cgroup.procs", name);
	CHECK_OK(io_write_kernel_file(host.unified_fd, path, who, &err));
	cgroup_done(&leaf);
	CHECK_OK(cgroup_places_reap(text, name, &err));
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	CHECK(faccessat(host.unified_fd, name, F_OK, 0) < 0);
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		CHECK(host.v1_fds[i] < 0 || faccessat(host.v1_fds[i], name, F_OK, 0) < 0);
	cgroup_host_done(&host);
}

TEST(folders_that_are_gone_are_fine_and_those_of_others_are_left_alone)
{
	CHECK_OK(cgroup_places_reap("", "x", &err));
	CHECK_OK(cgroup_places_reap("v2 /sys/fs/cgroup/no/such/thing\n", "x", &err));
	CHECK_OK(cgroup_places_reap("memory /sys/fs/cgroup/no/such/thing\n", "x", &err));
	check_folder();
	CHECK(mkdirat(check_folder(), "x", 0700) == 0);
	{
		char line[300];

		snprintf(line, sizeof(line), "v2 %s\n", check_folder_path());
		CHECK_OK(cgroup_places_reap(line, "x", &err));
	}
	CHECK(faccessat(check_folder(), "x", F_OK, 0) == 0); /* no control group */
}

TEST(a_text_that_is_none_of_ours_is_an_error)
{
	static const char *const texts[] = { "x", "v2", "v2 relative", "io /sys/fs/cgroup",
					     "v2 /a\nv3 /b\n" };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		CHECK_INT(cgroup_places_reap(texts[i], "x", &err), -1);
		CHECK(strstr(err.text, "a line of a lease is '"));
	}
}
