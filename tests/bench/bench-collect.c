/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/evidence/manifest.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/collect.h"

/*
 * What a freeze costs: collecting a workspace of 1 GiB in 10,000 files on a tmpfs through a pipe,
 * the receiver making the manifest, against sha256sum and tar | sha256sum over the same files.
 * All three in turn, so that what disturbs one disturbs the others; run by hand, as root.
 *
 *	bench-collect [ROUNDS [FILES [BYTES]]]
 */
struct bench {
	char folder[64];
	long rounds, files, bytes;
};

no_return static void fail(const struct err *err)
{
	fprintf(stderr, "bench-collect: %s\n", err->text);
	exit(1);
}

no_return static void fail_sys(const char *what)
{
	fprintf(stderr, "bench-collect: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void fill(const struct bench *bench)
{
	size_t each = (size_t) (bench->bytes / bench->files);
	cleanup(mem_free) uint8_t *content = mem_alloc(each + 1, 1);
	uint64_t state = 1;

	for (size_t i = 0; i < each; i++) {
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
		content[i] = (uint8_t) (state >> 56);
	}
	for (long i = 0; i < bench->files; i++) {
		struct err err = ERR_INIT;
		char path[128];
		auto_fd fd = -1;

		snprintf(path, sizeof(path), "%s/d%03ld", bench->folder, i / 100);
		if (i % 100 == 0 && mkdir(path, 0755) < 0)
			fail_sys(path);
		snprintf(path, sizeof(path), "%s/d%03ld/f%06ld", bench->folder, i / 100, i);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (fd < 0)
			fail_sys(path);
		content[i % MAX_OF((long) each, 1L)]++;
		if (io_write_all(fd, content, each, path, &err) < 0)
			fail(&err);
	}
}

static void wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status != 0) {
		fprintf(stderr, "bench-collect: a process failed\n");
		exit(1);
	}
}

/* As a freeze does it: one process reads the workspace, another one hashes what comes. */
static double freeze(const struct bench *bench)
{
	cleanup(manifest_done) struct manifest manifest = MANIFEST_INIT;
	struct err err = ERR_INIT;
	int64_t start = clock_now();
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		fail_sys("pipe");
	fcntl(ends[0], F_SETPIPE_SZ, 1 << 20);
	pid = fork();
	if (pid == 0) {
		auto_fd dir = open(bench->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		struct collect_report report;

		close(ends[0]);
		if (collect_tree(dir, &STREAM_LIMITS_DEFAULT, ends[1], &report, &err) < 0)
			fail(&err);
		_exit(0);
	}
	close(ends[1]);
	if (manifest_read(ends[0], &STREAM_LIMITS_DEFAULT, &manifest, &err) < 0)
		fail(&err);
	close(ends[0]);
	wait_for(pid);
	return (double) (clock_now() - start) / 1e9;
}

static double command(const struct bench *bench, const char *const *argv, int out_fd)
{
	int64_t start = clock_now();
	pid_t pid = fork();

	if (pid == 0) {
		if (chdir(bench->folder) < 0 || dup2(out_fd, STDOUT_FILENO) < 0)
			fail_sys(bench->folder);
		execv(argv[0], (char *const *) (uintptr_t) argv);
		fail_sys(argv[0]);
	}
	wait_for(pid);
	return (double) (clock_now() - start) / 1e9;
}

static double sha256sum(const struct bench *bench)
{
	static const char *const argv[] = { "/usr/bin/find",      ".",  "-type", "f", "-exec",
					    "/usr/bin/sha256sum", "{}", "+",     NULL };
	auto_fd null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	return command(bench, argv, null);
}

static double tar_sha256sum(const struct bench *bench)
{
	static const char *const tar[] = { "/usr/bin/tar", "-cf", "-", ".", NULL };
	int64_t start = clock_now();
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		fail_sys("pipe");
	pid = fork();
	if (pid == 0) {
		auto_fd null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		dup2(ends[0], STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		execl("/usr/bin/sha256sum", "sha256sum", (char *) NULL);
		fail_sys("sha256sum");
	}
	close(ends[0]);
	command(bench, tar, ends[1]);
	close(ends[1]);
	wait_for(pid);
	return (double) (clock_now() - start) / 1e9;
}

static int compare(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static double median(double *values, long count)
{
	qsort(values, (size_t) count, sizeof(values[0]), compare);
	return values[count / 2];
}

static void measure(const struct bench *bench)
{
	static const struct {
		const char *name;
		double (*run)(const struct bench *bench);
	} ways[] = { { "freeze", freeze },
		     { "sha256sum", sha256sum },
		     { "tar | sha256sum", tar_sha256sum } };
	double seconds[ARRAY_LEN(ways)][100], medians[ARRAY_LEN(ways)];

	for (long round = -1; round < bench->rounds; round++)
		for (size_t way = 0; way < ARRAY_LEN(ways); way++) {
			double took = ways[way].run(bench);

			if (round >= 0) /* the first round warms up */
				seconds[way][round] = took;
		}
	for (size_t way = 0; way < ARRAY_LEN(ways); way++) {
		medians[way] = median(seconds[way], bench->rounds);
		printf("%-16s %.3f s (%.3f to %.3f)\n", ways[way].name, medians[way],
		       seconds[way][0], seconds[way][bench->rounds - 1]);
	}
	printf("freeze / sha256sum       %.2f (at most 1.50)\n", medians[0] / medians[1]);
	printf("freeze / tar | sha256sum %.2f\n", medians[0] / medians[2]);
}

int main(int argc, char **argv)
{
	struct bench bench = { .folder = "/tmp/proctor-bench-XXXXXX" };

	bench.rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 5;
	bench.files = argc > 2 ? strtol(argv[2], NULL, 10) : 10000;
	bench.bytes = argc > 3 ? strtol(argv[3], NULL, 10) : (long) GIB;
	if (bench.rounds < 1 || bench.rounds > 100 || bench.files < 1 ||
	    bench.bytes < bench.files) {
		fprintf(stderr, "usage: %s [ROUNDS [FILES [BYTES]]]\n", argv[0]);
		return 2;
	}
	/* The tmpfs is ours alone and goes away with us. */
	if (!mkdtemp(bench.folder) || unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("bench", bench.folder, "tmpfs", 0, "size=3g,nr_inodes=2m") < 0)
		fail_sys("make a tmpfs");
	fill(&bench);
	measure(&bench);
	umount2(bench.folder, MNT_DETACH);
	rmdir(bench.folder);
	return 0;
}
