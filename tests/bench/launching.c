/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/launching.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/cgroup.h"
#include "sandbox/devices.h"
#include "sandbox/seccomp.h"
#include "sandbox/wire.h"

no_return void bench_die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

static void need(int result, const struct err *err)
{
	if (result >= 0)
		return;
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, err->text);
	exit(1);
}

void launching_start(struct launching *out, const char *folder)
{
	struct err err = ERR_INIT;
	struct event hello;
	char path[512], option[32];
	int pair[2];

	out->spec = mem_alloc(1, sizeof(*out->spec));
	out->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	spec_init(out->spec, "bench");
	need(spec_add_arg(out->spec, "/bin/true", &err), &err);
	need(message_pair(pair, &err), &err);
	snprintf(path, sizeof(path), "%s/proctor-launcher", folder);
	out->pid = fork();
	if (out->pid == 0) {
		snprintf(option, sizeof(option), "--socket=%d", pair[1]);
		fcntl(pair[1], F_SETFD, 0);
		execl(path, "proctor-launcher", option, NULL);
		_exit(127);
	}
	close(pair[1]);
	out->fd = pair[0];
	if (out->pid < 0 || out->null_fd < 0)
		bench_die(path);
	need(wire_next(pair[0], &hello, NULL, &err), &err);
	if (hello.kind != EVENT_READY)
		need(-1, &hello.err);
}

void launching_once(const struct launching *launching)
{
	struct event event = { .kind = EVENT_STARTED };
	struct err err = ERR_INIT;
	struct spec_fds fds;
	auto_fd jail = -1;

	spec_fds_init(&fds);
	fds.fd[SPEC_FD_STDOUT] = fds.fd[SPEC_FD_STDERR] = launching->null_fd;
	jail = wire_request(launching->fd, launching->spec, &fds, &err);
	need(jail, &err);
	while (event.kind == EVENT_STARTED)
		need(wire_next(jail, &event, NULL, &err), &err);
	if (event.kind != EVENT_ENDED || event.result.ending != ENDING_EXITED ||
	    event.result.code != 0) {
		err_set(&event.err, ERR_SYS, "a jail did not end well: %s", event.err.text);
		need(-1, &event.err);
	}
}

void launching_stop(struct launching *launching)
{
	int status;

	fd_close(&launching->fd);
	if (waitpid(launching->pid, &status, 0) != launching->pid || status != 0)
		bench_die("the launcher's end");
}

/* What the launcher's other half prepares once: the floor is the launch alone. */
static void execute_floor(const char *path, int ask_fd, int told_fd)
{
	static struct seccomp_program program;
	struct cgroup_host host = CGROUP_HOST_INIT;
	struct device_slice devices;
	struct err err = ERR_INIT;
	char text[5][16];
	int fds[5];

	need(cgroup_host_open(&host, &err), &err);
	need(seccomp_compile(SECCOMP_PROFILE_PLAIN, 0, &program, &err), &err);
	devices_base(&devices);
	fds[0] = host.unified_fd;
	fds[1] = host.v1_fds[CGROUP_MEMORY];
	fds[2] = host.v1_fds[CGROUP_PIDS];
	fds[3] = devices_load(&devices, &err);
	need(fds[3], &err);
	fds[4] = io_memfd("filter", program.instructions,
			  program.count * sizeof(program.instructions[0]), &err);
	need(fds[4], &err);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		snprintf(text[i], sizeof(text[i]), "%d", fds[i]);
		if (fds[i] >= 0)
			fcntl(fds[i], F_SETFD, 0);
	}
	if (dup2(ask_fd, 0) < 0 || dup2(told_fd, 1) < 0)
		bench_die("descriptors");
	execl(path, "bench-floor", text[0], text[1], text[2], text[3], text[4], NULL);
}

void flooring_start(struct flooring *out, const char *folder)
{
	int ask[2], told[2];
	char path[512];

	if (pipe2(ask, O_CLOEXEC) < 0 || pipe2(told, O_CLOEXEC) < 0)
		bench_die("pipes");
	snprintf(path, sizeof(path), "%s/tests/bench/bench-floor", folder);
	if (access(path, X_OK) < 0)
		snprintf(path, sizeof(path), "%s/bench-floor", folder);
	out->pid = fork();
	if (out->pid == 0) {
		execute_floor(path, ask[0], told[1]);
		_exit(127);
	}
	close(ask[0]);
	close(told[1]);
	out->ask_fd = ask[1];
	out->told_fd = told[0];
	if (out->pid < 0)
		bench_die(path);
	flooring_once(out);
}

void flooring_once(const struct flooring *flooring)
{
	char byte = 'x';

	if (write(flooring->ask_fd, &byte, 1) != 1 || read(flooring->told_fd, &byte, 1) != 1)
		bench_die("the floor program");
}

double bench_cpu_us(pid_t pid)
{
	unsigned long long user, system, user_gone, system_gone;
	char path[64];
	FILE *file;
	int got;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
	file = fopen(path, "re");
	if (!file)
		bench_die(path);
	got = fscanf(file,
		     "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu",
		     &user, &system, &user_gone, &system_gone);
	fclose(file);
	if (got != 4)
		bench_die(path);
	return (double) (user + system + user_gone + system_gone) * 1e6 /
	       (double) sysconf(_SC_CLK_TCK);
}

static int compare(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

void bench_sort(double *values, size_t count)
{
	qsort(values, count, sizeof(values[0]), compare);
}
