/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/sentry.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "harness/judge/raw_clock.h"
#include "tests/lib/check.h"

enum { CPU = 1 };

static void run_on(int cpu)
{
	cpu_set_t only;

	CPU_ZERO(&only);
	CPU_SET(cpu, &only);
	if (sched_setaffinity(0, sizeof(only), &only) < 0)
		SKIP("needs CPU %d", cpu);
}

static struct sentry started(void)
{
	struct sentry sentry = SENTRY_INIT;
	struct err err = ERR_INIT;

	run_on(CPU);
	run_on(0);
	CHECK_OK(sentry_start(&sentry, CPU, &err));
	return sentry;
}

static void wait_watched(struct sentry *sentry)
{
	int64_t until = raw_clock_ns() + NS_PER_S;

	while (!sentry_watch(sentry))
		CHECK(raw_clock_ns() < until);
}

TEST(a_handover_is_seen_and_lies_between_release_and_answer)
{
	struct sentry sentry = started();
	int pipe_fds[2];
	pid_t pid;
	int seen = 0;

	CHECK(pipe(pipe_fds) == 0);
	pid = fork();
	if (pid == 0) {
		run_on(CPU);
		for (;;)
			raise(SIGSTOP);
	}
	for (int i = 0; i < 20; i++) {
		int64_t released, at = 0, until;

		usleep(2000);
		sentry_post(&sentry);
		wait_watched(&sentry);
		released = raw_clock_ns();
		kill(pid, SIGCONT);
		until = released + 20 * NS_PER_MS;
		while (!sentry_handover(&sentry, &at) && raw_clock_ns() < until)
			spin_pause();
		seen += at >= released - 20 * NS_PER_MS && at <= raw_clock_ns() && at != 0;
	}
	kill(pid, SIGKILL);
	CHECK(seen >= 18);
	sentry_done(&sentry);
}

/* Interrupts make gaps as well; most of the time there is none. */
TEST(without_a_handover_none_is_seen)
{
	struct sentry sentry = started();
	int quiet = 0;

	for (int i = 0; i < 20; i++) {
		int64_t at;

		sentry_post(&sentry);
		wait_watched(&sentry);
		quiet += !sentry_handover(&sentry, &at);
	}
	CHECK(quiet > 10);
	sentry_done(&sentry);
}

TEST(a_sentry_that_has_not_been_posted_sees_nothing)
{
	struct sentry sentry = started();
	int64_t at;

	CHECK(!sentry_handover(&sentry, &at) || sentry.round == 0);
	sentry_done(&sentry);
	sentry_done(&sentry);
}

TEST(a_cpu_that_is_not_there_is_an_error)
{
	struct sentry sentry = SENTRY_INIT;
	struct err err = ERR_INIT;

	CHECK_INT(sentry_start(&sentry, CPU_SETSIZE, &err), -1);
	CHECK_STR(err.text, "there is no CPU 1024");
	CHECK_INT(sentry.process.pid_fd, -1);
}
