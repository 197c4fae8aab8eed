/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/jail.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "tests/lib/check.h"
#include "tests/lib/jails.h"

/* Also of sandbox/jail.c: whatever ends a jail, nothing of it is left. */

static struct jails jails;
static struct jail_spec spec;
static struct err err;

static void check_ending(const struct jail_outcome *outcome, enum ending ending, int code)
{
	if (outcome->last.kind != EVENT_ENDED)
		check_fail(__FILE__, __LINE__, "event %u: %s", outcome->last.kind,
			   outcome->last.err.text);
	CHECK_STR(names_text(ending_names, (int) outcome->last.result.ending),
		  names_text(ending_names, (int) ending));
	CHECK_INT(outcome->last.result.code, code);
}

static int64_t size_of(const char *name)
{
	struct stat info;

	CHECK(fstatat(check_folder(), name, &info, 0) == 0);
	return info.st_size;
}

TEST(the_exit_code_passes_and_both_outputs_are_kept_apart)
{
	struct jail_outcome outcome;

	jails_start(&jails);
	jails_spec(&spec, "echo out; echo error >&2; exit 37");
	outcome = jails_run(&jails, &spec, "a", MIB);
	check_ending(&outcome, ENDING_EXITED, 37);
	CHECK_INT(outcome.last.result.flags, 0);
	CHECK_INT(outcome.stdout_bytes, 4);
	CHECK_INT(outcome.stderr_bytes, 6);
	CHECK_STR(jails_text("a.stdout"), "out\n");
	CHECK_STR(jails_text("a.stderr"), "error\n");
	CHECK(outcome.last.result.wall_ns > 0);
	jails_end(&jails);
}

TEST(a_signal_is_told_by_its_number)
{
	struct jail_outcome outcome;

	jails_start(&jails);
	jails_spec(&spec, "kill -SEGV $$");
	outcome = jails_run(&jails, &spec, "a", MIB);
	check_ending(&outcome, ENDING_SIGNALED, SIGSEGV);
	jails_end(&jails);
}

TEST(a_program_that_is_not_there_and_one_that_is_none_are_told_apart)
{
	struct jail_outcome outcome;

	jails_start(&jails);
	spec_init(&spec, "test");
	CHECK_OK(spec_add_arg(&spec, "/nonexistent", &err));
	outcome = jails_run(&jails, &spec, "a", MIB);
	CHECK_INT(outcome.last.kind, EVENT_NOT_FOUND);
	CHECK_INT(outcome.last.err.kind, ERR_INPUT);
	CHECK_STR(outcome.last.err.text,
		  "jail 'test': start: execute '/nonexistent': No such file or directory");
	spec_init(&spec, "test");
	CHECK_OK(spec_add_arg(&spec, "/etc/passwd", &err));
	outcome = jails_run(&jails, &spec, "b", MIB);
	CHECK_INT(outcome.last.kind, EVENT_NOT_EXECUTABLE);
	CHECK_STR(outcome.last.err.text,
		  "jail 'test': start: execute '/etc/passwd': Permission denied");
	jails_end(&jails);
}

TEST(the_output_cap_ends_the_jail_and_exactly_the_cap_is_kept)
{
	struct jail_outcome outcome;

	jails_start(&jails);
	jails_spec(&spec, "yes & yes >&2");
	outcome = jails_run(&jails, &spec, "a", 10000);
	check_ending(&outcome, ENDING_OUTPUT, 0);
	CHECK(outcome.stdout_bytes + outcome.stderr_bytes > 10000);
	CHECK_INT(size_of("a.stdout") + size_of("a.stderr"), 10000);
	jails_end(&jails);
}

TEST(output_of_just_the_cap_is_no_offence)
{
	struct jail_outcome outcome;

	jails_start(&jails);
	jails_spec(&spec, "head -c 10000 /dev/zero");
	outcome = jails_run(&jails, &spec, "a", 10000);
	check_ending(&outcome, ENDING_EXITED, 0);
	outcome = jails_run(&jails, &spec, "b", 9999);
	check_ending(&outcome, ENDING_OUTPUT, 0); /* although it has ended by itself */
	CHECK_INT(size_of("b.stdout"), 9999);
	CHECK_INT(outcome.stdout_bytes, 10000);
	jails_end(&jails);
}

TEST(the_wall_limit_ends_what_ignores_the_signal)
{
	struct jail_outcome outcome;

	jails_start(&jails);
	jails_spec(&spec, "trap 'echo asked' TERM; while :; do sleep 0.05; done");
	spec.time.wall_ms = 600;
	spec.time.grace_ms = 300;
	outcome = jails_run(&jails, &spec, "a", MIB);
	check_ending(&outcome, ENDING_TIMEOUT, 0);
	CHECK_STR(jails_text("a.stdout"), "asked\n");
	CHECK(outcome.last.result.wall_ns >= 900 * NS_PER_MS);
	jails_end(&jails);
}

TEST(the_cpu_limit_counts_all_processes)
{
	struct jail_outcome outcome;

	jails_start(&jails);
	jails_spec(&spec, "while :; do :; done & while :; do :; done & wait");
	spec.time.cpu_ms = 300;
	outcome = jails_run(&jails, &spec, "a", MIB);
	check_ending(&outcome, ENDING_CPU, 0);
	CHECK(outcome.last.result.cpu_us >= 300 * 1000);
	jails_end(&jails);
}

TEST(who_neither_computes_nor_prints_is_idle)
{
	struct jail_outcome outcome;

	jails_start(&jails);
	jails_spec(&spec, "sleep 20");
	spec.time.idle_ms = 300;
	outcome = jails_run(&jails, &spec, "a", MIB);
	check_ending(&outcome, ENDING_IDLE, 0);
	CHECK(outcome.last.result.wall_ns >= 300 * NS_PER_MS);
	jails_spec(&spec, "i=0; while [ $i -lt 9 ]; do echo; sleep 0.1; i=$((i+1)); done; exit 3");
	spec.time.idle_ms = 700;
	outcome = jails_run(&jails, &spec, "b", MIB);
	check_ending(&outcome, ENDING_EXITED, 3);
	jails_end(&jails);
}

TEST(a_full_disk_ends_the_jail_where_the_spec_says_so)
{
	struct jail_outcome outcome;

	jails_start(&jails);
	jails_spec(&spec, "head -c 3000000 /dev/zero >/tmp/big 2>/dev/null; sleep 20");
	spec.ends_on_full = 1;
	outcome = jails_run(&jails, &spec, "a", MIB);
	check_ending(&outcome, ENDING_FULL, 0);
	CHECK_INT(outcome.last.result.flags, JAIL_DISK_FULL);
	jails_end(&jails);
}

TEST(the_memory_limit_ends_the_whole_jail)
{
	struct jail_outcome outcome;

	jails_start(&jails);
	/* The hog is a child: what is left would live on if the kernel's choice were all. */
	jails_spec(&spec, "sh -c 'x=$(head -c 300000000 /dev/zero | tr \"\\0\" x)'; sleep 20");
	outcome = jails_run(&jails, &spec, "a", MIB);
	check_ending(&outcome, ENDING_OOM, 0);
	jails_end(&jails);
}

TEST(limits_that_end_nothing_are_flags)
{
	static const struct {
		const char *script;
		uint32_t flags;
	} rows[] = {
		{ "i=0; while [ $i -lt 20 ]; do sleep 0.2 & i=$((i+1)); done 2>/dev/null; exit 0",
		  JAIL_PIDS_HIT },
		{ "head -c 3000000 /dev/zero >/work/big 2>/dev/null; exit 0", JAIL_DISK_FULL },
		{ "head -c 3000000 /dev/zero >/tmp/big 2>/dev/null; exit 0", JAIL_DISK_FULL },
		{ "i=0; while true >/work/f$i; do i=$((i+1)); done 2>/dev/null; exit 0",
		  JAIL_INODES_FULL },
		/* It is free again by the end, and was full for some looks. */
		{ "head -c 3000000 /dev/zero >/work/big 2>/dev/null; sleep 0.3; rm /work/big",
		  JAIL_DISK_FULL },
		{ "exit 0", 0 },
	};

	jails_start(&jails);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct jail_outcome outcome;
		char name[2] = { (char) ('a' + i), '\0' };

		jails_spec(&spec, rows[i].script);
		spec.cgroup.pids = 8;
		outcome = jails_run(&jails, &spec, name, MIB);
		CHECK_INT(outcome.last.result.flags, rows[i].flags);
		/* A shell that can not fork gives up. */
		check_ending(&outcome, ENDING_EXITED, rows[i].flags == JAIL_PIDS_HIT ? 2 : 0);
	}
	jails_end(&jails);
}

TEST(the_operators_wish_ends_it_and_is_told)
{
	auto_fd stop = -1;
	struct jail_outcome outcome;
	struct spec_fds fds;
	struct jail_io io = { .folder_fd = -1, .output_max = MIB };

	jails_start(&jails);
	stop = eventfd(1, EFD_CLOEXEC);
	io.stop_fd = stop;
	jails_spec(&spec, "sleep 20");
	spec_fds_init(&fds);
	CHECK_OK(jail_run(jails.launcher.socket_fd, &spec, &fds, &io, &outcome, &err));
	check_ending(&outcome, ENDING_STOPPED, 0);
	CHECK(outcome.stopped);
	fd_close(&stop);
	jails_end(&jails);
}

TEST(output_files_that_can_not_be_made_are_an_error_and_nothing_is_asked)
{
	const struct jail_io io = {
		.folder_fd = check_folder(), .name = "a", .output_max = MIB, .stop_fd = -1
	};
	struct jail_outcome outcome;
	struct spec_fds fds;

	jails_start(&jails);
	jails_spec(&spec, "exit 0");
	CHECK_INT(mkdirat(check_folder(), "a.stdout", 0755), 0);
	spec_fds_init(&fds);
	CHECK_INT(jail_run(jails.launcher.socket_fd, &spec, &fds, &io, &outcome, &err), -1);
	CHECK(strstr(err.text, "a.stdout"));
	jails_end(&jails);
}

TEST(a_spec_that_makes_no_sense_never_reaches_the_launcher)
{
	const struct jail_io io = { .folder_fd = -1, .output_max = MIB, .stop_fd = -1 };
	struct jail_outcome outcome = { .stdout_bytes = 77 };
	struct spec_fds fds;

	jails_start(&jails);
	jails_spec(&spec, "exit 0");
	spec.cgroup.pids = 3;
	spec_fds_init(&fds);
	CHECK_INT(jail_run(jails.launcher.socket_fd, &spec, &fds, &io, &outcome, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_STR(err.text, "a jail has a memory limit and at least 4 processes, not 3");
	CHECK_INT(outcome.stdout_bytes, 77);
	jails_end(&jails);
}

/* An outcome would say that a jail was lost which never was. */
TEST(without_a_launcher_there_is_an_error_and_no_outcome)
{
	const struct jail_io io = { .folder_fd = -1, .output_max = MIB, .stop_fd = -1 };
	struct jail_outcome outcome = { .stdout_bytes = 77 };
	struct spec_fds fds;

	jails_start(&jails);
	jails_spec(&spec, "exit 0");
	process_kill(&jails.launcher.process);
	spec_fds_init(&fds);
	CHECK_INT(jail_run(jails.launcher.socket_fd, &spec, &fds, &io, &outcome, &err), -1);
	CHECK_INT(err.kind, ERR_SYS);
	CHECK(strstr(err.text, "ask the launcher for jail 'test': "));
	CHECK_INT(outcome.stdout_bytes, 77);
	CHECK_INT(fds.fd[SPEC_FD_STDOUT], -1);
	launcher_done(&jails.launcher);
	CHECK_INT(jails_count_fds(getpid()), jails.fds);
}

/* --- what happens when somebody is killed --- */

enum { GONE_MS = 2000 };

/* A client of its own process, with a jail that would go on for long. */
static struct process start_client(const char *script)
{
	struct process client = PROCESS_INIT;

	jails_spec(&spec, script);
	if (process_fork(&client, &err) == 0) {
		struct jail_outcome outcome = jails_run(&jails, &spec, "client", MIB);

		CHECK_INT(outcome.last.kind, EVENT_LOST);
		CHECK_INT(outcome.last.result.ending, ENDING_LAUNCHER_LOST);
		CHECK_STR(outcome.last.err.text, "the launcher has gone without a word");
		_exit(42);
	}
	CHECK(client.pid_fd >= 0);
	jails_wait_for("client.stdout", "begun");
	return client;
}

/* The jail of the only client: the launcher's child's child's child. */
static struct jails_held find_only(void)
{
	struct jails_held held;
	pid_t pid = jails.launcher.process.pid;

	for (int level = 0; level < 3; level++)
		CHECK_INT(jails_children(pid, &pid), 1);
	jails_find(pid, &held);
	CHECK_INT(held.init, jails_parent(pid));
	return held;
}

TEST(a_killed_client_takes_its_jail_along)
{
	struct jails_held held;
	struct process client;

	jails_start(&jails);
	client = start_client("trap '' TERM; sleep 20 & echo begun; sleep 20");
	held = find_only();
	process_kill(&client);
	CHECK(jails_is_gone(&held, GONE_MS));
	jails_end(&jails);
}

TEST(a_killed_monitor_takes_its_jail_along_and_the_client_hears_it)
{
	struct jails_held held;
	struct process client;
	int status;

	jails_start(&jails);
	client = start_client("trap '' TERM; (trap '' TERM; sleep 20) & echo begun; sleep 20");
	held = find_only();
	CHECK_INT(kill(held.monitor, SIGKILL), 0);
	CHECK(jails_processes_are_gone(&held, GONE_MS));
	CHECK_INT(process_wait(&client, clock_after_ms(GONE_MS), &status, &err), 1);
	CHECK_INT(WEXITSTATUS(status), 42);
	CHECK(jails_is_gone(&held, GONE_MS)); /* the launcher has cleaned up behind its child */
	jails_end(&jails);
}

/* Its pid 1 can not see that the monitor has gone: it is frozen like all the others. */
TEST(a_frozen_jail_whose_monitor_was_killed_is_gone)
{
	struct jails_held held;

	jails_start(&jails);
	jails_spec(&spec, "sleep 20");
	spec.freezable = 1;
	jails_open(&jails, &spec, NULL, &held);
	CHECK_INT(write(held.fds.freeze_fd, "1", 1), 1);
	CHECK_INT(kill(held.monitor, SIGKILL), 0);
	CHECK(jails_is_gone(&held, GONE_MS));
	jails_close(&held);
	jails_end(&jails);
}

TEST(a_killed_launcher_takes_its_jails_along_and_the_client_hears_it)
{
	struct jails_held held;
	struct process client;
	int status;

	jails_start(&jails);
	client = start_client("trap '' TERM; (trap '' TERM; sleep 20) & echo begun; sleep 20");
	held = find_only();
	CHECK_INT(kill(jails.launcher.process.pid, SIGKILL), 0);
	CHECK_INT(process_wait(&client, clock_after_ms(GONE_MS), &status, &err), 1);
	CHECK_INT(WEXITSTATUS(status), 42);
	CHECK(jails_is_gone(&held, 0)); /* its monitor has lived, and was heard */
	launcher_done(&jails.launcher);
}

TEST(a_jail_whose_pid_1_is_killed_has_ended)
{
	struct event event;
	struct jails_held held;

	jails_start(&jails);
	jails_spec(&spec, "sleep 20 & sleep 20");
	jails_open(&jails, &spec, NULL, &held);
	CHECK_INT(kill(held.init, SIGKILL), 0);
	CHECK_OK(wire_next(held.jail_fd, &event, NULL, &err));
	CHECK_INT(event.kind, EVENT_ENDED);
	CHECK_INT(event.result.ending, ENDING_SIGNALED);
	CHECK_INT(event.result.code, SIGKILL);
	CHECK(jails_is_gone(&held, 0));
	jails_close(&held);
	jails_end(&jails);
}

/* Whatever its client does: a client of the service need not be honest. */
TEST(a_jail_ends_with_its_launcher_and_says_so)
{
	struct jails_held held;
	struct event event;

	jails_start(&jails);
	jails_spec(&spec, "trap '' TERM; sleep 20 & wait; sleep 20");
	spec.time.grace_ms = 15 * 1000;
	jails_open(&jails, &spec, NULL, &held);
	process_kill(&jails.launcher.process);
	CHECK_OK(wire_next(held.jail_fd, &event, NULL, &err));
	CHECK_INT(event.kind, EVENT_LOST);
	CHECK_INT(event.result.ending, ENDING_LAUNCHER_LOST);
	CHECK(event.result.wall_ns > 0); /* its monitor's own last word */
	CHECK(jails_is_gone(&held, 0));
	jails_close(&held);
	launcher_done(&jails.launcher);
}

TEST(when_the_last_event_has_come_nothing_is_left)
{
	struct jails_held held;
	struct event event;

	jails_start(&jails);
	jails_spec(&spec, "setsid sleep 20 & exec sleep 0.1");
	jails_open(&jails, &spec, NULL, &held);
	CHECK_OK(wire_next(held.jail_fd, &event, NULL, &err));
	CHECK_INT(event.result.ending, ENDING_EXITED);
	CHECK(jails_is_gone(&held, 0));
	jails_close(&held);
	jails_end(&jails);
}

TEST(a_jail_that_can_not_be_built_leaves_nothing_and_says_what_failed)
{
	struct jail_outcome outcome;
	auto_fd file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	const struct jail_io io = { .folder_fd = -1, .output_max = MIB, .stop_fd = -1 };
	struct spec_fds fds;

	jails_start(&jails);
	jails_spec(&spec, "exit 0");
	spec.tree_count = 1;
	spec.trees[0].limits = STREAM_LIMITS_DEFAULT;
	snprintf(spec.trees[0].path, sizeof(spec.trees[0].path), "/work/here");
	spec_fds_init(&fds);
	fds.fd[SPEC_FD_TREES] = file;
	CHECK_OK(jail_run(jails.launcher.socket_fd, &spec, &fds, &io, &outcome, &err));
	CHECK_INT(outcome.last.kind, EVENT_FAILED);
	CHECK(strncmp(outcome.last.err.text,
		      "jail 'test': start: trees: unpack at '/work/here': ", 51) == 0);
	jails_end(&jails);
}
