/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "sandbox/devices.h"
#include "tests/lib/check.h"

/* A mount that is attached nowhere: nothing to clean up. */
static int detached_tmpfs(void)
{
	int context, fd;

	if (geteuid() != 0)
		SKIP("needs root");
	context = fsopen("tmpfs", FSOPEN_CLOEXEC);
	CHECK(context >= 0 && fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0);
	fd = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID);
	CHECK(fd >= 0);
	return fd;
}

static void check_node(int dev_fd, const char *name, mode_t mode, dev_t number)
{
	struct stat meta;

	if (fstatat(dev_fd, name, &meta, AT_SYMLINK_NOFOLLOW) < 0)
		check_fail(__FILE__, __LINE__, "no node '%s'", name);
	CHECK_INT(meta.st_mode, mode);
	CHECK_INT(meta.st_rdev, number);
	CHECK_INT(meta.st_uid, 0);
}

TEST(the_base_nodes_are_made_on_a_mount_that_is_not_attached)
{
	int dev_fd = detached_tmpfs();
	struct err err = ERR_INIT;
	struct device_slice slice;
	char byte = 1;
	int zero_fd;

	devices_base(&slice);
	umask(077);
	CHECK_OK(devices_make_nodes(dev_fd, &slice, &err));
	check_node(dev_fd, "null", S_IFCHR | 0666, makedev(1, 3));
	check_node(dev_fd, "zero", S_IFCHR | 0666, makedev(1, 5));
	check_node(dev_fd, "full", S_IFCHR | 0666, makedev(1, 7));
	check_node(dev_fd, "random", S_IFCHR | 0666, makedev(1, 8));
	check_node(dev_fd, "urandom", S_IFCHR | 0666, makedev(1, 9));
	check_node(dev_fd, "tty", S_IFCHR | 0666, makedev(5, 0));
	CHECK(faccessat(dev_fd, "ptmx", F_OK, 0) < 0); /* devpts makes that one */
	CHECK_INT(umask(022), 077);

	zero_fd = openat(dev_fd, "zero", O_RDONLY | O_CLOEXEC);
	CHECK(zero_fd >= 0 && read(zero_fd, &byte, 1) == 1 && byte == 0);
}

TEST(a_node_in_a_folder_gets_its_folder)
{
	const struct device gpus[] = {
		{ "dri/renderD128", DEVICE_CHAR, 226, 128, DEVICE_READ | DEVICE_WRITE, 0660 },
		{ "dri/renderD129", DEVICE_CHAR, 226, 129, DEVICE_READ | DEVICE_WRITE, 0666 },
		{ "loop0", DEVICE_BLOCK, 7, 0, DEVICE_READ, 0400 },
	};
	int dev_fd = detached_tmpfs();
	struct device_slice slice = { .count = 0 };
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(gpus); i++)
		CHECK_OK(devices_add(&slice, &gpus[i], &err));
	CHECK_OK(devices_make_nodes(dev_fd, &slice, &err));
	check_node(dev_fd, "dri", S_IFDIR | 0755, 0);
	check_node(dev_fd, "dri/renderD128", S_IFCHR | 0660, makedev(226, 128));
	check_node(dev_fd, "dri/renderD129", S_IFCHR | 0666, makedev(226, 129));
	check_node(dev_fd, "loop0", S_IFBLK | 0400, makedev(7, 0));
}

TEST(a_node_that_is_there_already_is_an_error)
{
	int dev_fd = detached_tmpfs();
	struct err err = ERR_INIT;
	struct device_slice slice;

	devices_base(&slice);
	CHECK(symlinkat("/etc/passwd", dev_fd, "null") == 0);
	CHECK_INT(devices_make_nodes(dev_fd, &slice, &err), -1);
	CHECK_STR(err.text, "create the device '/dev/null' (1:3): File exists");
}

TEST(a_bad_entry_is_refused_and_nothing_is_added)
{
	static const struct {
		struct device device;
		const char *error;
	} cases[] = {
		{ { "../sda", DEVICE_BLOCK, 8, 0 },
		  "the device '../sda' is not NAME or FOLDER/NAME" },
		{ { "/dev/sda", DEVICE_BLOCK, 8, 0 },
		  "the device '/dev/sda' is not NAME or FOLDER/NAME" },
		{ { "a/b/c", DEVICE_CHAR, 8, 0 }, "the device 'a/b/c' is not NAME or FOLDER/NAME" },
		{ { "gpu", DEVICE_CHAR, 8, DEVICE_ANY_MINOR },
		  "the device 'gpu' has no minor number" },
		{ { "null", DEVICE_CHAR, 1, 3 }, "the device 'null' is there twice" },
		{ { "01234567890123456789012345678901", DEVICE_CHAR, 1, 3 },
		  "a device's name is longer than 31 bytes" },
	};
	struct device_slice slice;

	devices_base(&slice);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = ERR_INIT;

		CHECK_INT(devices_add(&slice, &cases[i].device, &err), -1);
		CHECK_INT(err.kind, ERR_INPUT);
		CHECK_STR(err.text, cases[i].error);
		CHECK_INT(slice.count, 8);
	}
}

TEST(a_full_list_takes_no_more)
{
	const struct device any = { "", DEVICE_CHAR, 1, 3, DEVICE_READ, 0 };
	struct device_slice slice = { .count = 0 };
	struct err err = ERR_INIT;

	for (int i = 0; i < DEVICES_MAX; i++)
		CHECK_OK(devices_add(&slice, &any, &err));
	CHECK_INT(devices_add(&slice, &any, &err), -1);
	CHECK_STR(err.text, "more than 32 devices");
}
