/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "tests/lib/check.h"

TEST(plain_names_make_a_relative_path)
{
	static const char *const good[] = {
		"a", "a/b", "...", ".a", "a./b..", "a b", "\n", "..a/b"
	};
	static const char *const bad[] = { "",    "/",  "/a",   "a/",   "a//b",  ".",
					   "./a", "..", "../a", "a/..", "a/./b", "a/../b" };

	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		if (!path_is_relative(good[i]))
			check_fail(__FILE__, __LINE__, "'%s' is refused", good[i]);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (path_is_relative(bad[i]))
			check_fail(__FILE__, __LINE__, "'%s' is accepted", bad[i]);
}

TEST(names_and_paths_have_a_longest_length)
{
	char path[PATH_MAX + 1];

	memset(path, 'x', sizeof(path));
	path[NAME_MAX] = '\0';
	CHECK(path_is_relative(path));
	path[NAME_MAX] = 'x';
	path[NAME_MAX + 1] = '\0';
	CHECK(!path_is_relative(path));

	for (size_t i = 0; i < PATH_MAX; i++)
		path[i] = i % 2 ? '/' : 'x';
	path[PATH_MAX - 1] = '\0';
	CHECK(path_is_relative(path));
	path[PATH_MAX - 1] = 'x';
	path[PATH_MAX] = '\0';
	CHECK(!path_is_relative(path));
}

/* in/file, in/loop -> file, in/up -> .., in/abs -> /etc, in/dir -> real, in/real/file, out */
static int make_tree(void)
{
	int top = check_folder(), in;

	CHECK(mkdirat(top, "in", 0700) == 0);
	in = openat(top, "in", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(in >= 0);
	CHECK(mkdirat(in, "real", 0700) == 0);
	CHECK(close(openat(top, "out", O_WRONLY | O_CREAT, 0600)) == 0);
	CHECK(close(openat(in, "file", O_WRONLY | O_CREAT, 0600)) == 0);
	CHECK(close(openat(in, "real/file", O_WRONLY | O_CREAT, 0600)) == 0);
	CHECK(symlinkat("file", in, "loop") == 0);
	CHECK(symlinkat("..", in, "up") == 0);
	CHECK(symlinkat("/etc", in, "abs") == 0);
	CHECK(symlinkat("real", in, "dir") == 0);
	return in;
}

TEST(files_beneath_the_folder_open)
{
	struct err err = ERR_INIT;
	auto_fd in = make_tree();
	auto_fd file = path_open(in, "real/file", O_RDONLY, 0, &err);
	auto_fd folder = path_open_folder(in, "real", &err);
	auto_fd made = path_open(in, "real/new", O_WRONLY | O_CREAT | O_EXCL, 0640, &err);
	struct stat info;

	CHECK(file >= 0 && folder >= 0 && made >= 0);
	CHECK_INT(fcntl(file, F_GETFD), FD_CLOEXEC);
	CHECK(fstat(made, &info) == 0);
	CHECK_INT(info.st_mode & 0137, 0);
}

TEST(a_place_is_opened_without_its_content)
{
	struct err err = ERR_INIT;
	auto_fd in = make_tree();
	auto_fd place = path_open(in, "file", O_PATH, 0, &err);
	char byte;

	CHECK_OK(place);
	CHECK(read(place, &byte, 1) < 0);
	CHECK_INT(errno, EBADF);
}

TEST(no_path_leads_out_and_no_link_is_followed)
{
	static const struct {
		const char *path;
		int sys;
	} cases[] = {
		{ "../out", EXDEV },      { "real/../../out", EXDEV },
		{ "/etc/passwd", EXDEV }, { "..", EXDEV },
		{ "up/out", ELOOP },      { "abs/passwd", ELOOP },
		{ "loop", ELOOP },        { "dir/file", ELOOP },
		{ "none", ENOENT },       { "file/x", ENOTDIR },
		{ "", ENOENT },
	};
	auto_fd in = make_tree();

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = ERR_INIT;

		if (path_open(in, cases[i].path, O_RDONLY, 0, &err) >= 0)
			check_fail(__FILE__, __LINE__, "'%s' opens", cases[i].path);
		check_int(__FILE__, __LINE__, cases[i].path, err.sys, cases[i].sys);
		CHECK_INT(err.kind, ERR_INPUT);
	}
}

TEST(magic_links_of_proc_are_not_followed)
{
	struct err err = ERR_INIT;
	auto_fd self = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK(path_open(self, "root", O_RDONLY, 0, &err) < 0);
	CHECK_INT(err.sys, ELOOP);
	CHECK(path_open(self, "cwd/x", O_RDONLY, 0, &err) < 0);
	CHECK_INT(err.sys, ELOOP);
}

TEST(a_folder_is_asked_for_and_a_file_is_not_one)
{
	struct err err = ERR_INIT;
	auto_fd in = make_tree();

	CHECK(path_open_folder(in, "file", &err) < 0);
	CHECK_STR(err.text, "open 'file': Not a directory");
	CHECK_INT(err.kind, ERR_INPUT);
}

TEST(a_file_under_a_lease_is_refused_and_not_waited_for)
{
	struct err err = ERR_INIT;
	auto_fd in = make_tree();
	auto_fd holder = openat(in, "file", O_RDWR | O_CLOEXEC);

	/* Who holds a lease can make others wait for /proc/sys/fs/lease-break-time. */
	signal(SIGIO, SIG_IGN);
	if (fcntl(holder, F_SETLEASE, F_WRLCK) < 0)
		SKIP("leases are not to be had in /tmp");
	alarm(5);
	CHECK(path_open(in, "file", O_RDONLY | O_NONBLOCK, 0, &err) < 0);
	CHECK_INT(err.sys, EAGAIN);
	CHECK_INT(err.kind, ERR_INPUT);
}
