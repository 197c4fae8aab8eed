/* SPDX-License-Identifier: Apache-2.0 */

/*
 * bench-launch [--count N] [--floor] [--clients SECONDS] [--peer NAME=COMMAND]… BUILD-FOLDER:
 * what it takes to start /bin/true, wait for it and have everything of it gone
 *
 *	fork+exec    posix_spawn and wait, from this program
 *	proctor jail the command, with a launcher of its own each time
 *	launcher     a running launcher: one request a launch
 *	floor        with --floor: the least that a launch can cost, see floor.c
 *	NAME         COMMAND, split at its spaces, behind @FILE in the mount namespace FILE;
 *	             tests/bench/launch has those of other sandboxes
 *
 * CPU is that of all processes of a launch, of the launcher's too. Interleaved in random order, at
 * a gap of 0 and of 50 ms: after a pause caches and the kernel's grace periods cost more. With
 * --clients at last how many jails a second one launcher (and two floors) make for one client and
 * for two at once. Run by hand, as root, on a quiet machine.
 */

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
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
#include "sandbox/base/mem.h"
#include "tests/bench/launching.h"

enum { BY_FORK, BY_COMMAND, BY_LAUNCHER, BY_FLOOR, OWN_WAYS, PEERS_MAX = 12, ARGS_MAX = 63 };
enum { WAYS_MAX = OWN_WAYS + PEERS_MAX, GAPS = 2 };

struct bench {
	const char *folder, *proctor; /* the build, the command in it */
	struct launching launching;
	struct flooring flooring;
	bool has_floor;
	size_t count, peer_count;
	unsigned int seconds; /* for --clients */
	const char *names[WAYS_MAX];
	const char *peers[PEERS_MAX][ARGS_MAX + 1];
	double *times[GAPS][WAYS_MAX];  /* microseconds, by round */
	double *sorted[GAPS][WAYS_MAX]; /* the same */
	double cpu[GAPS][WAYS_MAX];     /* the sum, microseconds */
};

static bool is_way(const struct bench *bench, size_t way)
{
	return way < OWN_WAYS + bench->peer_count && (way != BY_FLOOR || bench->has_floor);
}

static void wait_for(pid_t pid, const char *name)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status != 0)
		bench_die(name);
}

/* Somewhere else: after @ stands a mount namespace. */
static void spawn_in(const char *const *argv)
{
	char *const *args;
	pid_t pid;

	memcpy(&args, &(const char *const *){ argv + 1 }, sizeof(args));
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		if (setns(open(argv[0] + 1, O_RDONLY | O_CLOEXEC), CLONE_NEWNS) == 0 &&
		    dup2(null, 0) == 0 && dup2(null, 1) == 1)
			execvp(argv[1], args);
		_exit(127);
	}
	wait_for(pid, argv[1]);
}

static void spawn(const char *const *argv)
{
	posix_spawn_file_actions_t actions;
	char *const *args;
	pid_t pid;

	if (argv[0][0] == '@') {
		spawn_in(argv);
		return;
	}
	memcpy(&args, &argv, sizeof(args));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, argv[0], &actions, NULL, args, environ) != 0)
		bench_die(argv[0]);
	posix_spawn_file_actions_destroy(&actions);
	wait_for(pid, argv[0]);
}

static void run_way(struct bench *bench, size_t way)
{
	static const char *const bare[] = { "/bin/true", NULL };
	const char *const cold[] = { bench->proctor, "jail", "--", "/bin/true", NULL };

	if (way == BY_FORK)
		spawn(bare);
	else if (way == BY_COMMAND)
		spawn(cold);
	else if (way == BY_LAUNCHER)
		launching_once(&bench->launching);
	else if (way == BY_FLOOR)
		flooring_once(&bench->flooring);
	else
		spawn(bench->peers[way - OWN_WAYS]);
}

/* What our children have used that are gone. */
static double children_cpu(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_CHILDREN, &usage) < 0)
		bench_die("getrusage");
	return (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
	       (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Every way once a round, in an order of its own. */
static void run_round(struct bench *bench, int gap, size_t round)
{
	const size_t ways = OWN_WAYS + bench->peer_count;
	unsigned char order[WAYS_MAX];

	for (size_t i = 0; i < ways; i++)
		order[i] = (unsigned char) i;
	for (size_t i = 1; i < ways; i++) {
		unsigned char random, swap;

		if (getrandom(&random, 1, 0) != 1)
			bench_die("random");
		random = (unsigned char) (random % (i + 1));
		swap = order[i];
		order[i] = order[random];
		order[random] = swap;
	}
	for (size_t i = 0; i < ways; i++) {
		const struct timespec pause = { .tv_nsec = gap ? 50 * NS_PER_MS : 0 };
		double used = children_cpu();
		int64_t start;

		if (!is_way(bench, order[i]))
			continue;
		nanosleep(&pause, NULL);
		start = clock_now();
		run_way(bench, order[i]);
		bench->times[gap][order[i]][round] = (double) (clock_now() - start) / 1e3;
		bench->cpu[gap][order[i]] += children_cpu() - used;
	}
}

static void run_gap(struct bench *bench, int gap)
{
	double launcher = bench_cpu_us(bench->launching.pid);
	double least = bench->has_floor ? bench_cpu_us(bench->flooring.pid) : 0;

	for (size_t way = 0; way < WAYS_MAX; way++) {
		bench->times[gap][way] = mem_alloc(bench->count, sizeof(double));
		bench->sorted[gap][way] = mem_alloc(bench->count, sizeof(double));
	}
	for (size_t round = 0; round < bench->count; round++)
		run_round(bench, gap, round);
	bench->cpu[gap][BY_LAUNCHER] = bench_cpu_us(bench->launching.pid) - launcher;
	if (bench->has_floor)
		bench->cpu[gap][BY_FLOOR] = bench_cpu_us(bench->flooring.pid) - least;
	for (size_t way = 0; way < WAYS_MAX; way++) {
		memcpy(bench->sorted[gap][way], bench->times[gap][way],
		       bench->count * sizeof(double));
		bench_sort(bench->sorted[gap][way], bench->count);
	}
}

/* Neighbours in time: what else the machine did then was the same for both. */
static double paired_ratio(const struct bench *bench, int gap, size_t way, size_t base)
{
	double *ratios = mem_alloc(bench->count, sizeof(double)), median;

	for (size_t round = 0; round < bench->count; round++)
		ratios[round] = bench->times[gap][way][round] / bench->times[gap][base][round];
	bench_sort(ratios, bench->count);
	median = ratios[bench->count / 2];
	free(ratios);
	return median;
}

static void report(const struct bench *bench, int gap)
{
	const size_t base = bench->has_floor ? BY_FLOOR : BY_FORK, middle = bench->count / 2;

	printf("gap %d ms, %zu launches each\n", gap ? 50 : 0, bench->count);
	printf("  %-14s %8s %10s %8s %8s %12s %11s\n", "", "min us", "median us", "p95 us",
	       "cpu us", bench->has_floor ? "x floor" : "x fork+exec", "x launcher");
	for (size_t way = 0; way < OWN_WAYS + bench->peer_count; way++) {
		double *const *sorted = bench->sorted[gap];

		if (is_way(bench, way))
			printf("  %-14s %8.0f %10.0f %8.0f %8.0f %12.2f %11.2f\n",
			       bench->names[way], sorted[way][0], sorted[way][middle],
			       sorted[way][bench->count * 95 / 100],
			       bench->cpu[gap][way] / (double) bench->count,
			       sorted[way][middle] / sorted[base][middle],
			       sorted[way][middle] / sorted[BY_LAUNCHER][middle]);
	}
	if (bench->has_floor)
		printf("  launcher: %.3f x floor by medians, %.3f by the median of pairs, at most "
		       "1.15\n",
		       bench->sorted[gap][BY_LAUNCHER][middle] /
			       bench->sorted[gap][BY_FLOOR][middle],
		       paired_ratio(bench, gap, BY_LAUNCHER, BY_FLOOR));
}

/* -- several clients at once -- */

/* Launches for so long; tells how many there were. */
static void run_client(const struct bench *bench, bool by_floor, int told_fd)
{
	const int64_t end = clock_after_ms(bench->seconds * 1000);
	struct flooring own;
	size_t count = 0;

	if (by_floor)
		flooring_start(&own, bench->folder);
	for (; clock_now() < end; count++)
		if (by_floor)
			flooring_once(&own);
		else
			launching_once(&bench->launching);
	if (write(told_fd, &count, sizeof(count)) != sizeof(count))
		bench_die("tell");
}

static double launches_a_second(const struct bench *bench, int clients, bool by_floor)
{
	size_t count, sum = 0;
	int told[2];

	if (pipe2(told, O_CLOEXEC) < 0)
		bench_die("pipe");
	for (int i = 0; i < clients; i++) {
		if (fork() == 0) {
			run_client(bench, by_floor, told[1]);
			_exit(0);
		}
	}
	for (int i = 0; i < clients; i++) {
		if (read(told[0], &count, sizeof(count)) != sizeof(count) || wait(NULL) < 0)
			bench_die("a client");
		sum += count;
	}
	close(told[0]);
	close(told[1]);
	return (double) sum / bench->seconds;
}

static void report_clients(const struct bench *bench)
{
	for (int clients = 1; clients <= 2; clients++)
		printf("%d at once: launcher %.0f jails a second\n", clients,
		       launches_a_second(bench, clients, false));
	for (int clients = 1; clients <= 2 && bench->has_floor; clients++)
		printf("%d at once: floor %.0f jails a second\n", clients,
		       launches_a_second(bench, clients, true));
}

/* -- options -- */

/* NAME=COMMAND */
static bool add_peer(struct bench *bench, char *text)
{
	char *command = strchr(text, '='), *next;
	const char **args;
	size_t count = 0;

	if (bench->peer_count == PEERS_MAX || !command)
		return false;
	args = bench->peers[bench->peer_count];
	*command++ = '\0';
	bench->names[OWN_WAYS + bench->peer_count++] = text;
	while ((next = strsep(&command, " ")) && count < ARGS_MAX)
		if (*next)
			args[count++] = next;
	return count > 0 && !next;
}

static bool read_options(struct bench *bench, int argc, char **argv)
{
	static const struct option options[] = {
		{ "clients", required_argument, NULL, 's' },
		{ "count", required_argument, NULL, 'n' },
		{ "floor", no_argument, NULL, 'f' },
		{ "peer", required_argument, NULL, 'p' },
		{ NULL, 0, NULL, 0 },
	};
	bool good = true;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			bench->seconds = (unsigned int) strtoul(optarg, NULL, 10);
		else if (option == 'n')
			bench->count = strtoul(optarg, NULL, 10);
		else if (option == 'f')
			bench->has_floor = true;
		else if (option != 'p' || !add_peer(bench, optarg))
			good = false;
	}
	return good && optind + 1 == argc && bench->count >= 10 && bench->count <= 100000 &&
	       bench->seconds <= 3600;
}

int main(int argc, char **argv)
{
	struct bench bench = { .count = 100,
			       .names = { [BY_FORK] = "fork+exec",
					  [BY_COMMAND] = "proctor jail",
					  [BY_LAUNCHER] = "launcher",
					  [BY_FLOOR] = "floor" } };
	char proctor[512];

	if (!read_options(&bench, argc, argv)) {
		fprintf(stderr, "usage: bench-launch [--count N] [--floor] [--clients SECONDS] "
				"[--peer NAME=COMMAND]… BUILD-FOLDER\n");
		return 2;
	}
	bench.folder = argv[optind];
	snprintf(proctor, sizeof(proctor), "%s/proctor", bench.folder);
	bench.proctor = proctor;
	launching_start(&bench.launching, bench.folder);
	if (bench.has_floor)
		flooring_start(&bench.flooring, bench.folder);
	for (int gap = 0; gap < GAPS; gap++) {
		run_gap(&bench, gap);
		report(&bench, gap);
		fflush(stdout);
	}
	if (bench.seconds > 0)
		report_clients(&bench);
	launching_stop(&bench.launching);
	return 0;
}
