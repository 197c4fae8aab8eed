/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/judging.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "harness/judge/keeper.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/message.h"
#include "tests/lib/check.h"
#include "tests/lib/runs.h"

static struct judging what;
static struct judging_result *result;
static struct task task = TASK_INIT;
static struct jail_source source;
static struct samples samples = SAMPLES_INIT;
static struct runs runs;
static struct err err;
static int keeper_fds[2], fds;

/* A judging whose keeper is this test: it hears the question and may not answer it. */
static void prepare(void)
{
	auto_fd folder = open(SOURCE_ROOT "/tests/data/tasks/" RUNS_TASK, O_RDONLY | O_DIRECTORY);

	CHECK_OK(task_load(folder, &task, &err));
	result = mem_alloc(1, sizeof(*result));
	CHECK_OK(message_pair(keeper_fds, &err));
	jail_source_init(&source);
	what = (struct judging){ .task = &task,
				 .keeper_fd = keeper_fds[1],
				 .source = &source,
				 .deadline = clock_after_ms(20 * 1000),
				 .stop_fd = -1 };
	fd_close(&folder);
	fds = jails_count_fds(getpid());
}

static void judge(void)
{
	CHECK_OK(judging_run(&what, result, &samples, &err));
	CHECK_INT(jails_children(getpid(), NULL), 0);
	CHECK_INT(jails_count_fds(getpid()), fds);
	samples_done(&samples);
	task_done(&task);
}

static void check_infra(const char *why)
{
	CHECK_INT(result->has_error, 1);
	CHECK_STR(result->err.text, why);
	CHECK_INT(result->seen.mark.kind, MARK_NONE);
	CHECK_INT(result->unseen.mark.kind, MARK_NONE);
	CHECK_INT(result->sample_count, 0);
	mem_free(&result);
}

TEST(without_a_keeper_there_is_no_mark)
{
	prepare();
	fd_close(&keeper_fds[0]);
	fds = jails_count_fds(getpid());
	judge();
	CHECK_INT(result->err.kind, ERR_SYS);
	check_infra("the keeper is gone");
}

/* Slow is something that a candidate can be: it must not be able to have itself tried again. */
TEST(a_marking_that_takes_too_long_is_the_candidates_affair)
{
	prepare();
	what.deadline = clock_after_ms(200);
	judge();
	CHECK_INT(result->has_error, 0);
	CHECK_INT(result->seen.mark.kind, MARK_RESOURCE);
	CHECK_INT(result->seen.mark.reason, REASON_TIMEOUT);
	CHECK_INT(result->seen.mark.role, WORKER_CANDIDATE);
	CHECK_STR(result->seen_why, "RESOURCE: the marking took longer than the task's mark.wall");
	CHECK_INT(result->unseen.mark.kind, MARK_NONE);
	CHECK_INT(result->seen.stats.blocks, 0);
	mem_free(&result);
}

/* A process that waits until the judge has asked the keeper, and then does something to it. */
static struct process start_helper(void (*act)(pid_t judge))
{
	struct pollfd asked = { .fd = keeper_fds[0], .events = POLLIN };
	struct process helper = PROCESS_INIT;
	pid_t test = getpid(), judge_pid;
	int side = process_fork(&helper, &err);

	CHECK_OK(side);
	if (side > 0)
		return helper;
	CHECK_INT(poll(&asked, 1, 5000), 1);
	judge_pid = jails_child(test, "proctor-judge");
	CHECK(judge_pid > 0);
	act(judge_pid);
	_exit(0);
}

static void kill_judge(pid_t pid)
{
	CHECK_INT(kill(pid, SIGKILL), 0);
}

/* judging_run(), which meanwhile has the helper as a second child. */
static void judge_with(void (*act)(pid_t judge))
{
	struct process helper = start_helper(act);

	CHECK_OK(judging_run(&what, result, &samples, &err));
	runs_acted(&helper);
	CHECK_INT(jails_children(getpid(), NULL), 0);
	CHECK_INT(jails_count_fds(getpid()), fds);
	samples_done(&samples);
	task_done(&task);
}

TEST(a_judge_that_dies_is_infra)
{
	prepare();
	judge_with(kill_judge);
	CHECK_INT(result->stopped, 0);
	check_infra("the judge died before its verdict");
}

static int stop_fd;

static void stop_judging(pid_t pid)
{
	const uint64_t one = 1;

	(void) pid;
	CHECK_INT(write(stop_fd, &one, sizeof(one)), sizeof(one));
}

TEST(the_operators_wish_ends_the_judge_and_is_told_apart)
{
	prepare();
	what.stop_fd = stop_fd = eventfd(0, EFD_CLOEXEC);
	fds = jails_count_fds(getpid());
	judge_with(stop_judging);
	CHECK_INT(result->stopped, 1);
	check_infra("the judge was stopped by the operator");
	fd_close(&stop_fd);
}

/* Whatever the judge has open it could be made to use. */
static void check_descriptors(pid_t pid)
{
	static const int kept[] = { 0, 1, 2 };
	const struct dirent *entry;
	char path[64], link[512];
	int others = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int) pid);
	folder = opendir(path);
	CHECK(folder);
	while ((entry = readdir(folder))) {
		ssize_t len = readlinkat(dirfd(folder), entry->d_name, link, sizeof(link) - 1);

		if (len < 0)
			continue; /* "." and ".." */
		link[len] = '\0';
		CHECK(!strstr(link, "secret"));
		if (strtol(entry->d_name, NULL, 10) >= (long) ARRAY_LEN(kept))
			others++;
	}
	closedir(folder);
	CHECK_INT(others, 3); /* the result's socket, the keeper's, the tree */
	kill_judge(pid);
}

TEST(the_judge_has_the_descriptors_that_it_needs_and_no_other)
{
	auto_fd secret = -1, low = -1, high = -1;

	secret = openat(check_folder(), "secret", O_RDWR | O_CREAT, 0600);
	prepare();
	low = open("/dev/null", O_RDONLY);
	high = fcntl(secret, F_DUPFD, 500);
	CHECK(high >= 500);
	source.roles[WORKER_CANDIDATE].tree_fd = low;
	fds = jails_count_fds(getpid());
	judge_with(check_descriptors);
	check_infra("the judge died before its verdict");
}

TEST(a_judge_ends_with_proctor)
{
	struct process proctor = PROCESS_INIT;
	int64_t deadline;
	pid_t judge_pid = -1;

	prepare();
	if (process_fork(&proctor, &err) == 0)
		_exit(judging_run(&what, result, &samples, &err) < 0);
	deadline = clock_after_ms(5000);
	while (jails_children(proctor.pid, &judge_pid) == 0)
		CHECK(clock_now() < deadline);
	/* It has asked, so it is past its beginning. */
	CHECK_INT(poll(&(struct pollfd){ .fd = keeper_fds[0], .events = POLLIN }, 1, 5000), 1);
	process_kill(&proctor);
	while (kill(judge_pid, 0) == 0 && clock_now() < deadline)
		poll(NULL, 0, 5);
	CHECK(kill(judge_pid, 0) < 0);
	task_done(&task);
	mem_free(&result);
}

TEST(a_key_that_is_refused_is_infra_and_the_reason_is_told)
{
	prepare();
	close(keeper_fds[0]);
	close(keeper_fds[1]);
	runs_prepare(&runs, NULL);
	runs_add(&runs, "#!/bin/sh\n");
	runs_open(&runs);
	CHECK_OK(keeper_bind(&runs.run.keeper, RUNS_TASK, 1, &what.keeper_fd, &err));
	CHECK_OK(judging_run(&what, result, &samples, &err));
	check_infra("the keeper refuses the key: not frozen");
	fd_close(&what.keeper_fd);
	samples_done(&samples);
	task_done(&task);
	runs_end(&runs);
}

/* Kills the first jail that runs once the judge is at work. */
static void kill_first_jail(struct runs *its_runs, pid_t test)
{
	pid_t monitor;

	(void) test;
	while ((monitor = jails_running(its_runs->jails.launcher.process.pid)) == 0)
		;
	CHECK_INT(kill(monitor, SIGKILL), 0);
}

TEST(a_worker_that_is_lost_is_infra_and_never_the_candidates)
{
	struct process killer;
	struct record record;

	runs_prepare(&runs, NULL);
	runs_add(&runs, "#!/bin/sh\n");
	runs_open(&runs);
	killer = runs_later(&runs, JOURNAL_FILE, "\"state\":\"JUDGED\"", kill_first_jail);
	record = runs_carry_out(&runs);
	runs_acted(&killer);
	CHECK(record.infra);
	check_note("%s", record.infra);
	CHECK(strncmp(record.infra, "judge: ", 7) == 0);
	/* Before or in its first call. */
	CHECK(!record.seen.kind || strcmp(record.seen.kind, "INFRA") == 0);
	CHECK(!record_is_marked(&record));
	runs_end(&runs);
}
