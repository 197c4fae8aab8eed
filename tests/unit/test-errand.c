/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
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
