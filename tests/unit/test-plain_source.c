/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check/plain_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/judge/inputs.h"
#include "harness/judge/marking.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"
#include "tests/lib/check.h"
#include "tests/lib/judge_cases.h"
#include "tests/lib/tree.h"

#define LEAVE_GROUP PROGRAMS "/tests/leave-group"

static struct plain_source source;
static struct worker_source workers;
static struct err err;

static void prepare(void)
{
	if (!judge_has_cpus())
		SKIP("needs CPUs 0 and 1");
	plain_source_init(&source);
	source.cpu = 1;
	workers = plain_source_workers(&source);
}

static enum mark_kind mark_of(const char *candidate)
{
	cleanup(mem_free) struct marking_plan *plan = mem_alloc(1, sizeof(*plan));
	cleanup(marking_result_done) struct marking_result result = MARKING_RESULT_INIT;
	const struct marking_options options = { .most_blocks = 1 };
	static uint8_t key[INPUTS_KEY];

	key[0]++;
	judge_plan(plan);
	judge_add_softmax(plan, 64, 256, false);
	source.program = WORKER_PROGRAM;
	source.roles[WORKER_ORACLE].shared_object = KERNELS;
	source.roles[WORKER_ORACLE].symbol = "softmax_oracle";
	source.roles[WORKER_BASELINE].shared_object = KERNELS;
	source.roles[WORKER_BASELINE].symbol = "softmax";
	source.roles[WORKER_CANDIDATE].shared_object = KERNELS;
	source.roles[WORKER_CANDIDATE].symbol = candidate;
	CHECK_OK(marking_run(plan, key, &workers, &options, &result, &err));
	return result.seen.mark.kind;
}

TEST(a_marking_over_it_tells_right_from_wrong)
{
	prepare();
	CHECK_INT(mark_of("softmax"), MARK_VALID);
	CHECK_INT(mark_of("curve"), MARK_WRONG);
	CHECK_INT(mark_of("no_such_function"), MARK_WRONG);
	CHECK_INT(source.running[0].pid_fd, -1);
	CHECK_INT(source.running[1].pid_fd, -1);
}

TEST(a_worker_that_is_confined_is_marked_as_any)
{
	static const struct given_limits limits = {
		.worker_memory = 512 * MIB,
		.worker_pids = 64,
		.worker_nofile = 64,
	};
	static char folder[sizeof(KERNELS)] = KERNELS;
	struct confinement confinement;

	prepare();
	CHECK_OK(confine_open(&confinement, &limits, &err));
	*strrchr(folder, '/') = '\0';
	source.confinement = &confinement;
	for (size_t i = 0; i < PLAIN_ROLES; i++)
		source.roles[i].folder = folder;
	CHECK_INT(mark_of("softmax"), MARK_VALID);
}

TEST(a_worker_that_goes_on_after_it_rang_is_held_and_found_out)
{
	prepare();
	for (int i = 0; i < 5; i++)
		CHECK_INT(mark_of("cheat_early_50"), MARK_WRONG);
}

/* A "worker" that starts a child, which adds to the file "lines" all the time. */
static void start_script(struct worker *worker)
{
	static char program[512];
	auto_fd null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const struct worker_fds fds = { null, null, null };
	char script[1024];

	snprintf(script, sizeof(script),
		 "#!/bin/sh\ncd %s\necho $$ >leader\n"
		 "( while :; do echo x >>lines; sleep 0.005; done ) &\n"
		 "( exec sleep 100 ) & echo $! >child\nwait\n",
		 check_folder_path());
	tree_make_file(check_folder(), "program", script, 0755);
	snprintf(program, sizeof(program), "%s/program", check_folder_path());
	source.program = program;
	source.roles[WORKER_CANDIDATE] = (struct plain_implementation){ "x", "y" };
	CHECK_OK(workers.start(workers.context, WORKER_CANDIDATE, &fds, worker, &err));
}

static off_t lines(void)
{
	struct stat info;

	return fstatat(check_folder(), "lines", &info, 0) == 0 ? info.st_size : 0;
}

static void wait_for_more(off_t than)
{
	for (int i = 0; i < 2000 && lines() <= than; i++)
		poll(NULL, 0, 5);
	CHECK(lines() > than);
}

static pid_t pid_in(const char *name)
{
	auto_fd fd = openat(check_folder(), name, O_RDONLY | O_CLOEXEC);
	char text[32] = "";

	CHECK(read(fd, text, sizeof(text) - 1) > 0);
	return (pid_t) strtol(text, NULL, 10);
}

TEST(what_a_worker_has_started_is_held_and_ended_with_it)
{
	struct worker worker = WORKER_INIT;
	struct worker_end end;
	off_t before;
	pid_t child;

	prepare();
	start_script(&worker);
	wait_for_more(0);
	CHECK_INT(workers.hold(workers.context, &worker, &err), 0);
	poll(NULL, 0, 50); /* the child of a shell that just woke up */
	before = lines();
	poll(NULL, 0, 200);
	CHECK_INT(lines(), before);
	workers.release(workers.context, &worker);
	wait_for_more(before);
	child = pid_in("child");
	CHECK(kill(child, 0) == 0);
	CHECK_OK(workers.stop(workers.context, &worker, &end, &err));
	CHECK_INT(end.ending, WORKER_STOPPED);
	CHECK_INT(worker.pid_fd, -1);
	for (int i = 0; i < 1000 && getpgid(child) >= 0; i++) /* until init reaps it */
		poll(NULL, 0, 5);
	before = lines();
	poll(NULL, 0, 100);
	CHECK_INT(lines(), before);
}

TEST(a_worker_that_leaves_its_group_is_held_and_ended_all_the_same)
{
	auto_fd null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const struct worker_fds fds = { null, null, null };
	struct worker worker = WORKER_INIT;
	char program[512], script[1024];
	struct worker_end end;
	off_t before;

	prepare();
	snprintf(script, sizeof(script),
		 "#!/bin/sh\ncd %s\nexec %s sh -c 'while :; do echo x >>lines; done'\n",
		 check_folder_path(), LEAVE_GROUP);
	tree_make_file(check_folder(), "program", script, 0755);
	snprintf(program, sizeof(program), "%s/program", check_folder_path());
	source.program = program;
	CHECK_OK(workers.start(workers.context, WORKER_CANDIDATE, &fds, &worker, &err));
	wait_for_more(0);
	CHECK_INT(workers.hold(workers.context, &worker, &err), 0);
	before = lines();
	poll(NULL, 0, 100);
	CHECK_INT(lines(), before);
	workers.release(workers.context, &worker);
	wait_for_more(before);
	CHECK_OK(workers.stop(workers.context, &worker, &end, &err));
	CHECK_INT(end.ending, WORKER_STOPPED);
	before = lines();
	poll(NULL, 0, 100);
	CHECK_INT(lines(), before);
}

TEST(a_program_that_is_not_there_ends_as_a_worker_that_died)
{
	auto_fd null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const struct worker_fds fds = { null, null, null };
	struct worker worker = WORKER_INIT;
	struct worker_end end;
	struct pollfd ended = { .events = POLLIN };

	prepare();
	source.program = "/nonexistent/worker";
	CHECK_OK(workers.start(workers.context, WORKER_ORACLE, &fds, &worker, &err));
	ended.fd = worker.pid_fd;
	CHECK_INT(poll(&ended, 1, 10000), 1);
	CHECK_INT(workers.hold(workers.context, &worker, &err), 0);
	CHECK_OK(workers.stop(workers.context, &worker, &end, &err));
	CHECK_INT(end.ending, WORKER_EXITED);
	CHECK_INT(end.code, 127);
}
