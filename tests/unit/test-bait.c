/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/drill/bait.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/io.h"
#include "tests/lib/check.h"

enum { GROUP = 4711 };

static struct err err;
static struct bait bait;

/* A test is a process of its own: what it changes of itself goes with it. */
static void plant(void)
{
	if (geteuid() != 0)
		SKIP("needs root");
	CHECK_OK(bait_plant(PROGRAMS, GROUP, &bait, &err));
}

static void check_mode(int folder_fd, const char *path, mode_t mode, gid_t group)
{
	struct stat info;

	if (fstatat(folder_fd, path, &info, AT_SYMLINK_NOFOLLOW) < 0)
		check_fail(__FILE__, __LINE__, "there is no '%s'", path);
	if (info.st_mode != mode || info.st_gid != group || info.st_uid != 0)
		check_fail(__FILE__, __LINE__, "'%s' has mode %o", path, info.st_mode);
}

TEST(the_bait_is_what_attacks_look_for)
{
	plant();
	check_mode(bait.folder_fd, "root-only", S_IFREG | 0600, 0);
	check_mode(bait.folder_fd, "by-group", S_IFREG | 0640, GROUP);
	check_mode(bait.folder_fd, "closed", S_IFDIR | 0700, 0);
	check_mode(bait.folder_fd, "closed/secret", S_IFREG | 0644, 0);
	check_mode(bait.folder_fd, "closed-program", S_IFREG | 0700, 0);
	check_mode(bait.folder_fd, "closed-tree", S_IFREG | 0600, 0);
	check_mode(bait.folder_fd, "everybodys", S_IFDIR | 0777, 0);
	check_mode(bait.folder_fd, "setuid", S_IFREG | 06755, 0);
	check_mode(bait.folder_fd, "node", S_IFCHR | 0666, 0);
	check_mode(bait.folder_fd, "writable", S_IFREG | 0666, 0);
	check_mode(bait.outside_fd, "answers.json", S_IFREG | 0644, 0);
	check_mode(bait.outside_fd, "socket", S_IFSOCK | 0666, 0);
	CHECK(bait.port != 0 && bait.netns != 0);
	CHECK(shmget(bait.key, 0, 0) >= 0);
	bait_done(&bait);
}

TEST(what_a_launcher_must_not_pass_on_is_there_until_it_runs)
{
	struct sigaction action;
	gid_t groups[2];

	plant();
	CHECK_INT(getgroups(2, groups), 1);
	CHECK_INT(groups[0], GROUP);
	CHECK(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler == SIG_IGN);
	CHECK_INT(fcntl(bait.inherited_fd, F_GETFD), 0);
	CHECK_OK(bait_calm(&bait, &err));
	CHECK(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
	CHECK_INT(bait.inherited_fd, -1);
	bait_done(&bait);
}

TEST(two_baits_have_nothing_in_common)
{
	struct bait other;

	plant();
	CHECK_OK(bait_plant(PROGRAMS, GROUP, &other, &err));
	CHECK(strcmp(bait.secret, other.secret) != 0);
	CHECK(strcmp(bait.tag, other.tag) != 0);
	CHECK(bait.key != other.key);
	CHECK(bait.port != other.port);
}

static void check_changed(const char *want)
{
	const char *what = "nothing";

	CHECK(!bait_is_whole(&bait, &what));
	CHECK_STR(what, want);
}

static void write_over(int folder_fd, const char *path)
{
	int fd = openat(folder_fd, path, O_WRONLY | O_CLOEXEC);

	CHECK(fd >= 0 && write(fd, "x", 1) == 1);
	close(fd);
}

TEST(what_has_changed_of_it_is_seen)
{
	const char *what = NULL;

	plant();
	CHECK(bait_is_whole(&bait, &what));
	CHECK(linkat(bait.folder_fd, "readable", bait.folder_fd, "second", 0) == 0);
	check_changed("a file has another name");
	CHECK(unlinkat(bait.folder_fd, "second", 0) == 0);
	CHECK(bait_is_whole(&bait, &what));
	write_over(bait.outside_fd, "run/journal.jsonl");
	check_changed("the journal has changed");
	CHECK(unlinkat(bait.folder_fd, "everybodys/mine", 0) == 0);
	check_changed("a file in a folder that everybody may write has changed");
	write_over(bait.folder_fd, "writable");
	check_changed("a file that everybody may write has changed");
	write_over(bait.folder_fd, "root-only");
	check_changed("root's file has changed");
	bait_done(&bait);
}

TEST(it_goes_with_the_process_that_laid_it_out)
{
	char before[65536], after[65536];
	struct stat info;
	int status;
	pid_t pid;

	CHECK_OK(io_read_kernel_file(AT_FDCWD, "/proc/self/mountinfo", before, sizeof(before),
				     &err));
	pid = fork();
	if (pid == 0) {
		plant();
		raise(SIGKILL);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	if (geteuid() == 0)
		CHECK(WIFSIGNALED(status));
	CHECK_OK(io_read_kernel_file(AT_FDCWD, "/proc/self/mountinfo", after, sizeof(after), &err));
	CHECK_STR(after, before);
	CHECK(stat("/etc/alternatives/root-only", &info) < 0);
}

TEST(a_program_that_is_not_there_is_told)
{
	if (geteuid() != 0)
		SKIP("needs root");
	CHECK_INT(bait_plant("/nonexistent", GROUP, &bait, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
}
