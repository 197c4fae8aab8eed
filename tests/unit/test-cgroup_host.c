/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/io.h"
#include "sandbox/cgroup.h"
#include "tests/lib/check.h"

static void need_root(void)
{
	if (geteuid() != 0)
		SKIP("needs root");
}

static bool is_there(const char *path)
{
	struct stat meta;

	return stat(path, &meta) == 0;
}

TEST(the_host_is_found_and_memory_and_pids_can_be_limited)
{
	const uint32_t needed = CGROUP_BIT(CGROUP_MEMORY) | CGROUP_BIT(CGROUP_PIDS);
	struct cgroup_host host = CGROUP_HOST_INIT;
	struct err err = ERR_INIT;

	need_root();
	CHECK_OK(cgroup_host_open(&host, &err));
	check_note("%s: v1 %#x, v2 %#x", host.path, host.v1, host.unified);
	CHECK_INT((host.v1 | host.unified) & needed, needed);
	CHECK_INT(host.v1 & host.unified, 0);
	CHECK(host.unified_fd >= 0);
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		CHECK_INT(host.v1_fds[i] >= 0, (host.v1 & CGROUP_BIT(i)) != 0);
	CHECK(is_there(host.path));
	cgroup_host_done(&host);
	CHECK_INT(host.unified_fd, -1);
	cgroup_host_done(&host);
}

/* Other launchers may be at work on this machine: only what is ours to see is checked. */
TEST(the_folder_is_shared_and_its_last_user_removes_it)
{
	struct cgroup_host one = CGROUP_HOST_INIT, other = CGROUP_HOST_INIT;
	struct err err = ERR_INIT;
	char path[256];

	need_root();
	CHECK_OK(cgroup_host_open(&one, &err));
	snprintf(path, sizeof(path), "%s", one.path);
	CHECK_OK(cgroup_host_open(&other, &err));
	CHECK_STR(other.path, path);
	cgroup_host_done(&one);
	CHECK(is_there(path));
	CHECK(faccessat(other.unified_fd, "cgroup.procs", F_OK, 0) == 0);
	cgroup_host_done(&other);
	if (is_there(path))
		check_note("'%s' is still there: somebody else's, or a leaf was left", path);
}

/* In a v1 group of its own, below the parent's; says by its exit code whether its folder went. */
no_return static void come_and_go_elsewhere(int group_fd)
{
	struct cgroup_host host = CGROUP_HOST_INIT;
	struct err err = ERR_INIT;

	CHECK_OK(io_write_kernel_file(group_fd, "cgroup.procs", "0", &err));
	CHECK_OK(cgroup_host_open(&host, &err));
	CHECK(faccessat(group_fd, "proctor", F_OK, 0) == 0);
	cgroup_host_done(&host);
	_exit(faccessat(group_fd, "proctor", F_OK, 0) == 0);
}

TEST(a_folder_in_another_v1_group_goes_while_the_shared_v2_folder_is_in_use)
{
	struct cgroup_host host = CGROUP_HOST_INIT;
	struct err err = ERR_INIT;
	int folder_fd, group_fd, status;
	pid_t pid;

	need_root();
	CHECK_OK(cgroup_host_open(&host, &err));
	folder_fd = host.v1_fds[CGROUP_MEMORY];
	if (folder_fd < 0)
		SKIP("memory is not limited by a v1 hierarchy here");
	CHECK(mkdirat(folder_fd, "test-elsewhere", 0700) == 0);
	group_fd = openat(folder_fd, "test-elsewhere", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(group_fd >= 0);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0)
		come_and_go_elsewhere(group_fd);
	CHECK(waitpid(pid, &status, 0) == pid);
	best_effort(unlinkat(group_fd, "proctor", AT_REMOVEDIR));
	CHECK(unlinkat(folder_fd, "test-elsewhere", AT_REMOVEDIR) == 0);
	CHECK_INT(status, 0);
	cgroup_host_done(&host);
}

TEST(coming_and_going_at_once_always_ends_with_a_folder_that_works)
{
	const struct cgroup_limits limits = { .pids = 10 };
	pid_t pids[8];

	need_root();
	for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
		pids[i] = fork();
		CHECK(pids[i] >= 0);
		for (int round = 0; pids[i] == 0 && round < 20; round++) {
			struct cgroup_host host = CGROUP_HOST_INIT;
			struct cgroup cg = CGROUP_INIT;
			struct err err = ERR_INIT;
			char name[48];

			snprintf(name, sizeof(name), "test-host-%d", (int) getpid());
			CHECK_OK(cgroup_host_open(&host, &err));
			CHECK_OK(cgroup_create(&host, name, &limits, &cg, &err));
			CHECK_OK(cgroup_remove(&cg, &err));
			cgroup_host_done(&host);
		}
		if (pids[i] == 0)
			_exit(0);
	}
	for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
		int status;

		CHECK(waitpid(pids[i], &status, 0) == pids[i]);
		CHECK_INT(status, 0);
	}
}

/* On a hybrid host two launchers can share the folders in v1 and not the one in v2. */
TEST(who_leaves_from_another_group_takes_no_folder_that_is_used)
{
	const struct cgroup_limits limits = { .pids = 10 };
	struct cgroup_host host = CGROUP_HOST_INIT, other = CGROUP_HOST_INIT;
	struct cgroup cg = CGROUP_INIT;
	struct err err = ERR_INIT;
	char path[320], name[48];
	int status;
	pid_t pid;

	need_root();
	CHECK_OK(cgroup_host_open(&host, &err));
	if (host.v1 == 0)
		return; /* there are none */
	snprintf(path, sizeof(path), "%s/../test-elsewhere-%d", host.path, (int) getpid());
	CHECK(mkdir(path, 0755) == 0);
	pid = fork();
	if (pid == 0) {
		int group = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		CHECK_OK(io_write_kernel_file(group, "cgroup.procs", "0", &err));
		CHECK_OK(cgroup_host_open(&other, &err));
		CHECK(strstr(other.path, "test-elsewhere"));
		cgroup_host_done(&other);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(rmdir(path) == 0);
	CHECK_INT(status, 0);
	snprintf(name, sizeof(name), "test-host-%d", (int) getpid());
	CHECK_OK(cgroup_create(&host, name, &limits, &cg, &err));
	CHECK_OK(cgroup_remove(&cg, &err));
	cgroup_host_done(&host);
}

TEST(nothing_above_our_folder_is_written)
{
	struct cgroup_host host = CGROUP_HOST_INIT;
	char before[512], after[512], path[320], own[512];
	struct err err = ERR_INIT;

	need_root();
	CHECK_OK(io_read_kernel_file(AT_FDCWD, "/proc/self/cgroup", own, sizeof(own), &err));
	CHECK_OK(cgroup_host_open(&host, &err));
	snprintf(path, sizeof(path), "%s/../cgroup.subtree_control", host.path);
	CHECK_OK(io_read_kernel_file(AT_FDCWD, path, before, sizeof(before), &err));
	cgroup_host_done(&host);

	CHECK_OK(cgroup_host_open(&host, &err));
	CHECK_OK(io_read_kernel_file(AT_FDCWD, path, after, sizeof(after), &err));
	CHECK_STR(after, before);
	cgroup_host_done(&host);
}

TEST(without_privilege_the_group_is_named)
{
	struct cgroup_host host = CGROUP_HOST_INIT;
	struct err err = ERR_INIT;

	need_root();
	CHECK(setresgid(1000, 1000, 1000) == 0 && setresuid(1000, 1000, 1000) == 0);
	CHECK_INT(cgroup_host_open(&host, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	check_note("%s", err.text);
	CHECK(strstr(err.text, "/sys/fs/cgroup") || strstr(err.text, "cgroup"));
	CHECK_INT(host.unified_fd, -1);
}
