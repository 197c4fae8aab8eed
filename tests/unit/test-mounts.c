/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"

enum { OWNER = 0x70000000 + 1000 };

/* Each test is a process of its own, with mounts of its own, whose root it may exchange. */

static struct mounts mounts;
static struct plan plan;
static struct err err;

static const struct tmpfs_slice own = { .path = "/work", .bytes = 1 << 20, .inodes = 32 };
static const struct tmpfs_slice shared = {
	.path = "/tmp", .bytes = 64 << 10, .inodes = 16, .shared = 1
};

static void leave(void)
{
	if (geteuid() != 0)
		SKIP("needs root");
	check_folder();
	CHECK(unshare(CLONE_NEWNS) == 0);
	mounts = MOUNTS_INIT;
	mounts.owner = OWNER;
	plan.count = 0;
}

static void add(struct plan_row row)
{
	plan.rows[plan.count++] = row;
}

/* A leak check could not look at a process whose root is another. */
no_return static void end(void)
{
	fflush(stdout);
	_exit(0);
}

static void perform(void)
{
	CHECK_OK(mounts_perform(&mounts, &plan, &err));
}

static void check_refused(enum err_kind kind, const char *text)
{
	CHECK_INT(mounts_perform(&mounts, &plan, &err), -1);
	CHECK_STR(err.text, text);
	CHECK_INT(err.kind, kind);
}

static void check_text(const char *path, const char *want)
{
	char text[256] = "";
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK(read(fd, text, sizeof(text) - 1) >= 0);
	CHECK_STR(text, want);
}

static void check_flags(const char *path, unsigned long set, unsigned long unset)
{
	struct statvfs state;

	CHECK(statvfs(path, &state) == 0);
	CHECK_INT(state.f_flag & set, set);
	CHECK_INT(state.f_flag & unset, 0);
}

TEST(the_root_holds_the_plan_and_nothing_else_and_can_not_be_written)
{
	leave();
	add((struct plan_row){ PLAN_FOLDER, "a/b/c" });
	add((struct plan_row){ PLAN_TEXT, "etc/motd", "hello" });
	add((struct plan_row){ PLAN_LINK, "bin", "usr/bin" });
	perform();
	check_text("/etc/motd", "hello");
	CHECK(access("/a/b/c", F_OK) == 0);
	CHECK(access("/proc", F_OK) < 0 && access("/usr", F_OK) < 0 && access("/tmp", F_OK) < 0);
	CHECK(access("..", F_OK) == 0 && access("../usr", F_OK) < 0);
	check_flags("/", ST_RDONLY | ST_NOSUID | ST_NODEV, 0);
	CHECK(mkdir("/x", 0755) < 0 && errno == EROFS);
	CHECK(unlink("/etc/motd") < 0 && errno == EROFS);
	end();
}

TEST(nothing_of_it_is_seen_outside)
{
	struct stat before, after;
	int status;
	pid_t pid;

	if (geteuid() != 0)
		SKIP("needs root");
	CHECK(stat("/tmp", &before) == 0);
	pid = fork();
	if (pid == 0) {
		leave();
		add((struct plan_row){ PLAN_FOLDER, "a" });
		add((struct plan_row){ PLAN_TMPFS, "work", .tmpfs = &own });
		perform();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(stat("/tmp", &after) == 0);
	CHECK(before.st_dev == after.st_dev && before.st_ino == after.st_ino);
}

TEST(a_tmpfs_is_the_payloads_and_has_its_caps)
{
	struct statvfs state;
	struct stat info;

	leave();
	mounts.collected = 0;
	add((struct plan_row){ PLAN_TMPFS, "work", .tmpfs = &own });
	add((struct plan_row){ PLAN_TMPFS, "tmp", .tmpfs = &shared });
	perform();
	CHECK(stat("/work", &info) == 0);
	CHECK_INT(info.st_uid, OWNER);
	CHECK_INT(info.st_gid, OWNER);
	CHECK_INT(info.st_mode & 07777, 0700);
	CHECK(stat("/tmp", &info) == 0);
	CHECK_INT(info.st_mode & 07777, 01777);
	CHECK(statvfs("/work", &state) == 0);
	CHECK_INT(state.f_blocks * state.f_frsize, 1 << 20);
	CHECK_INT(state.f_files, 32);
	check_flags("/work", ST_NOSUID | ST_NODEV, ST_RDONLY | ST_NOEXEC);
	mounts_done(&mounts);
	CHECK_INT(mounts.tmpfs_count, 0);
	CHECK_INT(mounts.root_fd, -1);
	CHECK(access("/work", F_OK) == 0);
	mounts_done(&mounts);
	end();
}

TEST(the_collected_tmpfs_has_a_clone_that_can_not_be_written_and_the_others_tell_how_full_they_are)
{
	struct statfs state;

	leave();
	mounts.collected = 0;
	add((struct plan_row){ PLAN_TMPFS, "work", .tmpfs = &own });
	add((struct plan_row){ PLAN_TMPFS, "tmp", .tmpfs = &shared });
	perform();
	CHECK_INT(mounts.tmpfs_count, 2);
	/* What is written to the mount is in the clone, and nothing is written through that. */
	CHECK(mkdir("/work/d", 0755) == 0);
	CHECK(faccessat(mounts.tmpfs_fd[0], "d", F_OK, 0) == 0);
	CHECK(mkdirat(mounts.tmpfs_fd[0], "e", 0755) < 0 && errno == EROFS);
	/* Nothing is read from the other one: it is a path and nothing more. */
	CHECK(fstatfs(mounts.tmpfs_fd[1], &state) == 0);
	CHECK_INT(state.f_files, 16);
	CHECK_INT(fcntl(mounts.tmpfs_fd[1], F_GETFL) & O_PATH, O_PATH);
	mounts_done(&mounts);
	end();
}

TEST(what_is_bound_from_the_host_is_read_only_without_devices_and_setuid)
{
	leave();
	add((struct plan_row){ PLAN_BIND, "usr", "/usr" });
	add((struct plan_row){ PLAN_BIND, "etc/passwd", "/etc/passwd" });
	add((struct plan_row){ PLAN_BIND, "mine/folder", "/etc/ssl" });
	perform();
	check_flags("/usr", ST_RDONLY | ST_NOSUID | ST_NODEV, ST_NOEXEC);
	check_flags("/etc/passwd", ST_RDONLY, 0);
	CHECK(access("/mine/folder/certs", F_OK) == 0);
	CHECK(mkdir("/mine/folder/x", 0755) < 0 && errno == EROFS);
	end();
}

TEST(a_path_of_the_host_that_is_missing_stops_it_unless_it_is_optional)
{
	leave();
	add((struct plan_row){ PLAN_BIND, "a", "/nonexistent/a", .optional = true });
	add((struct plan_row){ PLAN_AS_HOST, "b", "/nonexistent/b", .optional = true });
	add((struct plan_row){ PLAN_MASK, "nonexistent/c", .optional = true });
	add((struct plan_row){ PLAN_READ_ONLY, "nonexistent/d", .optional = true });
	add((struct plan_row){ PLAN_BIND, "e", "/nonexistent/e" });
	check_refused(ERR_HOST, "bind '/e': look at the host's '/nonexistent/e': No such file or "
				"directory");
}

TEST(a_mask_or_a_wall_that_must_be_there_is_missed)
{
	leave();
	add((struct plan_row){ PLAN_READ_ONLY, "proc/sys" });
	CHECK_INT(mounts_perform(&mounts, &plan, &err), -1);
	CHECK(strncmp(err.text, "read-only '/proc/sys': ", 23) == 0);
}

TEST(a_mount_that_nobody_gave_is_our_own_mistake)
{
	leave();
	add((struct plan_row){ PLAN_GIVEN, "work" });
	check_refused(ERR_SYS, "given '/work': no mount was given for '/work'");
}

TEST(as_the_host_means_a_link_where_it_has_one)
{
	char link[256] = "", want[256] = "";
	struct stat info;

	leave();
	add((struct plan_row){ PLAN_BIND, "usr", "/usr" });
	add((struct plan_row){ PLAN_AS_HOST, "bin", "/bin" });
	CHECK(lstat("/bin", &info) == 0);
	if (S_ISLNK(info.st_mode))
		CHECK(readlink("/bin", want, sizeof(want) - 1) > 0);
	perform();
	CHECK(access("/bin/sh", X_OK) == 0);
	if (S_ISLNK(info.st_mode)) {
		CHECK(readlink("/bin", link, sizeof(link) - 1) > 0);
		CHECK_STR(link, want);
	}
	end();
}

TEST(what_is_masked_is_empty_for_root_too_and_the_masks_leave_no_trace)
{
	struct stat info;
	auto_fd fd = -1;

	leave();
	add((struct plan_row){ PLAN_FOLDER, "a/secret" });
	add((struct plan_row){ PLAN_TEXT, "a/secret/key", "key" });
	add((struct plan_row){ PLAN_TEXT, "a/file", "secret" });
	add((struct plan_row){ PLAN_MASK, "a/secret" });
	add((struct plan_row){ PLAN_MASK, "a/file" });
	perform();
	CHECK(access("/a/secret/key", F_OK) < 0);
	check_text("/a/file", "");
	CHECK(stat("/a/secret", &info) == 0 && (info.st_mode & 07777) == 0);
	check_flags("/a/secret", ST_RDONLY | ST_NOEXEC, 0);
	fd = open("/a/file", O_WRONLY | O_CLOEXEC);
	CHECK(fd < 0 && errno == EROFS);
	CHECK(access("/mnt", F_OK) < 0);
	end();
}

TEST(a_file_is_covered_by_a_text_that_nobody_changes)
{
	leave();
	add((struct plan_row){ PLAN_PROC, "proc" });
	add((struct plan_row){ PLAN_MASK, "proc/keys", .optional = true });
	add((struct plan_row){ PLAN_COVER, "proc/version", "a text\n" });
	add((struct plan_row){ PLAN_COVER, "proc/no/such", "another", .optional = true });
	perform();
	check_text("/proc/version", "a text\n");
	check_flags("/proc/version", ST_RDONLY | ST_NOSUID | ST_NODEV | ST_NOEXEC, 0);
	CHECK(open("/proc/version", O_WRONLY | O_CLOEXEC) < 0 && errno == EROFS);
	CHECK(access("/mnt", F_OK) < 0);
	end();
}

TEST(what_is_to_be_covered_and_is_not_there_is_missed)
{
	leave();
	add((struct plan_row){ PLAN_PROC, "proc" });
	add((struct plan_row){ PLAN_COVER, "proc/no", "a text" });
	CHECK_INT(mounts_perform(&mounts, &plan, &err), -1);
	CHECK(strncmp(err.text, "cover '/proc/no': ", 18) == 0);
	CHECK_INT(err.sys, ENOENT);
	end();
}

TEST(proc_shows_these_processes_and_its_walls_hold_for_root)
{
	auto_fd fd = -1;

	leave();
	add((struct plan_row){ PLAN_PROC, "proc" });
	add((struct plan_row){ PLAN_READ_ONLY, "proc/sys" });
	add((struct plan_row){ PLAN_MASK, "proc/kcore", .optional = true });
	perform();
	check_flags("/proc", ST_NOSUID | ST_NODEV | ST_NOEXEC, 0);
	fd = open("/proc/sys/kernel/hostname", O_WRONLY | O_CLOEXEC);
	CHECK(fd < 0 && errno == EROFS);
	CHECK(access("/proc/self/status", R_OK) == 0);
	end();
}

TEST(a_link_in_the_way_of_a_mount_is_not_followed)
{
	leave();
	add((struct plan_row){ PLAN_LINK, "out", "/etc" });
	add((struct plan_row){ PLAN_MASK, "out/passwd" });
	CHECK_INT(mounts_perform(&mounts, &plan, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK(strncmp(err.text, "mask '/out/passwd': ", 20) == 0);
}

/* Not in /tmp, which is out of sight while the new root is built there. */
TEST(nothing_is_made_on_the_host_through_a_link_of_the_plan)
{
	static const enum plan_kind kinds[] = { PLAN_FOLDER, PLAN_TEXT, PLAN_LINK, PLAN_TMPFS,
						PLAN_BIND };
	char host[] = "/var/tmp/proctor-test-XXXXXX";
	bool made = false;

	if (geteuid() != 0)
		SKIP("needs root");
	CHECK(mkdtemp(host));
	for (size_t i = 0; i < ARRAY_LEN(kinds) && !made; i++) {
		char path[64];
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			leave();
			add((struct plan_row){ PLAN_LINK, "out", host });
			add((struct plan_row){ kinds[i], "out/made/it", "/etc/passwd",
					       .tmpfs = &own });
			CHECK_INT(mounts_perform(&mounts, &plan, &err), -1);
			_exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
		snprintf(path, sizeof(path), "%s/made", host);
		made = access(path, F_OK) == 0;
		if (made)
			check_note("'%s' was made", path);
	}
	CHECK(rmdir(host) == 0);
	CHECK(!made);
}

/* --- an image: here a folder, bound --- */

/* A folder of its own file system with these files; a leading '>' is a link, a '/' at the end a
 * folder. */
static void image(const char *const *files, size_t count)
{
	auto_fd context = fsopen("tmpfs", FSOPEN_CLOEXEC);

	leave();
	CHECK(context >= 0 && fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0);
	mounts.image_fd = fsmount(context, FSMOUNT_CLOEXEC, 0);
	CHECK(mounts.image_fd >= 0);
	for (size_t i = 0; i < count; i++) {
		const char *name = files[i];
		const size_t len = strlen(name);

		if (name[0] == '>')
			CHECK(symlinkat("/etc", mounts.image_fd, name + 1) == 0);
		else if (name[len - 1] == '/')
			CHECK(mkdirat(mounts.image_fd, name, 0755) == 0);
		else
			CHECK(mknodat(mounts.image_fd, name, S_IFREG | 0644, 0) == 0);
	}
}

TEST(an_image_is_the_root_with_what_the_plan_puts_over_it_and_can_not_be_written)
{
	static const char *const files[] = { "bin/",       "bin/tool", "etc/",
					     "etc/passwd", "mnt/",     "mnt/kept" };
	struct stat info;

	image(files, ARRAY_LEN(files));
	add((struct plan_row){ PLAN_IMAGE, "", "test" });
	add((struct plan_row){ PLAN_TEXT, "etc/passwd", "ours" });
	add((struct plan_row){ PLAN_PROC, "proc" });
	add((struct plan_row){ PLAN_MASK, "proc/kcore", .optional = true });
	add((struct plan_row){ PLAN_TMPFS, "work", .tmpfs = &own });
	perform();
	CHECK(access("/bin/tool", F_OK) == 0 && access("/mnt/kept", F_OK) == 0);
	check_text("/etc/passwd", "ours");
	check_flags("/", ST_RDONLY | ST_NOSUID | ST_NODEV, 0);
	CHECK(mkdir("/x", 0755) < 0 && errno == EROFS);
	CHECK(unlink("/bin/tool") < 0 && errno == EROFS);
	CHECK(stat("/", &info) == 0 && info.st_uid == 0 && (info.st_mode & 07777) == 0755);
	CHECK(mkdir("/work/d", 0755) == 0);
	CHECK_INT(mounts.tmpfs_count, 1);
	CHECK(access("/usr", F_OK) < 0 && access("../usr", F_OK) < 0);
	mounts_done(&mounts);
	CHECK_INT(mounts.stage_fd, -1);
	end();
}

TEST(what_is_changed_in_an_image_has_its_caps_and_its_tmpfs_behind_all_others)
{
	static const struct tmpfs_slice changes = { .path = "/", .bytes = 64 << 10, .inodes = 32 };
	static const char *const files[] = { "bin/", "bin/tool" };
	static char block[128 << 10];
	struct stat info;
	auto_fd fd = -1;

	image(files, ARRAY_LEN(files));
	add((struct plan_row){ PLAN_IMAGE, "", "test", .tmpfs = &changes });
	add((struct plan_row){ PLAN_TMPFS, "work", .tmpfs = &own });
	perform();
	check_flags("/", ST_NOSUID | ST_NODEV, ST_RDONLY);
	CHECK(stat("/", &info) == 0);
	CHECK_INT(info.st_uid, OWNER);
	fd = open("/bin/tool", O_WRONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK(write(fd, block, sizeof(block)) < (ssize_t) sizeof(block));
	CHECK(write(fd, block, sizeof(block)) < 0 && errno == ENOSPC);
	CHECK_INT(mounts.tmpfs_count, 2);
	CHECK(faccessat(mounts.tmpfs_fd[1], "files/bin/tool", F_OK, 0) == 0);
	end();
}

TEST(a_link_or_a_file_of_an_image_where_a_mount_belongs_stops_it_and_is_named)
{
	static const struct {
		const char *files[3], *target, *want;
		enum plan_kind kind;
	} cases[] = {
		{ { ">work" },
		  "work",
		  "image 'test' has a link in the way, which is not followed: make it a folder, or "
		  "leave it out: tmpfs '/work': ",
		  PLAN_TMPFS },
		{ { ">run" }, "run/out", "image 'test' has a link in the way", PLAN_TMPFS },
		{ { "work" },
		  "work",
		  "image 'test' has a file in the way: make it a folder, or leave it out: tmpfs "
		  "'/work': ",
		  PLAN_TMPFS },
		{ { ">proc" },
		  "proc",
		  "image 'test' has a link in the way, which is not followed: make it a folder, or "
		  "leave it out: proc '/proc': ",
		  PLAN_PROC },
		{ { ">etc" }, "etc/passwd", "image 'test' has a link in the way", PLAN_TEXT },
		{ { "etc/", "etc/passwd/" },
		  "etc/passwd",
		  "image 'test' has a folder in the way: leave it out: text '/etc/passwd': ",
		  PLAN_TEXT },
	};

	if (geteuid() != 0)
		SKIP("needs root");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		size_t count = 0;
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			while (cases[i].files[count])
				count++;
			image(cases[i].files, count);
			add((struct plan_row){ PLAN_IMAGE, "", "test" });
			add((struct plan_row){ cases[i].kind, cases[i].target, "text",
					       .tmpfs = &own });
			CHECK_INT(mounts_perform(&mounts, &plan, &err), -1);
			CHECK_INT(err.kind, ERR_HOST);
			if (strncmp(err.text, cases[i].want, strlen(cases[i].want)) != 0)
				check_fail(__FILE__, __LINE__, "%s", err.text);
			_exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	}
	CHECK(access("/etc/out", F_OK) < 0);
}

TEST(a_link_of_an_image_in_place_of_a_text_of_ours_is_replaced)
{
	static const char *const files[] = { "etc/", ">etc/passwd" };

	image(files, ARRAY_LEN(files));
	add((struct plan_row){ PLAN_IMAGE, "", "test" });
	add((struct plan_row){ PLAN_TEXT, "etc/passwd", "ours" });
	perform();
	check_text("/etc/passwd", "ours");
	end();
}

TEST(an_image_that_nobody_gave_or_that_comes_late_is_our_own_mistake)
{
	leave();
	add((struct plan_row){ PLAN_IMAGE, "", "test" });
	check_refused(ERR_SYS, "image 'test': no mount was given for it");
}

static int make_one(int dev_fd, const void *name, struct err *e)
{
	if (mknodat(dev_fd, name, S_IFREG | 0444, 0) < 0)
		return err_sys(e, "make '%s'", (const char *) name);
	return 0;
}

static int make_none(int dev_fd, const void *name, struct err *e)
{
	(void) dev_fd;
	(void) name;
	return err_set(e, ERR_HOST, "no nodes today");
}

TEST(dev_has_the_nodes_the_links_and_no_more_and_can_not_be_written)
{
	char link[64] = "";
	struct stat info;

	leave();
	mounts.devices_fd = mounts_new_devices(make_one, "node", &err);
	CHECK(mounts.devices_fd >= 0);
	add((struct plan_row){ PLAN_DEVICES, "dev" });
	add((struct plan_row){ PLAN_TERMINALS, "dev/pts" });
	add((struct plan_row){ PLAN_TMPFS, "dev/shm", .tmpfs = &shared });
	perform();
	CHECK(access("/dev/node", F_OK) == 0);
	CHECK(readlink("/dev/ptmx", link, sizeof(link) - 1) > 0);
	CHECK_STR(link, "pts/ptmx");
	check_flags("/dev", ST_RDONLY | ST_NOSUID, ST_NODEV | ST_NOEXEC);
	check_flags("/dev/shm", ST_NOSUID | ST_NODEV, ST_RDONLY);
	CHECK(mkdir("/dev/x", 0755) < 0 && errno == EROFS);
	CHECK(stat("/dev/ptmx", &info) == 0 && S_ISCHR(info.st_mode));
	end();
}

TEST(nodes_that_can_not_be_made_are_told_in_their_makers_words)
{
	leave();
	CHECK_INT(mounts_new_devices(make_none, NULL, &err), -1);
	CHECK_STR(err.text, "no nodes today");
	CHECK_INT(err.kind, ERR_HOST);
}
