/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/collect.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "tests/lib/check.h"
#include "tests/lib/tree.h"

static void make_folder(int dir_fd, const char *path)
{
	CHECK_INT(mkdirat(dir_fd, path, 0700), 0);
}

static struct collect_report count(int dir_fd, const struct stream_limits *limits)
{
	struct collect_report report;
	int fd = tree_collect(dir_fd, limits, &report);

	close(fd);
	return report;
}

static void check_collected(int dir_fd, const struct stream_limits *limits, const char *want)
{
	struct collect_report report;
	auto_fd fd = tree_collect(dir_fd, limits, &report);

	CHECK_TREE(fd, want);
}

TEST(a_folder_becomes_the_stream_of_its_files)
{
	auto_fd dir = tree_scratch();
	struct collect_report report;

	make_folder(dir, "src");
	make_folder(dir, "src/empty");
	tree_make_file(dir, "src/kernel.c", "int main;", 0644);
	tree_make_file(dir, "build.sh", "make", 0755);
	tree_make_file(dir, "nothing", "", 0000);
	{
		auto_fd fd = tree_collect(dir, &STREAM_LIMITS_DEFAULT, &report);

		CHECK_TREE(fd, "\nx build.sh=make\nf nothing=\nd src\nd src/empty\n"
			       "f src/kernel.c=int main;");
	}
	CHECK_INT(report.counts.folders, 2);
	CHECK_INT(report.counts.files, 3);
	CHECK_INT(report.counts.refused, 0);
	CHECK_INT(report.counts.bytes, 13);
	CHECK_INT(report.first_reason, STREAM_TAKEN);
}

TEST(an_empty_folder_is_an_empty_stream)
{
	auto_fd dir = tree_scratch();

	check_collected(dir, &STREAM_LIMITS_DEFAULT, "");
}

TEST(a_descriptor_that_only_names_the_folder_will_do)
{
	auto_fd dir = tree_scratch();
	auto_fd path = openat(dir, ".", O_PATH | O_CLOEXEC);

	tree_make_file(dir, "a", "1", 0644);
	check_collected(path, &STREAM_LIMITS_DEFAULT, "\nf a=1");
}

TEST(the_order_is_that_of_the_names_and_not_of_the_file_system)
{
	static const char *const names[] = { "ab", "\xff", "b", "a-", "a.", "B" };
	auto_fd dir = tree_scratch();

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		tree_make_file(dir, names[i], "", 0644);
	make_folder(dir, "a");
	tree_make_file(dir, "a/z", "", 0644);
	check_collected(dir, &STREAM_LIMITS_DEFAULT,
			"\nf B=\nd a\nf a/z=\nf a-=\nf a.=\nf ab=\nf b=\nf \\xff=");
}

static void make_socket(const char *folder, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", folder, name);
	CHECK_INT(bind(fd, (const struct sockaddr *) &address, sizeof(address)), 0);
}

TEST(what_is_no_regular_file_is_listed_and_not_read)
{
	auto_fd dir = tree_scratch();
	struct collect_report report;

	tree_make_file(dir, "file", "taken", 0644);
	make_folder(dir, "folder");
	CHECK_INT(symlinkat("file", dir, "link-in"), 0);
	CHECK_INT(symlinkat("/etc/passwd", dir, "link-out"), 0);
	CHECK_INT(symlinkat("nowhere", dir, "link-dangling"), 0);
	CHECK_INT(symlinkat("folder", dir, "link-folder"), 0);
	CHECK_INT(symlinkat("/proc/self/root", dir, "link-magic"), 0);
	CHECK_INT(symlinkat("link-loop", dir, "link-loop"), 0);
	CHECK_INT(mkfifoat(dir, "fifo", 0600), 0);
	CHECK_INT(mknodat(dir, "null", S_IFCHR | 0666, makedev(1, 3)), 0);
	CHECK_INT(mknodat(dir, "disk", S_IFBLK | 0666, makedev(7, 0)), 0);
	make_socket(check_folder_path(), "socket");
	tree_make_file(dir, "setuid", "1", 04755);
	tree_make_file(dir, "setgid", "1", 02755);
	tree_make_file(dir, "sticky", "1", 01644);
	{
		auto_fd fd = tree_collect(dir, &STREAM_LIMITS_DEFAULT, &report);

		CHECK_TREE(fd,
			   "\nr disk device 0\nr fifo fifo 0\nf file=taken\nd folder"
			   "\nr link-dangling symlink 0\nr link-folder symlink 0"
			   "\nr link-in symlink 0\nr link-loop symlink 0\nr link-magic symlink 0"
			   "\nr link-out symlink 0\nr null device 0\nr setgid setid 0"
			   "\nr setuid setid 0\nr socket socket 0\nf sticky=1");
	}
	CHECK_INT(report.counts.refused, 12);
	CHECK_INT(report.refused[STREAM_SYMLINK], 6);
	CHECK_INT(report.refused[STREAM_DEVICE], 2);
	CHECK_INT(report.refused[STREAM_SETID], 2);
	CHECK_INT(report.first_reason, STREAM_DEVICE);
	CHECK_STR(report.first_refused, "disk");
}

TEST(a_folder_with_mode_000_is_read_by_who_may_read_everything)
{
	auto_fd dir = tree_scratch();

	make_folder(dir, "closed");
	tree_make_file(dir, "closed/file", "1", 0000);
	CHECK_INT(fchmodat(dir, "closed", 0000, 0), 0);
	check_collected(dir, &STREAM_LIMITS_DEFAULT, "\nd closed\nf closed/file=1");
}

TEST(what_may_not_be_read_is_listed)
{
	auto_fd dir = tree_scratch();

	make_folder(dir, "closed");
	tree_make_file(dir, "closed/file", "1", 0644);
	CHECK_INT(fchmodat(dir, "closed", 0000, 0), 0);
	make_folder(dir, "no-search");
	tree_make_file(dir, "no-search/file", "1", 0644);
	CHECK_INT(fchmodat(dir, "no-search", 0444, 0), 0);
	tree_make_file(dir, "file", "1", 0000);
	CHECK_INT(fchmodat(dir, ".", 0755, 0), 0);
	CHECK_INT(setresuid(65534, 65534, 65534), 0);
	check_collected(dir, &STREAM_LIMITS_DEFAULT,
			"\nr closed unreadable 0\nr file unreadable 0\nd no-search"
			"\nr no-search/file unreadable 0");
}

TEST(each_name_of_a_hard_linked_file_is_a_file)
{
	auto_fd dir = tree_scratch();

	tree_make_file(dir, "a", "same", 0644);
	CHECK_INT(linkat(dir, "a", dir, "b", 0), 0);
	check_collected(dir, &STREAM_LIMITS_DEFAULT, "\nf a=same\nf b=same");
}

TEST(a_sparse_file_of_a_terabyte_is_refused_by_its_size)
{
	auto_fd dir = tree_scratch();
	int64_t start = clock_now();

	tree_make_file(dir, "big", "", 0644);
	{
		auto_fd big = openat(dir, "big", O_WRONLY | O_CLOEXEC);

		CHECK_INT(ftruncate(big, (off_t) TIB), 0);
	}
	check_collected(dir, &STREAM_LIMITS_DEFAULT, "\nr big oversize 1099511627776");
	CHECK(clock_now() - start < 10 * NS_PER_S);
}

TEST(what_does_not_fit_into_the_total_is_left_out_and_the_rest_taken)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	auto_fd dir = tree_scratch();

	limits.total = 5;
	limits.file = 4;
	tree_make_file(dir, "a", "123", 0644);
	tree_make_file(dir, "b", "123", 0644);
	tree_make_file(dir, "c", "12", 0644);
	tree_make_file(dir, "d", "12345", 0644);
	tree_make_file(dir, "e", "1", 0644);
	tree_make_file(dir, "f", "", 0644);
	check_collected(
		dir, &limits,
		"\nf a=123\nr b over-total 3\nf c=12\nr d oversize 5\nr e over-total 1\nf f=");
}

/* Makes folders inside each other; returns the innermost one. */
static int make_deep(int dir_fd, const char *name, int levels)
{
	int fd = dup(dir_fd);

	for (int i = 0; i < levels; i++) {
		int next;

		make_folder(fd, name);
		next = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		CHECK(next >= 0);
		close(fd);
		fd = next;
	}
	return fd;
}

TEST(ten_thousand_folders_inside_each_other_are_cut_at_the_limit)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	auto_fd dir = tree_scratch();
	auto_fd deepest = make_deep(dir, "d", 10000);

	tree_make_file(deepest, "file", "1", 0644);
	tree_make_file(dir, "e", "1", 0644);
	limits.depth = 3;
	check_collected(dir, &limits, "\nd d\nd d/d\nd d/d/d\nr d/d/d/d too-deep 0\nf e=1");
	limits.depth = STREAM_DEPTH_MAX;
	{
		struct collect_report report = count(dir, &limits);

		CHECK_INT(report.counts.folders, 512);
		CHECK_INT(report.counts.files, 1);
		CHECK_INT(report.refused[STREAM_TOO_DEEP], 1);
	}
}

TEST(one_descriptor_a_level_is_enough)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	auto_fd dir = tree_scratch();
	auto_fd deepest = make_deep(dir, "d", 100);
	auto_fd out = tree_empty_fd();
	struct rlimit rlimit;
	struct collect_report report;
	struct err err = ERR_INIT;

	tree_make_file(deepest, "file", "1", 0644);
	limits.depth = 100;
	rlimit.rlim_cur = rlimit.rlim_max = (rlim_t) MAX_OF(out, deepest) + 1 + 100 + 4;
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &rlimit), 0);
	CHECK_OK(collect_tree(dir, &limits, out, &report, &err));
	CHECK_INT(report.counts.files, 1);
	CHECK_INT(report.counts.refused, 0);
}

TEST(too_few_descriptors_are_an_error_and_no_refused_entry)
{
	auto_fd dir = tree_scratch();
	auto_fd out = tree_empty_fd();
	struct rlimit rlimit = { .rlim_cur = 16, .rlim_max = 16 };
	struct collect_report report;
	struct err err = ERR_INIT;

	close(make_deep(dir, "d", 20));
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &rlimit), 0);
	CHECK_INT(collect_tree(dir, &STREAM_LIMITS_DEFAULT, out, &report, &err), -1);
	CHECK_INT(err.kind, ERR_SYS);
	CHECK(strstr(err.text, ": Too many open files"));
}

TEST(names_may_be_anything_and_paths_four_kilobytes_long)
{
	char name[256];
	auto_fd dir = tree_scratch();
	auto_fd deepest = -1;
	struct collect_report report;
	cleanup(str_done) struct str text = STR_INIT;
	struct err err = ERR_INIT;

	memset(name, '\n', 255);
	name[255] = '\0';
	deepest = make_deep(dir, name, 15);
	tree_make_file(deepest, name, "far", 0644);   /* a path of 4095 bytes */
	make_folder(deepest, "\x1b[2J");              /* a folder whose path leaves no room */
	tree_make_file(deepest, "\x1b[2J/in", "", 0); /* which is not looked into */
	tree_make_file(dir, "-rf", "", 0644);
	tree_make_file(dir, "\xed\xa0\x80", "", 0644);
	{
		auto_fd fd = tree_collect(dir, &STREAM_LIMITS_DEFAULT, &report);

		CHECK_OK(tree_text_fd(fd, &text, &err));
	}
	CHECK_INT(report.counts.folders, 15);
	CHECK_INT(report.counts.files, 3);
	CHECK_INT(report.counts.refused, 1);
	CHECK_INT(report.refused[STREAM_LONG_PATH], 1);
	CHECK(strstr(text.text, "\\x0a=far"));
	CHECK(strstr(text.text, "/\\x1b[2J long-path 0"));
	CHECK(strstr(text.text, "\nf -rf="));
	CHECK(strstr(text.text, "\nf \\xed\\xa0\\x80="));
}

static void make_many(int dir_fd, int count, const char *format)
{
	for (int i = 0; i < count; i++) {
		char name[256];
		int fd;

		snprintf(name, sizeof(name), "%s%06d", format, i);
		fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		CHECK(fd >= 0);
		close(fd);
	}
}

TEST(a_folder_with_too_many_entries_is_left_out_as_a_whole)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	auto_fd dir = tree_scratch();
	auto_fd many = -1;

	limits.entries = 10;
	make_folder(dir, "few");
	tree_make_file(dir, "few/file", "1", 0644);
	make_folder(dir, "many");
	many = openat(dir, "many", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	make_many(many, 7, "n");
	tree_make_file(dir, "z", "1", 0644);
	check_collected(dir, &limits, "\nd few\nf few/file=1\nr many too-many 0\nf z=1");
	limits.entries = 11;
	{
		struct collect_report report = count(dir, &limits);

		CHECK_INT(report.counts.files, 9);
		CHECK_INT(report.counts.refused, 0);
	}
}

TEST(a_hundred_thousand_files_more_than_the_limit_stop_nothing)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	auto_fd dir = tree_scratch();
	auto_fd many = -1;

	limits.entries = 1000;
	make_folder(dir, "many");
	many = openat(dir, "many", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	make_many(many, 100000, "");
	tree_make_file(dir, "z", "1", 0644);
	check_collected(dir, &limits, "\nr many too-many 0\nf z=1");
}

/* No error: whoever fills a workspace would make it our failure. */
TEST(a_tree_whose_root_holds_too_much_is_empty_and_the_report_says_so)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	auto_fd dir = tree_scratch();
	struct collect_report report;
	auto_fd out = -1;

	limits.entries = 10;
	make_many(dir, 10, "");
	out = tree_collect(dir, &limits, &report);
	CHECK_INT(report.counts.files, 10);
	fd_close(&out);
	tree_make_file(dir, "one-more", "1", 0644);
	out = tree_collect(dir, &limits, &report);
	CHECK_TREE(out, "");
	CHECK_INT(report.counts.files, 0);
	CHECK_INT(report.counts.refused, 1);
	CHECK_INT(report.first_reason, STREAM_TOO_MANY);
	CHECK_STR(report.first_refused, ".");
}

/* A clone of the mount, read-only, as the collector is given one of a workspace. */
static int read_only_clone(int dir_fd)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };
	int fd = open_tree(dir_fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);

	CHECK(fd >= 0);
	CHECK_INT(mount_setattr(fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)), 0);
	return fd;
}

TEST(a_read_only_clone_of_a_mount_that_has_writers_can_be_collected)
{
	auto_fd dir = tree_scratch();
	auto_fd writer = openat(dir, "open", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	auto_fd clone = read_only_clone(dir);

	CHECK(writer >= 0);
	tree_make_file(dir, "file", "1", 0644);
	check_collected(clone, &STREAM_LIMITS_DEFAULT, "\nf file=1\nf open=");
	CHECK_INT(openat(clone, "new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600), -1);
}

TEST(other_file_systems_below_are_listed_and_not_entered)
{
	auto_fd dir = tree_scratch();
	char path[256];

	make_folder(dir, "mounted");
	tree_make_file(dir, "null", "", 0644);
	snprintf(path, sizeof(path), "%s/mounted", check_folder_path());
	CHECK_INT(mount("other", path, "tmpfs", 0, NULL), 0);
	snprintf(path, sizeof(path), "%s/null", check_folder_path());
	CHECK_INT(mount("/etc/passwd", path, NULL, MS_BIND, NULL), 0);
	check_collected(dir, &STREAM_LIMITS_DEFAULT, "\nr mounted mount 0\nr null mount 0");
}

TEST(a_file_with_more_bytes_than_it_says_is_refused)
{
	auto_fd dir = open("/proc/sys/kernel/random", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct collect_report report;

	alarm(TREE_PATIENCE_S);
	if (dir < 0)
		SKIP("there is no /proc/sys/kernel/random");
	report = count(dir, &STREAM_LIMITS_DEFAULT);
	CHECK(report.refused[STREAM_CHANGED] > 0);
	CHECK_INT(report.counts.bytes, 0);
}

TEST(a_reader_that_goes_away_is_an_error)
{
	auto_fd dir = tree_scratch();
	struct collect_report report;
	struct err err = ERR_INIT;
	int ends[2];

	CHECK_INT(pipe(ends), 0);
	close(ends[0]);
	signal(SIGPIPE, SIG_IGN);
	CHECK_INT(collect_tree(dir, &STREAM_LIMITS_DEFAULT, ends[1], &report, &err), -1);
	CHECK_INT(err.kind, ERR_SYS);
	CHECK_STR(err.text, "write the tree stream: Broken pipe");
}

TEST(limits_are_checked_before_anything_is_done)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	auto_fd out = tree_empty_fd();
	struct collect_report report;
	struct err err = ERR_INIT;

	limits.depth = 100000;
	CHECK_INT(collect_tree(-1, &limits, out, &report, &err), -1);
	CHECK_STR(err.text, "tree limit 'depth': 100000 is not within 1..512");
}

TEST(what_is_no_folder_is_an_error)
{
	auto_fd file = tree_empty_fd();
	auto_fd out = tree_empty_fd();
	struct collect_report report;
	struct err err = ERR_INIT;

	CHECK_INT(collect_tree(file, &STREAM_LIMITS_DEFAULT, out, &report, &err), -1);
	CHECK_STR(err.text, "collect: open '.': Not a directory");
}
