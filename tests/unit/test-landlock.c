/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/check.h"

static char work[] = "/tmp/landlock-XXXXXX";

static void remove_work(void)
{
	static const char *const names[] = { "file", "folder/moved", "folder",
					     "../landlock-neighbour" };
	char path[128];

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", work, names[i]);
		remove(path);
	}
	rmdir(work);
}

static void add(struct landlock_slice *slice, const char *path, enum landlock_access access)
{
	struct err err = ERR_INIT;

	CHECK_OK(landlock_add(slice, path, access, &err));
}

static int try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);
	int result = fd < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	return result;
}

static void add_jail(struct landlock_slice *slice)
{
	add(slice, "/", LANDLOCK_READ_EXEC);
	add(slice, work, LANDLOCK_WRITE);
	add(slice, "/proc", LANDLOCK_OWN_PROC);
	add(slice, "/dev/null", LANDLOCK_DEVICE);
	add(slice, "/dev/pts", LANDLOCK_DEVICE);
}

static void restrict_self(const struct landlock_slice *slice, int abi)
{
	struct err err = ERR_INIT;

	if (landlock_abi() < abi)
		SKIP("Landlock has ABI %d here, not %d", landlock_abi(), abi);
	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK_OK(landlock_restrict(slice, &err));
}

/* The child may not clean up after itself any more. A failed or skipped child is its test's end. */
static void in_child(void (*run)(void))
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		run();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	remove_work();
	if (status != 0)
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void live_in_a_jail(void)
{
	struct landlock_slice slice = { 0 };
	char path[128], other[128];

	/* Without the rules it can be done. */
	snprintf(other, sizeof(other), "%s/../landlock-neighbour", work);
	CHECK_INT(try_open(other, O_CREAT | O_WRONLY), 0);
	add_jail(&slice);
	restrict_self(&slice, 1);

	CHECK_INT(try_open(other, O_WRONLY), EACCES);
	CHECK_INT(try_open(other, O_RDONLY), 0);
	CHECK_INT(try_open("/etc/proctor-test", O_CREAT | O_WRONLY), EACCES);
	CHECK(mkdir("/tmp/landlock-folder", 0700) < 0 && errno == EACCES);

	snprintf(path, sizeof(path), "%s/file", work);
	CHECK_INT(try_open(path, O_CREAT | O_RDWR), 0);
	CHECK_INT(try_open(path, O_WRONLY | O_TRUNC), 0);
	snprintf(other, sizeof(other), "%s/folder", work);
	CHECK(mkdir(other, 0700) == 0);
	snprintf(other, sizeof(other), "%s/folder/moved", work);
	CHECK(landlock_abi() < 2 || rename(path, other) == 0);
	CHECK_INT(try_open("/dev/null", O_RDWR), 0);
	CHECK_INT(try_open("/proc/self/comm", O_WRONLY), 0);
}

TEST(a_jail_writes_its_workspace_and_nothing_else)
{
	CHECK(mkdtemp(work));
	in_child(live_in_a_jail);
}

static void start_a_program(void)
{
	struct landlock_slice slice = { 0 };
	char *const argv[] = { (char *) (uintptr_t) "/bin/true", NULL };

	add_jail(&slice);
	restrict_self(&slice, 1);
	execv(argv[0], argv);
	check_fail(__FILE__, __LINE__, "no /bin/true: %s", strerror(errno));
}

TEST(programs_start_under_the_rules)
{
	CHECK(mkdtemp(work));
	in_child(start_a_program);
}

TEST(device_ioctls_work_where_they_are_granted_only)
{
	struct landlock_slice slice = { 0 };
	struct winsize size;
	int controller, terminal;
	char name[64];

	if (openpty(&controller, &terminal, name, NULL, NULL) < 0)
		SKIP("no terminals here: %s", strerror(errno));
	add(&slice, "/", LANDLOCK_READ_EXEC);
	add(&slice, name, LANDLOCK_DEVICE);
	restrict_self(&slice, 5);

	terminal = open(name, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	CHECK(terminal >= 0 && ioctl(terminal, TIOCGWINSZ, &size) == 0);
	/* RNDGETENTCNT of a device that may be read and no more. */
	terminal = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	CHECK(terminal >= 0);
	CHECK(ioctl(terminal, _IOR('R', 0, int), &controller) < 0 && errno == EACCES);
}

static int abstract_socket(bool listening)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t len = offsetof(struct sockaddr_un, sun_path) + 16;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path + 1, 16, "pt-%d", (int) (listening ? getpid() : getppid()));
	CHECK(fd >= 0);
	if (listening)
		return bind(fd, (struct sockaddr *) &address, len) == 0 ? listen(fd, 1) : -1;
	return connect(fd, (struct sockaddr *) &address, len);
}

static void reach_out(void)
{
	struct landlock_slice slice = { 0 };

	CHECK_INT(kill(getppid(), 0), 0); /* without the rules both can be done */
	CHECK_INT(abstract_socket(false), 0);
	add(&slice, "/", LANDLOCK_READ_EXEC);
	restrict_self(&slice, 6);
	CHECK(kill(getppid(), 0) < 0 && errno == EPERM);
	CHECK(abstract_socket(false) < 0 && errno == EPERM);
	CHECK_INT(kill(getpid(), 0), 0);
}

TEST(signals_and_abstract_sockets_do_not_leave_the_jail)
{
	CHECK_INT(abstract_socket(true), 0);
	in_child(reach_out);
}

TEST(a_path_that_is_not_there_is_named)
{
	struct landlock_slice slice = { 0 };
	struct err err = ERR_INIT;

	if (landlock_abi() == 0)
		SKIP("no Landlock here");
	add(&slice, "/nowhere/at/all", LANDLOCK_WRITE);
	CHECK_INT(landlock_restrict(&slice, &err), -1);
	CHECK_STR(err.text, "landlock: open '/nowhere/at/all': No such file or directory");
}

TEST(too_many_rules_and_too_long_paths_are_refused)
{
	struct landlock_slice slice = { 0 };
	struct err err = ERR_INIT;
	char path[80];

	for (int i = 0; i < LANDLOCK_RULES_MAX; i++)
		add(&slice, "/", LANDLOCK_READ_EXEC);
	CHECK_INT(landlock_add(&slice, "/", LANDLOCK_READ_EXEC, &err), -1);
	CHECK_STR(err.text, "landlock: more than 32 rules");

	slice.count = 0;
	memset(path, 'a', sizeof(path));
	path[64] = '\0';
	CHECK_INT(landlock_add(&slice, path, LANDLOCK_READ_EXEC, &err), -1);
	CHECK_INT(slice.count, 0);
	path[63] = '\0';
	CHECK_OK(landlock_add(&slice, path, LANDLOCK_READ_EXEC, &err));
}

static size_t count_rights(enum landlock_access access, int abi)
{
	size_t count = 0;

	while (landlock_rights(access, abi, count))
		count++;
	return count;
}

TEST(rights_have_names_as_far_as_the_kernel_knows_them)
{
	CHECK_STR(landlock_rights(LANDLOCK_READ_EXEC, 1, 0), "execute");
	CHECK_INT(count_rights(LANDLOCK_READ_EXEC, LANDLOCK_KNOWN), 3);
	CHECK_INT(count_rights(LANDLOCK_WRITE, 1), 13);
	CHECK_INT(count_rights(LANDLOCK_WRITE, 2), 14);
	CHECK_INT(count_rights(LANDLOCK_WRITE, LANDLOCK_KNOWN), 15);
	CHECK_INT(count_rights(LANDLOCK_DEVICE, 4), 4);
	CHECK_STR(landlock_rights(LANDLOCK_DEVICE, 5, 4), "ioctl_dev");
	CHECK_INT(count_rights(LANDLOCK_WRITE, 0), 0);
	CHECK(!landlock_scopes(5, 0));
	CHECK_STR(landlock_scopes(6, 1), "signal");
	CHECK(!landlock_scopes(6, 2));
}
