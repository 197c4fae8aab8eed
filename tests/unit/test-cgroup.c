/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/syscalls.h"
#include "tests/lib/check.h"

struct place {
	struct cgroup_host host;
	char name[48];
};

static struct place open_host(void)
{
	struct place place = { .host = CGROUP_HOST_INIT };
	struct err err = ERR_INIT;

	if (geteuid() != 0)
		SKIP("needs root");
	CHECK_OK(cgroup_host_open(&place.host, &err));
	snprintf(place.name, sizeof(place.name), "test-cgroup-%d", (int) getpid());
	return place;
}

static struct cgroup create(const struct place *place, const struct cgroup_limits *limits)
{
	struct cgroup cg = CGROUP_INIT;
	struct err err = ERR_INIT;

	if (cgroup_create(&place->host, place->name, limits, &cg, &err) < 0) {
		if (err.kind == ERR_HOST && strncmp(err.text, "the host can not", 16) == 0)
			SKIP("%s", err.text);
		check_fail(__FILE__, __LINE__, "%s", err.text);
	}
	return cg;
}

/* How a jail is started: into the v2 leaf by clone3, into the v1 leaves by its own hand. */
static pid_t start(const struct cgroup *cg, void (*run)(void))
{
	const struct clone_args args = {
		.flags = CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = (uint64_t) cgroup_clone_fd(cg),
	};
	struct err err = ERR_INIT;
	int fds[CGROUP_CONTROLLERS];
	int count = cgroup_join_fds(cg, fds, &err);
	pid_t pid;

	CHECK(count >= 0);
	pid = sys_clone3(&args);
	CHECK(pid >= 0);
	if (pid == 0) {
		for (int i = 0; i < count; i++)
			if (write(fds[i], "0", 1) != 1)
				_exit(99);
		run();
		_exit(0);
	}
	for (int i = 0; i < count; i++)
		close(fds[i]);
	return pid;
}

static int wait_for(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

static struct cgroup_usage usage_of(const struct cgroup *cg)
{
	struct cgroup_usage usage;
	struct err err = ERR_INIT;

	CHECK_OK(cgroup_usage(cg, &usage, &err));
	return usage;
}

static void close_host(struct place *place, struct cgroup *cg)
{
	struct err err = ERR_INIT;

	CHECK_OK(cgroup_remove(cg, &err));
	cgroup_host_done(&place->host);
}

static void touch_memory(size_t size)
{
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t at = 0; memory != MAP_FAILED && at < size; at += 4096)
		memory[at] = 1;
}

static void touch_a_little(void)
{
	touch_memory(16 * MIB);
}

static void touch_too_much(void)
{
	touch_memory(128 * MIB);
}

TEST(memory_ends_at_the_limit)
{
	const struct cgroup_limits limits = { .memory = 48 * MIB };
	struct place place = open_host();
	struct cgroup cg = create(&place, &limits);
	int little = wait_for(start(&cg, touch_a_little));
	struct cgroup_usage before = usage_of(&cg);
	int much = wait_for(start(&cg, touch_too_much));
	struct cgroup_usage after = usage_of(&cg);

	close_host(&place, &cg);
	CHECK_INT(little, 0);
	CHECK_INT(before.oom_kills, 0);
	CHECK(before.memory_peak >= 16 * MIB && before.memory_peak <= 48 * MIB);
	CHECK(WIFSIGNALED(much) && WTERMSIG(much) == SIGKILL);
	CHECK(after.oom_kills >= 1); /* v2 counts each process of the group that it ends */
	CHECK(after.memory_peak > 40 * MIB && after.memory_peak <= 48 * MIB);
}

static void fork_until_it_ends(void)
{
	int count = 0;

	for (; count < 64; count++) {
		pid_t pid = fork();

		if (pid < 0)
			_exit(errno == EAGAIN ? count : 98);
		if (pid == 0) {
			pause();
			_exit(0);
		}
	}
	_exit(97);
}

TEST(processes_end_at_the_limit_and_die_together)
{
	const struct cgroup_limits limits = { .pids = 8 };
	struct place place = open_host();
	struct cgroup cg = create(&place, &limits);
	int status = wait_for(start(&cg, fork_until_it_ends));
	struct cgroup_usage usage = usage_of(&cg);
	struct err err = ERR_INIT;
	int populated_fd = cgroup_populated_fd(&cg, &err);
	struct pollfd event = { .fd = populated_fd, .events = POLLPRI };
	bool lived = cgroup_is_populated(populated_fd);

	CHECK_OK(cgroup_kill(&cg, &err));
	while (cgroup_is_populated(populated_fd) && poll(&event, 1, 5000) > 0)
		continue;
	CHECK(!cgroup_is_populated(populated_fd));
	close_host(&place, &cg);
	CHECK(!cgroup_is_populated(populated_fd)); /* gone altogether, and still no lie */
	CHECK(WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 7);
	CHECK(lived);
	CHECK(usage.pids_hits >= 1);
	CHECK(usage.pids_peak == 8 || usage.pids_peak == 0);
}

static void spin(void)
{
	int64_t end = clock_after_ms(400);

	while (clock_now() < end)
		continue;
}

TEST(a_quota_holds_and_cpu_time_is_counted)
{
	const struct cgroup_limits limits = { .cpu_milli = 250 };
	struct place place = open_host();
	struct cgroup cg = create(&place, &limits);
	int status = wait_for(start(&cg, spin));
	struct cgroup_usage usage = usage_of(&cg);

	close_host(&place, &cg);
	CHECK_INT(status, 0);
	check_note("%d us of 400000", (int) usage.cpu_us);
	/* 25 % of 0.4 s and one period more at most; without the quota 0.4 s. */
	CHECK(usage.cpu_us > 20000 && usage.cpu_us < 200000);
}

static void count_cpus(void)
{
	cpu_set_t set;

	_exit(sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 99);
}

TEST(a_cpuset_holds)
{
	const struct cgroup_limits limits = { .cpus = "0" };
	struct place place = open_host();
	struct cgroup cg = create(&place, &limits);
	int status = wait_for(start(&cg, count_cpus));

	close_host(&place, &cg);
	CHECK_INT(WEXITSTATUS(status), 1);
}

static bool leaves_of(const struct place *place)
{
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (place->host.v1_fds[i] >= 0 &&
		    faccessat(place->host.v1_fds[i], place->name, F_OK, 0) == 0)
			return true;
	return faccessat(place->host.unified_fd, place->name, F_OK, 0) == 0;
}

TEST(a_limit_that_does_not_hold_is_an_error_and_leaves_nothing_behind)
{
	static const struct cgroup_limits cases[] = {
		{ .memory = MIB, .cpus = "4000" }, { .memory = MIB, .cpus = "0-" },
		{ .memory = MIB, .cpu_milli = 1 }, { .memory = MIB, .pids = UINT64_MAX },
		{ .memory = UINT64_MAX },
	};
	struct place place = open_host();

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct cgroup cg = CGROUP_INIT;
		struct err err = ERR_INIT;

		CHECK_INT(cgroup_create(&place.host, place.name, &cases[i], &cg, &err), -1);
		check_note("%s", err.text);
		CHECK_INT(err.kind, ERR_HOST);
		CHECK_INT(cg.fd, -1);
		CHECK(!leaves_of(&place));
	}
	cgroup_host_done(&place.host);
}

TEST(a_controller_that_the_host_lacks_is_named)
{
	const struct cgroup_limits limits = { .cpu_milli = 500 };
	struct place place = open_host();
	struct cgroup cg = CGROUP_INIT;
	struct err err = ERR_INIT;

	place.host.v1 &= ~CGROUP_BIT(CGROUP_CPU);
	place.host.unified &= ~CGROUP_BIT(CGROUP_CPU);
	CHECK_INT(cgroup_create(&place.host, place.name, &limits, &cg, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK(strstr(err.text, "the host can not enforce a limit of cpu: it is not in '"));
	CHECK(strstr(err.text, "Delegate=yes"));
	CHECK(strstr(err.text, "'cpus' in the policy's accept, or proctor jail --accept cpus"));
	cgroup_host_done(&place.host);
}

TEST(a_limit_that_is_accepted_not_to_hold_is_left_out_and_said_so)
{
	struct cgroup_limits limits = { .cpu_milli = 500,
					.pids = 20,
					.accept = CGROUP_BIT(CGROUP_LIMIT_CPUS) |
						  CGROUP_BIT(CGROUP_LIMIT_MEMORY) };
	struct place place = open_host();
	struct cgroup cg = CGROUP_INIT;
	struct err err = ERR_INIT;

	place.host.v1 &= ~CGROUP_BIT(CGROUP_CPU);
	place.host.unified &= ~CGROUP_BIT(CGROUP_CPU);
	CHECK_OK(cgroup_create(&place.host, place.name, &limits, &cg, &err));
	CHECK_INT(cg.without, CGROUP_BIT(CGROUP_LIMIT_CPUS)); /* nobody asked for memory */
	CHECK_OK(cgroup_remove(&cg, &err));
	/* Accepting one limit is not accepting another. */
	place.host.v1 &= ~CGROUP_BIT(CGROUP_PIDS);
	place.host.unified &= ~CGROUP_BIT(CGROUP_PIDS);
	CHECK_INT(cgroup_create(&place.host, place.name, &limits, &cg, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK(strstr(err.text, "the host can not enforce a limit of pids: "));
	cgroup_host_done(&place.host);
}

/* 64 letters: one too many. */
static const char long_name[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

_Static_assert(sizeof(long_name) == sizeof(CGROUP_INIT.name) + 1, "it is one letter too long");

TEST(nobody_adopts_a_leaf_and_a_bad_name_is_refused)
{
	static const char *const names[] = {
		"", ".", "..", "a/b", "cgroup.procs", "a b", long_name,
	};
	const struct cgroup_limits limits = { 0 };
	struct place place = open_host();
	struct cgroup cg = create(&place, &limits), other = CGROUP_INIT;
	struct err err = ERR_INIT;

	CHECK_INT(cgroup_create(&place.host, place.name, &limits, &other, &err), -1);
	CHECK_INT(err.sys, EEXIST);
	CHECK(leaves_of(&place));
	close_host(&place, &cg);

	place = open_host();
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		CHECK_INT(cgroup_create(&place.host, names[i], &limits, &other, &err), -1);
		CHECK_INT(err.kind, ERR_INPUT);
		CHECK_INT(cgroup_reap(&place.host, names[i], &err), -1);
	}
	cgroup_host_done(&place.host);
}

/* Ignores what can be ignored, and forks while it is being killed. */
static void breed(void)
{
	for (int signal = 1; signal < 32; signal++)
		if (signal != SIGKILL && signal != SIGSTOP)
			sigaction(signal, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	setsid();
	for (;;)
		if (fork() != 0)
			usleep(200);
}

TEST(what_a_dead_owner_left_is_reaped)
{
	const struct cgroup_limits limits = { .pids = 30, .cpu_milli = 500, .memory = 64 * MIB };
	struct place place = open_host();
	struct err err = ERR_INIT;
	pid_t owner = fork();

	CHECK(owner >= 0);
	if (owner == 0) {
		struct cgroup cg = create(&place, &limits);

		start(&cg, breed);
		usleep(20000);
		kill(getpid(), SIGKILL);
	}
	wait_for(owner);
	CHECK(leaves_of(&place));
	CHECK_OK(cgroup_reap(&place.host, place.name, &err));
	CHECK(!leaves_of(&place));
	CHECK_OK(cgroup_reap(&place.host, place.name, &err)); /* nothing there is fine */
	cgroup_host_done(&place.host);
}

static void wait_for_ever(void)
{
	pause();
}

TEST(a_leaf_with_a_process_in_it_is_not_removed_and_can_be_reaped)
{
	const struct cgroup_limits limits = { 0 };
	struct place place = open_host();
	struct cgroup cg = create(&place, &limits);
	struct err err = ERR_INIT;
	pid_t pid = start(&cg, wait_for_ever);

	usleep(10000);
	CHECK_INT(cgroup_remove(&cg, &err), -1);
	CHECK(strstr(err.text, "Device or resource busy"));
	CHECK_OK(cgroup_reap(&place.host, place.name, &err));
	CHECK(WIFSIGNALED(wait_for(pid)));
	CHECK(!leaves_of(&place));
	cgroup_host_done(&place.host);
}

TEST(limits_are_not_inherited_from_the_leaf_before)
{
	const struct cgroup_limits tight = { .pids = 3 }, none = { 0 };
	struct place place = open_host();
	struct cgroup cg = create(&place, &tight);
	struct err err = ERR_INIT;
	int status;

	CHECK_OK(cgroup_remove(&cg, &err));
	cg = create(&place, &none);
	status = wait_for(start(&cg, fork_until_it_ends));
	CHECK_OK(cgroup_kill(&cg, &err));
	close_host(&place, &cg);
	CHECK_INT(WEXITSTATUS(status), 97); /* all 64 forks */
}
