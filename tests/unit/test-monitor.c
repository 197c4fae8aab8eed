/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/monitor.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/message.h"
#include "tests/lib/check.h"
#include "tests/lib/jails.h"
#include "tests/lib/tree.h"

/* What a monitor does with its client's words; limits and kills are in test-jail.c. */

static struct jails jails;
static struct jails_held held;
static struct jail_spec spec;
static struct event event;
static struct err err;

static void open_jail(const char *script)
{
	jails_start(&jails);
	jails_spec(&spec, script);
	jails_open(&jails, &spec, NULL, &held);
}

static void check_last(enum ending ending)
{
	CHECK_OK(wire_next(held.jail_fd, &event, NULL, &err));
	CHECK_INT(event.kind, EVENT_ENDED);
	CHECK_STR(names_text(ending_names, (int) event.result.ending),
		  names_text(ending_names, ending));
	CHECK(jails_is_gone(&held, 0));
	/* Nothing follows. */
	CHECK_OK(wire_next(held.jail_fd, &event, NULL, &err));
	CHECK_INT(event.kind, EVENT_LOST);
	jails_close(&held);
}

TEST(a_wish_to_stop_asks_first_and_kills_after_the_grace)
{
	jails_start(&jails);
	jails_spec(&spec, "trap '' TERM; sleep 20 & wait; sleep 20");
	spec.time.grace_ms = 400;
	jails_open(&jails, &spec, NULL, &held);
	for (int64_t deadline = clock_after_ms(5000); jails_children(held.payload, NULL) == 0;)
		CHECK(clock_now() < deadline); /* it has not come to its trap yet */
	CHECK_OK(wire_end(held.jail_fd, ENDING_STOPPED, &err));
	CHECK(!jails_processes_are_gone(&held, 150));
	check_last(ENDING_STOPPED);
	CHECK(event.kind == EVENT_LOST);
	jails_end(&jails);
}

TEST(a_wish_that_is_granted_before_the_grace_is_over_does_not_wait_for_it)
{
	int64_t begun;

	jails_start(&jails);
	jails_spec(&spec, "exec sleep 20");
	spec.time.grace_ms = 15 * 1000;
	jails_open(&jails, &spec, NULL, &held);
	begun = clock_now();
	CHECK_OK(wire_end(held.jail_fd, ENDING_STOPPED, &err));
	check_last(ENDING_STOPPED);
	CHECK(clock_now() - begun < 10 * NS_PER_S);
	jails_end(&jails);
}

TEST(too_much_output_is_no_reason_to_wait)
{
	jails_start(&jails);
	jails_spec(&spec, "trap '' TERM; sleep 20 & wait; sleep 20");
	spec.time.grace_ms = 15 * 1000;
	jails_open(&jails, &spec, NULL, &held);
	CHECK_OK(wire_end(held.jail_fd, ENDING_OUTPUT, &err));
	check_last(ENDING_OUTPUT);
	jails_end(&jails);
}

TEST(the_first_wish_counts)
{
	open_jail("sleep 20");
	CHECK_OK(wire_end(held.jail_fd, ENDING_OUTPUT, &err));
	CHECK_OK(wire_end(held.jail_fd, ENDING_STOPPED, &err));
	check_last(ENDING_OUTPUT);
	jails_end(&jails);
}

TEST(a_client_that_talks_nonsense_loses_its_jail)
{
	static const struct {
		const char *bytes;
		size_t len;
	} rows[] = { { "?", 1 }, { "nonsense", 8 }, { "0123456789abcdef", 16 } };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		open_jail("trap '' TERM; sleep 20");
		CHECK_OK(message_send(held.jail_fd, rows[i].bytes, rows[i].len, NULL, &err));
		check_last(ENDING_STOPPED);
		jails_end(&jails);
	}
}

TEST(a_client_can_not_wish_for_an_ending_that_is_not_its_own)
{
	open_jail("sleep 20");
	CHECK_OK(wire_end(held.jail_fd, ENDING_OOM, &err));
	check_last(ENDING_STOPPED);
	jails_end(&jails);
}

TEST(a_client_that_closes_its_end_while_the_jail_is_asked_to_stop_waits_for_no_grace)
{
	jails_start(&jails);
	jails_spec(&spec, "trap '' TERM; sleep 20 & wait; sleep 20");
	spec.time.grace_ms = 15 * 1000;
	jails_open(&jails, &spec, NULL, &held);
	CHECK_OK(wire_end(held.jail_fd, ENDING_STOPPED, &err));
	jails_close(&held);
	CHECK(jails_is_gone(&held, 2000));
	jails_end(&jails);
}

TEST(a_client_that_reads_nothing_holds_nothing_up)
{
	open_jail("sleep 0.3");
	CHECK(jails_is_gone(&held, 5000));
	check_last(ENDING_EXITED);
	jails_end(&jails);
}

TEST(only_a_freezable_jail_comes_with_the_means_to_freeze_it)
{
	char text[64];

	open_jail("sleep 20");
	CHECK(held.fds.pid_fd >= 0);
	CHECK_INT(held.fds.freeze_fd, -1);
	CHECK_INT(held.fds.events_fd, -1);
	jails_close(&held);
	jails_spec(&spec, "sleep 20");
	spec.freezable = 1;
	jails_open(&jails, &spec, NULL, &held);
	CHECK_INT(fcntl(held.fds.freeze_fd, F_GETFL) & O_ACCMODE, O_WRONLY);
	CHECK_INT(fcntl(held.fds.events_fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	CHECK(pread(held.fds.freeze_fd, text, sizeof(text), 0) < 0);
	jails_close(&held);
	jails_end(&jails);
}

TEST(the_monitor_keeps_off_the_cpus_of_its_jail)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) < 2)
		SKIP("needs two CPUs");
	jails_start(&jails);
	jails_spec(&spec, "sleep 20");
	snprintf(spec.cgroup.cpus, sizeof(spec.cgroup.cpus), "1");
	jails_open(&jails, &spec, NULL, &held);
	for (int64_t deadline = clock_after_ms(2000);;) {
		CHECK(sched_getaffinity(held.monitor, sizeof(cpus), &cpus) == 0);
		if (!CPU_ISSET(1, &cpus))
			break;
		CHECK(clock_now() < deadline);
	}
	CHECK(sched_getaffinity(held.payload, sizeof(cpus), &cpus) == 0);
	CHECK(CPU_ISSET(1, &cpus));
	CHECK_INT(CPU_COUNT(&cpus), 1);
	jails_close(&held);
	jails_end(&jails);
}

/* --- collecting --- */

static int collect(const char *script, struct jail_result *result)
{
	const struct jail_io io = { .folder_fd = -1, .output_max = MIB, .stop_fd = -1 };
	struct jail_outcome outcome;
	int archive = tree_empty_fd();
	struct spec_fds fds;

	jails_spec(&spec, script);
	spec.collect.wanted = 1;
	spec.collect.wall_ms = 10 * 1000;
	spec.collect.limits = STREAM_LIMITS_DEFAULT;
	spec_fds_init(&fds);
	fds.fd[SPEC_FD_COLLECT] = archive;
	CHECK_OK(jail_run(jails.launcher.socket_fd, &spec, &fds, &io, &outcome, &err));
	if (outcome.last.kind != EVENT_ENDED)
		check_fail(__FILE__, __LINE__, "%s", outcome.last.err.text);
	*result = outcome.last.result;
	return archive;
}

TEST(what_is_collected_is_what_stood_there_when_the_last_process_had_ended)
{
	struct jail_result result;
	auto_fd archive = -1;

	jails_start(&jails);
	archive = collect("(while :; do echo x >>grows; done) & "
			  "(exec 3>kept; while :; do echo y >&3; done) & sleep 0.2; echo 1 >a; "
			  "rm -f grows; exit 5",
			  &result);
	CHECK_INT(result.collected, 1);
	CHECK_INT(result.code, 5);
	fd_close(&archive);
	archive = collect("mkdir d; echo 1 >d/f; ln -s d l; chmod 000 d", &result);
	CHECK_INT(result.collected, 1);
	CHECK_TREE(archive, "\nd d\nf d/f=1\n\nr l symlink 0");
	fd_close(&archive);
	archive = collect("echo 1 >a; kill -9 $$", &result);
	CHECK_INT(result.ending, ENDING_SIGNALED);
	CHECK_TREE(archive, "\nf a=1\n");
	fd_close(&archive);
	jails_end(&jails);
}

TEST(a_workspace_is_not_collected_where_nobody_asks)
{
	struct jail_outcome outcome;

	jails_start(&jails);
	jails_spec(&spec, "echo 1 >a");
	outcome = jails_run(&jails, &spec, "a", MIB);
	CHECK_INT(outcome.last.result.collected, 0);
	jails_end(&jails);
}

TEST(a_collection_that_takes_too_long_is_told_and_leaves_nothing)
{
	const struct jail_io io = { .folder_fd = -1, .output_max = MIB, .stop_fd = -1 };
	struct jail_outcome outcome;
	struct spec_fds fds;
	int pair[2];

	jails_start(&jails);
	jails_spec(&spec, "head -c 500000 /dev/urandom >a");
	spec.collect.wanted = 1;
	spec.collect.wall_ms = 300;
	spec.collect.limits = STREAM_LIMITS_DEFAULT;
	CHECK(pipe2(pair, O_CLOEXEC) == 0); /* nobody reads it */
	spec_fds_init(&fds);
	fds.fd[SPEC_FD_COLLECT] = pair[1];
	CHECK_OK(jail_run(jails.launcher.socket_fd, &spec, &fds, &io, &outcome, &err));
	CHECK_INT(outcome.last.kind, EVENT_FAILED);
	CHECK_STR(outcome.last.err.text,
		  "collect the workspace: jail 'test': start: it was not ready "
		  "after 300 ms");
	close(pair[0]);
	close(pair[1]);
	jails_end(&jails);
}
