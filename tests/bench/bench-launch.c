/* SPDX-License-Identifier: Apache-2.0 */

/*
 * bench-launch [--count N] [--peer NAME=COMMAND]… BUILD-FOLDER: what it takes to start /bin/true,
 * wait for it and have everything of it gone
 *
 *	fork+exec    posix_spawn and wait, from this program
 *	proctor jail the command, with a launcher of its own each time
 *	launcher     a running launcher: one request a launch
 *	NAME         COMMAND, split at its spaces; tests/bench/launch has those of other sandboxes
 *
 * CPU is that of all processes of a launch, of the launcher's too. Interleaved in random order, at
 * a gap of 0 and of 50 ms: after a pause caches and the kernel's grace periods cost more. Run by
 * hand, as root, on a quiet machine.
 */

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"
#include "sandbox/wire.h"

enum { BY_FORK, BY_COMMAND, BY_LAUNCHER, OWN_WAYS, PEERS_MAX = 12, ARGS_MAX = 63 };
enum { WAYS_MAX = OWN_WAYS + PEERS_MAX, GAPS = 2 };

struct bench {
	const char *proctor; /* the command */
	int launcher_fd;
	pid_t launcher_pid;
	int null_fd;
	struct jail_spec *spec;
	size_t count, ways;
	const char *names[WAYS_MAX];
	const char *peers[PEERS_MAX][ARGS_MAX + 1];
	double *times[GAPS][WAYS_MAX]; /* microseconds */
	double cpu[GAPS][WAYS_MAX];    /* the sum, microseconds */
};

no_return static void die(const char *what)
{
	fprintf(stderr, "bench-launch: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void spawn(const char *const *argv)
{
	posix_spawn_file_actions_t actions;
	char *const *args;
	char *none[] = { NULL };
	int status;
	pid_t pid;

	memcpy(&args, &argv, sizeof(args));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, argv[0], &actions, NULL, args, none) != 0)
		die(argv[0]);
	posix_spawn_file_actions_destroy(&actions);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		die(argv[0]);
}

static void by_fork(void)
{
	static const char *const argv[] = { "/bin/true", NULL };

	spawn(argv);
}

static void by_command(struct bench *bench)
{
	const char *const argv[] = { bench->proctor, "jail", "--", "/bin/true", NULL };

	spawn(argv);
}

static void by_launcher(struct bench *bench)
{
	struct event event = { .kind = EVENT_STARTED };
	struct err err = ERR_INIT;
	struct spec_fds fds;
	auto_fd jail = -1;

	spec_fds_init(&fds);
	fds.fd[SPEC_FD_STDOUT] = fds.fd[SPEC_FD_STDERR] = bench->null_fd;
	jail = wire_request(bench->launcher_fd, bench->spec, &fds, &err);
	while (jail >= 0 && event.kind == EVENT_STARTED)
		if (wire_next(jail, &event, NULL, &err) < 0)
			break;
	if (event.kind != EVENT_ENDED || event.result.ending != ENDING_EXITED) {
		fprintf(stderr, "bench-launch: %s%s\n", err.text, event.err.text);
		exit(1);
	}
}

static void run_way(struct bench *bench, size_t way)
{
	if (way == BY_FORK)
		by_fork();
	else if (way == BY_COMMAND)
		by_command(bench);
	else if (way == BY_LAUNCHER)
		by_launcher(bench);
	else
		spawn(bench->peers[way - OWN_WAYS]);
}

static void start_launcher(struct bench *bench, const char *folder)
{
	struct err err = ERR_INIT;
	struct event hello;
	char path[512], option[32];
	int pair[2];
	pid_t pid;

	if (message_pair(pair, &err) < 0)
		die("sockets");
	snprintf(path, sizeof(path), "%s/proctor-launcher", folder);
	pid = fork();
	if (pid == 0) {
		snprintf(option, sizeof(option), "--socket=%d", pair[1]);
		fcntl(pair[1], F_SETFD, 0);
		execl(path, "proctor-launcher", option, NULL);
		_exit(127);
	}
	close(pair[1]);
	bench->launcher_fd = pair[0];
	bench->launcher_pid = pid;
	if (pid < 0 || wire_next(pair[0], &hello, NULL, &err) < 0 || hello.kind != EVENT_READY) {
		fprintf(stderr, "bench-launch: %s: %s\n", path, hello.err.text);
		exit(1);
	}
}

/* What our children have used that are gone. */
static double children_cpu(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_CHILDREN, &usage) < 0)
		die("getrusage");
	return (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
	       (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* What the launcher has used, and all of its jails that are gone; in steps of a clock tick. */
static double launcher_cpu(const struct bench *bench)
{
	unsigned long long user, system, user_gone, system_gone;
	char path[64];
	FILE *file;
	int got;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int) bench->launcher_pid);
	file = fopen(path, "re");
	if (!file)
		die(path);
	got = fscanf(file,
		     "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu",
		     &user, &system, &user_gone, &system_gone);
	fclose(file);
	if (got != 4)
		die(path);
	return (double) (user + system + user_gone + system_gone) * 1e6 /
	       (double) sysconf(_SC_CLK_TCK);
}

/* Every way once a round, in an order of its own. */
static void run_round(struct bench *bench, int gap, size_t round)
{
	unsigned char order[WAYS_MAX];

	for (size_t i = 0; i < bench->ways; i++)
		order[i] = (unsigned char) i;
	for (size_t i = bench->ways - 1; i > 0; i--) {
		unsigned char random, swap;

		if (getrandom(&random, 1, 0) != 1)
			die("random");
		random %= (unsigned char) (i + 1);
		swap = order[i];
		order[i] = order[random];
		order[random] = swap;
	}
	for (size_t i = 0; i < bench->ways; i++) {
		const struct timespec pause = { .tv_nsec = gap ? 50 * NS_PER_MS : 0 };
		double used = children_cpu();
		int64_t start;

		nanosleep(&pause, NULL);
		start = clock_now();
		run_way(bench, order[i]);
		bench->times[gap][order[i]][round] = (double) (clock_now() - start) / 1e3;
		bench->cpu[gap][order[i]] += children_cpu() - used;
	}
}

static int compare(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static void report(struct bench *bench, int gap)
{
	double medians[WAYS_MAX];

	printf("gap %d ms, %zu launches each\n", gap ? 50 : 0, bench->count);
	printf("  %-14s %8s %10s %8s %8s %12s %11s\n", "", "min us", "median us", "p95 us",
	       "cpu us", "x fork+exec", "x launcher");
	for (size_t way = 0; way < bench->ways; way++) {
		qsort(bench->times[gap][way], bench->count, sizeof(double), compare);
		medians[way] = bench->times[gap][way][bench->count / 2];
	}
	for (size_t way = 0; way < bench->ways; way++)
		printf("  %-14s %8.0f %10.0f %8.0f %8.0f %12.2f %11.2f\n", bench->names[way],
		       bench->times[gap][way][0], medians[way],
		       bench->times[gap][way][bench->count * 95 / 100],
		       bench->cpu[gap][way] / (double) bench->count,
		       medians[way] / medians[BY_FORK], medians[way] / medians[BY_LAUNCHER]);
}

/* NAME=COMMAND */
static bool add_peer(struct bench *bench, char *text)
{
	const char **args = bench->peers[bench->ways - OWN_WAYS];
	char *command = strchr(text, '='), *next;
	size_t count = 0;

	if (bench->ways == WAYS_MAX || !command)
		return false;
	*command++ = '\0';
	bench->names[bench->ways++] = text;
	while ((next = strsep(&command, " ")) && count < ARGS_MAX)
		if (*next)
			args[count++] = next;
	return count > 0 && !next;
}

static int read_options(struct bench *bench, int argc, char **argv)
{
	int at = 1;

	bench->names[BY_FORK] = "fork+exec";
	bench->names[BY_COMMAND] = "proctor jail";
	bench->names[BY_LAUNCHER] = "launcher";
	bench->ways = OWN_WAYS;
	for (; at + 1 < argc; at += 2) {
		if (strcmp(argv[at], "--count") == 0)
			bench->count = strtoul(argv[at + 1], NULL, 10);
		else if (strcmp(argv[at], "--peer") != 0 || !add_peer(bench, argv[at + 1]))
			return -1;
	}
	return at + 1 == argc && bench->count >= 10 && bench->count <= 100000 ? at : -1;
}

int main(int argc, char **argv)
{
	struct bench bench = { .count = 100, .spec = mem_alloc(1, sizeof(*bench.spec)) };
	struct err err = ERR_INIT;
	char proctor[512];
	int at = read_options(&bench, argc, argv);

	if (at < 0) {
		fprintf(stderr, "usage: bench-launch [--count N] [--peer NAME=COMMAND]… "
				"BUILD-FOLDER\n");
		return 2;
	}
	snprintf(proctor, sizeof(proctor), "%s/proctor", argv[at]);
	bench.proctor = proctor;
	bench.null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	spec_init(bench.spec, "bench");
	if (spec_add_arg(bench.spec, "/bin/true", &err) < 0 || bench.null_fd < 0)
		die("spec");
	start_launcher(&bench, argv[at]);
	for (int gap = 0; gap < GAPS; gap++) {
		double used = launcher_cpu(&bench);

		for (size_t way = 0; way < bench.ways; way++)
			bench.times[gap][way] = mem_alloc(bench.count, sizeof(double));
		for (size_t round = 0; round < bench.count; round++)
			run_round(&bench, gap, round);
		bench.cpu[gap][BY_LAUNCHER] = launcher_cpu(&bench) - used;
		report(&bench, gap);
	}
	return 0;
}
