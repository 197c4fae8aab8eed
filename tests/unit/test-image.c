/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/image.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/process.h"
#include "tests/lib/check.h"

/* Images themselves, with the tools that make them: tests/e2e/48-images.sh. */

static struct image_source source;
static struct image image;
static struct err err;

static int shelf_fd;

static void start(void)
{
	check_folder();
	if (geteuid() != 0)
		SKIP("needs root");
	CHECK(unshare(CLONE_NEWNS) == 0);
	CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	CHECK(fchmod(check_folder(), 0755) == 0);
	image = IMAGE_INIT;
	shelf_fd = image_open_shelf(check_folder_path(), &err);
	CHECK_OK(shelf_fd);
}

static void make_folder(void)
{
	CHECK(mkdirat(check_folder(), "root", 0755) == 0);
	CHECK(mkdirat(check_folder(), "root/sub", 0755) == 0);
	source = (struct image_source){ .name = "test", .kind = IMAGE_FOLDER };
	snprintf(source.path, sizeof(source.path), "%s/root", check_folder_path());
}

static bool always(const void *context)
{
	return !context;
}

static int take_it(void)
{
	static const struct image_wish wish = { always, NULL };

	return image_take(shelf_fd, check_folder(), &source, &wish, &image, &err);
}

TEST(a_folder_becomes_a_read_only_mount_without_a_digest)
{
	struct statvfs state;

	start();
	make_folder();
	CHECK_OK(take_it());
	CHECK_STR(image.digest, "");
	CHECK(faccessat(image.mount_fd, "sub", F_OK, 0) == 0);
	CHECK(mkdirat(image.mount_fd, "more", 0755) < 0 && errno == EROFS);
	CHECK(fstatvfs(image.mount_fd, &state) == 0);
	CHECK_INT(state.f_flag & (ST_RDONLY | ST_NOSUID | ST_NODEV),
		  ST_RDONLY | ST_NOSUID | ST_NODEV);
	CHECK(mkdirat(check_folder(), "root/sub/new", 0755) == 0);
	CHECK(!image_has_changed(&image));
	image_done(&image);
	CHECK_INT(image.mount_fd, -1);
	image_done(&image);
	close(shelf_fd);
}

TEST(what_is_mounted_over_a_folder_is_not_seen_in_a_jail)
{
	char path[300];

	start();
	make_folder();
	CHECK(mkdirat(check_folder(), "root/sub/below", 0755) == 0);
	snprintf(path, sizeof(path), "%s/sub", source.path);
	CHECK(mount("none", path, "tmpfs", 0, NULL) == 0);
	CHECK_OK(take_it());
	CHECK(faccessat(image.mount_fd, "sub/below", F_OK, 0) == 0);
	image_done(&image);
	close(shelf_fd);
}

TEST(what_is_no_image_is_refused_in_one_line_with_name_and_path)
{
	char want[512];
	auto_fd fd = -1;

	start();
	make_folder();
	fd = openat(check_folder(), "junk", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	CHECK(fd >= 0 && ftruncate(fd, 8192) == 0);
	source.kind = IMAGE_SQUASHFS;
	snprintf(source.path, sizeof(source.path), "%s/junk", check_folder_path());
	CHECK_INT(take_it(), -1);
	snprintf(want, sizeof(want),
		 "'test': '%s' is no squashfs image: make it anew, or name its kind in the site's "
		 "file",
		 source.path);
	CHECK_STR(err.text, want);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK_INT(image.mount_fd, -1);
	close(shelf_fd);
}

/* It looks like one at its beginning, and the kernel finds the rest wanting. */
TEST(what_the_kernel_does_not_mount_leaves_no_mount_and_no_loop_device)
{
	unsigned char head[4096] = "hsqs";
	struct stat before, after;
	auto_fd fd = -1;

	start();
	make_folder();
	head[41] = 8;
	fd = openat(check_folder(), "junk", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	CHECK_OK(io_write_all(fd, head, sizeof(head), "junk", &err));
	source.kind = IMAGE_SQUASHFS;
	snprintf(source.path, sizeof(source.path), "%s/junk", check_folder_path());
	CHECK(fstat(shelf_fd, &before) == 0);
	CHECK_INT(take_it(), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK(strncmp(err.text, "'test', '", 9) == 0);
	CHECK(fstatat(shelf_fd, "test", &after, 0) < 0 || after.st_dev == before.st_dev);
	/* And once more, behind what the first left. */
	CHECK_INT(take_it(), -1);
	CHECK_INT(err.kind, ERR_HOST);
	close(shelf_fd);
}

TEST(a_file_that_is_written_has_changed_and_one_that_is_replaced_has_not)
{
	struct image taken = { .mount_fd = -1, .file_fd = -1, .digest = "00" };

	check_folder();
	taken.file_fd = openat(check_folder(), "file", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	CHECK_OK(io_write_all(taken.file_fd, "first", 5, "file", &err));
	CHECK_OK(image_identify(taken.file_fd, &taken.identity, &err));
	CHECK(!image_has_changed(&taken));
	CHECK(renameat(check_folder(), "file", check_folder(), "other") == 0);
	CHECK(unlinkat(check_folder(), "other", 0) == 0);
	CHECK(!image_has_changed(&taken));
	taken.digest[0] = '\0';
	CHECK_OK(io_write_all(taken.file_fd, "more", 4, "file", &err));
	CHECK(!image_has_changed(&taken));
	taken.digest[0] = '0';
	CHECK(image_has_changed(&taken));
	image_done(&taken);
	CHECK(!image_has_changed(&taken));
}

TEST(the_shelf_is_seen_in_this_namespace_alone)
{
	struct stat inside, outside;
	int told[2], status;
	pid_t pid;

	check_folder();
	if (geteuid() != 0)
		SKIP("needs root");
	CHECK(pipe2(told, O_CLOEXEC) == 0);
	pid = fork();
	if (pid == 0) {
		start();
		CHECK(fstat(shelf_fd, &inside) == 0);
		CHECK(write(told[1], &inside.st_dev, sizeof(inside.st_dev)) ==
		      sizeof(inside.st_dev));
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(read(told[0], &inside.st_dev, sizeof(inside.st_dev)) == sizeof(inside.st_dev));
	CHECK(fstatat(check_folder(), "images", &outside, 0) == 0);
	CHECK(inside.st_dev != outside.st_dev);
	CHECK_INT(outside.st_mode & 07777, 0700);
}

TEST(root_and_the_payload_change_places_and_all_others_keep_theirs)
{
	static const struct {
		uid_t on_disk, seen;
	} cases[] = {
		{ 0, 0x70001000 + 1000 },    { 1, 0x70001001 },
		{ 999, 0x70001000 + 999 },   { 1000, 0x70001000 },
		{ 1001, 0x70001000 + 1001 }, { 65535, 0x70001000 + 65535 },
	};
	auto_fd context = fsopen("tmpfs", FSOPEN_CLOEXEC), files = -1, tree = -1;
	char name[16];
	struct stat info;

	start();
	CHECK(context >= 0 && fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0);
	files = fsmount(context, FSMOUNT_CLOEXEC, 0);
	CHECK(files >= 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		snprintf(name, sizeof(name), "%zu", i);
		CHECK(mkdirat(files, name, 0755) == 0);
		CHECK(fchownat(files, name, cases[i].on_disk, cases[i].on_disk, 0) == 0);
	}
	tree = open_tree(files, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
	CHECK(tree >= 0);
	if (image_map(tree, 0x70001000, 1000, &err) < 0) {
		/* Before Linux 6.3 a tmpfs has none. */
		CHECK_INT(err.kind, ERR_HOST);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		snprintf(name, sizeof(name), "%zu", i);
		CHECK(fstatat(tree, name, &info, 0) == 0);
		CHECK_INT(info.st_uid, cases[i].seen);
		CHECK_INT(info.st_gid, cases[i].seen);
	}
	close(shelf_fd);
}

static void put_head(void)
{
	unsigned char head[4096] = { 'h', 's', 'q', 's', [41] = 0x10 };
	auto_fd fd = openat(check_folder(), "head", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	CHECK_OK(io_write_all(fd, head, sizeof(head), "head", &err));
	source.kind = IMAGE_SQUASHFS;
	snprintf(source.path, sizeof(source.path), "%s/head", check_folder_path());
}

TEST(who_is_not_waited_for_does_not_wait_for_others)
{
	static const struct image_wish no_more = { always, "" };
	auto_fd lock = -1;

	start();
	make_folder();
	/* Of an image it has what is looked at before it is mounted. */
	put_head();
	lock = openat(shelf_fd, ".test", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(lock >= 0 && flock(lock, LOCK_EX) == 0);
	CHECK_INT(image_take(shelf_fd, check_folder(), &source, &no_more, &image, &err), -1);
	CHECK(strstr(err.text, "nobody waits for it any more"));
}
