/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/cgroup_folder.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"

static struct err err;

/*
 * A group is a folder with files to these functions, so most tests take one of the disk: what the
 * kernel makes of it is for test-cgroup_host and test-cgroup_client.
 */
TEST(the_folder_is_made_shared_and_removed_by_whoever_is_last)
{
	int one, two;

	check_folder();
	one = cgroup_folder_open(check_folder(), &err);
	two = cgroup_folder_open(check_folder(), &err);
	CHECK(one >= 0 && two >= 0);
	cgroup_folder_leave(&one);
	CHECK(faccessat(check_folder(), CGROUP_FOLDER, F_OK, 0) == 0);
	cgroup_folder_leave(&two);
	CHECK(faccessat(check_folder(), CGROUP_FOLDER, F_OK, 0) < 0);
	CHECK_INT(one, -1);
	cgroup_folder_leave(&one);
}

/* Monitors are forks of the launcher, and live on while it lets go of folders. */
TEST(who_leaves_a_folder_keeps_no_lock_by_a_copy_in_a_child)
{
	int one, copy, other;

	check_folder();
	one = cgroup_folder_open(check_folder(), &err);
	CHECK(one >= 0);
	CHECK(mkdirat(one, "leaf", 0700) == 0); /* so that it does not go */
	copy = dup(one);
	cgroup_folder_leave(&one);
	other = cgroup_folder_open(check_folder(), &err);
	CHECK(other >= 0);
	close(copy);
	close(other);
}

TEST(a_folder_that_somebody_else_has_made_is_not_taken_and_its_lock_not_waited_for)
{
	auto_fd squatted = -1;

	check_folder();
	if (geteuid() != 0)
		SKIP("needs root");
	CHECK(mkdirat(check_folder(), CGROUP_FOLDER, 0700) == 0);
	CHECK(fchownat(check_folder(), CGROUP_FOLDER, 12345, 12345, 0) == 0);
	squatted = openat(check_folder(), CGROUP_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(squatted >= 0 && flock(squatted, LOCK_EX) == 0);
	CHECK_INT(cgroup_folder_open(check_folder(), &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK_STR(err.text,
		  "the control group '" CGROUP_FOLDER "' in it belongs to user 12345, not "
		  "to root: remove it");
	CHECK(fchown(squatted, 0, 0) == 0 && fchmod(squatted, 0770) == 0);
	CHECK_INT(cgroup_folder_open(check_folder(), &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	/* Root's, but somebody has the lock all the time: that is told, and not waited for. */
	CHECK(fchmod(squatted, 0700) == 0);
	CHECK_INT(cgroup_folder_open(check_folder(), &err), -1);
	CHECK_INT(err.kind, ERR_SYS);
}

TEST(what_is_no_control_group_is_told)
{
	CHECK_INT(cgroup_folder_group(check_folder_path(), "", CGROUP2_SUPER_MAGIC, &err), -1);
	CHECK(strstr(err.text, "is no control group any more"));
	CHECK_INT(cgroup_folder_group(check_folder_path(), "/none", CGROUP2_SUPER_MAGIC, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
}

static void put(const char *name, const char *text)
{
	auto_fd fd = openat(check_folder(), name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, text, strlen(text)), strlen(text));
}

TEST(controllers_are_enabled_by_name)
{
	char text[64];

	put("cgroup.subtree_control", "");
	CHECK_OK(cgroup_folder_enable(check_folder(), 0, &err));
	CHECK_OK(cgroup_folder_enable(check_folder(),
				      CGROUP_BIT(CGROUP_MEMORY) | CGROUP_BIT(CGROUP_CPUSET), &err));
	CHECK_OK(io_read_kernel_file(check_folder(), "cgroup.subtree_control", text, sizeof(text),
				     &err));
	CHECK_STR(text, "+memory +cpuset");
	put("cgroup.controllers", "cpu pids io\n");
	CHECK_INT(cgroup_folder_offers(check_folder(), "cgroup.controllers"),
		  CGROUP_BIT(CGROUP_CPU) | CGROUP_BIT(CGROUP_PIDS));
	CHECK_INT(cgroup_folder_offers(check_folder(), "none"), 0);
}

TEST(alone_is_who_shares_a_group_with_nobody_and_the_root_is_nobodys)
{
	char text[32];

	snprintf(text, sizeof(text), "%d\n", (int) getpid());
	put("cgroup.procs", text);
	CHECK(!cgroup_folder_is_alone(check_folder(), getpid())); /* as in the root: no type */
	put("cgroup.type", "domain\n");
	CHECK(cgroup_folder_is_alone(check_folder(), getpid()));
	CHECK(!cgroup_folder_is_alone(check_folder(), getppid()));
	snprintf(text, sizeof(text), "%d\n%d\n", (int) getpid(), (int) getppid());
	put("cgroup.procs", text);
	CHECK(!cgroup_folder_is_alone(check_folder(), getpid()));
}

TEST(the_layout_is_that_of_the_process_that_is_named)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(str_done) struct str one = STR_INIT, two = STR_INIT;
	struct cgroup_layout layout;

	CHECK_OK(cgroup_folder_layout(&arena, 0, &one, &layout, &err));
	CHECK(layout.unified.mount);
	CHECK_OK(cgroup_folder_layout(&arena, getpid(), &two, &layout, &err));
	CHECK_STR(one.text, two.text);
	CHECK_INT(cgroup_folder_layout(&arena, 1 << 30, &two, &layout, &err), -1);
}
