/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Medians in microseconds of what a launch pays for each mechanism, beside a floor that makes the
 * fewest system calls which could do the same. Rounds are interleaved; "bench-mechanisms GAP"
 * waits GAP milliseconds between rounds, as launches of a quiet host are apart.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/compiler.h"
#include "sandbox/base/fd.h"
#include "sandbox/cgroup.h"
#include "sandbox/devices.h"
#include "sandbox/seccomp.h"

enum { ROUNDS = 200 };

struct bench {
	struct cgroup_host host;
	struct device_slice devices;
	int program_fd;
};

static const struct cgroup_limits limits = {
	.memory = 256 * MIB,
	.pids = 100,
	.cpu_milli = 1000,
	.cpus = "0",
};

static void need(int result, const struct err *err)
{
	if (result >= 0)
		return;
	fprintf(stderr, "bench-mechanisms: %s\n", err->text);
	exit(1);
}

/* The folders alone. */
static void make_folders(struct bench *bench)
{
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (bench->host.v1_fds[i] >= 0)
			best_effort(mkdirat(bench->host.v1_fds[i], "bench-floor", 0755));
	best_effort(mkdirat(bench->host.unified_fd, "bench-floor", 0755));
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (bench->host.v1_fds[i] >= 0)
			best_effort(unlinkat(bench->host.v1_fds[i], "bench-floor", AT_REMOVEDIR));
	best_effort(unlinkat(bench->host.unified_fd, "bench-floor", AT_REMOVEDIR));
}

static void make_leaf(struct bench *bench)
{
	struct cgroup cg = CGROUP_INIT;
	struct err err = ERR_INIT;

	need(cgroup_create(&bench->host, "bench-leaf", &limits, &cg, &err), &err);
	need(cgroup_remove(&cg, &err), &err);
}

static void make_small_leaf(struct bench *bench)
{
	const struct cgroup_limits small = { .memory = 256 * MIB, .pids = 100 };
	struct cgroup cg = CGROUP_INIT;
	struct err err = ERR_INIT;

	need(cgroup_create(&bench->host, "bench-leaf", &small, &cg, &err), &err);
	need(cgroup_remove(&cg, &err), &err);
}

static void load_devices(struct bench *bench)
{
	struct err err = ERR_INIT;
	auto_fd fd = devices_load(&bench->devices, &err);

	need(fd, &err);
}

static void guard_leaf(struct bench *bench)
{
	const struct cgroup_limits none = { 0 };
	struct cgroup cg = CGROUP_INIT;
	struct err err = ERR_INIT;

	need(cgroup_create(&bench->host, "bench-guard", &none, &cg, &err), &err);
	need(devices_guard(cgroup_clone_fd(&cg), bench->program_fd, &err), &err);
	need(cgroup_remove(&cg, &err), &err);
}

static void plain_leaf(struct bench *bench)
{
	const struct cgroup_limits none = { 0 };
	struct cgroup cg = CGROUP_INIT;
	struct err err = ERR_INIT;

	need(cgroup_create(&bench->host, "bench-guard", &none, &cg, &err), &err);
	need(cgroup_remove(&cg, &err), &err);
}

static void compile_filter(struct bench *bench)
{
	struct seccomp_program program;
	struct err err = ERR_INIT;

	(void) bench;
	need(seccomp_compile(SECCOMP_PROFILE_PLAIN, 0, &program, &err), &err);
}

/* clang-format off */
static const struct {
	const char *name;
	void (*run)(struct bench *bench);
} parts[] = {
	{ "cgroup folders alone, all hierarchies (floor)", make_folders },
	{ "cgroup create+remove: memory pids cpu cpuset",  make_leaf },
	{ "cgroup create+remove: memory pids",             make_small_leaf },
	{ "cgroup create+remove: no limits",               plain_leaf },
	{ "the same and devices_guard",                    guard_leaf },
	{ "devices_load",                                  load_devices },
	{ "seccomp_compile",                               compile_filter },
};
/* clang-format on */

static int compare(const void *one, const void *other)
{
	int64_t a = *(const int64_t *) one, b = *(const int64_t *) other;

	return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
	static int64_t times[ARRAY_LEN(parts)][ROUNDS];
	long gap_ms = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	struct bench bench = { .host = CGROUP_HOST_INIT };
	struct err err = ERR_INIT;

	need(cgroup_host_open(&bench.host, &err), &err);
	devices_base(&bench.devices);
	bench.program_fd = devices_load(&bench.devices, &err);
	need(bench.program_fd, &err);
	for (size_t round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
			int64_t start = clock_now();

			parts[i].run(&bench);
			times[i][round] = clock_now() - start;
		}
		usleep((useconds_t) gap_ms * 1000);
	}
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		qsort(times[i], ROUNDS, sizeof(times[i][0]), compare);
		printf("%-50s median %7.1f us  p95 %7.1f us\n", parts[i].name,
		       (double) times[i][ROUNDS / 2] / NS_PER_US,
		       (double) times[i][ROUNDS * 95 / 100] / NS_PER_US);
	}
	cgroup_host_done(&bench.host);
	return 0;
}
