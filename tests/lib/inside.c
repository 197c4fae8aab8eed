/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Looks at a jail from inside, for tests that compare it with what was said of it
 *
 *	inside securebits	the securebits, as a number
 *	inside calls N…		a line "N ERRNO" for each call, made with arguments of 0
 *	inside perf		counts its own CPU time with perf_event_open; ends with 0 if it can,
 *with 1 if that is refused by EPERM, else with 2; 3: it can count others as well
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static long open_event(pid_t pid, int cpu, unsigned long flags)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_kernel = 1,
	};

	errno = 0;
	return syscall(SYS_perf_event_open, &attr, pid, cpu, -1, flags);
}

static int try_perf(void)
{
	const long fd = open_event(0, -1, PERF_FLAG_FD_CLOEXEC);
	uint64_t count = 0;

	printf("perf_event_open: %s\n", fd < 0 ? strerror(errno) : "works");
	if (fd < 0)
		return errno == EPERM ? 1 : 2;
	for (int i = 0; i < 1000; i++)
		sched_yield();
	if (read((int) fd, &count, sizeof(count)) != sizeof(count) || count == 0)
		return 2;
	printf("counted %llu ns\n", (unsigned long long) count);
	if (open_event(-1, 0, 0) >= 0 || open_event(0, 0, PERF_FLAG_PID_CGROUP) >= 0)
		return 3;
	return 0;
}

static int try_calls(int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		const long number = strtol(argv[i], NULL, 10);

		errno = 0;
		printf("%ld %d\n", number, syscall(number, 0, 0, 0, 0, 0, 0) < 0 ? errno : 0);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "securebits") == 0)
		return printf("%d\n", prctl(PR_GET_SECUREBITS)) < 0;
	if (argc > 1 && strcmp(argv[1], "calls") == 0)
		return try_calls(argc, argv);
	if (argc > 1 && strcmp(argv[1], "perf") == 0)
		return try_perf();
	fprintf(stderr, "usage: inside securebits | calls NUMBER… | perf\n");
	return 9;
}
