/* SPDX-License-Identifier: Apache-2.0 */

/*
 * bench-filter: what the system call filter of a jail costs a call
 *
 * Nanoseconds of getppid, which no rule looks at, and of openat and close of /dev/null, in a
 * process with and in one without it; medians of turns that alternate. By hand, on a quiet machine.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/seccomp.h"
#include "tests/bench/launching.h"

enum { TURNS = 41 };

static void call_getppid(void)
{
	syscall(SYS_getppid);
}

static void call_openat(void)
{
	close((int) syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY));
}

static const struct {
	const char *name;
	void (*call)(void);
	int count;
} calls[] = {
	{ "getppid", call_getppid, 300000 },
	{ "openat and close", call_openat, 50000 },
};

no_return static void measure(size_t which, const struct seccomp_program *program, int told_fd)
{
	struct err err = ERR_INIT;
	int64_t start;
	double ns;

	if (program && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
			seccomp_install(program, NULL, &err) < 0))
		bench_die(err.text);
	for (int i = 0; i < calls[which].count / 10; i++)
		calls[which].call();
	start = clock_now();
	for (int i = 0; i < calls[which].count; i++)
		calls[which].call();
	ns = (double) (clock_now() - start) / calls[which].count;
	_exit(write(told_fd, &ns, sizeof(ns)) == sizeof(ns) ? 0 : 1);
}

static double turn(size_t which, const struct seccomp_program *program)
{
	int told[2], status;
	double ns;

	if (pipe(told) < 0)
		bench_die("pipe");
	if (fork() == 0)
		measure(which, program, told[1]);
	close(told[1]);
	if (read(told[0], &ns, sizeof(ns)) != sizeof(ns) || wait(&status) < 0 || status != 0)
		bench_die("a turn");
	close(told[0]);
	return ns;
}

int main(void)
{
	static struct seccomp_program program;
	struct err err = ERR_INIT;

	if (seccomp_compile(SECCOMP_PROFILE_PLAIN, 0, &program, &err) < 0)
		bench_die(err.text);
	printf("%-18s %10s %10s %8s\n", "ns a call", "without", "with", "more");
	for (size_t which = 0; which < ARRAY_LEN(calls); which++) {
		double without[TURNS], with[TURNS];

		for (size_t i = 0; i < TURNS; i++) {
			without[i] = turn(which, NULL);
			with[i] = turn(which, &program);
		}
		bench_sort(without, TURNS);
		bench_sort(with, TURNS);
		printf("%-18s %10.0f %10.0f %8.0f\n", calls[which].name, without[TURNS / 2],
		       with[TURNS / 2], with[TURNS / 2] - without[TURNS / 2]);
	}
	return 0;
}
