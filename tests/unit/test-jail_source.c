/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/jail_source.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/evidence/tree.h"
#include "harness/judge/problems.h"
#include "harness/run/compose.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"
#include "tests/lib/jails.h"
#include "tests/lib/judge_cases.h"
#include "tests/lib/tree.h"

enum { GONE_MS = 2000 };

static const uint8_t key[INPUTS_KEY] = { 9 };

static struct jails jails;
static struct jail_spec spec, oracle_spec;
static struct jail_source source;
static struct worker_source workers;
static struct worker_fds passed;
static struct err err;
static int null_fd = -1;

/* A source whose candidate is a script; whatever it gets as 3, 4 and 5 is /dev/null. */
static void open_source(const char *script)
{
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	CHECK(null_fd >= 0);
	jails_start(&jails);
	jails_spec(&spec, script);
	spec.time.grace_ms = 0;
	spec.freezable = 1;
	spec.pass_count = 3;
	jail_source_init(&source);
	source.launcher_fd = jails.launcher.socket_fd;
	source.null_fd = null_fd;
	source.roles[WORKER_CANDIDATE].spec = &spec;
	passed = (struct worker_fds){ null_fd, null_fd, null_fd };
	workers = jail_source_workers(&source);
}

static int start(struct worker *worker)
{
	return workers.start(&source, WORKER_CANDIDATE, &passed, worker, &err);
}

/* A started candidate, and where it is. */
static struct worker start_found(struct jails_held *held)
{
	struct worker worker = WORKER_INIT;
	pid_t pid = jails.launcher.process.pid;

	CHECK_OK(start(&worker));
	for (int level = 0; level < 3; level++)
		CHECK_INT(jails_children(pid, &pid), 1);
	jails_find(pid, held);
	return worker;
}

static void wait_for_end(const struct worker *worker)
{
	struct pollfd ended = { .fd = worker->pid_fd, .events = POLLIN };

	CHECK_INT(poll(&ended, 1, 10 * 1000), 1);
}

static void close_source(void)
{
	jail_source_done(&source);
	jails_end(&jails);
}

TEST(a_held_worker_uses_no_cpu_time_and_a_released_one_goes_on)
{
	struct jails_held held;
	struct worker worker;
	int64_t used;

	open_source("while :; do :; done");
	worker = start_found(&held);
	for (int round = 0; round < 5; round++) {
		int64_t deadline = clock_after_ms(10 * 1000);

		CHECK_INT(workers.hold(&source, &worker, &err), 0);
		poll(NULL, 0, 5); /* it is in the kernel, and on its way to sleep */
		used = jails_cpu_ns(held.payload);
		poll(NULL, 0, 30);
		CHECK_INT(jails_cpu_ns(held.payload), used);
		workers.release(&source, &worker);
		while (jails_cpu_ns(held.payload) == used)
			CHECK(clock_now() < deadline);
	}
	close_source();
	CHECK(jails_is_gone(&held, GONE_MS));
}

TEST(what_a_worker_has_started_is_held_with_it)
{
	struct jails_held held;
	struct worker worker;
	pid_t child = -1;
	int64_t used;

	open_source("(setsid sh -c 'while :; do :; done') & wait");
	worker = start_found(&held);
	for (int64_t deadline = clock_after_ms(10 * 1000);
	     jails_children(held.payload, &child) == 0 || jails_cpu_ns(child) < 5 * NS_PER_MS;)
		CHECK(clock_now() < deadline);
	/* The grandchild is what spins, once setsid has executed it in the child's place. */
	jails_children(child, &child);
	CHECK_INT(workers.hold(&source, &worker, &err), 0);
	poll(NULL, 0, 5);
	used = jails_cpu_ns(child);
	poll(NULL, 0, 30);
	CHECK_INT(jails_cpu_ns(child), used);
	close_source();
	CHECK(jails_is_gone(&held, GONE_MS));
}

TEST(a_held_worker_is_stopped_without_running_again)
{
	struct worker_end end;
	struct jails_held held;
	struct worker worker;

	open_source("while :; do :; done");
	worker = start_found(&held);
	CHECK_INT(workers.hold(&source, &worker, &err), 0);
	CHECK_OK(workers.stop(&source, &worker, &end, &err));
	CHECK_INT(end.ending, WORKER_STOPPED);
	CHECK_INT(worker.pid_fd, -1);
	CHECK(jails_is_gone(&held, 0));
	close_source();
}

TEST(a_worker_that_has_ended_is_held_and_says_how_when_it_is_stopped)
{
	static const struct {
		const char *script;
		struct worker_end end;
	} rows[] = {
		{ "exit 3", { WORKER_EXITED, 3 } },
		{ "kill -SEGV $$", { WORKER_SIGNALED, SIGSEGV } },
		{ "x=$(head -c 300000000 /dev/zero | tr '\\0' x)", { WORKER_OOM, 0 } },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct worker worker = WORKER_INIT;
		struct worker_end end;

		open_source(rows[i].script);
		CHECK_OK(start(&worker));
		wait_for_end(&worker);
		/* Held as well, and not released: its pid 1 is frozen. */
		CHECK_INT(workers.hold(&source, &worker, &err), 0);
		CHECK_OK(workers.stop(&source, &worker, &end, &err));
		CHECK_INT(end.ending, rows[i].end.ending);
		CHECK_INT(end.code, rows[i].end.code);
		close_source();
		fd_close(&null_fd);
	}
}

TEST(a_limit_that_ends_a_worker_is_the_workers_end_and_not_ours)
{
	struct worker worker = WORKER_INIT;
	struct worker_end end;

	open_source("while :; do :; done");
	spec.time.wall_ms = 200;
	CHECK_OK(start(&worker));
	wait_for_end(&worker);
	CHECK_OK(workers.stop(&source, &worker, &end, &err));
	CHECK_INT(end.ending, WORKER_SIGNALED);
	close_source();
}

TEST(a_worker_that_can_not_start_is_an_error_with_words_and_takes_no_place)
{
	struct worker worker = WORKER_INIT;
	int fds;

	open_source("exit 0");
	spec_init(&spec, "worker");
	spec.freezable = 1;
	CHECK_OK(spec_add_arg(&spec, "/nonexistent", &err));
	fds = jails_count_fds(getpid());
	for (int i = 0; i <= JAIL_SOURCE_SLOTS; i++) {
		CHECK_INT(start(&worker), -1);
		CHECK_STR(err.text, "worker: jail 'worker': start: execute '/nonexistent': No such "
				    "file or directory");
	}
	CHECK_INT(worker.pid_fd, -1);
	CHECK_INT(jails_count_fds(getpid()), fds);
	close_source();
}

TEST(only_a_jail_that_can_be_frozen_makes_a_worker)
{
	struct worker worker = WORKER_INIT;

	open_source("sleep 20");
	spec.freezable = 0;
	CHECK_INT(start(&worker), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK_STR(err.text, "a worker's jail can not be frozen");
	close_source();
}

TEST(one_worker_too_many_is_refused_and_the_others_are_ended_when_we_are_done)
{
	struct worker worker[JAIL_SOURCE_SLOTS + 1];
	struct worker_end end;

	open_source("sleep 20");
	for (int i = 0; i < JAIL_SOURCE_SLOTS; i++)
		CHECK_OK(start(&worker[i]));
	CHECK_INT(start(&worker[JAIL_SOURCE_SLOTS]), -1);
	CHECK_STR(err.text, "too many workers at once");
	CHECK_OK(workers.stop(&source, &worker[1], &end, &err));
	CHECK_OK(start(&worker[1]));
	close_source();
}

TEST(a_launcher_that_is_gone_is_the_hosts_failure)
{
	struct worker worker = WORKER_INIT;

	open_source("sleep 20");
	process_kill(&jails.launcher.process);
	CHECK_INT(start(&worker), -1);
	CHECK(strstr(err.text, "ask the launcher for jail 'test': "));
	jail_source_done(&source);
	launcher_done(&jails.launcher);
}

TEST(a_killed_monitor_is_no_end_of_the_workers_own)
{
	struct worker_end end = { .code = 77 };
	struct jails_held held;
	struct worker worker;

	open_source("while :; do :; done");
	worker = start_found(&held);
	CHECK_INT(workers.hold(&source, &worker, &err), 0);
	CHECK_INT(kill(held.monitor, SIGKILL), 0);
	CHECK_INT(workers.stop(&source, &worker, &end, &err), -1);
	CHECK_STR(err.text, "worker: the launcher has gone without a word");
	CHECK_INT(end.code, 77);
	/* Frozen, pid 1 can not see that it has to end: the launcher ends it. */
	close_source();
	CHECK(jails_is_gone(&held, GONE_MS));
}

/* --- the real worker program --- */

static int pack_kernels(void)
{
	cleanup(str_done) struct str library = STR_INIT;
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	int folder = tree_scratch(), tree = tree_empty_fd();
	struct stream_counts counts;
	auto_fd file = open(KERNELS, O_RDONLY | O_CLOEXEC), copy = -1;

	CHECK(file >= 0);
	CHECK_OK(io_read_fd(file, STR_MAX - 1, KERNELS, &library, &err));
	copy = openat(folder, "kernels.so", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	CHECK(copy >= 0);
	CHECK_OK(io_write_all(copy, library.text, library.len, "a copy", &err));
	CHECK_OK(tree_pack(folder, &limits, tree, &counts, &err));
	return tree;
}

TEST(the_oracle_answers_from_its_jail)
{
	static struct marking_plan plan;
	struct problems problems = PROBLEMS_INIT;
	struct buffers buffers = BUFFERS_INIT;
	struct caliper_reading reading;
	struct caliper oracle = CALIPER_INIT;
	struct sentry sentry = SENTRY_INIT;
	const bool live[MARKING_CASES_MAX] = { true };
	struct policy policy = policy_default();
	struct worker_end end;
	struct mark failed;
	int tree = pack_kernels();

	open_source("");
	if (!judge_has_cpus())
		SKIP("needs CPUs 0 and 1");
	CHECK_OK(compose_worker(&policy, "kernels.so", "softmax_oracle", 1, &oracle_spec, &err));
	source.roles[WORKER_ORACLE] = (struct jail_role){ .spec = &oracle_spec, .tree_fd = tree };
	source.program_fd = jails_worker_program();
	judge_plan(&plan);
	judge_add_softmax(&plan, 4, 33, false);
	CHECK_OK(problems_create(&problems, &plan, key, &err));
	CHECK_OK(buffers_create(&buffers, problems.oracle_inputs_span, problems.oracle_outputs_span,
				&err));
	CHECK_OK(sentry_start(&sentry, 1, &err));
	caliper_init(&oracle, &workers, &buffers, &sentry);
	for (int round = 0; round < 2; round++) { /* the stream of its tree is read twice */
		CHECK_OK(caliper_open(&oracle, WORKER_ORACLE, &reading, &err));
		CHECK_INT(reading.end, CALIPER_DONE);
		CHECK_INT(reading.status, PROTOCOL_OK);
		CHECK_OK(problems_draw(&problems, &oracle, live, &failed, &err));
		CHECK_INT(failed.kind, MARK_NONE);
		CHECK_OK(caliper_close(&oracle, &end, &err));
		CHECK_INT(end.ending, WORKER_STOPPED);
	}
	caliper_done(&oracle);
	sentry_done(&sentry);
	buffers_done(&buffers);
	problems_done(&problems);
	jail_source_done(&source);
}
