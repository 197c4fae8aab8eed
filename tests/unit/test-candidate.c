/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check/candidate.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/path.h"
#include "tests/lib/check.h"
#include "tests/lib/tree.h"

#define LEAVE_GROUP PROGRAMS "/tests/leave-group"

static struct err err;
static struct task task;
static struct scratch scratch = { .fd = -1 };
static struct candidate candidate; /* filled by candidate_make() */
static struct candidate_job job;

static int folder(const char *name)
{
	CHECK(mkdirat(check_folder(), name, 0755) == 0);
	return openat(check_folder(), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* A task of an editable a.c and a b.h that is not, built by a shell script. */
static void prepare(const char *script)
{
	static const char *argv[] = { "/bin/sh", "-c", NULL, "sh", "{out}" };
	static const char *const out[] = { "a.so" };
	static const char *const editable[] = { "a.c" };

	argv[2] = script;
	task = (struct task){
		.editable = { editable, 1 },
		.build = { .argv = { argv, 5 }, .out = { out, 1 }, .wall_ms = 20000 },
	};
	job = (struct candidate_job){ .task = &task, .in = &scratch, .stop_fd = -1 };
	job.pristine_fd = folder("pristine");
	job.workspace_fd = folder("workspace");
	tree_make_file(job.pristine_fd, "a.c", "old a", 0644);
	tree_make_file(job.pristine_fd, "b.h", "old b", 0644);
	tree_make_file(job.workspace_fd, "a.c", "new a", 0644);
	tree_make_file(job.workspace_fd, "b.h", "new b", 0644);
	tree_make_file(job.workspace_fd, "a.out", "mess", 0644);
	CHECK_OK(scratch_open(check_folder_path(), "try", &scratch, &err));
}

static void end(void)
{
	candidate_done(&candidate);
	scratch_done(&scratch);
	fd_close(&job.pristine_fd);
	fd_close(&job.workspace_fd);
}

TEST(only_what_is_editable_is_taken_from_the_workspace)
{
	cleanup(str_done) struct str text = STR_INIT;

	prepare("cat a.c b.h >$1/a.so; ls >>$1/a.so");
	CHECK_OK(candidate_make(&job, &candidate, &err));
	CHECK(candidate.is_built);
	CHECK_OK(io_read_file(scratch.fd, "out/a.so", 100, &text, &err));
	CHECK_STR(text.text, "new aold ba.c\nb.h\n");
	CHECK_INT(candidate.report.ignored[TREE_CHANGED], 1);
	CHECK_INT(candidate.report.ignored[TREE_ADDED], 1);
	CHECK_INT(candidate.report.effective[TREE_CHANGED], 1);
	end();
}

TEST(a_build_sees_the_environment_of_a_build_jail)
{
	cleanup(str_done) struct str text = STR_INIT;

	prepare("env >$1/a.so");
	CHECK_OK(candidate_make(&job, &candidate, &err));
	CHECK_OK(io_read_file(scratch.fd, "out/a.so", 4096, &text, &err));
	CHECK(strstr(text.text, "PATH=/usr/local/bin:/usr/bin:/bin\n"));
	CHECK(strstr(text.text, "HOME=/tmp\n"));
	CHECK(!strstr(text.text, "LOGNAME"));
	end();
}

TEST(a_build_that_fails_is_a_result_that_says_how)
{
	static const struct {
		const char *script, *why;
	} builds[] = {
		{ "exit 3", "the build ended with code 3" },
		{ "kill -9 $$", "the build was ended by signal 9" },
		{ "true", "the build left no 'a.so'" },
		{ "mkdir $1/a.so", "the build left no 'a.so'" },
		{ "ln -s /etc/passwd $1/a.so", "the build left no 'a.so'" },
	};

	for (size_t i = 0; i < ARRAY_LEN(builds); i++) {
		prepare(builds[i].script);
		CHECK_OK(candidate_make(&job, &candidate, &err));
		CHECK(!candidate.is_built);
		CHECK_STR(candidate.why, builds[i].why);
		end();
		CHECK(unlinkat(check_folder(), "pristine/a.c", 0) == 0 &&
		      unlinkat(check_folder(), "pristine/b.h", 0) == 0 &&
		      unlinkat(check_folder(), "workspace/a.c", 0) == 0 &&
		      unlinkat(check_folder(), "workspace/b.h", 0) == 0 &&
		      unlinkat(check_folder(), "workspace/a.out", 0) == 0 &&
		      unlinkat(check_folder(), "pristine", AT_REMOVEDIR) == 0 &&
		      unlinkat(check_folder(), "workspace", AT_REMOVEDIR) == 0);
	}
}

TEST(a_library_that_the_judge_does_not_take_was_not_built)
{
	static const struct given_limits limits = {
		.candidate_bytes = 1000,
		.candidate_entries = 10,
		.product_bytes = 2 * MIB,
		.product_entries = 10,
	};
	static const struct {
		const char *script, *why;
	} builds[] = {
		{ "head -c 2097153 /dev/zero >$1/a.so", "the build's 'a.so' is larger than 2 MiB" },
		{ "head -c 2097152 /dev/zero >$1/a; echo x >$1/a.so",
		  "the build's files are larger than 2 MiB together, so that 'a.so' does not fit" },
		{ "head -c 2097152 /dev/zero >$1/a.so", "" },
	};

	for (size_t i = 0; i < ARRAY_LEN(builds); i++) {
		prepare(builds[i].script);
		job.limits = &limits;
		CHECK_OK(candidate_make(&job, &candidate, &err));
		CHECK_STR(candidate.why, builds[i].why);
		end();
		CHECK(unlinkat(check_folder(), "pristine/a.c", 0) == 0 &&
		      unlinkat(check_folder(), "pristine/b.h", 0) == 0 &&
		      unlinkat(check_folder(), "workspace/a.c", 0) == 0 &&
		      unlinkat(check_folder(), "workspace/b.h", 0) == 0 &&
		      unlinkat(check_folder(), "workspace/a.out", 0) == 0 &&
		      unlinkat(check_folder(), "pristine", AT_REMOVEDIR) == 0 &&
		      unlinkat(check_folder(), "workspace", AT_REMOVEDIR) == 0);
	}
}

TEST(a_candidate_that_the_judge_does_not_take_is_not_built)
{
	static const struct given_limits limits = {
		.candidate_bytes = 9,
		.candidate_entries = 10,
		.product_bytes = 1000,
		.product_entries = 10,
	};

	prepare("echo x >$1/a.so");
	job.limits = &limits;
	CHECK_OK(candidate_make(&job, &candidate, &err));
	CHECK_STR(candidate.why, "the candidate has 10 bytes in 2 files and folders; the policy's "
				 "build jail takes 9 in 10");
	CHECK(!candidate.is_built);
	end();
}

TEST(a_compiler_that_is_not_there_is_a_result)
{
	prepare("");
	task.build.argv.items = (const char *const[]){ "no-such-compiler", "{out}" };
	task.build.argv.count = 2;
	CHECK_OK(candidate_make(&job, &candidate, &err));
	CHECK_STR(candidate.why, "the build ended with code 127");
	end();
}

TEST(a_build_that_takes_too_long_is_ended_with_all_that_it_started)
{
	int64_t began = clock_now();
	struct stat info;

	prepare("( sleep 1.5; echo late >$1/late ) & sleep 60");
	task.build.wall_ms = 200;
	CHECK_OK(candidate_make(&job, &candidate, &err));
	CHECK_STR(candidate.why, "the build was ended: timeout");
	CHECK(!candidate.stopped);
	CHECK(clock_now() - began < 30 * NS_PER_S);
	poll(NULL, 0, 2000);
	CHECK(fstatat(scratch.fd, "out/late", &info, 0) < 0);
	end();
}

TEST(a_build_that_leaves_its_group_is_ended_in_its_time)
{
	prepare("exec " LEAVE_GROUP " sleep 60");
	task.build.wall_ms = 200;
	CHECK_OK(candidate_make(&job, &candidate, &err));
	CHECK_STR(candidate.why, "the build was ended: timeout");
	end();
}

TEST(the_operator_can_end_a_build)
{
	int pair[2];

	prepare("sleep 60");
	CHECK(pipe(pair) == 0);
	CHECK_INT(write(pair[1], "x", 1), 1);
	job.stop_fd = pair[0];
	CHECK_OK(candidate_make(&job, &candidate, &err));
	CHECK(candidate.stopped && !candidate.is_built);
	end();
}

TEST(an_editable_file_that_became_a_link_is_not_followed)
{
	prepare("ls >$1/a.so");
	CHECK(unlinkat(job.workspace_fd, "a.c", 0) == 0);
	CHECK(symlinkat("/etc/passwd", job.workspace_fd, "a.c") == 0);
	CHECK_OK(candidate_make(&job, &candidate, &err));
	CHECK_INT(candidate.report.effective[TREE_REFUSED], 1);
	end();
}
