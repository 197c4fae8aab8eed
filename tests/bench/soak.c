/* SPDX-License-Identifier: Apache-2.0 */

/*
 * bench-soak [--jails N] [--at-once N] BUILD-FOLDER: what many jails leave behind
 *
 * 10,000 jails around /bin/true one after the other, then 200 at once that hold 100 inotify
 * instances each, all from one launcher. Afterwards nothing may have grown: descriptors, memory and
 * mounts of the launcher, its children, control groups, leases in use. Meanwhile root still gets
 * inotify instances of its own, and the last thousand jails take as long as the first. Prints the
 * figures; exit code 1: one of them is wrong. By hand, as root; some minutes.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/str.h"
#include "sandbox/jail.h"
#include "sandbox/launcher.h"
#include "sandbox/wire.h"
#include "tests/bench/launching.h"

/* Of a user, by default 128. */
enum { INSTANCES = 100, WARM_UP = 100, WINDOW = 1000, SETTLE_MS = 20 * 1000 };

struct soak {
	struct launching launching;
	struct cgroup_host cgroups;
	const char *folder;
	size_t jails, at_once;
	bool failed;
};

/* What must not grow. */
struct held {
	long fds, mounts, children, groups, leases, memory_kib;
	long kernel_kib; /* SUnreclaim and Percpu of the whole host: shown alone */
};

/* -- looking -- */

static long lines_of(const char *path)
{
	FILE *file = fopen(path, "re");
	long lines = 0;
	int c;

	if (!file)
		bench_die(path);
	while ((c = getc(file)) != EOF)
		lines += c == '\n';
	fclose(file);
	return lines;
}

/* The sum of the numbers behind these keys, in kB as the kernel writes them. */
static long kib_of(const char *path, const char *key, const char *other)
{
	FILE *file = fopen(path, "re");
	char name[64];
	long value, sum = 0;

	if (!file)
		bench_die(path);
	while (fscanf(file, "%63s %ld%*[^\n]", name, &value) >= 1)
		if (strcmp(name, key) == 0 || strcmp(name, other) == 0)
			sum += value;
	fclose(file);
	return sum;
}

static long entries_of(int folder_fd, const char *start)
{
	int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	long count = 0;

	if (!folder)
		bench_die("a folder");
	while ((entry = readdir(folder)))
		count += entry->d_name[0] != '.' &&
			 strncmp(entry->d_name, start, strlen(start)) == 0;
	closedir(folder);
	return count;
}

static long entries_at(const char *path)
{
	auto_fd fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? 0 : entries_of(fd, "");
}

/* Children of the launcher: monitors that are on their way out are among them for a while. */
static long children_of(pid_t pid)
{
	char path[64], text[4096] = "";
	long count = 0;
	auto_fd fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int) pid, (int) pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		bench_die(path);
	for (const char *at = text; *at; at++)
		count += *at == ' ';
	return count;
}

/* Locked, or with a note of what is to be cleared. */
static long leases_held(void)
{
	auto_fd folder_fd = open(LAUNCHER_STATE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fdopendir(dup(folder_fd));
	const struct dirent *entry;
	long count = 0;

	while (folder && (entry = readdir(folder))) {
		auto_fd fd = openat(folder_fd, entry->d_name, O_RDONLY | O_CLOEXEC);
		struct stat info;

		if (strncmp(entry->d_name, JAIL_LEASE, strlen(JAIL_LEASE)) == 0 && fd >= 0 &&
		    fstat(fd, &info) == 0)
			count += info.st_size > 0 || flock(fd, LOCK_EX | LOCK_NB) < 0;
	}
	if (folder)
		closedir(folder);
	return count;
}

static struct held look(const struct soak *soak)
{
	const pid_t pid = soak->launching.pid;
	struct held held = { .leases = leases_held(), .children = children_of(pid) };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", (int) pid);
	held.fds = entries_at(path);
	snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int) pid);
	held.mounts = lines_of(path);
	snprintf(path, sizeof(path), "/proc/%d/status", (int) pid);
	held.memory_kib = kib_of(path, "VmRSS:", "");
	held.kernel_kib = kib_of("/proc/meminfo", "SUnreclaim:", "Percpu:");
	held.groups = entries_of(soak->cgroups.unified_fd, JAIL_LEASE);
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (soak->cgroups.v1_fds[i] >= 0)
			held.groups += entries_of(soak->cgroups.v1_fds[i], JAIL_LEASE);
	return held;
}

/* When the last monitors have ended, or after so long. */
static struct held look_when_settled(const struct soak *soak)
{
	const struct timespec pause = { .tv_nsec = 20 * NS_PER_MS };
	const int64_t end = clock_after_ms(SETTLE_MS);
	struct held held = look(soak);

	/* The next jail's monitor is there already, and has a lease. */
	while ((held.children > 1 || held.leases > 1) && clock_now() < end) {
		nanosleep(&pause, NULL);
		held = look(soak);
	}
	return held;
}

static void judge(struct soak *soak, const char *what, long before, long after, long more)
{
	const bool good = after <= before + more;

	printf("  %-34s %8ld %8ld  %s\n", what, before, after, good ? "" : "GREW");
	soak->failed |= !good;
}

static void compare(struct soak *soak, const struct held *before, const struct held *after)
{
	printf("  %-34s %8s %8s\n", "", "before", "after");
	judge(soak, "descriptors of the launcher", before->fds, after->fds, 0);
	judge(soak, "mounts that it sees", before->mounts, after->mounts, 0);
	judge(soak, "children", before->children, after->children, 0);
	judge(soak, "control groups of jails", before->groups, after->groups, 0);
	judge(soak, "leases in use", before->leases, after->leases, 0);
	judge(soak, "resident memory of the launcher, KiB", before->memory_kib, after->memory_kib,
	      512);
	printf("  %-34s %8ld %8ld\n", "the host's slabs and percpu, KiB", before->kernel_kib,
	       after->kernel_kib);
}

/* -- one after the other -- */

static double median(const double *times, size_t count)
{
	double *sorted = mem_alloc(count, sizeof(double)), middle;

	memcpy(sorted, times, count * sizeof(double));
	bench_sort(sorted, count);
	middle = sorted[count / 2];
	free(sorted);
	return middle;
}

static void run_in_a_row(struct soak *soak)
{
	double *times = mem_alloc(soak->jails, sizeof(double));
	const size_t window =
		soak->jails >= WARM_UP + 2 * WINDOW ? WINDOW : (soak->jails - WARM_UP) / 2;
	struct held before = { 0 }, after;
	double first, last;

	for (size_t i = 0; i < soak->jails; i++) {
		int64_t start = clock_now();

		launching_once(&soak->launching);
		times[i] = (double) (clock_now() - start) / 1e3;
		if (i + 1 == WARM_UP)
			before = look_when_settled(soak);
	}
	after = look_when_settled(soak);
	first = median(times + WARM_UP, window);
	last = median(times + soak->jails - window, window);
	free(times);
	printf("%zu jails in a row, gap 0\n", soak->jails);
	compare(soak, &before, &after);
	printf("  median of the first %zu after %d: %.0f us, of the last: %.0f us, x %.3f, at "
	       "most 1.1  %s\n",
	       window, WARM_UP, first, last, last / first, last <= 1.1 * first ? "" : "SLOWER");
	soak->failed |= last > 1.1 * first;
}

/* -- all at once -- */

struct holder {
	int jail_fd, out_fd;
};

static void start_holder(const struct soak *soak, int program_fd, struct holder *out)
{
	struct err err = ERR_INIT;
	struct spec_fds fds;
	int out_pair[2];

	if (pipe2(out_pair, O_CLOEXEC) < 0)
		bench_die("pipe");
	spec_fds_init(&fds);
	fds.fd[SPEC_FD_STDOUT] = out_pair[1];
	fds.fd[SPEC_FD_STDERR] = soak->launching.null_fd;
	fds.fd[SPEC_FD_PROGRAM] = program_fd;
	out->jail_fd = wire_request(soak->launching.fd, soak->launching.spec, &fds, &err);
	if (out->jail_fd < 0)
		bench_die(err.text);
	close(out_pair[1]);
	out->out_fd = out_pair[0];
}

/* What a launcher takes as a program: one that nobody changes. */
static int load_program(const char *folder)
{
	cleanup(str_done) struct str bytes = STR_INIT;
	struct err err = ERR_INIT;
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/tests/bench/bench-hold", folder);
	if (access(path, R_OK) < 0)
		snprintf(path, sizeof(path), "%s/bench-hold", folder);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || io_read_fd(fd, 16 * MIB, path, &bytes, &err) < 0)
		bench_die(path);
	close(fd);
	fd = io_memfd("bench-hold", bytes.text, bytes.len, &err);
	if (fd < 0)
		bench_die(err.text);
	return fd;
}

/* Has it all its instances? Its output ends where it has not. */
static bool is_holding(const struct holder *holder)
{
	char byte;

	return read(holder->out_fd, &byte, 1) == 1;
}

static size_t take_instances(void)
{
	int fds[INSTANCES];
	size_t count = 0;

	while (count < INSTANCES && (fds[count] = inotify_init1(IN_CLOEXEC)) >= 0)
		count++;
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
	return count;
}

static void run_at_once(struct soak *soak)
{
	struct holder *holders = mem_alloc(soak->at_once, sizeof(*holders));
	struct held before = look_when_settled(soak), after;
	size_t holding = 0, instances;
	int program_fd = load_program(soak->folder);

	soak->launching.spec->has_program = 1;
	for (size_t i = 0; i < soak->at_once; i++)
		start_holder(soak, program_fd, &holders[i]);
	for (size_t i = 0; i < soak->at_once; i++)
		holding += is_holding(&holders[i]);
	instances = take_instances();
	for (size_t i = 0; i < soak->at_once; i++) {
		close(holders[i].jail_fd); /* which ends the jail */
		close(holders[i].out_fd);
	}
	soak->launching.spec->has_program = 0;
	after = look_when_settled(soak);
	printf("%zu jails at once\n", soak->at_once);
	compare(soak, &before, &after);
	printf("  %zu of %zu jails held %d inotify instances; root got %zu of %d of its own "
	       "meanwhile  %s\n",
	       holding, soak->at_once, INSTANCES, instances, INSTANCES,
	       holding == soak->at_once && instances == INSTANCES ? "" : "TOO FEW");
	soak->failed |= holding != soak->at_once || instances != INSTANCES;
	close(program_fd);
	free(holders);
}

static bool read_options(struct soak *soak, int argc, char **argv)
{
	static const struct option options[] = {
		{ "at-once", required_argument, NULL, 'a' },
		{ "jails", required_argument, NULL, 'j' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'a')
			soak->at_once = strtoul(optarg, NULL, 10);
		else if (option == 'j')
			soak->jails = strtoul(optarg, NULL, 10);
		else
			return false;
	}
	soak->folder = argv[optind];
	return optind + 1 == argc && soak->jails > WARM_UP + 2 && soak->jails <= 1000000 &&
	       soak->at_once > 0 && soak->at_once <= 400;
}

/* Each jail that is there at once has some descriptors here. */
static void raise_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		bench_die("getrlimit");
	files.rlim_cur = files.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		bench_die("setrlimit");
}

int main(int argc, char **argv)
{
	struct soak soak = { .jails = 10000, .at_once = 200, .cgroups = CGROUP_HOST_INIT };
	struct err err = ERR_INIT;

	if (!read_options(&soak, argc, argv)) {
		fprintf(stderr, "usage: bench-soak [--jails N] [--at-once N] BUILD-FOLDER\n");
		return 2;
	}
	raise_files();
	launching_start(&soak.launching, soak.folder);
	if (cgroup_host_open(&soak.cgroups, &err) < 0)
		bench_die(err.text);
	run_in_a_row(&soak);
	run_at_once(&soak);
	cgroup_host_done(&soak.cgroups);
	launching_stop(&soak.launching);
	printf("%s\n", soak.failed ? "something grew" : "nothing grew");
	return soak.failed ? 1 : 0;
}
