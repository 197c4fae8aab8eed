/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/namespaces.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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
	pid = namespaces_clone_host(open_cgroup(), &pid_fd, &err);
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
