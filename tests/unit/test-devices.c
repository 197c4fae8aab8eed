/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/devices.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/syscalls.h"
#include "sandbox/cgroup.h"
#include "tests/lib/check.h"

/* A group without limits, and nodes of devices that no jail has, to be opened in it. */
struct place {
	struct cgroup_host host;
	struct cgroup cg;
	int nodes_fd;
};

static struct place make_place(void)
{
	static struct place place = { .host = { .unified_fd = -1 } };
	const struct cgroup_limits limits = { 0 };
	struct err err = ERR_INIT;
	char name[32];
	int context;

	if (geteuid() != 0)
		SKIP("needs root");
	CHECK_OK(cgroup_host_open(&place.host, &err));
	snprintf(name, sizeof(name), "test-devices-%d", (int) getpid());
	CHECK_OK(cgroup_create(&place.host, name, &limits, &place.cg, &err));

	context = fsopen("tmpfs", FSOPEN_CLOEXEC);
	CHECK(context >= 0 && fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0);
	place.nodes_fd = fsmount(context, FSMOUNT_CLOEXEC, 0);
	CHECK(place.nodes_fd >= 0);
	CHECK(mknodat(place.nodes_fd, "mem", S_IFCHR | 0666, makedev(1, 1)) == 0);
	CHECK(mknodat(place.nodes_fd, "kmsg", S_IFCHR | 0666, makedev(1, 11)) == 0);
	CHECK(mknodat(place.nodes_fd, "zero", S_IFCHR | 0666, makedev(1, 5)) == 0);
	CHECK(mknodat(place.nodes_fd, "loop0", S_IFBLK | 0666, makedev(7, 0)) == 0);
	return place;
}

/* The child's failure is told once everything is put back. */
static void in_group(struct place *place, void (*run)(const struct place *))
{
	const struct clone_args args = {
		.flags = CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = (uint64_t) cgroup_clone_fd(&place->cg),
	};
	struct err err = ERR_INIT;
	pid_t pid = sys_clone3(&args);
	int status;

	if (pid == 0) {
		run(place);
		_exit(0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK_OK(cgroup_remove(&place->cg, &err));
	cgroup_host_done(&place->host);
	CHECK_INT(status, 0);
}

static int try_open(int dir_fd, const char *path, int flags)
{
	auto_fd fd = openat(dir_fd, path, flags | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 ? errno : 0;
}

static void open_unguarded(const struct place *place)
{
	CHECK_INT(try_open(place->nodes_fd, "kmsg", O_RDONLY), 0);
	CHECK(mknodat(place->nodes_fd, "made", S_IFCHR | 0600, makedev(1, 5)) == 0);
}

TEST(without_the_program_the_group_opens_and_makes_what_it_likes)
{
	struct place place = make_place();

	in_group(&place, open_unguarded);
}

static void open_guarded(const struct place *place)
{
	CHECK_INT(try_open(-1, "/dev/null", O_RDWR), 0);
	CHECK_INT(try_open(-1, "/dev/urandom", O_RDWR), 0);
	CHECK_INT(try_open(place->nodes_fd, "zero", O_RDWR), 0);
	CHECK_INT(try_open(place->nodes_fd, "mem", O_RDONLY), EPERM);
	CHECK_INT(try_open(place->nodes_fd, "kmsg", O_RDONLY), EPERM);
	CHECK_INT(try_open(place->nodes_fd, "loop0", O_RDONLY), EPERM);
	/* Not even one that may be opened. */
	CHECK(mknodat(place->nodes_fd, "made", S_IFCHR | 0600, makedev(1, 5)) < 0);
	CHECK_INT(errno, EPERM);
	CHECK(mknodat(place->nodes_fd, "fifo", S_IFIFO | 0600, 0) == 0);
}

TEST(a_jail_opens_its_devices_and_makes_none)
{
	struct place place = make_place();
	struct err err = ERR_INIT;
	struct device_slice slice;

	devices_base(&slice);
	CHECK_OK(devices_attach(cgroup_clone_fd(&place.cg), &slice, &err));
	in_group(&place, open_guarded);
}

static void open_by_mode(const struct place *place)
{
	CHECK_INT(try_open(place->nodes_fd, "kmsg", O_RDONLY), 0);
	CHECK_INT(try_open(place->nodes_fd, "kmsg", O_WRONLY), EPERM);
	CHECK_INT(try_open(place->nodes_fd, "zero", O_WRONLY), 0);
	CHECK_INT(try_open(place->nodes_fd, "zero", O_RDONLY), EPERM);
	CHECK_INT(try_open(-1, "/dev/null", O_RDONLY), EPERM);
}

TEST(reading_and_writing_are_granted_apart)
{
	const struct device read_only = { "", DEVICE_CHAR, 1, 11, DEVICE_READ, 0 };
	const struct device write_only = { "", DEVICE_CHAR, 1, 5, DEVICE_WRITE, 0 };
	struct device_slice slice = { .count = 0 };
	struct place place = make_place();
	struct err err = ERR_INIT;

	CHECK_OK(devices_add(&slice, &read_only, &err));
	CHECK_OK(devices_add(&slice, &write_only, &err));
	CHECK_OK(devices_attach(cgroup_clone_fd(&place.cg), &slice, &err));
	in_group(&place, open_by_mode);
}

static void open_any_minor(const struct place *place)
{
	CHECK_INT(try_open(place->nodes_fd, "kmsg", O_RDONLY), 0);
	CHECK_INT(try_open(-1, "/dev/null", O_RDWR), 0);
	CHECK_INT(try_open(-1, "/dev/tty", O_RDWR), EPERM);
	CHECK_INT(try_open(place->nodes_fd, "loop0", O_RDONLY), EPERM);
}

TEST(any_minor_is_any_minor_of_that_major_and_type)
{
	const struct device any = {
		"", DEVICE_CHAR, 1, DEVICE_ANY_MINOR, DEVICE_READ | DEVICE_WRITE, 0
	};
	struct device_slice slice = { .count = 0 };
	struct place place = make_place();
	struct err err = ERR_INIT;

	CHECK_OK(devices_add(&slice, &any, &err));
	CHECK_OK(devices_attach(cgroup_clone_fd(&place.cg), &slice, &err));
	in_group(&place, open_any_minor);
}

static void open_nothing(const struct place *place)
{
	CHECK_INT(try_open(-1, "/dev/null", O_RDWR), EPERM);
	CHECK_INT(try_open(place->nodes_fd, "zero", O_RDONLY), EPERM);
}

TEST(the_guard_outlives_the_process_that_attached_it)
{
	const struct device_slice none = { .count = 0 };
	struct place place = make_place();
	struct err err = ERR_INIT;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		CHECK_OK(devices_attach(cgroup_clone_fd(&place.cg), &none, &err));
		kill(getpid(), SIGKILL);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	in_group(&place, open_nothing);
}

static struct device_slice full_list(void)
{
	struct device_slice slice = { .count = 0 };

	for (uint32_t i = 0; i < DEVICES_MAX; i++)
		slice.devices[slice.count++] =
			(struct device){ "", DEVICE_CHAR, 300 + i, i, DEVICE_READ, 0 };
	slice.devices[DEVICES_MAX - 1] = (struct device){ "", DEVICE_CHAR, 1, 3, DEVICE_READ, 0 };
	return slice;
}

static void open_the_last(const struct place *place)
{
	(void) place;
	CHECK_INT(try_open(-1, "/dev/null", O_RDONLY), 0);
	CHECK_INT(try_open(-1, "/dev/null", O_RDWR), EPERM);
	CHECK_INT(try_open(-1, "/dev/zero", O_RDONLY), EPERM);
}

TEST(a_full_list_is_one_program_for_many_groups)
{
	struct device_slice slice = full_list();
	struct place place = make_place();
	struct err err = ERR_INIT;
	int program_fd = devices_load(&slice, &err);

	CHECK(program_fd >= 0);
	CHECK_OK(devices_guard(cgroup_clone_fd(&place.cg), program_fd, &err));
	close(program_fd);
	in_group(&place, open_the_last);
}

TEST(a_malformed_list_and_a_wrong_folder_are_errors)
{
	struct device_slice slice = { .count = DEVICES_MAX + 1 };
	struct err err = ERR_INIT;
	int folder_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK_INT(devices_load(&slice, &err), -1);
	CHECK_STR(err.text, "a list of 33 devices is malformed");
	if (geteuid() != 0)
		SKIP("the rest needs root");
	slice.count = 0;
	CHECK_INT(devices_attach(folder_fd, &slice, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
}
