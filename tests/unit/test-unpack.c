/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/unpack.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/collect.h"
#include "tests/lib/check.h"
#include "tests/lib/tree.h"

static int open_folder(int dir_fd, const char *path)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK(fd >= 0);
	return fd;
}

/* An empty folder that has a neighbour, which nobody may touch. */
static int target(void)
{
	int dir = check_folder();

	CHECK_INT(mkdirat(dir, "target", 0755), 0);
	CHECK_INT(mkdirat(dir, "neighbour", 0755), 0);
	return open_folder(dir, "target");
}

static int text_of_folder(int fd)
{
	struct collect_report report;
	struct err err = ERR_INIT;
	int out = tree_empty_fd();

	CHECK_OK(collect_tree(fd, &STREAM_LIMITS_DEFAULT, out, &report, &err));
	return out;
}

#define CHECK_FOLDER(fd, want)                        \
	do {                                          \
		auto_fd stream_ = text_of_folder(fd); \
		CHECK_TREE(stream_, want);            \
	} while (0)

static void check_neighbour(void)
{
	auto_fd fd = open_folder(check_folder(), "neighbour");

	CHECK_FOLDER(fd, "");
}

static void check_unpack_fails(int in_fd, int root_fd, enum err_kind kind, const char *want)
{
	struct stream_counts counts;
	struct err err = ERR_INIT;

	CHECK_INT(unpack_tree(in_fd, root_fd, &STREAM_LIMITS_DEFAULT, &counts, &err), -1);
	CHECK_STR(err.text, want);
	CHECK_INT(err.kind, kind);
	check_neighbour();
}

#define SAMPLE                                                                                 \
	"\nd a\nd a/deep\nd a/deep/er\nf a/deep/er/f=1\nf a/deep/file=content\nx a/program=#!" \
	"\nf a-b=2\nd empty\nf last="

TEST(a_stream_becomes_the_folder_that_it_was_made_of)
{
	auto_fd root = target();
	auto_fd in = tree_fd(SAMPLE);
	struct stream_counts counts;
	struct err err = ERR_INIT;

	CHECK_OK(unpack_tree(in, root, &STREAM_LIMITS_DEFAULT, &counts, &err));
	CHECK_INT(counts.folders, 4);
	CHECK_INT(counts.files, 5);
	CHECK_INT(counts.bytes, 11);
	CHECK_FOLDER(root, SAMPLE);
	check_neighbour();
}

TEST(modes_are_what_the_stream_says_whatever_the_umask_is)
{
	auto_fd root = target();
	auto_fd in = tree_fd(SAMPLE);
	struct stream_counts counts;
	struct err err = ERR_INIT;
	struct stat info;

	umask(0777);
	CHECK_INT(fchmod(root, 02755), 0); /* folders below would inherit the bit */
	CHECK_OK(unpack_tree(in, root, &STREAM_LIMITS_DEFAULT, &counts, &err));
	CHECK_INT(fstatat(root, "a/deep", &info, 0), 0);
	CHECK_INT(info.st_mode & 07777, 0755);
	CHECK_INT(fstatat(root, "a/program", &info, 0), 0);
	CHECK_INT(info.st_mode & 07777, 0755);
	CHECK_INT(fstatat(root, "a-b", &info, 0), 0);
	CHECK_INT(info.st_mode & 07777, 0644);
	umask(022);
}

TEST(refused_entries_are_passed_over_and_counted)
{
	auto_fd root = target();
	auto_fd in = tree_fd("\nf a=1\nr b symlink 0\nr c oversize 99\nf d=2");
	struct stream_counts counts;
	struct err err = ERR_INIT;

	CHECK_OK(unpack_tree(in, root, &STREAM_LIMITS_DEFAULT, &counts, &err));
	CHECK_INT(counts.refused, 2);
	CHECK_FOLDER(root, "\nf a=1\nf d=2");
}

TEST(an_empty_stream_makes_nothing)
{
	auto_fd root = target();
	auto_fd in = tree_fd("");
	struct stream_counts counts;
	struct err err = ERR_INIT;

	CHECK_OK(unpack_tree(in, root, &STREAM_LIMITS_DEFAULT, &counts, &err));
	CHECK_FOLDER(root, "");
}

TEST(a_name_that_leads_out_is_an_error_and_makes_nothing)
{
	static const char *const names[] = { "../neighbour/x", "..", "/etc/proctor-test", "./x" };
	auto_fd root = target();

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct stream_counts counts;
		struct err err = ERR_INIT;
		struct raw raw;

		raw_begin(&raw);
		raw_file(&raw, names[i], "x");
		raw_end(&raw);
		{
			auto_fd in = raw_fd(&raw);

			CHECK_INT(unpack_tree(in, root, &STREAM_LIMITS_DEFAULT, &counts, &err), -1);
		}
		CHECK_INT(err.kind, ERR_INPUT);
		CHECK_FOLDER(root, "");
		check_neighbour();
	}
	CHECK_INT(faccessat(AT_FDCWD, "/etc/proctor-test", F_OK, 0), -1);
}

TEST(links_that_are_there_already_lead_nowhere)
{
	auto_fd root = target();
	auto_fd in_folder = tree_fd("\nd out\nf out/x=1");
	auto_fd in_file = tree_fd("\nf file=1");
	auto_fd in_deep = tree_fd("\nd a\nd a/out\nf a/out/x=1");

	CHECK_INT(symlinkat("../neighbour", root, "out"), 0);
	CHECK_INT(symlinkat("../neighbour/x", root, "file"), 0);
	check_unpack_fails(in_folder, root, ERR_INPUT, "unpack 'out': File exists");
	check_unpack_fails(in_file, root, ERR_INPUT, "unpack 'file': File exists");
	CHECK_INT(mkdirat(root, "b", 0755), 0);
	CHECK_INT(symlinkat("b", root, "a"), 0);
	check_unpack_fails(in_deep, root, ERR_INPUT, "unpack 'a': File exists");
}

TEST(nothing_that_is_there_already_is_replaced)
{
	auto_fd root = target();
	auto_fd in = tree_fd("\nf a=1\nf file=new");
	auto_fd again = tree_fd("\nd folder");
	auto_fd fd = openat(root, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct err err = ERR_INIT;

	CHECK_OK(io_write_all(fd, "old", 3, "file", &err));
	CHECK_INT(mkdirat(root, "folder", 0755), 0);
	check_unpack_fails(in, root, ERR_INPUT, "unpack 'file': File exists");
	check_unpack_fails(again, root, ERR_INPUT, "unpack 'folder': File exists");
	CHECK_FOLDER(root, "\nf a=1\nf file=old\nd folder");
}

TEST(a_stream_that_is_cut_off_is_an_error)
{
	auto_fd root = target();
	auto_fd in = tree_fd("\nf a=1\nf b=12345");

	CHECK_INT(ftruncate(in, 16 + 16 + 1 + 1 + 16 + 1 + 3), 0);
	check_unpack_fails(in, root, ERR_INPUT, "the tree stream is cut off inside 'b'");
}

TEST(a_stream_over_the_limits_is_an_error)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	auto_fd root = target();
	auto_fd in = tree_fd("\nf a=1\nf b=12345");
	struct stream_counts counts = { .files = 77 };
	struct err err = ERR_INIT;

	limits.file = 4;
	CHECK_INT(unpack_tree(in, root, &limits, &counts, &err), -1);
	CHECK_STR(err.text, "tree stream: 'b': a file over the limit");
	CHECK_INT(counts.files, 77);
	limits.path = 1;
	CHECK_INT(unpack_tree(in, root, &limits, &counts, &err), -1);
	CHECK_STR(err.text, "tree limit 'path': 1 is not within 512..4096");
}

static int tiny_file_system(const char *options)
{
	char path[256];

	if (geteuid() != 0)
		SKIP("needs root, for a small file system");
	close(target());
	CHECK_INT(unshare(CLONE_NEWNS), 0);
	CHECK_INT(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	snprintf(path, sizeof(path), "%s/target", check_folder_path());
	CHECK_INT(mount("tiny", path, "tmpfs", 0, options), 0);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

TEST(a_full_file_system_is_an_error_that_names_the_file)
{
	auto_fd root = tiny_file_system("size=64k");
	cleanup(mem_free) struct raw *raw = mem_alloc(1, sizeof(*raw));
	cleanup(mem_free) char *content = mem_alloc(1, 100001);

	memset(content, 'x', 100000);
	raw_begin(raw);
	raw_file(raw, "fits", "1");
	raw_file(raw, "too\nlarge", content);
	raw_end(raw);
	{
		auto_fd in = raw_fd(raw);

		check_unpack_fails(in, root, ERR_INPUT,
				   "unpack 'too\\x0alarge': No space left on device");
	}
}

TEST(a_file_system_without_inodes_is_an_error_that_names_the_file)
{
	auto_fd root = tiny_file_system("nr_inodes=3");
	auto_fd in = tree_fd("\nf a=\nd b\nf b/c=");

	check_unpack_fails(in, root, ERR_INPUT, "unpack 'b/c': No space left on device");
}

TEST(paths_of_four_kilobytes_can_be_unpacked)
{
	auto_fd root = tiny_file_system("size=1m");
	char path[STREAM_PATH_MAX + 1];
	struct stream_counts counts;
	struct err err = ERR_INIT;
	struct raw raw;

	memset(path, '\n', sizeof(path));
	raw_begin(&raw);
	for (size_t i = 1; i <= 15; i++) {
		path[256 * i - 1] = '\0';
		raw_folder(&raw, path);
		path[256 * i - 1] = '/';
	}
	path[4095] = '\0';
	raw_file(&raw, path, "far");
	raw_end(&raw);
	{
		auto_fd in = raw_fd(&raw);
		auto_fd out = -1;
		struct stat before, after;

		CHECK_OK(unpack_tree(in, root, &STREAM_LIMITS_DEFAULT, &counts, &err));
		out = text_of_folder(root);
		CHECK_INT(fstat(in, &before), 0);
		CHECK_INT(fstat(out, &after), 0);
		CHECK_INT(before.st_size, after.st_size);
	}
}

TEST(a_few_descriptors_are_enough_for_any_depth)
{
	cleanup(mem_free) struct raw *raw = mem_alloc(1, sizeof(*raw));
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	auto_fd root = target();
	char path[STREAM_PATH_MAX + 1] = "d";
	struct stream_counts counts;
	struct err err = ERR_INIT;

	limits.depth = 200;
	raw_begin(raw);
	raw_folder(raw, path);
	for (size_t i = 1; i < 200; i++) {
		memcpy(path + 2 * i - 1, "/d", 3);
		raw_folder(raw, path);
	}
	raw_end(raw);
	{
		auto_fd in = raw_fd(raw);
		struct rlimit rlimit = { .rlim_cur = (rlim_t) in + 4, .rlim_max = (rlim_t) in + 4 };

		CHECK_INT(setrlimit(RLIMIT_NOFILE, &rlimit), 0);
		CHECK_OK(unpack_tree(in, root, &limits, &counts, &err));
	}
	CHECK_INT(counts.folders, 200);
}

TEST(a_folder_that_was_removed_is_an_error_of_the_system)
{
	auto_fd root = target();
	auto_fd in = tree_fd("\nf a=1");

	CHECK_INT(unlinkat(check_folder(), "target", AT_REMOVEDIR), 0);
	check_unpack_fails(in, root, ERR_SYS, "unpack 'a': No such file or directory");
}

TEST(a_large_tree_survives_the_way_through_a_folder)
{
	auto_fd root = target();
	auto_fd stream = tree_empty_fd();
	auto_fd out = -1;
	cleanup(mem_free) struct stream_writer *writer = mem_alloc(1, sizeof(*writer));
	cleanup(mem_free) uint8_t *bytes = mem_alloc(1, 3 * MIB);
	cleanup(mem_free) uint8_t *a = NULL, *b = NULL;
	struct stream_counts counts;
	struct err err = ERR_INIT;
	off_t size;

	for (size_t i = 0; i < 3 * MIB; i++)
		bytes[i] = (uint8_t) (i * 2654435761u >> 11);
	stream_writer_open(writer, stream, &STREAM_LIMITS_DEFAULT);
	for (int i = 0; i < 50; i++) {
		char path[32];
		struct stream_entry entry = { .kind = STREAM_FILE, .path = path };

		entry.path_len = (size_t) snprintf(path, sizeof(path), "f%02d", i);
		entry.size = i == 20 ? 3 * MIB : (uint64_t) (i * i * i);
		CHECK_OK(stream_writer_entry(writer, &entry, &err));
		CHECK_OK(stream_writer_content(writer, bytes, entry.size, &err));
	}
	CHECK_OK(stream_writer_close(writer, &err));
	size = lseek(stream, 0, SEEK_END);
	lseek(stream, 0, SEEK_SET);
	CHECK_OK(unpack_tree(stream, root, &STREAM_LIMITS_DEFAULT, &counts, &err));
	out = text_of_folder(root);
	CHECK_INT(lseek(out, 0, SEEK_END), size);
	a = mem_alloc(1, (size_t) size);
	b = mem_alloc(1, (size_t) size);
	CHECK_INT(pread(stream, a, (size_t) size, 0), size);
	CHECK_INT(pread(out, b, (size_t) size, 0), size);
	CHECK(memcmp(a, b, (size_t) size) == 0);
}
