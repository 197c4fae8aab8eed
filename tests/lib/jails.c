/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/jails.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/cgroup.h"
#include "tests/lib/check.h"

enum { PATIENCE_MS = 20 * 1000, LOOK_MS = 5 };

static void pause_ms(uint64_t ms)
{
	poll(NULL, 0, (int) ms);
}

int jails_count_fds(pid_t pid)
{
	char path[64];
	int count = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int) pid);
	folder = opendir(path);
	CHECK(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* The state and the parent of a process; false if there is none. */
static bool look_at(pid_t pid, char *state, pid_t *parent)
{
	char path[64], text[1024], *end;
	struct err err = ERR_INIT;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
	if (io_read_kernel_file(AT_FDCWD, path, text, sizeof(text), &err) < 0)
		return false;
	end = strrchr(text, ')'); /* a name can hold anything */
	return end && sscanf(end + 1, " %c %d", state, parent) == 2;
}

pid_t jails_parent(pid_t pid)
{
	pid_t parent;
	char state;

	if (!look_at(pid, &state, &parent))
		check_fail(__FILE__, __LINE__, "there is no process %d", (int) pid);
	return parent;
}

int jails_children(pid_t pid, pid_t *last)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	int count = 0;

	CHECK(proc);
	while ((entry = readdir(proc))) {
		pid_t child = (pid_t) strtol(entry->d_name, NULL, 10), parent;
		char state;

		if (child <= 0 || !look_at(child, &state, &parent) || parent != pid || state == 'Z')
			continue;
		count++;
		if (last)
			*last = child;
	}
	closedir(proc);
	return count;
}

pid_t jails_running(pid_t launcher)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	pid_t found = 0;

	CHECK(proc);
	while (found == 0 && (entry = readdir(proc))) {
		pid_t child = (pid_t) strtol(entry->d_name, NULL, 10), parent, init;
		char state;

		if (child > 0 && look_at(child, &state, &parent) && parent == launcher &&
		    jails_children(child, &init) > 0 && jails_children(init, NULL) > 0)
			found = child;
	}
	closedir(proc);
	return found;
}

pid_t jails_child(pid_t parent, const char *name)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	pid_t found = 0;

	CHECK(proc);
	while (!found && (entry = readdir(proc))) {
		pid_t child = (pid_t) strtol(entry->d_name, NULL, 10), its_parent;
		char path[64], text[64], state;
		struct err err = ERR_INIT;

		snprintf(path, sizeof(path), "/proc/%d/comm", (int) child);
		if (child <= 0 || !look_at(child, &state, &its_parent) || its_parent != parent ||
		    state == 'Z' ||
		    io_read_kernel_file(AT_FDCWD, path, text, sizeof(text), &err) < 0)
			continue;
		if (strcmp(text, name) == 0)
			found = child;
	}
	closedir(proc);
	return found;
}

void jails_start(struct jails *jails)
{
	struct err err = ERR_INIT;

	if (geteuid() != 0)
		SKIP("needs root");
	check_folder(); /* its descriptor stays */
	*jails = (struct jails){ .launcher = LAUNCHER_INIT, .fds = jails_count_fds(getpid()) };
	CHECK_OK(launcher_start(PROGRAMS, &jails->launcher, &err));
}

void jails_end(struct jails *jails)
{
	struct err err = ERR_INIT;
	int status = -1;

	fd_close(&jails->launcher.socket_fd);
	if (process_wait(&jails->launcher.process, clock_after_ms(PATIENCE_MS), &status, &err) != 1)
		check_fail(__FILE__, __LINE__, "the launcher does not end: %s", err.text);
	CHECK_INT(status, 0);
	CHECK_INT(jails_count_fds(getpid()), jails->fds);
	CHECK_INT(jails_children(getpid(), NULL), 0);
}

void jails_spec(struct jail_spec *spec, const char *script)
{
	struct err err = ERR_INIT;

	spec_init(spec, "test");
	spec->time.wall_ms = PATIENCE_MS;
	spec->time.grace_ms = 100;
	spec->plan.tmpfs[0].bytes = MIB;
	spec->plan.tmpfs[0].inodes = 64;
	spec->plan.tmpfs[1].bytes = MIB;
	spec->plan.tmpfs[2].bytes = MIB;
	spec->cgroup.memory = 128 * MIB;
	CHECK_OK(spec_add_arg(spec, "/bin/sh", &err));
	CHECK_OK(spec_add_arg(spec, "-c", &err));
	CHECK_OK(spec_add_arg(spec, script, &err));
	CHECK_OK(spec_add_env(spec, "PATH=/usr/bin:/bin", &err));
}

struct jail_outcome jails_run(struct jails *jails, const struct jail_spec *spec, const char *name,
			      uint64_t output_max)
{
	const struct jail_io io = {
		.folder_fd = check_folder(), .name = name, .output_max = output_max, .stop_fd = -1
	};
	struct jail_outcome outcome;
	struct err err = ERR_INIT;
	struct spec_fds fds;

	spec_fds_init(&fds);
	CHECK_OK(jail_run(jails->launcher.socket_fd, spec, &fds, &io, &outcome, &err));
	return outcome;
}

const char *jails_text(const char *name)
{
	static struct str text = STR_INIT;
	struct err err = ERR_INIT;

	str_clear(&text);
	CHECK_OK(io_read_file(check_folder(), name, MIB, &text, &err));
	return text.text;
}

void jails_wait_for(const char *name, const char *text)
{
	int64_t deadline = clock_after_ms(PATIENCE_MS);

	while (faccessat(check_folder(), name, R_OK, 0) < 0 || !strstr(jails_text(name), text)) {
		if (clock_now() > deadline)
			check_fail(__FILE__, __LINE__, "'%s' never has '%s'", name, text);
		pause_ms(LOOK_MS);
	}
}

/* The leaf of a process: the last part of its v2 group, in the launchers' common folder. */
static void find_leaf(pid_t pid, struct jails_held *out)
{
	cleanup(cgroup_host_done) struct cgroup_host host = CGROUP_HOST_INIT;
	char path[64], text[4096];
	struct err err = ERR_INIT;
	const char *own, *name;
	struct stat info;

	CHECK_OK(cgroup_host_open(&host, &err));
	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int) pid);
	CHECK_OK(io_read_kernel_file(AT_FDCWD, path, text, sizeof(text), &err));
	own = strstr(text, "0::");
	CHECK(own);
	name = strrchr(own, '/');
	CHECK(name && strncmp(name, "/uids-", 6) == 0);
	snprintf(out->leaf, sizeof(out->leaf), "%s%.*s", host.path, (int) strcspn(name, "\n"),
		 name);
	if (stat(out->leaf, &info) < 0)
		check_fail(__FILE__, __LINE__, "there is no '%s'", out->leaf);
	out->inode = info.st_ino;
}

void jails_find(pid_t payload, struct jails_held *out)
{
	*out = (struct jails_held){ .jail_fd = -1, .fds = STARTED_FDS_INIT };
	out->payload = payload;
	out->init = jails_parent(payload);
	out->monitor = jails_parent(out->init);
	find_leaf(payload, out);
}

static pid_t pid_of(int pid_fd)
{
	char path[64], text[4096];
	struct err err = ERR_INIT;
	const char *line;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pid_fd);
	CHECK_OK(io_read_kernel_file(AT_FDCWD, path, text, sizeof(text), &err));
	line = strstr(text, "Pid:");
	CHECK(line);
	return (pid_t) strtol(line + 4, NULL, 10);
}

void jails_open(struct jails *jails, const struct jail_spec *spec, struct spec_fds *fds,
		struct jails_held *out)
{
	auto_fd null = open("/dev/null", O_WRONLY | O_CLOEXEC), jail_fd = -1;
	struct started_fds started;
	struct err err = ERR_INIT;
	struct spec_fds own;
	struct event event;

	spec_fds_init(&own);
	fds = fds ? fds : &own;
	fds->fd[SPEC_FD_STDOUT] = fds->fd[SPEC_FD_STDERR] = null;
	jail_fd = wire_request(jails->launcher.socket_fd, spec, fds, &err);
	if (jail_fd < 0)
		check_fail(__FILE__, __LINE__, "%s", err.text);
	CHECK_OK(wire_next(jail_fd, &event, &started, &err));
	if (event.kind != EVENT_STARTED)
		check_fail(__FILE__, __LINE__, "%s", event.err.text);
	jails_find(pid_of(started.pid_fd), out);
	out->jail_fd = fd_take(&jail_fd);
	out->fds = started;
}

static bool is_running(pid_t pid)
{
	pid_t parent;
	char state;

	/* A zombie runs no more; its parent may be slow to look. */
	return look_at(pid, &state, &parent) && state != 'Z' && state != 'X';
}

bool jails_processes_are_gone(const struct jails_held *held, uint64_t ms)
{
	int64_t deadline = clock_after_ms(ms);

	while (is_running(held->payload) || is_running(held->init)) {
		if (clock_now() > deadline)
			return false;
		pause_ms(LOOK_MS);
	}
	return true;
}

bool jails_is_gone(const struct jails_held *held, uint64_t ms)
{
	int64_t deadline = clock_after_ms(ms);
	struct stat info;

	if (!jails_processes_are_gone(held, ms))
		return false;
	while (stat(held->leaf, &info) == 0 && info.st_ino == held->inode) {
		if (clock_now() > deadline)
			return false;
		pause_ms(LOOK_MS);
	}
	return true;
}

void jails_close(struct jails_held *held)
{
	started_fds_done(&held->fds);
	fd_close(&held->jail_fd);
}

int64_t jails_cpu_ns(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	CHECK(clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &used) == 0);
	return used.tv_sec * NS_PER_S + used.tv_nsec;
}

int jails_worker_program(void)
{
	cleanup(str_done) struct str program = STR_INIT;
	struct err err = ERR_INIT;
	auto_fd file = launcher_open_program(PROGRAMS, "proctor-worker", &err);
	int fd;

	CHECK(file >= 0);
	CHECK_OK(io_read_fd(file, STR_MAX - 1, "proctor-worker", &program, &err));
	fd = io_memfd("proctor-worker", program.text, program.len, &err);
	CHECK(fd >= 0);
	return fd;
}
