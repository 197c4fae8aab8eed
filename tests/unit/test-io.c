/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"
#include "tests/lib/check.h"

static void put_file(const char *name, const char *text)
{
	auto_fd fd = openat(check_folder(), name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
	CHECK(write(fd, text, strlen(text)) == (ssize_t) strlen(text));
}

static const char *get_file(const char *name)
{
	static char text[256];
	auto_fd fd = openat(check_folder(), name, O_RDONLY | O_CLOEXEC);
	ssize_t len = read(fd, text, sizeof(text) - 1);

	CHECK(len >= 0);
	text[len] = '\0';
	return text;
}

static void do_nothing(int signal)
{
	(void) signal;
}

static void interrupt_every_millisecond(void)
{
	const struct sigaction act = { .sa_handler = do_nothing }; /* no SA_RESTART */

	CHECK(sigaction(SIGALRM, &act, NULL) == 0);
	ualarm(1000, 1000);
}

TEST(a_nonblocking_descriptor_is_waited_for)
{
	static char block[4 << 16]; /* four times what the pipe holds */
	char got[4096];
	struct err err = ERR_INIT;
	int ends[2], status;
	size_t all = 0;
	pid_t pid;

	CHECK(pipe2(ends, O_CLOEXEC) == 0);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		close(ends[0]);
		CHECK(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
		CHECK_OK(io_write_waiting(ends[1], block, sizeof(block), "the pipe", &err));
		_exit(0);
	}
	close(ends[1]);
	usleep(50000);
	for (ssize_t len; (len = read(ends[0], got, sizeof(got))) > 0;)
		all += (size_t) len;
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_INT(status, 0);
	CHECK_INT(all, sizeof(block));
}

/* A slow reader of a pipe: short writes and EINTR are certain. */
TEST(everything_is_written_and_read_in_spite_of_short_writes_and_signals)
{
	struct err err = ERR_INIT;
	cleanup(mem_free) unsigned char *sent = mem_alloc(MIB, 1), *got = mem_alloc(MIB, 1);
	int ends[2], status;
	pid_t pid;

	for (size_t i = 0; i < MIB; i++)
		sent[i] = (unsigned char) (i * 7 >> 3);
	CHECK(pipe2(ends, O_CLOEXEC) == 0);
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		interrupt_every_millisecond();
		_exit(io_write_all(ends[1], sent, MIB, "the pipe", &err) < 0);
	}
	close(ends[1]);
	usleep(5000);
	interrupt_every_millisecond();
	CHECK_OK(io_read_exact(ends[0], got, MIB, "the pipe", &err));
	ualarm(0, 0);
	CHECK(memcmp(sent, got, MIB) == 0);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
}

TEST(a_file_that_ends_too_early_is_an_error)
{
	struct err err = ERR_INIT;
	auto_fd fd = io_memfd("short", "abc", 3, &err);
	char bytes[4];

	CHECK_INT(io_read_exact(fd, bytes, sizeof(bytes), "the header", &err), -1);
	CHECK_STR(err.text, "read the header: it ends too early");
}

TEST(a_write_that_fails_names_what_was_written)
{
	struct err err = ERR_INIT;

	CHECK_INT(io_write_all(-1, "x", 1, "the record", &err), -1);
	CHECK_STR(err.text, "write the record: Bad file descriptor");
	CHECK_OK(io_write_all(-1, "", 0, "nothing", &err));
}

TEST(a_read_is_bounded)
{
	static const struct {
		size_t max;
		int result;
	} cases[] = { { 5, 0 }, { 4, -1 }, { 0, -1 }, { SIZE_MAX, 0 } };

	put_file("five", "12345");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup(str_done) struct str text = STR_INIT;
		struct err err = ERR_INIT;

		CHECK_INT(io_read_file(check_folder(), "five", cases[i].max, &text, &err),
			  cases[i].result);
		CHECK_INT(err.kind, cases[i].result < 0 ? ERR_INPUT : ERR_NONE);
		if (cases[i].result == 0)
			CHECK_STR(text.text, "12345");
	}
}

TEST(a_file_larger_than_any_string_is_an_error_and_not_cut)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct err err = ERR_INIT;
	auto_fd fd = openat(check_folder(), "huge", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	CHECK(ftruncate(fd, (off_t) STR_MAX + 5) == 0);
	CHECK_INT(io_read_file(check_folder(), "huge", SIZE_MAX, &text, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_STR(err.text, "huge is larger than 67108863 bytes");
}

TEST(only_regular_files_are_read_and_nothing_hangs)
{
	static const char *const names[] = { "fifo", "folder", "link", "none", "../x" };
	int top = check_folder();

	CHECK(mkfifoat(top, "fifo", 0600) == 0);
	CHECK(mkdirat(top, "folder", 0700) == 0);
	CHECK(symlinkat("/etc/passwd", top, "link") == 0);
	alarm(5);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		cleanup(str_done) struct str text = STR_INIT;
		struct err err = ERR_INIT;

		if (io_read_file(top, names[i], 100, &text, &err) == 0)
			check_fail(__FILE__, __LINE__, "'%s' is read", names[i]);
		CHECK_INT(err.kind, ERR_INPUT);
	}
}

TEST(a_kernel_file_loses_its_newline)
{
	struct err err = ERR_INIT;
	char text[64];

	CHECK_OK(io_read_kernel_file(AT_FDCWD, "/proc/self/comm", text, sizeof(text), &err));
	CHECK_STR(text, "test-io");
	put_file("blank", " \n\t\n");
	CHECK_OK(io_read_kernel_file(check_folder(), "blank", text, sizeof(text), &err));
	CHECK_STR(text, "");
	put_file("blank", "");
	CHECK_OK(io_read_kernel_file(check_folder(), "blank", text, sizeof(text), &err));
	CHECK_STR(text, "");
}

TEST(a_kernel_file_that_does_not_fit_is_an_error_and_not_cut)
{
	struct err err = ERR_INIT;
	char text[6];

	put_file("limit", "12345\n");
	CHECK_INT(io_read_kernel_file(check_folder(), "limit", text, sizeof(text), &err), -1);
	CHECK_STR(err.text, "'limit' does not fit 5 bytes");
	put_file("limit", "1234\n");
	CHECK_OK(io_read_kernel_file(check_folder(), "limit", text, sizeof(text), &err));
	CHECK_STR(text, "1234");
}

TEST(a_kernel_file_is_written_and_never_made)
{
	struct err err = ERR_INIT;

	put_file("knob", "");
	CHECK_OK(io_write_kernel_file(check_folder(), "knob", "42", &err));
	CHECK_STR(get_file("knob"), "42");
	CHECK_INT(io_write_kernel_file(check_folder(), "none", "42", &err), -1);
	CHECK_STR(err.text, "open 'none': No such file or directory");
	CHECK_INT(io_write_kernel_file(AT_FDCWD, "/proc/self/oom_score_adj", "x", &err), -1);
	CHECK_STR(err.text, "write 'x' to '/proc/self/oom_score_adj': Invalid argument");
}

TEST(a_file_is_replaced_whole)
{
	struct err err = ERR_INIT;
	struct stat info;
	int top = check_folder();
	auto_fd old = -1;
	char text[8] = "";

	CHECK_OK(io_replace_file(top, "state", "old", 3, 0600, &err));
	old = openat(top, "state", O_RDONLY | O_CLOEXEC);
	CHECK_OK(io_replace_file(top, "state", "newer", 5, 0640, &err));
	CHECK_STR(get_file("state"), "newer");
	CHECK(read(old, text, sizeof(text)) == 3);
	CHECK_STR(text, "old");
	CHECK(fstatat(top, "state", &info, 0) == 0);
	CHECK_INT(info.st_mode & 0137, 0);
	CHECK(faccessat(top, ".state.new", F_OK, AT_SYMLINK_NOFOLLOW) < 0);
}

/* A reader at any moment sees one whole content. */
TEST(readers_see_the_old_content_or_the_new)
{
	struct err err = ERR_INIT;
	int top = check_folder(), status;
	pid_t pid;

	CHECK_OK(io_replace_file(top, "state", "aaaaaaaa", 8, 0600, &err));
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 300; i++) {
			const char *text = i % 2 ? "aaaaaaaa" : "bbbbbbbb";

			if (io_replace_file(top, "state", text, 8, 0600, &err) < 0)
				_exit(1);
		}
		_exit(0);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		const char *text = get_file("state");

		if (strcmp(text, "aaaaaaaa") != 0)
			CHECK_STR(text, "bbbbbbbb");
	}
	CHECK_INT(status, 0);
}

TEST(a_replacement_that_fails_leaves_the_old_file_and_no_draft)
{
	struct err err = ERR_INIT;
	int top = check_folder();
	char name[NAME_MAX + 1];

	/* A folder can not be replaced by a file: the rename fails. */
	CHECK(mkdirat(top, "state", 0700) == 0);
	CHECK_INT(io_replace_file(top, "state", "new", 3, 0600, &err), -1);
	CHECK_STR(err.text, "rename '.state.new' to 'state': Is a directory");
	CHECK(faccessat(top, ".state.new", F_OK, AT_SYMLINK_NOFOLLOW) < 0);
	CHECK_INT(errno, ENOENT);

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	CHECK_INT(io_replace_file(top, name, "new", 3, 0600, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
}

TEST(a_draft_that_is_already_there_is_not_written_to)
{
	struct err err = ERR_INIT;
	struct stat info;
	int top = check_folder();

	/* Left behind by a crash, readable for all, and a second name of another file. */
	put_file("precious", "kept");
	CHECK(fchmodat(top, "precious", 0644, 0) == 0);
	CHECK(linkat(top, "precious", top, ".state.new", 0) == 0);
	CHECK_OK(io_replace_file(top, "state", "secret", 6, 0600, &err));
	CHECK_STR(get_file("precious"), "kept");
	CHECK_STR(get_file("state"), "secret");
	CHECK(fstatat(top, "state", &info, 0) == 0);
	CHECK_INT(info.st_mode & 0777, 0600);

	alarm(5);
	CHECK(mkfifoat(top, ".state.new", 0600) == 0);
	CHECK_OK(io_replace_file(top, "state", "again", 5, 0600, &err));
	CHECK_STR(get_file("state"), "again");
}

TEST(nobody_can_change_a_sealed_memfd)
{
	struct err err = ERR_INIT;
	auto_fd fd = io_memfd("sealed", "abc", 3, &err);
	char text[4] = "";

	CHECK_OK(fd);
	CHECK(read(fd, text, sizeof(text)) == 3);
	CHECK_STR(text, "abc");
	CHECK(pwrite(fd, "x", 1, 0) < 0);
	CHECK_INT(errno, EPERM);
	CHECK(ftruncate(fd, 0) < 0);
	CHECK(ftruncate(fd, 100) < 0);
	CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) < 0);
	CHECK(mmap(NULL, 3, PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
	CHECK_INT(fcntl(fd, F_GETFD), FD_CLOEXEC);
}

/* A page in a pipe is held as one that the kernel is looking at. */
TEST(a_memfd_whose_page_is_held_for_a_while_is_sealed_in_the_end)
{
	auto_fd fd = memfd_create("held", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int pair[2], status;
	struct err err = ERR_INIT;
	char page[4096] = "x";
	off_t from = 0;
	pid_t child;

	CHECK_INT(write(fd, page, sizeof(page)), sizeof(page));
	CHECK_INT(pipe2(pair, O_CLOEXEC), 0);
	CHECK_INT(splice(fd, &from, pair[1], NULL, sizeof(page), 0), sizeof(page));
	CHECK_INT(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
	CHECK_INT(errno, EBUSY);
	child = fork();
	if (child == 0) {
		usleep(400000); /* longer than the kernel itself waits */
		_exit(read(pair[0], page, sizeof(page)) != sizeof(page));
	}
	CHECK_OK(io_seal(fd, "held", &err));
	CHECK_INT(fcntl(fd, F_GET_SEALS), F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	CHECK_INT(waitpid(child, &status, 0), child);
	CHECK_INT(status, 0);
	close(pair[0]);
	close(pair[1]);
}
