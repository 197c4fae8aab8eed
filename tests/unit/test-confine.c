/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "tests/lib/check.h"
#include "tests/lib/tree.h"

static const struct given_limits limits = {
	.worker_memory = 512 * MIB,
	.worker_pids = 64,
	.worker_nofile = 99,
};
static struct confinement confinement;
static struct err err;

static void prepare(void)
{
	if (!confine_has_walls())
		SKIP("no Landlock here");
	CHECK_OK(confine_open(&confinement, &limits, &err));
	CHECK(mkdirat(check_folder(), "own", 0755) == 0);
	CHECK(mkdirat(check_folder(), "other", 0755) == 0);
	tree_make_file(check_folder(), "own/file", "x", 0644);
	tree_make_file(check_folder(), "other/file", "x", 0644);
}

static int open_below(const char *name, int flags)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", check_folder_path(), name);
	return open(path, flags | O_CLOEXEC, 0644);
}

static bool is_denied(int fd)
{
	return fd < 0 && errno == EACCES;
}

TEST(a_worker_reads_the_system_and_its_own_folder_and_nothing_else)
{
	auto_fd program = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	auto_fd own = -1;

	prepare();
	own = open_below("own", O_PATH | O_DIRECTORY);
	CHECK_OK(confine_worker(&confinement, program, own, 0, &err));
	CHECK(open_below("own/file", O_RDONLY) >= 0);
	CHECK(open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0);
	CHECK(open("/proc/self/maps", O_RDONLY | O_CLOEXEC) >= 0);
	CHECK(open("/dev/null", O_RDWR | O_CLOEXEC) >= 0);
	CHECK(is_denied(open_below("own/new", O_WRONLY | O_CREAT)));
	CHECK(is_denied(open_below("own/file", O_WRONLY)));
	CHECK(is_denied(open_below("other/file", O_RDONLY)));
	CHECK(is_denied(open("/tmp/confine-test", O_WRONLY | O_CREAT | O_CLOEXEC, 0600)));
	CHECK(is_denied(open("/run", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
}

TEST(a_worker_has_the_limits_of_the_judges_where_they_can_be_had)
{
	auto_fd program = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	struct rlimit now;

	prepare();
	CHECK_OK(confine_worker(&confinement, program, -1, 7, &err));
	CHECK(getrlimit(RLIMIT_NOFILE, &now) == 0);
	CHECK_INT(now.rlim_max, 99);
	CHECK(getrlimit(RLIMIT_DATA, &now) == 0);
	CHECK(CONFINE_SANITIZED || now.rlim_max == 512 * MIB);
	CHECK(getrlimit(RLIMIT_NPROC, &now) == 0);
	CHECK_INT(now.rlim_max, 7 + 63);
}

TEST(a_build_writes_to_its_folder_and_to_tmp)
{
	auto_fd own = -1;

	prepare();
	own = open_below("own", O_PATH | O_DIRECTORY);
	CHECK_OK(confine_build(&confinement, own, &err));
	CHECK(open_below("own/new", O_WRONLY | O_CREAT) >= 0);
	CHECK(is_denied(open("/run", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
	CHECK(is_denied(open("/etc/proctor-confine-test", O_WRONLY | O_CREAT | O_CLOEXEC, 0600)));
}

TEST(processes_of_this_user_are_counted_with_their_threads)
{
	uint64_t before = confine_tasks();
	pid_t pids[20];

	CHECK(before >= 1);
	for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
		pids[i] = fork();
		while (pids[i] == 0)
			pause();
	}
	/* Others of this user come and go meanwhile. */
	CHECK(confine_tasks() + 10 >= before + ARRAY_LEN(pids));
	for (size_t i = 0; i < ARRAY_LEN(pids); i++)
		CHECK(kill(pids[i], SIGKILL) == 0 && waitpid(pids[i], NULL, 0) == pids[i]);
}
