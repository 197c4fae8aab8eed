/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/collect.h"
#include "tests/lib/check.h"
#include "tests/lib/tree.h"

/*
 * What somebody else does to a workspace while it is collected. Each test goes on until the
 * collector has noticed at least once.
 */

/* Forks a process that does `meddle(dir_fd)` over and over, until the test ends. */
static pid_t start_meddling(int dir_fd, void (*meddle)(int dir_fd))
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(TREE_PATIENCE_S);
	while (true)
		meddle(dir_fd);
}

static void stop_meddling(pid_t pid)
{
	CHECK_INT(kill(pid, SIGKILL), 0);
	CHECK_INT(waitpid(pid, NULL, 0), pid);
}

static void replace_victim(int dir_fd)
{
	int fd;

	unlinkat(dir_fd, "victim", 0);
	best_effort(mkfifoat(dir_fd, "victim", 0600));
	unlinkat(dir_fd, "victim", 0);
	best_effort(symlinkat("/etc/passwd", dir_fd, "victim"));
	unlinkat(dir_fd, "victim", 0);
	best_effort(mkdirat(dir_fd, "victim", 0700));
	unlinkat(dir_fd, "victim", AT_REMOVEDIR);
	best_effort(mknodat(dir_fd, "victim", S_IFCHR | 0600, makedev(1, 5)));
	best_effort(renameat(dir_fd, "spare", dir_fd, "victim"));
	best_effort(renameat(dir_fd, "victim", dir_fd, "spare"));
	fd = openat(dir_fd, "spare", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	best_effort(write(fd, "mine", 4));
	close(fd);
	best_effort(linkat(dir_fd, "spare", dir_fd, "victim", 0));
}

/* What the victim may be in a valid stream, whatever happened. */
static void check_victim(const struct str *text)
{
	static const char *const may[] = { "\nf victim=mine",   "\nf victim=\n",
					   "\nf victim=m\n",    "\nd victim",
					   "\nr victim fifo 0", "\nr victim symlink 0",
					   "\nr victim chan",   "\nr victim device 0",
					   "\nf victim=mi\n",   "\nf victim=min\n" };
	const char *found = strstr(text->text, " victim");

	CHECK(!strstr(text->text, "root:"));
	if (!found)
		return;
	for (size_t i = 0; i < ARRAY_LEN(may); i++)
		if (strncmp(found - 2, may[i], strlen(may[i])) == 0)
			return;
	check_fail(__FILE__, __LINE__, "the victim is %s", found - 2);
}

TEST(a_file_that_is_replaced_meanwhile_is_itself_or_refused)
{
	auto_fd dir = tree_scratch();
	pid_t pid;
	size_t refused = 0;

	tree_make_file(dir, "constant", "same", 0644);
	tree_make_file(dir, "zz", "1", 0644);
	pid = start_meddling(dir, replace_victim);
	for (int i = 0; i < 500 || refused == 0; i++) {
		cleanup(str_done) struct str text = STR_INIT;
		struct collect_report report;
		struct err err = ERR_INIT;
		auto_fd fd = tree_collect(dir, &STREAM_LIMITS_DEFAULT, &report);

		CHECK_OK(tree_text_fd(fd, &text, &err));
		CHECK(strncmp(text.text, "\nf constant=same", 16) == 0);
		CHECK(strcmp(text.text + text.len - 7, "\nf zz=1") == 0);
		check_victim(&text);
		refused += report.counts.refused;
	}
	stop_meddling(pid);
	check_note("%zu times refused", refused);
}

static void append(int dir_fd)
{
	auto_fd fd = openat(dir_fd, "log", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	struct stat info;

	best_effort(write(fd, "x", 1));
	if (fstat(fd, &info) == 0 && info.st_size > 1000000)
		best_effort(ftruncate(fd, 900000));
}

TEST(a_file_that_is_written_to_meanwhile_has_its_size_or_is_refused)
{
	auto_fd dir = tree_scratch();
	size_t taken = 0, refused = 0;
	pid_t pid;

	tree_make_file(dir, "a", "1", 0644);
	tree_make_file(dir, "log", "", 0644);
	{
		auto_fd log = openat(dir, "log", O_WRONLY | O_CLOEXEC);

		CHECK_INT(ftruncate(log, 900000), 0);
	}
	pid = start_meddling(dir, append);
	for (int i = 0; i < 200 || refused == 0; i++) {
		struct collect_report report;
		cleanup(str_done) struct str text = STR_INIT;
		struct err err = ERR_INIT;
		auto_fd fd = tree_collect(dir, &STREAM_LIMITS_DEFAULT, &report);

		CHECK_OK(tree_text_fd(fd, &text, &err));
		CHECK_INT(report.counts.refused, report.refused[STREAM_CHANGED]);
		refused += report.counts.refused;
		taken += report.counts.files;
	}
	stop_meddling(pid);
	check_note("%zu files taken, %zu refused", taken, refused);
	CHECK(taken >= 200);
}

static void append_to_large(int dir_fd)
{
	auto_fd fd = openat(dir_fd, "log", O_WRONLY | O_APPEND | O_CLOEXEC);

	best_effort(write(fd, "x", 1));
}

TEST(a_large_file_that_is_written_to_meanwhile_fails_the_collection)
{
	auto_fd dir = tree_scratch();
	size_t failed = 0;
	pid_t pid;
	auto_fd log = openat(dir, "log", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	CHECK_INT(ftruncate(log, (off_t) (20 * MIB)), 0);
	pid = start_meddling(dir, append_to_large);
	for (int i = 0; i < 20 || failed == 0; i++) {
		auto_fd out = tree_empty_fd();
		cleanup(str_done) struct str text = STR_INIT;
		struct collect_report report;
		struct err err = ERR_INIT, read_err = ERR_INIT;

		if (collect_tree(dir, &STREAM_LIMITS_DEFAULT, out, &report, &err) == 0)
			continue;
		failed++;
		CHECK_INT(err.kind, ERR_INPUT);
		CHECK_STR(err.text, "collect: 'log' was changed while it was read: something still "
				    "writes to it");
		CHECK_INT(tree_text_fd(out, &text, &read_err), -1);
	}
	stop_meddling(pid);
}

static void shrink(int dir_fd)
{
	auto_fd fd = openat(dir_fd, "log", O_WRONLY | O_CLOEXEC);

	best_effort(ftruncate(fd, 10));
	best_effort(ftruncate(fd, (off_t) (20 * MIB)));
}

TEST(a_large_file_that_shrinks_meanwhile_fails_the_collection)
{
	auto_fd dir = tree_scratch();
	size_t failed = 0;
	pid_t pid;
	auto_fd log = openat(dir, "log", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	CHECK_INT(ftruncate(log, (off_t) (20 * MIB)), 0);
	pid = start_meddling(dir, shrink);
	for (int i = 0; i < 20 || failed == 0; i++) {
		auto_fd out = tree_empty_fd();
		struct collect_report report;
		struct err err = ERR_INIT;

		if (collect_tree(dir, &STREAM_LIMITS_DEFAULT, out, &report, &err) < 0) {
			CHECK_INT(err.kind, ERR_INPUT);
			failed++;
		}
	}
	stop_meddling(pid);
}
