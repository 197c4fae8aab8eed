/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/namespaces.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/io.h"
#include "sandbox/net.h"
#include "tests/lib/check.h"

static void need_root(void)
{
	if (geteuid() != 0)
		SKIP("needs root");
}

static void read_link(const char *path, char *out, size_t room)
{
	ssize_t len = readlink(path, out, room - 1);

	CHECK(len > 0);
	out[len] = '\0';
}

/* The v2 hierarchy's own root: the clone stays where it is. */
static int open_cgroup(void)
{
	int fd = open("/sys/fs/cgroup/unified", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 ? fd : open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

TEST(stage_1_has_new_namespaces_but_the_hosts_users)
{
	static const char *const fresh[] = { "mnt", "pid", "net", "ipc", "uts" };
	struct err err = ERR_INIT;
	char ours[ARRAY_LEN(fresh)][64], users[64];
	int pid_fd = -1, status;
	pid_t pid;

	need_root();
	for (size_t i = 0; i < ARRAY_LEN(fresh); i++) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/self/ns/%s", fresh[i]);
		read_link(path, ours[i], sizeof(ours[i]));
	}
	read_link("/proc/self/ns/user", users, sizeof(users));
	pid = namespaces_clone_host(open_cgroup(), 0, &pid_fd, &err);
	CHECK_OK(pid);
	if (pid == 0) {
		char theirs[64];
		struct err inner = ERR_INIT;

		/* procfs is still the host's here and calls us by another number. */
		for (size_t i = 0; i < ARRAY_LEN(fresh); i++) {
			char path[64];

			snprintf(path, sizeof(path), "/proc/self/ns/%s", fresh[i]);
			if (readlink(path, theirs, sizeof(theirs)) > 0)
				CHECK(strncmp(theirs, ours[i], strlen(ours[i])) != 0);
		}
		CHECK_INT(getpid(), 1);
		CHECK(net_loopback_up(&inner) == 0);
		_exit(0);
	}
	CHECK(pid_fd >= 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_INT(status, 0);
}

/* Root of a user namespace of its own, where a limit is nobody else's: each account may have three.
 */
static void enter_users(void)
{
	int ready[2], mapped[2], status;
	struct err err = ERR_INIT;
	char byte, path[64];
	pid_t pid;

	CHECK(pipe(ready) == 0 && pipe(mapped) == 0);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		CHECK(unshare(CLONE_NEWUSER) == 0);
		CHECK(write(ready[1], "r", 1) == 1 && read(mapped[0], &byte, 1) == 1);
		CHECK_OK(io_write_kernel_file(AT_FDCWD, "/proc/sys/user/max_net_namespaces", "3",
					      &err));
		return;
	}
	CHECK(read(ready[0], &byte, 1) == 1);
	snprintf(path, sizeof(path), "/proc/%d/uid_map", (int) pid);
	CHECK_OK(io_write_kernel_file(AT_FDCWD, path, "0 0 10", &err));
	snprintf(path, sizeof(path), "/proc/%d/gid_map", (int) pid);
	CHECK_OK(io_write_kernel_file(AT_FDCWD, path, "0 0 10", &err));
	CHECK(write(mapped[1], "m", 1) == 1);
	CHECK(waitpid(pid, &status, 0) == pid);
	_exit(status == 0 ? 0 : 1);
}

/* Its only process lives as long as the pipe. */
static int clone_one(uid_t client, const int life[2], struct err *err)
{
	int cgroup_fd = open_cgroup(), pid_fd = -1;
	pid_t pid = namespaces_clone_host(cgroup_fd, client, &pid_fd, err);
	char byte;

	if (pid == 0) {
		close(life[1]);
		_exit(geteuid() == 0 && read(life[0], &byte, 1) == 0 ? 0 : 1);
	}
	close(cgroup_fd);
	return pid < 0 ? -1 : 0;
}

TEST(stage_1_is_counted_as_its_clients_and_leaves_others_theirs)
{
	struct err err = ERR_INIT;
	int life[2];

	need_root();
	enter_users();
	CHECK(pipe2(life, O_CLOEXEC) == 0);
	for (int i = 0; i < 3; i++)
		CHECK_OK(clone_one(1, life, &err));
	CHECK_INT(clone_one(1, life, &err), -1);
	CHECK(strstr(err.text, "user 1 has as many as a limit of /proc/sys/user allows"));
	CHECK_INT(geteuid(), 0);
	err = (struct err) ERR_INIT;
	CHECK_OK(clone_one(2, life, &err));
	CHECK_OK(clone_one(0, life, &err));
	_exit(0); /* a leak check could not trace who has changed his user */
}

TEST(stage_2_is_owned_by_the_effective_user)
{
	struct err err = ERR_INIT;
	int pid_fd = -1, status;
	pid_t pid;

	need_root();
	CHECK(setresuid((uid_t) -1, 0x70000000, (uid_t) -1) == 0);
	pid = namespaces_clone_user(&pid_fd, &err);
	CHECK_OK(pid);
	if (pid == 0)
		_exit(geteuid() == 65534 ? 0 : 1); /* nothing is mapped yet */
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_INT(status, 0);
	_exit(0); /* a leak check could not trace who has changed his user */
}
