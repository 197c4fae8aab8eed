/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/message.h"
#include "tests/lib/check.h"
#include "tests/lib/jails.h"

/*
 * What becomes of a request, by way of the real launcher; who may have what is in test-serve.c, and
 * what accounts that are not root may try in e2e/44-service.
 */
static struct jails jails;
static struct jail_spec spec;
static struct err err;

/* Asks without having the answer checked by us. Return: the jail's socket. */
static int ask(int stdout_fd)
{
	auto_fd null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct spec_fds fds;
	int fd;

	spec_fds_init(&fds);
	fds.fd[SPEC_FD_STDOUT] = stdout_fd >= 0 ? stdout_fd : null;
	fds.fd[SPEC_FD_STDERR] = null;
	fd = wire_request(jails.launcher.socket_fd, &spec, &fds, &err);
	CHECK_OK(fd);
	return fd;
}

static void check_refused(int fd, const char *part)
{
	struct event event;

	CHECK_OK(wire_next(fd, &event, NULL, &err));
	CHECK_INT(event.kind, EVENT_FAILED);
	if (!strstr(event.err.text, part))
		check_fail(__FILE__, __LINE__, "'%s' lacks '%s'", event.err.text, part);
	CHECK_OK(wire_next(fd, &event, NULL, &err));
	CHECK_INT(event.kind, EVENT_LOST); /* nothing follows */
	close(fd);
}

static void check_serves_on(void)
{
	struct jail_outcome outcome;

	jails_spec(&spec, "exit 5");
	outcome = jails_run(&jails, &spec, "next", MIB);
	CHECK_INT(outcome.last.result.code, 5);
}

TEST(who_asks_for_what_is_not_listed_is_told_over_the_jails_own_socket)
{
	jails_start(&jails);
	jails_spec(&spec, "exit 0");
	spec.device_count = 1;
	snprintf(spec.devices[0].name, sizeof(spec.devices[0].name), "gpu0");
	check_refused(ask(-1), "jail 'test': there is no device 'gpu0' for jails on this host");
	check_serves_on();
	jails_end(&jails);
}

TEST(a_descriptor_of_another_kind_is_refused_by_the_child_that_took_it)
{
	auto_fd folder = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	jails_start(&jails);
	jails_spec(&spec, "exit 0");
	check_refused(ask(folder), "descriptor 1 of the request, the output, is not a pipe");
	check_serves_on();
	jails_end(&jails);
}

TEST(requests_that_come_at_once_are_taken_one_by_one_with_their_own_descriptors)
{
	int sockets[4], pipes[4][2];

	jails_start(&jails);
	for (int i = 0; i < 4; i++) {
		char script[32];

		CHECK(pipe2(pipes[i], O_CLOEXEC) == 0);
		snprintf(script, sizeof(script), "echo %d", i);
		jails_spec(&spec, script);
		sockets[i] = ask(pipes[i][1]);
		close(pipes[i][1]);
	}
	for (int i = 0; i < 4; i++) {
		struct event event;
		char byte = 0;

		do
			CHECK_OK(wire_next(sockets[i], &event, NULL, &err));
		while (event.kind == EVENT_STARTED);
		CHECK_INT(event.kind, EVENT_ENDED);
		CHECK_INT(read(pipes[i][0], &byte, 1), 1);
		CHECK_INT(byte, '0' + i);
		close(sockets[i]);
		close(pipes[i][0]);
	}
	check_serves_on();
	jails_end(&jails);
}

/* A private client has the same kinds of refusal, and no child of a refusal stays. */
TEST(refusals_leave_no_child_and_no_descriptor)
{
	int fds;

	jails_start(&jails);
	fds = jails_count_fds(jails.launcher.process.pid);
	for (int i = 0; i < 20; i++) {
		jails_spec(&spec, "exit 0");
		spec.device_count = 1;
		snprintf(spec.devices[0].name, sizeof(spec.devices[0].name), "x");
		check_refused(ask(-1), "there is no device 'x'");
	}
	for (int64_t deadline = clock_after_ms(5000);
	     jails_children(jails.launcher.process.pid, NULL) > 0 ||
	     jails_count_fds(jails.launcher.process.pid) != fds;)
		CHECK(clock_now() < deadline);
	jails_end(&jails);
}

/* -- the spare -- */

enum { GONE_MS = 5000 };

static void check_ends(const char *script, enum ending ending, uint32_t flags)
{
	struct jail_outcome outcome;

	jails_spec(&spec, script);
	spec.cgroup.pids = 8;
	outcome = jails_run(&jails, &spec, "it", MIB);
	CHECK_STR(outcome.last.err.text, "");
	CHECK_STR(names_text(ending_names, (int) outcome.last.result.ending),
		  names_text(ending_names, ending));
	CHECK_INT(outcome.last.result.flags, flags);
	CHECK_INT(unlinkat(check_folder(), "it.stdout", 0), 0);
	CHECK_INT(unlinkat(check_folder(), "it.stderr", 0), 0);
}

/* After two jails of a client. Return: its pid; *init: that of the pid 1 that it has made. */
static pid_t await_spare(pid_t *init)
{
	int64_t deadline = clock_after_ms(GONE_MS);
	pid_t spare = 0;

	*init = 0;
	while (jails_children(jails.launcher.process.pid, &spare) != 1 ||
	       (*init = jails_child(spare, "proctor-init")) == 0)
		CHECK(clock_now() < deadline);
	return spare;
}

static void await_end(pid_t pid)
{
	for (int64_t deadline = clock_after_ms(GONE_MS); kill(pid, 0) == 0 || errno != ESRCH;)
		CHECK(clock_now() < deadline);
}

TEST(the_third_jail_of_a_client_was_prepared_before_it_was_asked_for)
{
	struct jails_held held;
	pid_t spare, init;

	jails_start(&jails);
	check_ends("exit 0", ENDING_EXITED, 0);
	/* One jail may be all that it wants. */
	for (int64_t deadline = clock_after_ms(GONE_MS);
	     jails_children(jails.launcher.process.pid, NULL) > 0;)
		CHECK(clock_now() < deadline);
	check_ends("exit 0", ENDING_EXITED, 0);
	spare = await_spare(&init);
	jails_spec(&spec, "sleep 20");
	jails_open(&jails, &spec, NULL, &held);
	CHECK_INT(held.monitor, spare);
	CHECK_INT(held.init, init);
	jails_close(&held);
	CHECK(jails_is_gone(&held, GONE_MS));
	jails_end(&jails);
}

TEST(a_jail_that_was_prepared_is_like_any_other)
{
	pid_t init;

	jails_start(&jails);
	check_ends("exit 0", ENDING_EXITED, 0);
	for (int round = 0; round < 2; round++) {
		check_ends("i=0; while [ $i -lt 20 ]; do sleep 0.2 & i=$((i+1)); done 2>/dev/null; "
			   "exit 0",
			   ENDING_EXITED, JAIL_PIDS_HIT);
		await_spare(&init);
		check_ends("x=$(head -c 300000000 /dev/zero | tr '\\0' x); sleep 20", ENDING_OOM,
			   0);
		await_spare(&init);
		check_ends("head -c 3000000 /dev/zero >/work/big 2>/dev/null; exit 0",
			   ENDING_EXITED, JAIL_DISK_FULL);
		await_spare(&init);
		check_ends("kill -9 $$", ENDING_SIGNALED, 0);
	}
	jails_end(&jails);
}

TEST(a_spare_that_was_killed_is_no_loss)
{
	pid_t spare, init;

	jails_start(&jails);
	check_ends("exit 0", ENDING_EXITED, 0);
	check_ends("exit 0", ENDING_EXITED, 0);
	spare = await_spare(&init);
	CHECK_INT(kill(spare, SIGKILL), 0);
	await_end(init);
	check_serves_on();
	jails_end(&jails);
}

TEST(a_spare_whose_pid_1_was_killed_is_no_loss)
{
	pid_t spare, init;

	jails_start(&jails);
	check_ends("exit 0", ENDING_EXITED, 0);
	check_ends("exit 0", ENDING_EXITED, 0);
	spare = await_spare(&init);
	CHECK_INT(kill(init, SIGKILL), 0);
	await_end(init);
	check_serves_on();
	await_end(spare);
	jails_end(&jails);
}

TEST(a_spare_that_does_not_take_its_order_is_no_loss)
{
	pid_t spare, init;

	jails_start(&jails);
	check_ends("exit 0", ENDING_EXITED, 0);
	check_ends("exit 0", ENDING_EXITED, 0);
	spare = await_spare(&init);
	CHECK_INT(kill(spare, SIGSTOP), 0);
	check_serves_on();
	await_end(spare);
	await_end(init);
	check_ends("exit 0", ENDING_EXITED, 0);
	jails_end(&jails);
}

TEST(a_killed_launcher_takes_its_spare_along)
{
	pid_t spare, init;

	jails_start(&jails);
	check_ends("exit 0", ENDING_EXITED, 0);
	check_ends("exit 0", ENDING_EXITED, 0);
	spare = await_spare(&init);
	CHECK_INT(kill(jails.launcher.process.pid, SIGKILL), 0);
	await_end(init);
	await_end(spare);
	launcher_done(&jails.launcher);
}
